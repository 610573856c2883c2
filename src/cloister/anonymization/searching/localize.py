"""Local recoding by rounds: every row is published as finely as some k rows allow.

Each round takes the finest recoding under which at least a small share of the rows that are left lie in classes that hold
every guard. Those rows are done; the others go on. What is left at the end joins the class where it costs least, classes
are refined further inside where the guards allow, and every class is published as the closest labels its rows share. No
row is lost.

Notes
-----
Local recoding gives more away than a global one: published values overlap (a row may be ``[20, 30)`` or ``[20, 25)``), and
who knows the procedure may argue from what was *not* published finer (minimality and downcoding attacks).

References
----------
Wong et al., Minimality attack in privacy preserving data publishing, 2007. Cohen, Attacks on deidentification's defenses,
2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.put_on_grid import put_on_grid
from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import ClassGuard, KAnonymity, passing, sizes
from cloister.anonymization.searching.lattice import (
    binary_tree,
    level_costs,
    limit_for,
    loss_by_places,
    loss_by_values,
    vectors_by_cost,
)
from cloister.anonymization.searching.limits import (
    ColumnLimit,
    allowed_nodes,
    check_limit,
    limits_refusal,
    parts_of,
    reaches_too_far,
)
from cloister.anonymization.searching.make_recoding import make_local
from cloister.anonymization.searching.round_search import RoundSearch, mixed
from cloister.anonymization.searching.specialize import refusal
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import Unattainable, UsageError
from cloister.schema.hierarchies import Hierarchy
from cloister.work_done import counted

__all__ = ["Localization", "localize"]

SHARE = 0.003
_TRIES = 20  # classes that a left-over tuple may be offered to


@dataclass(frozen=True, slots=True, eq=False)
class Localization:
    """The end of local recoding: a recoding, and what it does to the tuples that it was found on."""

    recoding: Recoding
    labels: NDArray[np.int64]  # (t,) the class of each tuple; perhaps -1 for one that only the population holds
    loss: float  # mean over rows and columns
    losses: tuple[float, ...]  # of each column


def localize(
    table: CountedTable,
    k: int,
    *,
    guards: Sequence[ClassGuard] = (),
    share: float = SHARE,
    weights: Sequence[float] = (),
    limits: Sequence[ColumnLimit] = (),
) -> Localization:
    """Recode a counted table locally, by rounds.

    Parameters
    ----------
    table : CountedTable
        Ordered columns are put into bins, which are halved where their rows are.
    k, guards, weights, limits
        As in `specialize`.
    share : float
        Share of the rows left that a round must finish at least.

    Privacy
    -------
    Syntactic, not differentially private. The recoding lists the tuples of the table: it is for the holder. A table that
    breaks a guard even as a whole is refused.
    """
    if not 0 <= share < 1:
        raise UsageError("the share of a round must be at least 0 and below 1.")
    grid = put_on_grid(table, k)
    order = grid.rows.order()
    grid = grid.take(order)
    rows, columns = grid.rows, grid.columns
    all_guards = [KAnonymity(k), *(guard.against(rows) for guard in guards)]
    whole = np.zeros(len(rows.codes), np.int64)
    if rows.total < k or not passing(all_guards, whole, 1, rows).all():
        raise Unattainable(refusal(rows, all_guards))
    leaf_counts = [np.bincount(rows.codes[:, j], rows.counts, c.leaves).astype(np.float64) for j, c in enumerate(columns)]
    limits = limits or [ColumnLimit(name) for name in grid.names]
    trees = [_tree(*of) for of in zip(columns, leaf_counts, limits, strict=True)]
    losses = [loss_by_places(t, c) if isinstance(c, CutBins) else t.loss for t, c in zip(trees, columns, strict=True)]
    losses = [loss * weight for loss, weight in zip(losses, weights or np.ones(len(trees)), strict=True)]
    work = _Classes(rows, trees, losses, k, all_guards, [_allowed(*of) for of in zip(trees, columns, limits, strict=True)])
    work.check_cells(limits, all_guards)
    costs = [level_costs(loss, level, n) for loss, level, n in zip(losses, work.levels, leaf_counts, strict=True)]
    labels = work.joined(
        work.refined(work.adopted(work.by_rounds(vectors_by_cost(costs, limit_for(len(rows.codes))), share)))
    )
    nodes = work.shared(labels)
    told = [loss_by_values(t, c) if isinstance(c, CutBins) else t.loss for t, c in zip(trees, columns, strict=True)]
    lost = [float(loss[nodes[labels, j]] @ rows.counts) / rows.total for j, loss in enumerate(told)]  # (q,)
    is_first = np.append(True, (rows.codes[1:] != rows.codes[:-1]).any(axis=1))  # a tuple may have several sensitive values
    recoding = make_local(grid, trees, rows.codes[is_first], labels[is_first], nodes)
    in_table_order = np.empty_like(labels)
    in_table_order[order] = labels
    return Localization(recoding, in_table_order, float(np.mean(lost)), tuple(lost))


def _tree(column: Hierarchy | CutBins, counts: NDArray[np.float64], limit: ColumnLimit) -> Hierarchy:
    """The tree of a column; intervals of bins are parted where a limit wants it before they are halved."""
    check_limit(limit, column if isinstance(column, Hierarchy) else None)
    if isinstance(column, Hierarchy):
        return column
    return binary_tree(column, counts, () if limit.widest is None else parts_of(column, counts, limit)[0])


def _allowed(tree: Hierarchy, column: Hierarchy | CutBins, limit: ColumnLimit) -> NDArray[np.bool_]:
    """Which nodes a column may be published as."""  # (nodes,)
    if not limit.is_set:
        return np.ones(len(tree.nodes), bool)
    if isinstance(column, Hierarchy):
        return allowed_nodes(tree, limit)
    m = column.count
    low, high = np.full(len(tree.nodes), m), np.zeros(len(tree.nodes), np.int64)  # blanks reach nowhere
    low[:m], high[:m] = np.arange(m), np.arange(1, m + 1)
    for node, above in enumerate(tree.parent[:-1].tolist()):  # a parent comes after its children
        low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    too_far = [high[at] > 0 and reaches_too_far(limit, column, int(low[at]), int(high[at])) for at in range(len(tree.nodes))]
    return ~np.array(too_far, bool)


class _Classes:
    """The tuples of a histogram, and ways to class them."""

    def __init__(
        self,
        rows: TupleCounts,
        trees: Sequence[Hierarchy],
        losses: Sequence[NDArray[np.float64]],
        k: int,
        guards: Sequence[ClassGuard],
        are_allowed: Sequence[NDArray[np.bool_]],
    ) -> None:
        self.rows, self.trees, self.k = rows, trees, k
        self.guards = guards if len(guards) > 1 or rows.persons is not None else ()  # counts of rows are always checked
        self.levels = [_levels(tree, allowed) for tree, allowed in zip(trees, are_allowed, strict=True)]
        self.paths = [_paths(tree) for tree in trees]
        self.losses = [np.where(allowed, loss, np.inf) for allowed, loss in zip(are_allowed, losses, strict=True)]
        tops = [level[-1][rows.codes[:, j]] for j, level in enumerate(self.levels)]  # the coarsest labels of each tuple
        self.tops = [top.astype(np.int64) for top in tops]
        self.is_limited = not all(allowed.all() for allowed in are_allowed)
        self.cell_of = np.zeros(len(rows.codes), np.int64)  # only tuples of one cell may share a class
        if self.is_limited:
            self.cell_of = np.unique(np.column_stack(tops), axis=0, return_inverse=True)[1].ravel()
        starts = np.append(True, (rows.codes[1:] != rows.codes[:-1]).any(axis=1))
        tuple_of = np.cumsum(starts) - 1  # those who hold a tuple, in the table and in the population, have one class
        self._is_held = (np.bincount(tuple_of, rows.counts) > 0)[tuple_of]

    def check_cells(self, limits: Sequence[ColumnLimit], guards: Sequence[ClassGuard]) -> None:
        """Refuse limits under which some rows are like too few others even in the coarsest labels."""
        if not self.is_limited:
            return
        number = int(self.cell_of.max()) + 1
        is_held = sizes(self.cell_of, number, self.rows.counts) > 0
        if not (passing(guards, self.cell_of, number, self.rows) | ~is_held).all():
            raise limits_refusal(limits, self.tops, self.rows, guards)

    def by_rounds(self, vectors: NDArray[np.int16], share: float) -> NDArray[np.int64]:
        """The class of each tuple, -1 for what is left in the end."""
        counts = self.rows.counts
        nodes = np.cumsum([0, *(len(tree.nodes) for tree in self.trees)])
        numbers = np.concatenate([(level + first).ravel() for level, first in zip(self.levels, nodes[:-1], strict=True)])
        offsets = np.cumsum([0, *(level.size for level in self.levels)])
        widths = np.array([tree.leaves for tree in self.trees])
        search = RoundSearch(self.rows.codes, counts, mixed(numbers), offsets, widths, vectors, self.k)
        labels, left = np.full(len(counts), -1, np.int64), np.arange(len(counts))
        at = classed = 0  # the vector to try next, classes so far
        while counts[left].any():
            wanted = int(np.ceil(share * counts[left].sum()))
            class_of = np.empty(len(left), np.int64)
            at, classes = search.advance(left, at, wanted, class_of)
            if at == len(vectors):
                break
            at += 1
            is_done = class_of >= 0
            if self.guards:
                holds = passing(self.guards, class_of[is_done], classes, self.rows.take(left[is_done]))
                is_done[is_done] = holds[class_of[is_done]]
            if not is_done.any():
                continue
            kept, renamed = np.unique(class_of[is_done], return_inverse=True)
            labels[left[is_done]] = classed + renamed
            classed += len(kept)
            left = left[~is_done]
        return self._by_cells(labels, left, classed) if self.is_limited else labels

    def _by_cells(self, labels: NDArray[np.int64], left: NDArray[np.int64], classed: int) -> NDArray[np.int64]:
        """The same with a class for each cell whose rows are all left: then every tuple has one in its cell to join."""
        cells = self.cell_of[left]
        is_whole = np.isin(cells, self.cell_of[self.rows.counts > 0]) & ~np.isin(cells, self.cell_of[labels >= 0])
        if is_whole.any():
            labels[left[is_whole]] = classed + np.unique(self.cell_of[left[is_whole]], return_inverse=True)[1]
        return labels

    def shared(self, labels: NDArray[np.int64]) -> NDArray[np.int32]:
        """The closest node above all tuples of each class, in each column."""  # (classes, q)
        order = np.argsort(labels, kind="stable")
        order = order[np.searchsorted(labels[order], 0) :]  # what is left over has no class yet
        starts = np.flatnonzero(np.append(True, np.diff(labels[order]) > 0))
        nodes = np.empty((len(starts), len(self.trees)), np.int32)
        for j, level in enumerate(self.levels):
            leaves = self.rows.codes[order, j]
            for step in level[::-1]:  # from the root down
                here = step[leaves]
                least = np.minimum.reduceat(here, starts)
                is_one = least == np.maximum.reduceat(here, starts)
                nodes[is_one, j] = least[is_one]
        return nodes

    def adopted(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Put every left-over tuple into the class where it costs least; where it breaks all near classes, merge several."""
        lone = np.flatnonzero((labels < 0) & self._is_held)
        if not len(lone):
            return labels
        labels = labels.copy()
        nodes = self.shared(labels)
        size = sizes(labels[labels >= 0], len(nodes), self.rows.counts[labels >= 0])
        # for a leaf, what joining it makes of every node, and what that costs
        meets = [
            {leaf: _meet(path, leaf) for leaf in np.unique(self.rows.codes[lone, j])} for j, path in enumerate(self.paths)
        ]
        costs = [{leaf: loss[met] for leaf, met in meet.items()} for meet, loss in zip(meets, self.losses, strict=True)]
        total = sum(loss[nodes[:, j]] for j, loss in enumerate(self.losses)) * size
        firsts = np.flatnonzero(np.append(True, (np.diff(self.rows.codes[lone], axis=0) != 0).any(axis=1)))
        for tuples in counted(
            np.split(lone, firsts[1:]), len(firsts), name="joining small classes"
        ):  # the rows of one tuple stay together
            code, count = self.rows.codes[tuples[0]], self.rows.counts[tuples].sum()
            joined_loss = sum(cost[leaf][nodes[:, j]] for j, (cost, leaf) in enumerate(zip(costs, code, strict=True)))
            rise = joined_loss * (size + count) - total
            near = np.argsort(rise, kind="stable")[:_TRIES] if self.guards else np.array([np.argmin(rise)])
            for best in near[np.isfinite(rise[near])]:
                members = np.append(np.flatnonzero(labels == best), tuples)
                if not self.guards or passing(self.guards, members * 0, 1, self.rows.take(members)).all():
                    labels[tuples] = best
                    nodes[best] = [meet[leaf][node] for meet, leaf, node in zip(meets, code, nodes[best], strict=True)]
                    size[best] += count
                    total[best] += rise[best]
                    break
        if (labels[lone] >= 0).all():
            return labels
        for cell in np.unique(self.cell_of[lone[labels[lone] < 0]]):
            self._merge_in_cell(labels, int(cell), rise)
        is_classed = labels >= 0
        labels[is_classed] = np.unique(labels[is_classed], return_inverse=True)[1]  # numbered without gaps
        return labels

    def _merge_in_cell(self, labels: NDArray[np.int64], cell: int, rise: NDArray[np.float64]) -> None:
        """Join what is left of a cell with the nearest of its classes: all of them together hold the guards, so some do."""
        is_own = self.cell_of == cell
        own = np.unique(labels[is_own & (labels >= 0)])
        number, nearest = 1, own[np.argsort(rise[own], kind="stable")]
        while True:
            joined = is_own & ((labels < 0) | np.isin(labels, nearest[:number]))
            members = np.flatnonzero(joined)
            if passing(self.guards, np.zeros(len(members), np.int64), 1, self.rows.take(members)).all():
                labels[joined] = nearest[0] if len(nearest) else labels.max() + 1
                return
            number *= 2

    def joined(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Join the classes that are published alike, which are one to whoever reads them; one that breaks a guard joins others.

        Counted by rows two classes that hold a guard hold it together. Counted by people they may not.
        """
        if self.rows.persons is None:
            return labels
        for _ in range(_TRIES):
            own = np.flatnonzero(labels >= 0)
            nodes = self.shared(labels)
            texts = np.column_stack([_text_numbers(tree)[nodes[:, j]] for j, tree in enumerate(self.trees)])
            labels = labels.copy()
            labels[own] = np.unique(texts, axis=0, return_inverse=True)[1].ravel()[labels[own]]
            holds = passing(self.guards, labels[own], int(labels.max()) + 1, self.rows.take(own))
            if holds.all():
                return labels
            if not holds.any():
                break
            labels[own] = np.where(holds[labels[own]], (np.cumsum(holds) - 1)[labels[own]], -1)
            labels = self.adopted(labels)
        return self.cell_of.copy()  # each cell (without limits: everything) is one class, which holds the guards

    def refined(self, labels: NDArray[np.int64]) -> NDArray[np.int64]:
        """Split every class along its best column, again and again, as long as all parts hold the guards."""
        own = np.flatnonzero(labels >= 0)
        rows, class_of = self.rows.take(own), labels[own]
        while True:
            nodes = self.shared(labels)
            best, part_of = np.zeros(len(nodes)), np.full(len(own), -1, np.int64)
            for j, (path, loss) in enumerate(zip(self.paths, self.losses, strict=True)):
                node = nodes[class_of, j]
                depth = np.minimum((path >= 0).sum(axis=0)[node], len(path) - 1)  # one below the node
                child = path[depth, rows.codes[:, j]]
                child = np.where(child < 0, node, child)  # a leaf has nothing below
                pairs, part = np.unique(class_of * len(path[0]) + child, return_inverse=True)
                fits = sizes(part, len(pairs), rows.counts) >= self.k
                if self.guards:
                    fits &= passing(self.guards, part, len(pairs), rows)
                relief = np.bincount(class_of, rows.counts * (loss[node] - loss[child]), len(nodes))
                relief[class_of[~fits[part]]] = 0.0
                better = relief > best + 1e-12
                best[better] = relief[better]
                part_of = np.where(better[class_of], child, part_of)
            if not best.any():
                return labels
            most = max(len(path[0]) for path in self.paths)
            class_of = np.unique(class_of * (most + 1) + part_of + 1, return_inverse=True)[1]
            labels = labels.copy()
            labels[own] = class_of


def _levels(tree: Hierarchy, are_allowed: NDArray[np.bool_]) -> NDArray[np.int32]:
    """The node of each leaf at every level up to those that are allowed."""  # (levels, leaves)
    levels = tree.levels
    for above in range(1, len(levels)):
        levels[above] = np.where(are_allowed[levels[above]], levels[above], levels[above - 1])
    is_new = np.append(True, (levels[1:] != levels[:-1]).any(axis=1))
    return levels if are_allowed.all() else levels[is_new]


def _paths(tree: Hierarchy) -> NDArray[np.int32]:
    """The ancestor of every node at every depth, the root first, itself at its own depth, then -1."""  # (depths, nodes)
    depth = tree.depth
    paths = np.full((int(depth.max()) + 1, len(tree.nodes)), -1, np.int32)
    for node in range(len(tree.nodes) - 1, -1, -1):  # parents come after their children
        if tree.parent[node] >= 0:
            paths[:, node] = paths[:, tree.parent[node]]
        paths[depth[node], node] = node
    return paths


def _text_numbers(tree: Hierarchy) -> NDArray[np.int64]:
    """A number for the text of each node."""
    return np.unique(np.array(tree.nodes, object).astype(str), return_inverse=True)[1].astype(np.int64)


def _meet(paths: NDArray[np.int32], leaf: int) -> NDArray[np.int32]:
    """The closest common ancestor of every node and a leaf."""  # (nodes,)
    shared = (paths == paths[:, [leaf]]) & (paths[:, [leaf]] >= 0)
    met: NDArray[np.int32] = paths[np.cumprod(shared, axis=0).sum(axis=0) - 1, leaf]
    return met
