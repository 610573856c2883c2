"""The exponential mechanism over blocks of rows: a value of each category column for every block, in one release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.privacy import noise
from cloister.privacy.events import ExponentialEvent
from cloister.privacy.mechanisms.base import checked_scale
from cloister.privacy.observing import release_observed

__all__ = ["REACH", "BlockModes"]

REACH = 2  # two counts of a block and column that one replaced row moves apart: one loses a row, another gains one


@dataclass(frozen=True, slots=True)
class BlockModes:
    """For each of `blocks` blocks and each of `columns` columns a value with P(value) ~ exp(count / scale), drawn exactly.

    Privacy: under replace-one a row that is replaced changes at most one row of each block, which moves two counts of a column at
    most 2 apart. All blocks can change at once and a row has every column, so the draws add up: blocks * columns * 2 / scale.
    """

    blocks: int
    columns: int
    scale: Fraction

    def __post_init__(self) -> None:
        # at a smaller scale the draw would not be exact any more, and a larger one is safe
        object.__setattr__(self, "scale", max(checked_scale(self.scale), noise.SMALLEST_SCALE))

    @classmethod
    def spending(cls, epsilon: Fraction, blocks: int, columns: int) -> BlockModes:
        """The draws that this epsilon buys, all together."""
        return cls(blocks, columns, Fraction(REACH * blocks * columns) / epsilon)

    def event(self, step: str) -> ExponentialEvent:
        """What all draws cost."""
        return ExponentialEvent(step, REACH * self.blocks * self.columns / self.scale)

    def apply(self, counts: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """The values, (blocks, columns). counts : how many rows of each block hold each value, (blocks, values) a column."""

        def draw() -> NDArray[np.int64]:
            return np.stack([noise.choose(np.ascontiguousarray(column), self.scale) for column in counts], axis=1)

        return release_observed(self, tuple(counts), draw)
