"""How well rows fit public centres: for the scores that a holder sees."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.centers import BallClip, Clip, Modes, check_exact, find_nearest
from cloister.schema import Neighbours

__all__ = ["FitSums"]

WORD = 20  # bits of the low part of a square: sums of either part fit 64 bits for any number of rows
MOST_DISTANCE = 2**31  # units of distance to the farthest place: a row's distance is told to nine digits


@dataclass(frozen=True, slots=True, eq=False)
class FitSums:
    """Rows by class and nearest centre, the squares of their differences from it by column, and their distances from it.

    Attributes
    ----------
    centers
        Public centres on the grid, (k, d).
    within
        Where every encoded row lies.
    lengths
        A grid step of each column in its own units, (d,). Distances are in own units, as fixed-point numbers (`unit`).
    classes
        How many classes there are; a row's last code says which is its own. 0: rows have no class, and count as one.
    modes
        The categories of the centres, of a row's first codes: those that differ are counted too. None: there are none.

    Notes
    -----
    A square is split into two integers, its last 20 bits and the rest, which are added up apart (`squares`): the whole sum may
    have more than 64 bits. A distance is computed column by column from the row alone, so that neither batch nor engine changes
    its last bit.

    Privacy: for the holder's door. A row enters one count; each part of its squares and its distance lie between 0 and a public
    limit, so adding, removing or replacing one row moves them by at most that. Of its c categories at most c differ from those of
    its centre.
    """

    centers: NDArray[np.int32]  # (k, d)
    within: Clip
    lengths: NDArray[np.float64]  # (d,)
    classes: int = 0
    modes: Modes | None = None  # (k, c)

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    @property
    def farthest(self) -> list[int]:
        """The largest difference of a row from a centre in each column, in grid steps."""
        width = self.centers.shape[1]
        halves = [self.within.radius] * width if isinstance(self.within, BallClip) else list(self.within.halves)
        outermost = np.abs(self.centers.astype(np.int64)).max(axis=0).tolist()
        return [half + place for half, place in zip(halves, outermost, strict=True)]

    @property
    def unit(self) -> float:
        """What one step of the summed distances is in the columns' own units."""
        reach = sqrt(sum((far * length) ** 2 for far, length in zip(self.farthest, self.lengths.tolist(), strict=True)))
        return max(reach, 1e-300) / MOST_DISTANCE

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        k, d = self.centers.shape
        differing = {} if self.modes is None else {"differing": (k,)}
        return {"rows": (max(1, self.classes), k), "squares": (2, d), "distances": (1,), **differing}

    def fold(self, rows: Encoded) -> Summary:
        k, d = self.centers.shape
        nearest, _ = find_nearest(rows, self.centers, self.modes)
        own = rows.codes[:, -1] if self.classes else np.zeros(len(rows), dtype=np.int32)
        counts = np.bincount(own.astype(np.int64) * k + nearest, minlength=max(1, self.classes) * k)
        squares = np.zeros((2, d), dtype=np.int64)
        lengths = np.zeros(len(rows))  # squared, in own units
        for j in range(d):
            gaps = rows.numbers[:, j].astype(np.int64) - self.centers[nearest, j]
            square = gaps * gaps
            squares[:, j] = (square & (2**WORD - 1)).sum(), (square >> WORD).sum()
            lengths += (gaps * self.lengths[j]) ** 2
        distances = np.rint(np.sqrt(lengths) / self.unit).astype(np.int64).sum()
        summary = {
            "rows": counts.astype(np.int64).reshape(-1, k),
            "squares": squares,
            "distances": np.array([distances], dtype=np.int64),
        }
        if self.modes is not None:
            summary["differing"] = np.zeros(k, dtype=np.int64)
            for j, codes in enumerate(self.modes.codes.T):
                summary["differing"] += np.bincount(nearest[rows.codes[:, j] != codes[nearest]], minlength=k)
        return Summary(summary)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        ends = [(min(far**2, 2**WORD - 1), far**2 >> WORD) for far in self.farthest]
        squares = Change(sum(map(sum, ends)), sum(low**2 + high**2 for low, high in ends))
        limit = MOST_DISTANCE + 1  # a rounding more
        count = Change(1, 1) if neighbours is Neighbours.ADD_REMOVE else Change(2, 2)
        move = {"rows": count, "squares": squares, "distances": Change(limit, limit**2)}
        if self.modes is not None:
            centers, c = count.l1, self.modes.codes.shape[1]  # of as many centres the count may move
            move["differing"] = Change(centers * c, centers * c * c)
        return Sensitivity((move,))

    def column_squares(self, summary: Summary) -> list[int]:
        """The sum of squared differences of each column, in squared grid steps; exact."""
        low, high = summary["squares"].tolist()
        return [below + (above << WORD) for below, above in zip(low, high, strict=True)]
