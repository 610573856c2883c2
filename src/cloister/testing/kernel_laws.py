"""The laws that every kernel must keep, for tests of one's own kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels import Kernel, Summary, zero
from cloister.schema import Neighbours

__all__ = ["fold_in_shards", "take", "within_sensitivity"]


def take(rows: Encoded, which: NDArray[np.intp]) -> Encoded:
    """Some of the rows."""
    return Encoded(np.ascontiguousarray(rows.numbers[which]), np.ascontiguousarray(rows.codes[which]))


def fold_in_shards(kernel: Kernel, rows: Encoded, cuts: list[int]) -> Summary:
    """The summary of the rows cut into shards at these places, each folded by itself."""
    total = zero(kernel)
    for part in np.split(np.arange(len(rows)), sorted(cuts)):
        total = total + kernel.fold(take(rows, part))
    return total


def within_sensitivity(kernel: Kernel, neighbours: Neighbours, one: Summary, other: Summary) -> bool:
    """Whether two summaries differ by at most one of the moves that the kernel's sensitivity allows."""
    gaps = {name: one[name].astype(object) - other[name].astype(object) for name in one.parts}
    l1 = {name: sum(abs(x) for x in gap.ravel()) for name, gap in gaps.items()}
    l2 = {name: sum(x * x for x in gap.ravel()) for name, gap in gaps.items()}
    return any(
        all(l1[name] <= move[name].l1 and l2[name] <= move[name].l2_squared for name in gaps)
        for move in kernel.sensitivity(neighbours).moves
    )
