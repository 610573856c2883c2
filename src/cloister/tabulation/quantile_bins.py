"""Public bins over which the ranks of a number are counted in each cell, and the quantiles that are wanted of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np

from cloister.encode import BinGrid, Grid
from cloister.errors import UsageError
from cloister.kernels.tables import ValueLevels
from cloister.schema import Number
from cloister.tabulation.number_bins import equal_edges

__all__ = ["QuantileBins", "bin_quantiles", "read_quantiles"]

BINS = 256  # of a number with more values than that
ONE_LEVEL = 48  # bins, up to which coarse ones beside them cost more than they help (mean error of ranks, Laplace noise)
MOST_QUANTILES = 20  # of a column


@dataclass(frozen=True, slots=True)
class QuantileBins:
    """The bins of a number whose quantiles are wanted: how it is read, where bins lie, and at which levels they are counted.

    `points` are the values of the bins where each value of the column's step has one, else the edges of all bins, one more
    than there are.
    """

    grid: BinGrid
    points: tuple[float, ...]
    levels: ValueLevels
    quantiles: tuple[float, ...]

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.grid.name

    @property
    def has_values(self) -> bool:
        """Whether each bin is one value."""
        return len(self.points) == self.levels.bins


def bin_quantiles(name: str, kind: Number, quantiles: Sequence[float], cells: Sequence[Grid]) -> QuantileBins:
    """The bins of a column, from public facts; a missing value counts as what it counts as where the column makes cells."""
    assert kind.bounds is not None
    low = kind.bounds[0]
    values = kind.worlds
    if values is not None and values <= BINS:
        assert kind.step is not None
        points = [low + i * kind.step for i in range(values)]
        cuts = [low + (i - 0.5) * kind.step for i in range(1, values)]
    else:
        points = equal_edges(kind, BINS)
        cuts = points[1:-1]
    if not (np.diff(cuts) > 0).all():
        raise UsageError(f'the bounds of "{name}" are too near to each other for quantiles. Use another unit.')
    default = next((cell.default_value for cell in cells if cell.name == name), kind.fallback)
    assert isinstance(default, float | int)
    bins = len(cuts) + 1
    widths = (1,) if bins <= ONE_LEVEL else (ceil(sqrt(bins)), 1)
    grid = BinGrid.cut(name, cuts, kind.bounds, default, kind.form)
    return QuantileBins(grid, tuple(points), ValueLevels(bins, widths), tuple(quantiles))


def read_quantiles(stated: Mapping[str, Any]) -> tuple[tuple[str, tuple[float, ...]], ...]:
    """Quantiles by column, each a number between 0 and 1 or a list of such; in rising order.

    >>> read_quantiles({"age": 0.5, "pay": [0.9, 0.1]})
    (('age', (0.5,)), ('pay', (0.1, 0.9)))
    """
    return tuple((name, _rising(name, wanted)) for name, wanted in stated.items())


def _rising(name: str, wanted: Any) -> tuple[float, ...]:
    several = list(wanted) if isinstance(wanted, Iterable) and not isinstance(wanted, str | bytes) else [wanted]
    try:
        numbers = sorted({float(each) for each in several if not isinstance(each, bool)})
    except (TypeError, ValueError, OverflowError):
        numbers = []
    if len(numbers) < len(several) or not numbers or not all(0 < number < 1 for number in numbers):
        raise UsageError(f'quantiles of "{name}": give different numbers between 0 and 1, such as 0.5 for the median.')
    if len(numbers) > MOST_QUANTILES:
        raise UsageError(f'quantiles of "{name}": at most {MOST_QUANTILES} are possible. Give fewer.')
    return tuple(numbers)
