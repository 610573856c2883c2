"""From counts of reports to counts of people: one method a file, all along the axes of the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.collect.estimating.expectation_maximisation import expectation_maximisation
from cloister.collect.estimating.inversion import invert
from cloister.collect.estimating.nonnegative import clip_and_renormalise, norm_sub
from cloister.collect.protocols.channel import Channel

__all__ = ["METHODS", "CleanedTable"]

Counts = NDArray[np.int64]
Progress = Callable[[str], None]


@dataclass(frozen=True, slots=True, eq=False)
class CleanedTable:
    """An estimated table, and the rule that it was found by, in a sentence."""

    counts: NDArray[np.float64]
    rule: str = ""


MOST_EM_CELLS = 2**16  # so many take some 10 s; a table of more cells than that is nearly all noise
TOO_MANY_CELLS = (
    f"A table of more than {MOST_EM_CELLS:,} cells is not fitted by expectation maximisation: it is the unbiased one, made "
    "shares of a whole."
)


def _em(seen: Counts, channels: Sequence[Channel], progress: Progress) -> CleanedTable:
    if seen.size > MOST_EM_CELLS:
        return CleanedTable(norm_sub(invert(seen, channels), int(seen.sum())), TOO_MANY_CELLS)
    found = expectation_maximisation(seen, channels, progress=progress)
    return CleanedTable(found.counts, found.rule)


METHODS: dict[str, Callable[[Counts, Sequence[Channel], Progress], CleanedTable]] = {
    "em": _em,
    "norm-sub": lambda seen, channels, _: CleanedTable(norm_sub(invert(seen, channels), int(seen.sum()))),
    "unbiased": lambda seen, channels, _: CleanedTable(invert(seen, channels)),
    "clip": lambda seen, channels, _: CleanedTable(clip_and_renormalise(invert(seen, channels), int(seen.sum()))),
}
"""Every method by its name."""
