"""Edges of bins that a user names, of numbers and of days by one rule: they cut the public bounds of the column."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

from cloister.errors import UsageError

__all__ = ["cut_bounds"]

End = TypeVar("End", float, date)


def cut_bounds(name: str, edges: Sequence[End], low: End, high: End, shown: tuple[str, str]) -> list[End]:
    """The edges of all bins: what lies within the bounds before the first edge and after the last makes bins, too.

    Edges may lie beyond the bounds, as those of a series of tables do, but not all on one side of them.

    >>> cut_bounds("age", [18, 65], 0, 99, ("0", "99"))
    [0, 18, 65, 99]
    """
    if not edges or not all(a < b for a, b in itertools.pairwise(edges)):
        raise UsageError(f'the edges of the bins of "{name}" must rise.')
    if edges[-1] <= low or edges[0] >= high:
        raise UsageError(
            f'the edges of "{name}" lie outside its bounds, {shown[0]} to {shown[1]}, and cut nothing. Give edges within them.'
        )
    before: list[End] = [low] if edges[0] > low else []
    after: list[End] = [high] if edges[-1] < high else []
    return before + list(edges) + after
