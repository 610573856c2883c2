"""Secret samples, the same on every engine: of rows, or of people with all their rows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.engines.base import Draw
from cloister.engines.passes import in_order
from cloister.kernels import Kernel, Summary, zero
from cloister.kernels.exact import Exact
from cloister.kernels.per_unit import first_rows

__all__ = ["Owned", "SampledRows", "add_up", "sample_people"]

Owned = tuple[NDArray[np.uint64], Encoded]
"""Rows with whose they are: owners (n, 2) and n rows."""


class SampledRows:
    """A secret sample of the rows, small and in memory; folds like an engine."""

    def __init__(self, blocks: list[Encoded]) -> None:
        self._blocks = blocks

    def fold(self, kernel: Kernel) -> Exact[Summary]:
        """The summary of the sampled rows."""
        return Exact(add_up(kernel, in_order(self._blocks, kernel.fold)))


def add_up(kernel: Kernel, summaries: Iterable[Summary]) -> Summary:
    """The sum of a kernel's summaries."""
    total = zero(kernel)
    for summary in summaries:
        total = total + summary
    return total


def sample_people(owned: Iterable[Owned], keep: Draw, first_block: int = 0) -> Iterator[Encoded]:
    """The rows of the people that a draw keeps, of blocks that are numbered from `first_block` on.

    Somebody whose rows reach from one block into the next is drawn once.
    """
    last: NDArray[np.uint64] | None = None
    is_last_kept = False
    for number, (owners, rows) in enumerate(owned, first_block):
        if not len(owners):
            continue
        begins = first_rows(owners)
        kept = keep(owners[begins, 0], number)  # one draw a person
        if last is not None and (owners[0] == last).all():
            kept[0] = is_last_kept
        chosen = np.flatnonzero(kept[np.cumsum(begins) - 1])
        last, is_last_kept = owners[-1].copy(), bool(kept[-1])
        yield Encoded(rows.numbers.take(chosen, axis=0), rows.codes.take(chosen, axis=0))
