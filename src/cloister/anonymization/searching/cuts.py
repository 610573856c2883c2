"""A cut through every column and the classes that it makes: weigh its candidates, take one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.column_blocks import BinColumn, Block, BlockColumn, blocks_of, offsets_of
from cloister.anonymization.searching.gains import Gain, class_information, loss_costs, square_costs
from cloister.anonymization.searching.guards import ClassGuard, KAnonymity, passing
from cloister.kernels.loops import partition_numpy
from cloister.kernels.loops.choose import partition_loops, pays_to_partition_compiled
from cloister.schema.hierarchies import Hierarchy

__all__ = ["Candidates", "Cut", "Workspace"]

_NO_CLASS = np.iinfo(np.int64).max  # the smallest class size where there is no class, as in the loops


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """A set of blocks for every column, and the classes of tuples that are still published."""

    blocks: tuple[Block, ...]
    block: NDArray[np.int32]  # (codes,) which block holds a code
    within: NDArray[np.int32]  # (codes,) its slot in that block
    rows: NDArray[np.int64]  # (t',) tuples, class by class
    starts: NDArray[np.int64]  # (classes + 1,)
    lost: int  # rows suppressed
    worth: float  # information gained since the root
    steps: int = 0
    mark: int = 0  # equal for equal cuts, however they were reached
    refused: frozenset[int] = frozenset()  # keys of candidates that broke a guard: in a finer cut they break it too
    by_code: NDArray[np.float64] | None = None  # (classes, codes) rows; None where the compiled loops do the work

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class of each of `rows`."""
        return np.repeat(np.arange(len(self.starts) - 1), np.diff(self.starts))


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """What could be specialized next, one entry a way."""

    block: NDArray[np.int64]  # (c,)
    way: NDArray[np.int64]
    lost: NDArray[np.int64]  # rows that would be suppressed
    information: NDArray[np.float64]
    score: NDArray[np.float64]  # information / (1 + anonymity lost)
    is_open: NDArray[np.bool_]  # keeps k within the suppression, and gains something for what it suppresses


class Workspace:
    """A histogram and its columns, ready to be cut."""

    def __init__(
        self,
        rows: TupleCounts,
        columns: Sequence[Hierarchy | CutBins],
        k: int,
        guards: Sequence[ClassGuard],
        gain: Gain,
        allowed: int,
        weights: Sequence[float] = (),
    ) -> None:
        self.rows = rows
        self.columns = columns
        self.blocks: list[BlockColumn] = [blocks_of(j, column) for j, column in enumerate(columns)]
        self.offsets = offsets_of(self.blocks)
        self.flat = rows.codes + self.offsets[:-1]  # (t, q)
        self.k, self.gain, self.allowed = k, gain, allowed
        # rows alone are counted while weighing; whatever else must hold is checked when a candidate is taken
        self.guards: list[ClassGuard] = [KAnonymity(k), *guards] if rows.persons is not None else list(guards)
        self.total = rows.total
        self.weights = np.array(weights) if weights else np.ones(len(columns))  # (q,) of mean 1
        self.is_weighted = bool((self.weights != 1).any())
        self._one_class = np.zeros(len(rows.codes), np.int32)

    def root(self) -> Cut | None:
        """Everything in one class; None if even that breaks a guard."""
        return self.start([column.root for column in self.blocks])

    def start(self, blocks: Sequence[Block]) -> Cut | None:
        """The cut of some blocks, which hold every code once; None if it breaks a guard beyond what may be suppressed."""
        block = np.empty(int(self.offsets[-1]), np.int32)
        within = np.zeros(len(block), np.int32)
        for at, each in enumerate(blocks):
            block[self.offsets[each.column] + each.codes] = at
            within[self.offsets[each.column] + each.codes] = each.within if each.slots else 0
        parted = [j for j in range(len(self.blocks)) if sum(each.column == j for each in blocks) > 1]
        block_of = block[self.flat[:, parted]]  # (t, parted columns)
        rows = np.lexsort(block_of.T[::-1]) if parted else np.arange(len(self.rows.codes))
        begins = (np.diff(block_of[rows], axis=0) != 0).any(axis=1)
        starts = np.concatenate([[0], np.flatnonzero(begins) + 1, [len(rows)]])
        cut = Cut(tuple(blocks), block, within, rows, starts, 0, 0.0)
        if self.total < self.k:
            return None
        sizes = np.add.reduceat(self.rows.counts[rows], starts[:-1])
        holds = (sizes >= self.k) & self._passing(cut.labels, len(sizes), rows)
        if not holds.all():
            cut = replace(cut, lost=int(sizes[~holds].sum()))
            if cut.lost > self.allowed or not holds.any():
                return None
            rows = rows[holds[cut.labels]]
            starts = np.concatenate([[0], np.cumsum(np.diff(starts)[holds])])
        loss = np.array([each.loss for each in blocks])
        kept = (self.weights * (1 - loss[block[self.flat[rows]]])).sum(axis=1) @ self.rows.counts[rows]
        worth = float(kept) / (self.total * len(self.blocks)) if parted else 0.0
        return replace(cut, rows=rows, starts=starts, worth=worth, by_code=self._by_code(cut, rows, starts))

    def weigh(self, cut: Cut) -> Candidates:
        """The gain of everything that could be specialized next."""
        blocks = cut.blocks
        slots = np.array([block.slots for block in blocks])
        ways = np.array([block.ways for block in blocks])
        first = np.concatenate([[0], np.cumsum(slots)])
        first_candidate = np.concatenate([[0], np.cumsum(ways)])
        column = np.array([block.column for block in blocks])
        costs = loss_costs(blocks)
        if self.gain is Gain.DISTANCE:
            costs = square_costs(blocks, self.blocks, self._count_codes(cut))
        if self.is_weighted:
            costs = costs.weighted(self.weights[column], slots, ways)
        # for the loops to fill in: rows lost, smallest class made, smallest class now; then fall of cost, rise of entropy
        lost, low, floor = (
            np.zeros(ways.sum(), np.int64),
            np.full(ways.sum(), _NO_CLASS),
            np.full(len(blocks), _NO_CLASS),
        )
        relief, spread = np.zeros(ways.sum()), np.zeros(ways.sum())
        slot = (first[cut.block] + cut.within).astype(np.int32)
        is_tree = np.array([block.is_tree for block in blocks])
        if cut.by_code is not None:
            partition_numpy.weigh(
                cut.by_code, self.flat, self.rows.counts, cut.rows, cut.starts, cut.block, slot, first, first_candidate,
                is_tree, costs.before, costs.after, costs.left, costs.right, self.k, lost, relief, low, floor,
            )  # fmt: skip
        else:
            partition_loops().weigh(
                self.flat, self.rows.counts, cut.rows, cut.starts, cut.block, slot, first, first_candidate,
                is_tree, costs.before, costs.after, costs.left, costs.right, self.k, self.gain is Gain.ENTROPY,
                lost, relief, spread, low, floor,
            )  # fmt: skip
        block = np.repeat(np.arange(len(blocks)), ways)
        way = np.arange(ways.sum()) - first_candidate[block]
        information = self._information(cut, lost, relief, spread, block)
        if self.is_weighted and self.gain in (Gain.ENTROPY, Gain.CLASS):
            information = information * self.weights[column[block]]
        # a block that no row is in changes nothing: a calendar of a century has thousands of them, each a free step
        held = np.flatnonzero(floor[block] != _NO_CLASS)
        block, way, lost, low, information = block[held], way[held], lost[held], low[held], information[held]
        others = np.empty_like(floor)
        loops_for(cut).floor_of_others(floor, column, len(self.blocks), others)
        anonymity = np.minimum(low, others[block])
        score = information / (1.0 + np.maximum(floor.min() - anonymity, 0))
        is_open = (cut.lost + lost <= self.allowed) & ((lost == 0) | (information > 0))
        for i in np.flatnonzero(is_open) if cut.refused else ():
            is_open[i] = self.key(cut, int(block[i]), int(way[i])) not in cut.refused
        return Candidates(block, way, lost, information, score, is_open)

    def take(self, cut: Cut, block: int, way: int, information: float, expected: int = 0) -> Cut | None:
        """The cut after a candidate; None if it breaks a guard beyond what may be suppressed.

        `expected` rows were counted as lost when the candidate was weighed. Each further row, lost to a guard, takes one
        row's share off the information.
        """
        old = cut.blocks[block]
        parts = self.blocks[old.column].children(old, way)
        child = np.full(len(cut.block), -1, np.int32)
        after, within = cut.block.copy(), cut.within.copy()
        for rank, part in enumerate(parts):
            where = self.offsets[old.column] + part.codes
            child[where] = rank
            after[where] = block if rank == 0 else len(cut.blocks) + rank - 1
            within[where] = part.within if part.slots else 0
        blocks = (*cut.blocks[:block], parts[0], *cut.blocks[block + 1 :], *parts[1:])
        rows, starts, sizes = np.empty_like(cut.rows), np.empty(len(cut.rows) + 1, np.int64), np.empty_like(cut.rows)
        classes = loops_for(cut).split(
            self.flat, self.rows.counts, cut.rows, cut.starts, old.column, child, len(parts), rows, starts, sizes
        )
        starts, sizes = starts[: classes + 1], sizes[:classes]
        by_code = self._by_code(cut, rows, starts)
        holds = sizes >= self.k
        if self.guards:
            labels = np.repeat(np.arange(classes), np.diff(starts))
            holds &= self._passing(labels, classes, rows)
        lost = cut.lost
        if not holds.all():
            lost += int(sizes[~holds].sum())
            if lost > self.allowed:
                return None
            information -= (lost - cut.lost - expected) / self.total
            rows = rows[np.repeat(holds, np.diff(starts))]
            starts = np.concatenate([[0], np.cumsum(np.diff(starts)[holds])])
            by_code = None if by_code is None else by_code[holds]
        return replace(
            cut, blocks=blocks, block=after, within=within, rows=rows, starts=starts, lost=lost,
            worth=cut.worth + information, steps=cut.steps + 1, mark=self.mark(cut, block, way), by_code=by_code,
        )  # fmt: skip

    def parts_blanks(self, block: Block) -> bool:
        """Whether the step of a block parts the blanks of an ordered column from its numbers."""
        return block.is_tree and block.slots > 0 and isinstance(self.blocks[block.column], BinColumn)

    def mark(self, cut: Cut, block: int, way: int) -> int:
        """A number for the cut after a candidate, the same whatever the order of the steps to it."""
        return (cut.mark + self.key(cut, block, way)) % (1 << 61)

    def key(self, cut: Cut, block: int, way: int) -> int:
        """A number for a candidate, the same in every cut that has it."""
        old = cut.blocks[block]
        place = (old.node,) if old.is_tree else (-1, int(old.codes[0]) + way)
        return hash((old.column, *place))

    def _by_code(self, cut: Cut, rows: NDArray[np.int64], starts: NDArray[np.int64]) -> NDArray[np.float64] | None:
        """Rows by code of each class after a step from a cut, as long as that is cheaper than loading compiled loops."""
        codes = int(self.offsets[-1])
        if self.gain is Gain.ENTROPY or pays_to_partition_compiled(self.flat.size + (len(starts) - 1) * codes):
            return None
        if cut.by_code is None:
            return partition_numpy.count_codes(self.flat, self.rows.counts, rows, starts, codes)
        return partition_numpy.split_counts(cut.by_code, self.flat, self.rows.counts, cut.starts, rows, starts)

    def _passing(self, labels: NDArray[np.int64], classes: int, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        return passing(self.guards, labels, classes, self.rows.take(rows)) if self.guards else np.ones(classes, bool)

    def _information(
        self,
        cut: Cut,
        lost: NDArray[np.int64],
        relief: NDArray[np.float64],
        spread: NDArray[np.float64],
        block: NDArray[np.int64],
    ) -> NDArray[np.float64]:
        if self.gain is Gain.ENTROPY:  # the suppressed rows are one class
            return (spread + _times_log(cut.lost) - _times_log(cut.lost + lost)) / float(self.total)
        if self.gain is Gain.CLASS:
            counts = self._count_codes(cut, by_class=True)
            rows = np.array([counts[each.column][each.codes].sum() for each in cut.blocks])[block]
            information = class_information(cut.blocks, counts) / float(self.total)
            kept: NDArray[np.float64] = information * (1 - lost / np.maximum(rows, 1))  # a suppressed row tells nothing
            return kept
        return relief / float(self.total * len(self.blocks))

    def _count_codes(self, cut: Cut, by_class: bool = False) -> list[NDArray[np.float64]]:
        """Rows still published by code of each column, and by class."""
        if self.gain is Gain.DISTANCE and not any(column.is_numeric for column in self.blocks):
            return [np.zeros(0)] * len(self.blocks)  # a label is equally far from all its values: counts do not matter
        target = self.rows.target if by_class and self.rows.target is not None else self._one_class
        counts = np.zeros((int(self.offsets[-1]), int(target.max(initial=0)) + 1))
        loops_for(cut).tally(self.flat, self.rows.counts, cut.rows, target, counts)
        parts = np.split(counts, self.offsets[1:-1])
        return parts if by_class else [part[:, 0] for part in parts]


def loops_for(cut: Cut) -> ModuleType:
    """The loops for a cut, compiled or in NumPy: both give the same numbers."""
    return partition_loops() if cut.by_code is None else partition_numpy


def _times_log(counts: int | NDArray[np.int64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = np.asarray(counts * np.log2(np.maximum(counts, 1)), np.float64)
    return result
