"""What a kernel is: public parameters, a fold over encoded rows, and the sensitivity of what the fold gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.schema import Neighbours

__all__ = ["Change", "Kernel", "Move", "Sensitivity", "Summary"]


@dataclass(frozen=True, slots=True)
class Summary:
    """Named int64 arrays that add with ``+``: the only thing that leaves a fold.

    >>> (Summary({"counts": np.array([1, 2])}) + Summary({"counts": np.array([3, 4])}))["counts"].tolist()
    [4, 6]
    """

    parts: Mapping[str, NDArray[np.int64]]

    def __add__(self, other: Summary) -> Summary:
        return Summary({name: part + other.parts[name] for name, part in self.parts.items()})

    def __getitem__(self, name: str) -> NDArray[np.int64]:
        return self.parts[name]


@dataclass(frozen=True, slots=True)
class Change:
    """How far one part of a summary can move: its L1 norm and its squared L2 norm, both integers."""

    l1: int
    l2_squared: int


Move = Mapping[str, Change]
"""One way in which neighbouring tables can differ: every part that moves, with how far."""


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """All ways in which neighbouring tables can differ.

    Each move bounds all parts at once; a pair of neighbours is covered by at least one of them. Several moves say more than
    their maximum: when one row is replaced either it stays in its cluster (sums move by 2r, counts do not), or it changes
    cluster (sums move by r in two places, so do counts), never both.
    """

    moves: tuple[Move, ...]

    def l1(self, part: str) -> int:
        """The farthest that this part alone can move, in L1."""
        return max(move[part].l1 for move in self.moves if part in move)

    def l2_squared(self, part: str) -> int:
        """The farthest that this part alone can move, in squared L2."""
        return max(move[part].l2_squared for move in self.moves if part in move)


@runtime_checkable
class Kernel(Protocol):
    """Public parameters, a pure fold, and the sensitivity of its result.

    ``fold`` is a function of the rows alone, row by row: how they are cut into batches, ordered or placed never changes
    the added summaries. ``parts`` names the arrays of the summary with their shapes.
    """

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]: ...

    def fold(self, rows: Encoded) -> Summary: ...

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity: ...


def zero(kernel: Kernel) -> Summary:
    """The summary of no rows."""
    return Summary({name: np.zeros(shape, dtype=np.int64) for name, shape in kernel.parts.items()})
