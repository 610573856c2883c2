"""How many people of a population share the published values of each class of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks.fingerprints import EVERYTHING
from cloister.risks.label_domains import LabelDomain, make_label_domain
from cloister.risks.tuples import Tuples, Values, joined
from cloister.schema.hierarchies import Hierarchy

__all__ = ["people_in_classes"]

_CELLS = 50_000_000  # classes times people's tuples at a time
_MOST = 20_000_000_000  # at all


def people_in_classes(
    table: Tuples, population: Tuples, quasi: Sequence[str], trees: Mapping[str, Hierarchy]
) -> NDArray[np.int64]:
    """The people of the population whom each class of the table may mean, by the order of `Tuples.classes`.

    Notes
    -----
    A label means every value that it covers: itself, what lies under it in the hierarchy or between the ends of an interval,
    and everything for ``*``. Under local recoding one person may be meant by several classes. People with a value that the
    hierarchy lacks are meant by none: that errs on the side of risk.
    """
    labels, number = table.classes(quasi)
    first = np.zeros(number, np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    if all(_are_raw(table.values[table.column(name)], trees.get(name)) for name in quasi):
        return _equal(table, population, quasi, first)
    crowd, heads = population.classes(quasi)
    one = np.zeros(heads, np.int64)
    one[crowd[::-1]] = np.arange(len(crowd))[::-1]
    weights = population.sizes(crowd, heads).astype(np.float64)
    if number * heads > _MOST:
        raise UsageError(
            f"{number:,} classes and {heads:,} kinds of people are too many to compare. Give a coarser table or population."
        )
    people = np.zeros(number, np.int64)
    domains = [_domain(name, trees.get(name), table, population) for name in quasi]
    for start in range(0, number, max(1, _CELLS // heads)):
        part = first[start : start + max(1, _CELLS // heads)]
        meant = np.ones((len(part), heads), bool)
        for name, domain in zip(quasi, domains, strict=True):
            here, there = table.column(name), population.column(name)
            label, cell = domain.ranges(table.values[here]), domain.ranges(population.values[there], strict=False)
            covers = (label[:, None, 0] <= cell[None, :, 0]) & (cell[None, :, 1] <= label[:, None, 1])
            meant &= covers[np.ix_(table.codes[part, here], population.codes[one, there])]
        people[start : start + len(part)] = meant @ weights
    return people


def _are_raw(values: Values, tree: Hierarchy | None) -> bool:
    """Whether every cell means itself alone."""
    is_wide = values.low is not None and values.high is not None and bool((values.low < values.high).any())
    return tree is None and not is_wide and EVERYTHING not in values.fingerprints


def _domain(name: str, tree: Hierarchy | None, table: Tuples, population: Tuples) -> LabelDomain:
    """The leaves are what either of the two holds."""
    mine, theirs = table.values[table.column(name)], population.values[population.column(name)]
    if tree is not None:
        return make_label_domain(name, tree, theirs, mine)
    single = mine.fingerprints != EVERYTHING
    if mine.low is not None and mine.high is not None:
        single &= ~(mine.low < mine.high)
    marks, place = np.unique(np.concatenate([theirs.fingerprints, mine.fingerprints[single]]), return_index=True)
    if theirs.low is None or mine.low is None:
        return make_label_domain(name, None, Values(marks), mine)
    ends = np.concatenate([theirs.low, mine.low[single]])[place]
    return make_label_domain(name, None, Values(marks, ends, ends), mine)


def _equal(table: Tuples, population: Tuples, quasi: Sequence[str], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """People with the same cells, when every cell means itself."""
    columns, widths = [], []
    for name in quasi:
        here, there = table.column(name), population.column(name)
        marks = np.concatenate([table.values[here].fingerprints, population.values[there].fingerprints])
        known, renamed = np.unique(marks, return_inverse=True)
        mine, theirs = np.split(renamed.astype(np.int32), [len(table.values[here])])
        columns.append(np.concatenate([mine[table.codes[first, here]], theirs[population.codes[:, there]]]))
        widths.append(len(known))
    both, number = joined(columns, widths, len(first) + len(population.codes))
    return population.sizes(both[len(first) :], number)[both[: len(first)]]
