"""Sums and sums of squares of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.centers import BallClip, Clip
from cloister.schema import Neighbours

__all__ = ["Moments"]

SQUARE_BITS = 20


@dataclass(frozen=True, slots=True)
class Moments:
    """The sum of each column, and the sum of its squares.

    Attributes
    ----------
    clip
        Where every encoded row lies: the encoding has clipped it there.
    columns
        How many columns there are.

    Privacy: a row adds itself, which the clip bounds, and its squares, rounded down to multiples of 2**shift. In a box each
    square lies between 0 and its column's limit, so that replacing a row moves it by no more than adding one; in a ball the
    squares of a row add up to at most the squared radius, and replacing one takes and gives that much.
    """

    clip: Clip
    columns: int

    @property
    def limits(self) -> list[int]:
        """The most that one row adds to the squares: of each column in a box, of all together in a ball."""
        halves = [self.clip.radius] if isinstance(self.clip, BallClip) else list(self.clip.halves)
        return [half**2 >> self.shift for half in halves]

    @property
    def shift(self) -> int:
        """Squares are counted in units of 2**shift grid steps squared."""
        widest = self.clip.radius if isinstance(self.clip, BallClip) else max(self.clip.halves)
        return max(0, (widest**2).bit_length() - SQUARE_BITS)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"sums": (self.columns,), "squares": (self.columns,)}

    def fold(self, rows: Encoded) -> Summary:
        numbers = rows.numbers.astype(np.int64)
        return Summary({"sums": numbers.sum(axis=0), "squares": (numbers * numbers >> self.shift).sum(axis=0)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        sums = Change(self.clip.l1, self.clip.l2_squared)
        squares = Change(sum(self.limits), sum(limit**2 for limit in self.limits))
        if neighbours is Neighbours.REPLACE_ONE:
            sums = Change(2 * sums.l1, 4 * sums.l2_squared)
            if isinstance(self.clip, BallClip):
                squares = Change(2 * squares.l1, 2 * squares.l2_squared)
        return Sensitivity(({"sums": sums, "squares": squares},))
