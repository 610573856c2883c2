"""Which cut points of a public grid a column offers to a search: those that k rows on each side answer for.

Privacy
-------
A label is read by everybody, so where an interval ends must not tell what one row holds, least of all a removed one. The
places where an interval may end are public (`public_grid`); which of them are offered depends on the rows, in two ways:

- a multiple of a width is offered if each of the two intervals of that width beside it holds at least k rows;
- between two neighbouring values that at least k rows hold each, where the first rule finds nothing, the roundest number
  that separates them is offered.

Both look at the values between the k-th row from below and the k-th from above alone, as no cut can lie elsewhere: how wide
and how narrow the grid is follows those, not an extreme row.

In the end at least k rows lie between any two cuts, and beyond the outermost ones. So the cuts that are offered, and with
them the resolution of the grid, are a function of counts of at least k rows over public intervals and of values that at
least k rows share: a histogram of the column that is k-anonymous by itself. Whose row it is that a count rests on, and where
in its interval that row lies, they do not show. Where people are counted, k rows are those of k people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.public_grid import CutGrid, Width

__all__ = ["Holders", "offered_cuts"]


@dataclass(frozen=True, slots=True, eq=False)
class Holders:
    """Who holds each value of a column: how many rows, or which people.

    Parameters
    ----------
    codes : array of int64, (p,)
        The value of each tuple; with people in the order of people, and for each of them of the values.
    counts : array of int64, (p,)
        Rows of each tuple.
    persons : array of int64, (p,), optional
        Whose they are.
    """

    codes: NDArray[np.int64]
    counts: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, codes: NDArray[np.int64], counts: NDArray[np.int64], persons: NDArray[np.int64] | None) -> Holders:
        """From tuples in any order; those without rows hold nothing."""
        held = counts > 0
        codes, counts = codes[held].astype(np.int64), counts[held]
        if persons is None:
            return cls(codes, counts)
        persons = persons[held]
        order = np.lexsort([codes, persons])
        return cls(codes[order], counts[order], persons[order])

    def between(self, k: int) -> slice:
        """The values that lie between the k-th row (person) from below and the k-th from above; empty if there are none."""
        if not len(self.codes):
            return slice(0, 0)
        if self.persons is None:
            rows = np.cumsum(np.bincount(self.codes, self.counts))
            if rows[-1] < k:
                return slice(0, 0)
            return slice(int(np.searchsorted(rows, k)), int(np.searchsorted(rows, rows[-1] - k + 1)) + 1)
        begins = np.flatnonzero(np.diff(self.persons, prepend=self.persons[0] - 1))
        if len(begins) < k:
            return slice(0, 0)
        lowest, highest = np.sort(self.codes[begins]), np.sort(self.codes[np.append(begins[1:], len(self.codes)) - 1])
        return slice(int(lowest[k - 1]), int(highest[-k]) + 1)

    def count(self, part_of: NDArray[np.int64]) -> NDArray[np.int64]:
        """Rows, or different people, of each part, if each value belongs to a part and parts rise with the values."""
        parts = int(part_of.max(initial=-1)) + 1
        part = part_of[self.codes]
        if self.persons is None:
            return np.bincount(part, self.counts, parts).astype(np.int64)
        is_new = np.ones(len(part), bool)  # a person's values rise: those in one part stand together
        is_new[1:] = (self.persons[1:] != self.persons[:-1]) | (part[1:] != part[:-1])
        return np.bincount(part[is_new], minlength=parts)


def offered_cuts(
    values: NDArray[np.float64], holders: Holders, k: int, grid: CutGrid, *, is_open: bool = False
) -> NDArray[np.float64]:
    """The cuts that a column offers, rising: each value lies on one side of each of them.

    Parameters
    ----------
    values : array of float64, (m,)
        The different values of the column, rising.
    holders : Holders
        Who holds them.
    k : int
        Rows (people) that each count rests on at least.
    grid : CutGrid
        The public places.
    is_open : bool
        Whether the first and the last value stand for all that lies beyond: rows there answer for no interval.
    """
    inner = holders.between(k)  # no cut lies elsewhere, and no single row decides how fine the grid is
    if is_open and inner.start < inner.stop:
        values = values.copy()
        values[: min(inner.start, 1)] = -np.inf
        values[max(inner.stop, len(values) - 1) :] = np.inf
    widths = grid.widths(values[inner])
    cuts = np.zeros(0)
    for width in widths:
        places, part_of = np.unique(_places(values, inner, grid, width), return_inverse=True)
        enough = holders.count(part_of) >= k
        is_offered = enough[:-1] & enough[1:] & (np.diff(places) == 1)
        cuts = _with_room(values, holders, k, cuts, grid.starts(places[1:][is_offered], width))
    shared = values[holders.count(np.arange(len(values))) >= k]
    low, high = shared[:-1], shared[1:]
    is_apart = np.searchsorted(cuts, low, side="right") < np.searchsorted(cuts, high, side="right")
    low, high = low[~is_apart], high[~is_apart]
    for width in widths:
        starts = grid.starts(grid.places(low, width) + 1, width)
        fits = starts <= high
        cuts = np.union1d(cuts, starts[fits])
        low, high = low[~fits], high[~fits]
    return cuts


def _places(values: NDArray[np.float64], inner: slice, grid: CutGrid, width: Width) -> NDArray[np.int64]:
    """The interval of each value; all that lies beyond the intervals of the inner values is in the next to those."""
    places = grid.places(values[inner], width)
    start, end = grid.starts(np.array([places[0], places[-1] + 1]), width)
    below, above = values[: inner.start] < start, values[inner.stop :] >= end
    return np.concatenate([places[0] - below, places, places[-1] + above])


def _with_room(
    values: NDArray[np.float64], holders: Holders, k: int, cuts: NDArray[np.float64], new: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The cuts with as many new ones as leave k rows (people) between any two; the old ones leave that many."""
    new = np.setdiff1d(new, cuts)
    while len(new):
        both = np.union1d(cuts, new)
        rows = holders.count(np.searchsorted(both, values, side="right"))
        rows = np.append(rows, np.zeros(len(both) + 1 - len(rows), np.int64))  # nothing above the last cuts
        narrow = np.flatnonzero(rows < k)  # parts: part i lies below cut i
        if not len(narrow):
            return both
        is_new = np.append(np.isin(both, new), False)
        # one of the two cuts beside a narrow part is new, as all parts were wide enough before
        new = np.setdiff1d(new, both[np.where(is_new[narrow], narrow, narrow - 1)])
    return cuts
