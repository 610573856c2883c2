"""Hierarchies made from public facts: intervals of numbers and dates, masked codes, a plain list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from fractions import Fraction

import numpy as np

from cloister.errors import SchemaError
from cloister.schema.hierarchies.tree import Hierarchy, spliced
from cloister.schema.numerals import WHOLE_NUMBERS, exact_label_text

__all__ = ["calendar", "flat", "intervals", "prefix"]

_EPOCH = date(1970, 1, 1)
_INTERVALS = 20  # intervals of the finest level when neither a width nor cuts are given
_MAX_LEAVES = 1_000_000
_MAX_CODE = 100  # characters of a code that is masked: each makes a level


def flat(values: Sequence[str], origin: str = "the values") -> Hierarchy:
    """A value or everything: each value under ``*``.

    >>> flat(["Female", "Male"]).nodes
    ('Female', 'Male', '*')
    """
    return Hierarchy.from_paths([(value, "*") for value in values], origin=origin)


def prefix(values: Sequence[str], lengths: Sequence[int] | None = None, origin: str = "the codes") -> Hierarchy:
    """Codes that are masked from the right, such as postal codes: ``11200``, ``112**``, ``1****``, ``*``.

    Parameters
    ----------
    values : sequence of str
        Every code that the column may hold.
    lengths : sequence of int, optional
        How many characters each level keeps, falling. None: one less each time.

    Examples
    --------
    >>> prefix(["11200", "11300", "50000"], [3, 1]).nodes
    ('11200', '11300', '50000', '112**', '113**', '500**', '1****', '5****', '*')
    """
    longest = max((len(value) for value in values), default=0)
    if longest > _MAX_CODE:
        raise SchemaError(f"{origin}: a code has more than {_MAX_CODE} characters. Mask shorter ones, or list the levels.")
    kept = list(range(longest - 1, 0, -1)) if lengths is None else list(lengths)
    if sorted(set(kept), reverse=True) != kept or any(length < 1 for length in kept):
        raise SchemaError(f"{origin}: lengths must fall, from longer to shorter, and stay at 1 or more.")
    paths = [(value, *(_masked(value, length) for length in kept), "*") for value in values]
    return Hierarchy.from_paths(paths, origin=origin)


def intervals(
    low: float,
    high: float,
    *,
    step: float | None = None,
    width: float | None = None,
    cuts: Sequence[float] | None = None,
    fanout: int = 2,
    origin: str = "the intervals",
) -> Hierarchy:
    """Numbers from `low` to `high` in intervals, each level joining `fanout` neighbours of the one below.

    Parameters
    ----------
    low, high : float
        Public bounds of the column; the last interval holds `high` too.
    step : float, optional
        The grid of the column: its values become the leaves, and a cell between two of them is unknown. None: the finest
        intervals are the leaves.
    width : float, optional
        Width of the finest intervals. None, and no cuts: a round width that makes about twenty.
    cuts : sequence of float, optional
        Where the finest intervals begin, instead of a width.
    fanout : int
        How many intervals one interval of the next level joins.

    Examples
    --------
    >>> intervals(0, 40, width=10).nodes
    ('[0, 10)', '[10, 20)', '[20, 30)', '[30, 40]', '[0, 20)', '[20, 40]', '*')
    >>> intervals(0, 3, step=1, cuts=[2]).nodes
    ('0', '1', '2', '3', '[0, 2)', '[2, 3]', '*')
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise SchemaError(f"{origin}: low must be below high, and both finite.")
    if fanout < 2:
        raise SchemaError(f"{origin}: fanout must be at least 2.")
    finest = _boundaries(low, high, width, cuts, origin)
    if step is None:
        edges = np.array([*finest, high], np.float64)
        names = [_interval(a, b, closed=b == high) for a, b in zip(finest, [*finest[1:], high], strict=True)]
        starts = finest
        levels: list[list[float]] = []
    else:
        starts = _grid(low, high, step, origin)
        if max(-low, high) >= WHOLE_NUMBERS:
            raise SchemaError(
                f"{origin}: numbers of {WHOLE_NUMBERS:,} or more are not told apart one by one. Leave out step, or list the "
                "values."
            )
        half = step / 2
        edges = np.array([starts[0] - half, *(np.array(starts[1:]) - half), starts[-1] + half])
        names = [exact_label_text(start) for start in starts]
        levels = [finest]
    coarser = finest[::fanout]
    while len(coarser) > 1:
        levels.append(coarser)
        coarser = coarser[::fanout]
    labels = [
        [_interval(a, b, closed=b == high) for a, b in zip(level, [*level[1:], high], strict=True)] for level in levels
    ]
    tree = _stacked(starts, names, levels, labels, edges, is_date=False, origin=origin)
    return replace(tree, is_grid=step is not None)


def calendar(first: date, last: date, *, cuts: Sequence[date] | None = None, origin: str = "the calendar") -> Hierarchy:
    """Days from `first` to `last`; above them months, years and decades, or the intervals between `cuts`.

    >>> calendar(date(2023, 12, 30), date(2024, 1, 2)).nodes[4:8]
    ('[2023-12-30, 2024-01-01)', '[2024-01-01, 2024-01-02]', '*')
    """
    if first >= last:
        raise SchemaError(f"{origin}: the first day must lie before the last.")
    if (last - first).days >= _MAX_LEAVES:
        raise SchemaError(f"{origin}: {(last - first).days:,} days are too many. Bring the first and the last day nearer.")
    span = [first + timedelta(i) for i in range((last - first).days + 1)]
    if cuts is not None:
        if list(cuts) != sorted(set(cuts)) or not all(first < cut <= last for cut in cuts):
            raise SchemaError(f"{origin}: cuts must rise and lie between the first day and the last.")
        begins = [[first, *cuts]]
    else:
        begins = [
            [day for day in span if day == first or day.day == 1],
            [day for day in span if day == first or (day.month, day.day) == (1, 1)],
            [day for day in span if day == first or ((day.month, day.day) == (1, 1) and day.year % 10 == 0)],
        ]
    begins = [level for i, level in enumerate(begins) if len(level) > 1 and level not in begins[:i]]
    starts = [float((day - _EPOCH).days) for day in span]
    levels = [[float((day - _EPOCH).days) for day in level] for level in begins]
    labels = [
        [f"[{a}, {b or last}{')' if b else ']'}" for a, b in zip(level, [*level[1:], None], strict=True)] for level in begins
    ]
    edges = np.array([*starts, np.nextafter(starts[-1] + 1, starts[-1])])  # the last day, but not the next midnight
    return _stacked(starts, [str(day) for day in span], levels, labels, edges, is_date=True, origin=origin)


def _stacked(
    starts: Sequence[float],
    names: Sequence[str],
    levels: Sequence[Sequence[float]],
    labels: Sequence[Sequence[str]],
    edges: np.ndarray[tuple[int], np.dtype[np.float64]],
    *,
    is_date: bool,
    origin: str,
) -> Hierarchy:
    """A tree of intervals: the leaves begin at `starts`, the intervals of each level at its boundaries.

    An interval in which nothing begins, as one between two steps, is left out.
    """
    below, parent, nodes = np.array(starts), [], list(names)
    for level, named in zip(levels, labels, strict=True):
        held, above = np.unique(np.searchsorted(np.array(level), below, side="right") - 1, return_inverse=True)
        parent.append(above + len(nodes))
        nodes += [named[at] for at in held]
        below = np.array(level)[held]
    if len(nodes) > 1:
        parent.append(np.full(len(below), len(nodes)))
        nodes.append("*")
    above_all = [int(node) for part in parent for node in part]
    return replace(spliced(nodes, [*above_all, -1], len(names), origin), edges=edges, is_date=is_date)


def _boundaries(low: float, high: float, width: float | None, cuts: Sequence[float] | None, origin: str) -> list[float]:
    """Where the finest intervals begin."""
    if cuts is not None:
        if width is not None:
            raise SchemaError(f"{origin}: give a width or cuts, not both.")
        inner = [float(cut) for cut in cuts]
        if inner != sorted(set(inner)) or not all(low < cut < high for cut in inner):
            raise SchemaError(f"{origin}: cuts must rise and lie between low and high.")
        return [low, *inner]
    if width is None:
        width = round_width((high - low) / _INTERVALS)
    if not width > 0:
        raise SchemaError(f"{origin}: width must be above 0.")
    return _grid(low, high, width, origin, inside=True)


def _grid(low: float, high: float, step: float, origin: str, inside: bool = False) -> list[float]:
    """low, low + step, ... up to high (below high if `inside`), on the decimals as typed."""
    if not step > 0:
        raise SchemaError(f"{origin}: step must be above 0.")
    start, end, by = (Fraction(repr(float(number))) for number in (low, high, step))
    steps = math.ceil((end - start) / by) if inside else (end - start) // by + 1
    if steps > _MAX_LEAVES:
        raise SchemaError(f"{origin}: {steps:,} intervals are too many. Give a wider step or width.")
    return [float(start + i * by) for i in range(max(1, steps))]


def round_width(width: float) -> float:
    """The next wider of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** math.floor(math.log10(width))
    return next(float(f"{nice * power:.6g}") for nice in (1, 2, 5, 10) if nice * power >= width * (1 - 1e-9))


def _interval(start: float, end: float, *, closed: bool) -> str:
    return f"[{exact_label_text(start)}, {exact_label_text(end)}{']' if closed else ')'}"


def _masked(value: str, length: int) -> str:
    return value[:length] + "*" * (len(value) - length)
