"""What a step of a specialization gains: information / (1 + anonymity lost).

Information is a fall of the table's cost (loss, squared distance), a rise of its entropy, or what its columns tell more
about a target. A suppressed row costs as much as a row published as ``*`` in every column.

References
----------
LETEO, section 3.2.2, eq. 3.1 to 3.5; there the sign of 3.3 is reversed: the gain is entropy after minus entropy before.
Fung, Wang, Yu, Top-down specialization for information and privacy preservation, 2005 (class information).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.searching.column_blocks import Block, BlockColumn

__all__ = ["Costs", "Gain", "class_information", "loss_costs", "square_costs"]


class Gain(StrEnum):
    """What is meant by information."""

    ENTROPY = "entropy"
    DISTANCE = "distance"
    LOSS = "loss"
    CLASS = "class"


@dataclass(frozen=True, slots=True, eq=False)
class Costs:
    """What a row costs in each block, in each child of a tree, and on both sides of each threshold."""

    before: NDArray[np.float64]  # (blocks,)
    after: NDArray[np.float64]  # (slots,)
    left: NDArray[np.float64]  # (candidates,)
    right: NDArray[np.float64]  # (candidates,)

    def weighted(self, weights: NDArray[np.float64], slots: NDArray[np.int64], ways: NDArray[np.int64]) -> Costs:
        """The costs by the weight of the column of each block, which has so many slots and ways."""
        by_way = np.repeat(weights, ways)
        return Costs(self.before * weights, self.after * np.repeat(weights, slots), self.left * by_way, self.right * by_way)


_ZERO = np.zeros(1)


def loss_costs(blocks: Sequence[Block]) -> Costs:
    """The loss of every block: (leaves under it - 1) / (leaves - 1)."""
    return Costs(
        np.array([block.loss for block in blocks]),
        _joined([block.after if block.is_tree else np.zeros(block.slots) for block in blocks]),
        _joined([block.left if not block.is_tree else _ZERO[: block.ways] for block in blocks]),
        _joined([block.right if not block.is_tree else _ZERO[: block.ways] for block in blocks]),
    )


def square_costs(blocks: Sequence[Block], columns: Sequence[BlockColumn], counts: Sequence[NDArray[np.float64]]) -> Costs:
    """The mean squared distance of the rows of every block to it; `counts` counts the rows of each code of each column."""
    before, after, left, right = [], [], [], []
    for block in blocks:
        column, rows = columns[block.column], counts[block.column]
        if not column.is_numeric:  # a label is equally far from every value under it
            before.append(block.loss**2)
            after.append(block.after**2)
        else:
            before.append(_mean(column.squares(block), rows[block.codes]))
            parts = column.children(block, 0) if block.is_tree and block.slots else ()
            means = [_mean(column.squares(part), rows[part.codes]) for part in parts]
            after.append(np.array(means) if parts else np.zeros(block.slots))
        sides = (np.zeros(block.ways),) * 2 if block.is_tree else column.side_squares(block, rows[block.codes])
        left.append(sides[0])
        right.append(sides[1])
    return Costs(np.array(before), _joined(after), _joined(left), _joined(right))


def class_information(blocks: Sequence[Block], counts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Bits times rows by which each candidate lowers the entropy of the class; `counts` counts codes by class."""
    falls = []
    for block in blocks:
        if not block.ways:
            continue
        rows = counts[block.column][block.codes]  # (codes, classes)
        whole = _impurity(rows.sum(axis=0))
        if block.is_tree:
            parts = np.zeros((block.slots, rows.shape[1]))
            np.add.at(parts, block.within, rows)
            falls.append(np.array([whole - _impurity(parts).sum()]))
        else:
            under = np.cumsum(rows, axis=0)[:-1]
            falls.append(whole - _impurity(under) - _impurity(rows.sum(axis=0) - under))
    return _joined(falls)


def _impurity(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Entropy in bits times rows, along the last axis."""
    total = counts.sum(axis=-1)
    result: NDArray[np.float64] = _times_log(total) - _times_log(counts).sum(axis=-1)
    return result


def _times_log(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    result: NDArray[np.float64] = counts * np.log2(np.maximum(counts, 1))
    return result


def _mean(squares: NDArray[np.float64], rows: NDArray[np.float64]) -> float:
    total = float(rows.sum())
    return float((squares * rows).sum() / total) if total else 0.0


def _joined(parts: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    return np.concatenate(parts) if parts else np.zeros(0)
