"""The law of choices in blocks of rows: a value of each column for every block, drawn one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

__all__ = ["BlockChoiceLaw"]

BlockCounts = Sequence[NDArray[np.int64]]  # (blocks, values) for each column


@dataclass(frozen=True)
class BlockChoiceLaw:
    """P(value of a block and column) is proportional to exp(count / scale), independently of all others."""

    scale: Fraction

    def loss(self, released: NDArray[np.int64], exact: BlockCounts, other: BlockCounts) -> float:
        losses = self._losses(exact, other)
        return float(sum(np.take_along_axis(each, released[:, j : j + 1], axis=1).sum() for j, each in enumerate(losses)))

    def worst(self, exact: BlockCounts, other: BlockCounts) -> tuple[float, float]:
        """Draws are independent, so the worst of all is the sum of the worst of each."""
        losses = self._losses(exact, other)
        return float(sum(each.max(axis=1).sum() for each in losses)), float(
            sum((-each).max(axis=1).sum() for each in losses)
        )

    def precision(self, exact: BlockCounts, other: BlockCounts) -> Fraction:
        return Fraction(0)

    def form(self, exact: BlockCounts) -> object:
        return tuple(column.shape for column in exact)

    def _losses(self, exact: BlockCounts, other: BlockCounts) -> list[NDArray[np.float64]]:
        """Of each value of each block, (blocks, values) for each column."""
        return [self._log_shares(one) - self._log_shares(two) for one, two in zip(exact, other, strict=True)]

    def _log_shares(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        behind = (counts - counts.max(axis=1, keepdims=True)) / float(self.scale)
        shares: NDArray[np.float64] = behind - np.log(np.exp(behind).sum(axis=1, keepdims=True))
        return shares
