"""How far a column may be generalised at most: up to a level of its hierarchy, or to intervals of a width.

A search with limits begins at the coarsest labels that they allow, in place of ``*``, and goes on as without them.

Privacy
-------
A limit is a public choice. Where intervals of numbers begin and end follows the rows as it does without one: at public cuts that
k rows answer for.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import ClassGuard, passing
from cloister.errors import Unattainable, UsageError
from cloister.schema.hierarchies import Hierarchy

__all__ = ["ColumnLimit", "allowed_nodes", "check_limit", "limits_refusal", "parts_of", "reaches_too_far"]


@dataclass(frozen=True, slots=True)
class ColumnLimit:
    """The highest level of a column's hierarchy that it may be published as, or its widest interval; None: any."""

    name: str
    most_level: int | None = None
    widest: float | None = None  # of dates: days

    @property
    def is_set(self) -> bool:
        """Whether anything is limited."""
        return self.most_level is not None or self.widest is not None

    def __str__(self) -> str:
        level = [] if self.most_level is None else [f"at level {self.most_level}"]
        width = [] if self.widest is None else [f"{self.widest:g} wide"]
        return f'"{self.name}" {" and ".join([*level, *width])} at most'


def check_limit(limit: ColumnLimit, column: Hierarchy | None) -> None:
    """Refuse a level of a column without a hierarchy (None: numbers or dates), and a width of one that holds words."""
    if limit.most_level is not None and column is None:
        raise UsageError(
            f'column "{limit.name}" holds numbers or dates and has no hierarchy, so it has no levels. Say how wide its labels '
            f"may be (--widest {limit.name}=WIDTH, of dates in days), or give it a hierarchy."
        )
    if limit.widest is not None and column is not None and column.edges is None:
        raise UsageError(
            f'the labels of column "{limit.name}" are no intervals, so they have no width. Say up to which level it may be '
            f"generalised (--most-level {limit.name}=LEVEL)."
        )


def allowed_nodes(tree: Hierarchy, limit: ColumnLimit) -> NDArray[np.bool_]:
    """Which nodes of a hierarchy may be published: a value is at level 0, the root at the last; ``*`` has no width."""
    are_allowed = np.ones(len(tree.nodes), bool)  # (nodes,)
    is_leaf = np.arange(len(tree.nodes)) < tree.leaves
    if limit.most_level is not None:
        depth = tree.depth
        are_allowed &= is_leaf | (depth.max() - depth <= limit.most_level)
    if limit.widest is not None:
        are_allowed &= _widths(tree) <= _with_slack(limit.widest)
        if len(tree.nodes) > 1:
            are_allowed[-1] = False
    if not are_allowed[: tree.leaves].all():
        raise _too_fine(limit, float(_widths(tree)[: tree.leaves].max()))
    return are_allowed


def parts_of(bins: CutBins, rows: NDArray[np.float64], limit: ColumnLimit) -> list[list[int]]:
    """Where a column of bins may be parted into intervals of at most a width: from the left, from the right, by rows.

    Each is a list of borders, 0 and the number of bins among them. The last one's smallest interval holds the most rows; `rows`
    counts those of each bin.
    """
    low, high = _ends(bins)
    assert limit.widest is not None
    m, most = bins.count, _with_slack(limit.widest)
    if m == 1:
        raise _too_fine(limit, math.inf)
    if ((widths := high - low) > most).any():
        raise _too_wide(limit, widths, rows, np.isfinite(bins.edges[[0, -1]]).all())
    first = np.searchsorted(low, high - most)  # (m,) the first bin that an interval up to the end of each may begin with
    if first[-1] == 0:  # everything is *
        first[-1] = 1
    last = np.searchsorted(high, low + most, side="right")  # (m,) where an interval from each may end
    if last[0] == m:
        last[0] = m - 1
    rightwards, leftwards = [0], [m]
    while rightwards[-1] < m:
        rightwards.append(int(last[rightwards[-1]]))
    while leftwards[-1] > 0:
        leftwards.append(int(first[leftwards[-1] - 1]))
    return [_by_rows(first, rows[:m]), rightwards, leftwards[::-1]]


def _by_rows(first: NDArray[np.int64], rows: NDArray[np.float64]) -> list[int]:
    """The borders between which the interval with the fewest rows holds the most."""
    m = len(rows)
    below = np.concatenate([[0.0], np.cumsum(rows)])
    fewest, before = np.full(m + 1, np.inf), np.zeros(m + 1, np.int64)
    for end in range(1, m + 1):
        starts = slice(int(first[end - 1]), end)
        best = np.minimum(fewest[starts], below[end] - below[starts])
        at = int(np.argmax(best))
        fewest[end], before[end] = best[at], starts.start + at
    borders = [m]
    while borders[-1] > 0:
        borders.append(int(before[borders[-1]]))
    return borders[::-1]


def reaches_too_far(limit: ColumnLimit, column: Hierarchy | CutBins, low: int, high: int) -> bool:
    """Whether a label over the ordered codes from `low` up to `high`, grown over removed rows perhaps, passes a limit."""
    if isinstance(column, CutBins):
        if limit.widest is None:
            return False
        starts, ends = _ends(column)
        return high - low == column.count > 1 or float(ends[high - 1] - starts[low]) > _with_slack(limit.widest)
    reach = np.where(
        np.arange(len(column.nodes)) < column.leaves, np.arange(len(column.nodes)), -1
    )  # the last leaf under each
    for child, parent in enumerate(column.parent[:-1].tolist()):  # a parent comes after its children
        reach[parent] = max(reach[parent], reach[child])
    node = low
    while reach[node] < high - 1:
        node = int(column.parent[node])
    return not allowed_nodes(column, limit)[node]


def limits_refusal(
    limits: Sequence[ColumnLimit], cells: Sequence[NDArray[np.int64]], rows: TupleCounts, guards: Sequence[ClassGuard]
) -> Unattainable:
    """Why a table cannot be published within limits, and what would help.

    `cells` says, for each column, which of the coarsest labels that its limit allows a tuple has.
    """
    is_broken = _broken(cells, rows, guards)
    lost = int(rows.counts[is_broken].sum())
    asked = [limit for limit in limits if limit.is_set]
    helpful = []
    for j, limit in enumerate(limits):
        if (
            limit.is_set
            and not _broken([np.zeros_like(c) if i == j else c for i, c in enumerate(cells)], rows, guards).any()
        ):
            helpful.append(f'"{limit.name}"')
    relaxed = f"Relax the limit of {' or of '.join(helpful)}" if len(asked) > 1 and helpful else "Relax the limits"
    share = lost / max(rows.total, 1)
    return Unattainable(
        f"with {', '.join(map(str, asked))}, {lost:,} of {rows.total:,} rows are in classes that do not hold "
        f"{' and '.join(map(str, guards))}, even if nothing else is published. {relaxed}, or let such rows go "
        f"(--scope global --suppress {_rounded_up(share)})."
    )


def _broken(cells: Sequence[NDArray[np.int64]], rows: TupleCounts, guards: Sequence[ClassGuard]) -> NDArray[np.bool_]:
    """Which tuples of the table are in cells that break a guard."""
    cell_of = np.unique(np.column_stack(cells), axis=0, return_inverse=True)[1].ravel()
    holds = passing(guards, cell_of, int(cell_of.max()) + 1, rows)
    return ~holds[cell_of] & (rows.counts > 0)


def _rounded_up(share: float) -> float:
    """A share with two digits, not below it, and below 1.

    >>> _rounded_up(0.00437), _rounded_up(0.5), _rounded_up(1.0)
    (0.0044, 0.5, 0.99)
    """
    if share <= 0:
        return 0.01
    digits = 1 - math.floor(math.log10(share))
    rounded: float = round(math.ceil(share * 10**digits - 1e-9) / 10**digits, digits)
    return min(rounded, 0.99)


def _too_fine(limit: ColumnLimit, least: float) -> Unattainable:
    hint = f"Allow {least:g} or more, or a smaller k." if math.isfinite(least) else "Drop the limit, or ask for a smaller k."
    return Unattainable(
        f'the finest labels of column "{limit.name}" are wider than {limit.widest:g}: it cannot be published so finely. {hint}'
    )


def _too_wide(
    limit: ColumnLimit, widths: NDArray[np.float64], rows: NDArray[np.float64], is_bounded: np.bool_
) -> Unattainable:
    """The finest labels that k rows answer for are too wide; the outermost of a column with bounds reach up to those."""
    assert limit.widest is not None
    is_wide = widths > _with_slack(limit.widest)
    held = f"{int(rows[: len(widths)][is_wide].sum()):,} of {int(rows.sum()):,} rows"
    allow = f"allow {widths.max():g} or more, or a smaller k"
    if is_bounded and not is_wide[1:-1].any():
        return Unattainable(
            f'the outermost labels of column "{limit.name}" reach to its bounds, and are up to {widths.max():g} wide where it '
            f"may be {limit.widest:g} at most: {held} are in them. Give it tighter bounds in the schema, or none (then they are "
            f"open, and count up to the outermost cut); or {allow}."
        )
    return Unattainable(
        f'the finest labels of column "{limit.name}" that enough rows share are up to {widths.max():g} wide where it may be '
        f"{limit.widest:g} at most: {held} are in wider ones. {allow.capitalize()}."
    )


def _ends(bins: CutBins) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where each bin begins and ends; an open one at the outermost cut."""
    low, high = bins.edges[:-1].copy(), bins.edges[1:].copy()
    if len(bins.cuts):
        low, high = np.maximum(low, bins.cuts[0]) if np.isinf(low[0]) else low, high
        high = np.minimum(high, bins.cuts[-1]) if np.isinf(high[-1]) else high
    return low, high


def _widths(tree: Hierarchy) -> NDArray[np.float64]:
    """From where to where the intervals under each node reach; what is no interval reaches nowhere."""  # (nodes,)
    assert tree.edges is not None
    m = len(tree.edges) - 1
    low, high = np.full(len(tree.nodes), np.inf), np.full(len(tree.nodes), -np.inf)
    low[:m], high[:m] = tree.edges[:-1], tree.edges[1:]
    for node, above in enumerate(tree.parent[:-1].tolist()):  # a parent comes after its children
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    widths: NDArray[np.float64] = np.maximum(high - low, 0)
    return widths


def _with_slack(widest: float) -> float:
    """A width with room for the rounding of floats."""
    return widest * (1 + 1e-9)
