"""Whether counts of draws are those of a law: bounds on every cell, with an error rate for all of them together."""

from __future__ import annotations

from collections.abc import Iterable

from scipy.stats import binom

__all__ = ["ERROR", "are_within_bounds"]

ERROR = 1e-6  # of a test, over all cells that it looks at


def are_within_bounds(counts: Iterable[int], chances: Iterable[float], draws: int, cells: int) -> bool:
    """Whether each count is as its probability has it; a test that looks at so many `cells` errs with probability `ERROR`."""
    share = ERROR / (2 * cells)
    for count, chance in zip(counts, chances, strict=True):
        low, high = binom.ppf([share, 1 - share], draws, chance)
        if not low <= count <= high:
            return False
    return True
