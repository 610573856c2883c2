"""The columns that a specialization cuts into blocks: trees of labels, and bins of ordered numbers that the search splits.

A cut of a column is a set of blocks that hold each of its codes once. A block knows how it can be specialized: a block of a
tree has one way, into its children; a block of ordered codes has one way for each place between two codes.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.scale import CutBins
from cloister.anonymization.searching.bin_reach import bin_reach, finite_unit
from cloister.schema.hierarchies import Hierarchy

__all__ = ["BinColumn", "Block", "BlockColumn", "TreeColumn", "blocks_of", "offsets_of"]

_NO_COSTS = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """A set of codes that are published as one label.

    `within` says which child (of a tree) or which place (in an order) each of its codes has among `slots`. `after` are the
    losses of the children of a tree; `left` and `right` the losses on both sides of each threshold of an order.
    """

    column: int
    node: int  # of the tree, -1 in an order
    codes: NDArray[np.int32]  # (c,)
    label: str
    loss: float
    slots: int = 0
    within: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))  # (c,)
    after: NDArray[np.float64] = field(default_factory=lambda: _NO_COSTS)  # (slots,) of a tree
    left: NDArray[np.float64] = field(default_factory=lambda: _NO_COSTS)  # (slots - 1,) of an order
    right: NDArray[np.float64] = field(default_factory=lambda: _NO_COSTS)  # (slots - 1,)

    is_tree: bool = field(init=False)  # all children are made in one step
    ways: int = field(init=False)  # in how many ways it can be specialized

    def __post_init__(self) -> None:
        object.__setattr__(self, "is_tree", self.node >= 0)
        object.__setattr__(self, "ways", min(self.slots, 1) if self.is_tree else max(self.slots - 1, 0))


class BlockColumn(Protocol):
    """What the search asks of a column."""

    leaves: int
    is_numeric: bool  # distances are those of numbers

    @property
    def root(self) -> Block: ...
    def children(self, block: Block, way: int) -> tuple[Block, ...]: ...
    def squares(self, block: Block) -> NDArray[np.float64]: ...
    def side_squares(self, block: Block, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...


def blocks_of(number: int, column: Hierarchy | CutBins) -> TreeColumn | BinColumn:
    """The blocks of the column with this number."""
    return TreeColumn(number, column) if isinstance(column, Hierarchy) else BinColumn(number, column)


class TreeColumn:
    """A column with a hierarchy: one block a node."""

    def __init__(self, column: int, tree: Hierarchy) -> None:
        self.leaves = tree.leaves
        loss = tree.loss
        below: list[list[int]] = [[] for _ in tree.nodes]
        for node, above in enumerate(tree.parent[:-1].tolist()):
            below[above].append(node)
        codes_under: list[NDArray[np.int32]] = []
        blocks: list[Block] = []
        for node, label in enumerate(tree.nodes):
            kids = below[node]
            if not kids:
                codes_under.append(np.array([node], np.int32))
                blocks.append(Block(column, node, codes_under[node], label, 0.0))
                continue
            codes = np.concatenate([codes_under[kid] for kid in kids])
            within = np.repeat(np.arange(len(kids), dtype=np.int32), [len(codes_under[kid]) for kid in kids])
            codes_under.append(codes)
            blocks.append(Block(column, node, codes, label, float(loss[node]), len(kids), within, loss[kids]))
        self._blocks = blocks
        self._below = below
        self.is_numeric = tree.edges is not None
        self._middle = _middles(tree)  # (leaves,)

    @property
    def root(self) -> Block:
        """The block that holds everything."""
        return self._blocks[-1]

    def children(self, block: Block, way: int) -> tuple[Block, ...]:
        """The blocks that replace a block."""
        return tuple(self._blocks[kid] for kid in self._below[block.node])

    def squares(self, block: Block) -> NDArray[np.float64]:
        """Squared distance of each code: of a number to the middle, of a label (leaves under the block - 1)/(leaves - 1)."""
        if not self.is_numeric:
            return np.full(len(block.codes), block.loss**2)
        return _to_middle(self._middle, block)

    def side_squares(self, block: Block, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """A tree has no thresholds."""
        return np.zeros(0), np.zeros(0)


class BinColumn:
    """A column of bins: a block is an interval of them. The first split separates nulls from numbers."""

    def __init__(self, column: int, bins: CutBins) -> None:
        self.leaves = bins.leaves
        self.is_numeric = True
        self._column = column
        self._bins = bins
        self._intervals: dict[tuple[int, int], Block] = {}
        self._low, self._high = bin_reach(bins)
        self._span = float(self._high[-1] - self._low[0]) or 1.0
        middles = (self._low + self._high) / 2
        self._middle = np.append(middles, middles.mean())[: bins.leaves]

    @property
    def root(self) -> Block:
        """The block that holds everything."""
        m = self._bins.count
        if not self._bins.has_null:
            return self._interval(0, m)
        codes = np.arange(m + 1, dtype=np.int32)
        numbers = self._interval(0, m)
        within = (codes == m).astype(np.int32)
        return Block(self._column, 0, codes, "*", 1.0, 2, within, np.array([numbers.loss, 0.0]))

    def children(self, block: Block, way: int) -> tuple[Block, ...]:
        """The blocks that replace a block."""
        m = self._bins.count
        if block.is_tree:
            return self._interval(0, m), Block(self._column, 1, np.array([m], np.int32), "", 0.0)
        low, high = int(block.codes[0]), int(block.codes[-1]) + 1
        return self._interval(low, low + way + 1), self._interval(low + way + 1, high)

    def parted(self, borders: Sequence[int]) -> list[Block]:
        """The intervals of bins between borders, and the nulls."""
        m = self._bins.count
        nulls = [Block(self._column, 1, np.array([m], np.int32), "", 0.0)] if self._bins.has_null else []
        return [*(self._interval(low, high) for low, high in itertools.pairwise(borders)), *nulls]

    def squares(self, block: Block) -> NDArray[np.float64]:
        """Squared distance of each code to the middle of the block, over the squared range of the column."""
        return _to_middle(self._middle, block)

    def side_squares(self, block: Block, rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Mean squared distance of the rows on both sides of each threshold to the middle of their side."""
        values = self._middle[block.codes]
        mean = float(values.mean())  # centred: the moments below cancel less
        span = float(np.ptp(self._middle)) or 1.0
        return _side(values - mean, rows, span), _side(values[::-1] - mean, rows[::-1], span)[::-1]

    def _interval(self, low: int, high: int) -> Block:
        block = self._intervals.get((low, high))
        if block is None:
            block = self._intervals[low, high] = self._make_interval(low, high)
        return block

    def _make_interval(self, low: int, high: int) -> Block:
        first, last = self._low[low:high], self._high[low:high]
        codes = np.arange(low, high, dtype=np.int32)
        loss = float(last[-1] - first[0]) / self._span
        label = self._bins.label(low, high)
        if high - low == 1:
            return Block(self._column, -1, codes, label, loss)
        left, right = (last[:-1] - first[0]) / self._span, (last[-1] - first[1:]) / self._span
        return Block(self._column, -1, codes, label, loss, high - low, codes - np.int32(low), _NO_COSTS, left, right)


def _middles(tree: Hierarchy) -> NDArray[np.float64]:
    """The middle of each leaf of numbers; a null lies in the middle of everything."""
    if tree.edges is None:
        return np.zeros(0)
    edges = tree.edges / finite_unit(tree.edges)
    middles: NDArray[np.float64] = (edges[:-1] + edges[1:]) / 2
    return np.append(middles, middles.mean())[: tree.leaves]


def _to_middle(middles: NDArray[np.float64], block: Block) -> NDArray[np.float64]:
    span = float(np.ptp(middles)) or 1.0
    inside = middles[block.codes]
    squares: NDArray[np.float64] = ((inside - (inside.min() + inside.max()) / 2) / span) ** 2
    return squares


def _side(values: NDArray[np.float64], rows: NDArray[np.float64], span: float) -> NDArray[np.float64]:
    """For every proper prefix of the values: mean squared distance of its rows to its middle, over the squared span."""
    if len(values) < 2:
        return np.zeros(0)
    total, first, second = (np.cumsum(rows * values**power)[:-1] for power in range(3))
    middle = (values[0] + values[:-1]) / 2
    squares = second - 2 * middle * first + middle**2 * total
    result: NDArray[np.float64] = np.maximum(squares, 0) / np.maximum(total, 1) / span**2
    return result


def offsets_of(columns: Sequence[BlockColumn]) -> NDArray[np.int32]:
    """Where the codes of each column begin when all share one range."""  # (q + 1,)
    return np.concatenate([[0], np.cumsum([column.leaves for column in columns])]).astype(np.int32)
