"""Bins of a number column, from public facts: the edges that a user names, bins of equal width, or one for each value."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from cloister.errors import UsageError
from cloister.schema import Number
from cloister.schema.numerals import label_text
from cloister.tabulation.bin_edges import cut_bounds

__all__ = ["cut_numbers", "has_bin_for_each_value"]

MOST_BINS = 2**18
MOST_VALUES = 50  # a number with a step and no more values than this gets a bin for each
BINS = 10
LABEL_ERROR = 1e-4  # of the narrowest bin: how far an edge with endless digits may be from its label


def has_bin_for_each_value(kind: Number, wanted: Any) -> bool:
    """Whether the bins of a column are the values of its step."""
    return wanted is None and kind.worlds is not None and kind.worlds <= MOST_VALUES


def cut_numbers(name: str, kind: Number, wanted: Any) -> tuple[list[float], tuple[str, ...]]:
    """Edges from the lowest to the highest, and a label for each bin."""
    assert kind.bounds is not None
    low, high = kind.bounds
    if has_bin_for_each_value(kind, wanted):
        assert kind.worlds is not None
        assert kind.step is not None
        values = [low + i * kind.step for i in range(kind.worlds)]
        halfway = [low + (i - 0.5) * kind.step for i in range(1, kind.worlds)]
        return [low, *halfway, high], edge_texts(values)
    if wanted is None or isinstance(wanted, int | np.integer):
        count = BINS if wanted is None else int(wanted)
        if count > MOST_BINS:
            raise UsageError(f'bins of "{name}": at most {MOST_BINS:,} are possible. Use fewer.')
        if isinstance(wanted, bool) or count < 1:
            raise UsageError(f'bins of "{name}": give a number of bins of at least 1, or rising edges.')
        edges = equal_edges(kind, count)
    else:
        if isinstance(wanted, str):
            raise UsageError(f'bins of "{name}": it holds numbers, without periods. Give a number of bins, or rising edges.')
        try:
            edges = [float(edge) for edge in wanted]
        except (TypeError, ValueError):
            raise UsageError(f'bins of "{name}": give a number of bins of at least 1, or rising edges.') from None
        if not np.isfinite(edges).all():
            raise UsageError(f'the edges of the bins of "{name}" must rise and be finite numbers.')
        edges = cut_bounds(name, edges, low, high, (label_text(low), label_text(high)))
    texts = edge_texts(edges)
    labels = [f"[{a}, {b})" for a, b in itertools.pairwise(texts)]
    return edges, (*labels[:-1], labels[-1][:-1] + "]")


def equal_edges(kind: Number, count: int) -> list[float]:
    """Edges of so many bins of equal width; of a column with a step they are values of it, where it has as many.

    >>> equal_edges(Number((0, 99), step=1), 4), equal_edges(Number((0, 99)), 4)
    ([0.0, 25.0, 50.0, 75.0, 99.0], [0.0, 24.75, 49.5, 74.25, 99.0])
    """
    assert kind.bounds is not None
    first, last = (Fraction(repr(float(end))) for end in kind.bounds)  # as they are typed: -0.1 + 0.3 / 3 is 0
    values = kind.worlds
    if values is None or values < count:
        return [float(first + (last - first) * i / count) for i in range(count + 1)]
    step = Fraction(repr(kind.step))
    return [*(float(first + values * i // count * step) for i in range(count)), float(last)]


def edge_texts(edges: Sequence[float]) -> tuple[str, ...]:
    """Rising numbers as texts that differ: all digits where they are few, else as many as tell neighbours apart.

    >>> edge_texts([0, 100 / 3, 100]), edge_texts([20240101, 20240102])
    (('0', '33.3333', '100'), ('20240101', '20240102'))
    """
    narrowest = min((b - a for a, b in itertools.pairwise(edges)), default=0.0)
    return tuple(edge_text(edge, LABEL_ERROR * narrowest) for edge in edges)


def edge_text(edge: float, error: float) -> str:
    """A number with the digits that it was typed with, up to 12, or else with those that leave no larger error."""
    if float(label_text(edge)) == edge:
        return label_text(edge)
    return next(text for digits in (6, 9, 12, 17) if abs(float(text := f"{edge:.{digits}g}") - edge) <= error)
