"""How far rows lie from their nearest released centre: the sums of their squared distances, by bands of powers of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.kernels.centers import Clip, Modes, check_exact, find_nearest
from cloister.schema import Neighbours

__all__ = ["DistanceBands"]

BAND_BITS = 20  # a squared distance is rounded down to so many binary digits


@dataclass(frozen=True, slots=True, eq=False)
class DistanceBands:
    """For each band of squared distances the sum of those in it, as parts of the band's upper edge.

    Band b holds the squared distances from 2**b to 2**(b + 1) - 1, in parts of 2**(b + 1) and units of 1 / `UNIT`. All bands
    have the same noise, which in squared grid steps grows with the edge: what was released shows how far rows stand out of it.

    Attributes
    ----------
    centers
        Released centres on the grid, (k, d).
    most
        No squared distance is larger: it says how many bands there are.
    within
        Where every encoded row lies: the encoding has clipped it there.
    modes
        The categories of the centres; None: rows have numbers alone.

    Privacy: a row is in one band at most, to which it adds between half of `UNIT` and `UNIT`; on its centre it is in none. Added
    or removed it moves one sum by at most `UNIT`; replaced it leaves one band and enters one, which may be the same.
    """

    centers: NDArray[np.int32]  # (k, d)
    most: int
    within: Clip
    modes: Modes | None = None

    UNIT = 1 << BAND_BITS

    def __post_init__(self) -> None:
        check_exact(self.centers, self.within, self.modes)

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"bands": (max(1, self.most.bit_length()),)}

    def fold(self, rows: Encoded) -> Summary:
        squares = find_nearest(rows, self.centers, self.modes)[1]  # integers below 2**53
        (bands,) = self.parts["bands"]
        mantissas, digits = np.frexp(squares)  # square = mantissa * 2**digits, mantissa from 1/2 up to 1; exact
        units = np.floor(np.ldexp(mantissas, BAND_BITS)).astype(np.int64)
        sums = np.zeros(bands, dtype=np.int64)
        np.add.at(sums, np.clip(digits - 1, 0, bands - 1), units)  # a square of 0 adds 0
        return Summary({"bands": sums})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moves = 1 if neighbours is Neighbours.ADD_REMOVE else 2
        return Sensitivity(({"bands": Change(moves * self.UNIT, moves * self.UNIT**2)},))
