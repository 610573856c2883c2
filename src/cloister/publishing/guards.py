"""What every class of a published table must hold: k-anonymity, l-diversity, t-closeness, k-map.

All are pure functions of labelled tuples: which class each tuple is in, its count, its sensitive value. All but the last
step of a search and the check of the written output use the same ones. Each guard holds for the union of two classes that
hold it, so a more general table never breaks one (the reference of t-closeness kept fixed).

References
----------
Sweeney, k-anonymity, 2002. Machanavajjhala et al., l-diversity, 2007. Li et al., t-closeness, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.publishing.histogram import Histogram

__all__ = [
    "Closeness",
    "Diversity",
    "EntropyDiversity",
    "Guard",
    "KAnonymity",
    "KMap",
    "distances",
    "distinct_persons",
    "distinct_values",
    "effective_values",
    "passing",
    "sizes",
]

_SLACK = 1e-9  # of logarithms and distances in floating point
_CELLS = 1 << 22  # cells of a dense table of classes by values


class Guard(Protocol):
    """A condition on every class."""

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """At least k rows in every class; at least k persons when the histogram says whose rows they are."""

    k: int

    def __post_init__(self) -> None:
        _whole("k", self.k)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.persons is None:
            return sizes(labels, classes, rows.counts) >= self.k
        return distinct_persons(labels, classes, rows) >= self.k

    def __str__(self) -> str:
        return f"k-anonymity, k = {self.k}"


@dataclass(frozen=True, slots=True)
class Diversity:
    """At least l different sensitive values in every class."""

    l: int  # noqa: E741
    column: int = 0

    def __post_init__(self) -> None:
        _whole("l", self.l)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        return distinct_values(labels, classes, _sensitive(rows, self.column), rows.counts) >= self.l

    def __str__(self) -> str:
        return f"distinct l-diversity, l = {self.l}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity:
    """The sensitive values of every class are as diverse as l equally frequent ones: entropy of at least log l."""

    l: float  # noqa: E741
    column: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.l) and self.l >= 1):
            raise UsageError("l must be a number of at least 1.")

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        effective = effective_values(labels, classes, _sensitive(rows, self.column), rows.counts)
        return np.log(np.maximum(effective, 1)) >= math.log(self.l) - _SLACK

    def __str__(self) -> str:
        return f"entropy l-diversity, l = {self.l:g}"


@dataclass(frozen=True, slots=True)
class Closeness:
    """The sensitive values of every class are distributed like those of the whole table, to a distance of at most t.

    The distance is the earth mover's, with equal ground distances, or with those of an order (|i - j| / (values - 1)).
    `reference` is the distribution to compare with; None: that of the tuples at hand.
    """

    t: float
    column: int = 0
    is_ordered: bool = False
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise UsageError("t must lie between 0 and 1.")

    def against(self, rows: Histogram) -> Closeness:
        """The same guard with the distribution of these tuples as its reference."""
        values = _sensitive(rows, self.column)
        return Closeness(self.t, self.column, self.is_ordered, tuple(_distribution(values, rows.counts).tolist()))

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        values = _sensitive(rows, self.column)
        reference = _distribution(values, rows.counts) if self.reference is None else np.array(self.reference)
        far = distances(labels, classes, values, rows.counts, reference, is_ordered=self.is_ordered)
        return far <= self.t + _SLACK

    def __str__(self) -> str:
        return f"t-closeness, t = {self.t:g}, {'ordered' if self.is_ordered else 'equal'} distance"


@dataclass(frozen=True, slots=True)
class KMap:
    """At least k people of the population table share the published values of every class."""

    k: int

    def __post_init__(self) -> None:
        _whole("k", self.k)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.population is None:
            raise UsageError("k-map needs a population table.")
        return sizes(labels, classes, rows.population) >= self.k

    def __str__(self) -> str:
        return f"k-map, k = {self.k}"


def passing(guards: Sequence[Guard], labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
    """Which classes hold every guard."""
    holds = np.ones(classes, bool)
    for guard in guards:
        holds &= guard.passes(labels, classes, rows)
    return holds


def sizes(labels: NDArray[np.int64], classes: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of each class."""
    return np.bincount(labels, counts, classes).astype(np.int64)  # exact: counts stay below 2**53


def distinct_persons(labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.int64]:
    """The different persons of each class."""
    assert rows.persons is not None
    real = rows.counts > 0
    pairs = np.unique(np.stack([labels[real], rows.persons[real]]), axis=1)[0]
    return np.bincount(pairs, minlength=classes)


def distinct_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The different values of each class."""
    found = np.zeros(classes, np.int64)
    for part, table in _tables(labels, classes, values, counts):
        found[part] = (table > 0).sum(axis=1)
    return found


def effective_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The number of equally frequent values that would have the entropy of each class."""
    found = np.ones(classes)
    for part, table in _tables(labels, classes, values, counts):
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        found[part] = np.exp(-(share * np.log(np.where(share > 0, share, 1))).sum(axis=1))
    return found


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
    found = np.zeros(classes)
    present = reference > 0
    for part, table in _tables(labels, classes, values, counts, len(reference)):
        table = table[:, : len(reference)][:, present]
        gap = table / np.maximum(table.sum(axis=1, keepdims=True), 1) - reference[present]
        if is_ordered:
            found[part] = np.abs(np.cumsum(gap, axis=1)).sum(axis=1) / max(int(present.sum()) - 1, 1)
        else:
            found[part] = np.abs(gap).sum(axis=1) / 2
    return found


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


def _distribution(values: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    share: NDArray[np.float64] = np.bincount(values, counts) / max(int(counts.sum()), 1)
    return share


def _sensitive(rows: Histogram, column: int) -> NDArray[np.int32]:
    if rows.sensitive is None or column >= rows.sensitive.shape[1]:
        raise UsageError("l-diversity and t-closeness need a sensitive column.")
    return rows.sensitive[:, column]


def _whole(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise UsageError(f"{name} must be a whole number of at least 1.")
