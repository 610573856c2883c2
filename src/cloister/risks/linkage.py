"""Distance-based record linkage: whoever holds the original looks for the nearest published row.

References
----------
Domingo-Ferrer and Torra, A quantitative comparison of disclosure control methods for microdata, 2001. The distance of a
leaf to a label is that of LETEO, section 3.2.2: (leaves under the closest node above both - 1) / (leaves - 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.risks.label_domains import LabelDomain
from cloister.risks.paired_rows import PUBLISHED
from cloister.risks.tuples import Tuples

__all__ = ["Linkage", "record_linkage"]

SAMPLE = 2_000  # rows of the original that are looked for
_WORK = 400_000_000  # distances of one column that are computed at most
_CELLS = 8_000_000  # of them at a time


@dataclass(frozen=True, slots=True)
class Linkage:
    """How many rows are found again by their nearest published row.

    Several published rows at the same smallest distance share the chance: a row in a class of f nearest rows counts 1/f.
    """

    linked: float  # expected share of rows found
    standard_error: float  # of the sample
    tried: int  # rows looked for
    by_chance: float  # share that a blind guess finds: 1 / rows


def record_linkage(both: Tuples, domains: Sequence[LabelDomain], sample: int = SAMPLE) -> Linkage:
    """Look for rows of the original in the published table.

    Parameters
    ----------
    both : Tuples
        Over the columns of `PairedRows`: those of the original, and of the published table with `PUBLISHED` before their names.
    domains : sequence of LabelDomain
        One for each quasi-identifier.
    sample : int
        How many rows are looked for, spread evenly over the table; all, if there are fewer.
    """
    published_columns = [both.column(PUBLISHED + domain.name) for domain in domains]
    original_columns = [both.column(domain.name) for domain in domains]
    classes, number = both.classes([PUBLISHED + domain.name for domain in domains])
    rows = np.bincount(classes, both.counts, number)  # of each class
    first = np.zeros(number, np.int64)
    first[classes[::-1]] = np.arange(len(classes))[::-1]  # one tuple of each class stands for it
    n = both.rows
    tried = max(1, min(n, sample, max(50, _WORK // number)))
    places = ((np.arange(tried) + 0.5) * n / tried).astype(np.int64)
    tuples = np.searchsorted(np.cumsum(both.counts), places, side="right")
    sought, weight = np.unique(tuples, return_counts=True)
    chances = np.empty(len(sought))
    step = max(1, _CELLS // number)
    for start in range(0, len(sought), step):
        part = sought[start : start + step]
        distance = np.zeros((len(part), number), np.float32)
        for domain, original, published in zip(domains, original_columns, published_columns, strict=True):
            leaves = domain.ranges(both.values[original])
            labels = domain.ranges(both.values[published])
            distance += _distance(domain, leaves[both.codes[part, original]], labels[both.codes[first, published]])
        nearest = distance <= distance.min(axis=1, keepdims=True) + 1e-5
        own = nearest[np.arange(len(part)), classes[part]]
        chances[start : start + step] = own / (nearest @ rows)
    mean = float(chances @ weight) / tried
    spread = float(((chances - mean) ** 2) @ weight) / tried
    error = float(np.sqrt(spread / tried * (1 - tried / n)))
    return Linkage(mean, error, tried, 1 / n)


def _distance(domain: LabelDomain, cells: NDArray[np.int64], labels: NDArray[np.int64]) -> NDArray[np.float32]:
    """How far each cell of the original is from each label."""  # (u, v)
    if domain.is_scaled:
        return np.abs(domain.middles(cells)[:, None] - domain.middles(labels)).astype(np.float32)
    cell_kinds, kind_of_cell = np.unique(cells, axis=0, return_inverse=True)
    label_kinds, kind_of_label = np.unique(labels, axis=0, return_inverse=True)
    start = np.minimum(cell_kinds[:, None, 0], label_kinds[None, :, 0])
    end = np.maximum(cell_kinds[:, None, 1], label_kinds[None, :, 1])
    least = np.where(end - start == 1, 1, domain.leaves)  # leaves under the closest node above both
    sizes = domain.nodes[:, 1] - domain.nodes[:, 0]
    above = sizes > 1  # a leaf is above itself alone
    for (first, last), size in zip(domain.nodes[above], sizes[above], strict=True):
        least = np.where((first <= start) & (end <= last), np.minimum(least, size), least)
    table = ((least - 1) / max(1, domain.leaves - 1)).astype(np.float32)
    distances: NDArray[np.float32] = table[np.ix_(kind_of_cell.reshape(-1), kind_of_label.reshape(-1))]
    return distances
