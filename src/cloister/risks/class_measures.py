"""Measures of classes: how many rows, people and sensitive values each holds, and how far its values are from all.

Pure functions of labelled tuples: which class each tuple is in, its count, its sensitive value. The guards of a published
table and the measures of its risk both use them.

References
----------
Sweeney, k-anonymity, 2002. Machanavajjhala et al., l-diversity, 2007. Li et al., t-closeness, 2007.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["distances", "distinct_persons", "distinct_values", "distribution", "effective_values", "sizes"]

_CELLS = 1 << 22  # cells of a dense table of classes by values


def sizes(labels: NDArray[np.int64], classes: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of each class."""
    return np.bincount(labels, counts, classes).astype(np.int64)  # exact: counts stay below 2**53


def distinct_persons(labels: NDArray[np.int64], classes: int, persons: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different persons of each class."""
    order = np.lexsort([persons, labels])
    class_of, person = labels[order], persons[order]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (class_of[1:] != class_of[:-1]) | (person[1:] != person[:-1])
    return np.bincount(class_of[is_new], minlength=classes)


def distinct_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The different values of each class."""
    numbers = np.zeros(classes, np.int64)
    for part, table in _tables(labels, classes, values, counts):
        numbers[part] = (table > 0).sum(axis=1)
    return numbers


def effective_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The number of equally frequent values that would have the entropy of each class."""
    numbers = np.ones(classes)
    for part, table in _tables(labels, classes, values, counts):
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        numbers[part] = np.exp(-(share * np.log(np.where(share > 0, share, 1))).sum(axis=1))
    return numbers


def distances(
    labels: NDArray[np.int64],
    classes: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
    reference: NDArray[np.float64],
    *,
    is_ordered: bool,
) -> NDArray[np.float64]:
    """The earth mover's distance between the values of each class and the reference; values that it lacks do not count."""
    moved = np.zeros(classes)
    present = reference > 0
    for part, table in _tables(labels, classes, values, counts, len(reference)):
        table = table[:, : len(reference)][:, present]
        gap = table / np.maximum(table.sum(axis=1, keepdims=True), 1) - reference[present]
        if is_ordered:
            moved[part] = np.abs(np.cumsum(gap, axis=1)).sum(axis=1) / max(int(present.sum()) - 1, 1)
        else:
            moved[part] = np.abs(gap).sum(axis=1) / 2
    return moved


def distribution(values: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """The share of the rows that each value has."""
    share: NDArray[np.float64] = np.bincount(values, counts) / max(int(counts.sum()), 1)
    return share


def _tables(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64], width: int = 0
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Counts by class and value, some classes at a time."""
    width = max(width, int(values.max(initial=0)) + 1)
    step = max(1, _CELLS // width)
    order = np.argsort(labels, kind="stable") if classes > step else np.arange(len(labels))
    ends = np.searchsorted(labels[order], np.arange(0, classes + step, step)) if classes > step else [0, len(labels)]
    for i, start in enumerate(range(0, classes, step)):
        rows = order[ends[i] : ends[i + 1]]
        height = min(step, classes - start)
        table = np.bincount((labels[rows] - start) * width + values[rows], counts[rows], height * width)
        yield slice(start, start + height), table.astype(np.int64).reshape(height, width)
