"""Rows as distances compare them: every column on a scale of its own, blanks filled in and told apart.

Mixed: numbers between 0 and 1 (by the bounds of the schema, else by the smallest and the largest), absolute differences, and a
differing category adds 1, as in paper 004, definitions 3 to 5. Standardized: z-scores, squared differences, and a differing
category adds 2: what two rows of a z-scored column differ by on average.

A blank number counts as the mean of its column, and having none as a category: a blank and a number differ as two categories do.

References
----------
Ding and Li, A differential privacy protection method for mixed-attribute data tables (ICMD-DP), definitions 3 to 5.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.microdata.microaggregation.mixed_rows import MixedRows, NumberColumn

__all__ = ["RowScales", "ScaledRows", "scales_of"]

EXACT_DIGITS = 52  # binary: integers of as many are exact in float64, and so are sums below that


@dataclass(frozen=True, slots=True)
class NumberScale:
    """value -> (value / unit - shift) * factor, which stays finite for the largest numbers there are."""

    unit: float
    shift: float
    factor: float
    fill: float  # what a blank counts as, scaled

    def scaled(self, cells: F64) -> F64:
        """Cells on the scale."""
        values = (cells / self.unit - self.shift) * self.factor
        return np.where(np.isnan(values), self.fill, values)


@dataclass(frozen=True, slots=True, eq=False)
class ScaledRows:
    """Some rows, ready for the loops."""

    numbers: F64  # (d, m), multiples of one power of two whose sums are exact
    codes: I32  # (c, m)
    offsets: I64  # (c + 1,) where the values of each column of codes begin
    people: I32  # (m,), numbered from 0; empty where rows count

    @property
    def persons(self) -> int:
        """How many people there are; 0 where rows count."""
        return int(self.people.max(initial=-1)) + 1

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return int(self.numbers.shape[1])


@dataclass(frozen=True, slots=True, eq=False)
class RowScales:
    """The scales of all columns of a table."""

    rows: MixedRows
    scales: tuple[NumberScale, ...]  # of the columns of numbers
    with_blanks: tuple[int, ...]  # the columns of numbers that have blanks
    is_squared: bool
    weight: float  # what a differing category adds

    def scaled(self, at: NDArray[np.int64]) -> ScaledRows:
        """The rows at these places; only these are held twice."""
        table = self.rows
        numbers = np.empty((len(self.scales), len(at)))
        for j, (column, scale) in enumerate(zip(table.numbers, self.scales, strict=True)):
            numbers[j] = scale.scaled(column.cells[at])
        _round_exactly(numbers)
        blanks = [np.isnan(table.numbers[j].cells[at]).astype(np.int32) for j in self.with_blanks]
        words = [column.codes[at] for column in table.words]
        codes = np.array([*words, *blanks], np.int32).reshape(len(words) + len(blanks), len(at))
        sizes = [*(len(column.words) for column in table.words), *(2 for _ in blanks)]
        people = np.unique(table.people[at], return_inverse=True)[1] if len(table.people) else table.people
        offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return ScaledRows(numbers, codes, offsets, people.astype(np.int32))


def scales_of(rows: MixedRows, distance: str) -> RowScales:
    """The scales of a table's columns for a distance."""
    is_standardized = distance == "standardized"
    scales = tuple(_scale_of(column, is_standardized) for column in rows.numbers)
    with_blanks = tuple(j for j, column in enumerate(rows.numbers) if np.isnan(column.cells).any())
    return RowScales(rows, scales, with_blanks, is_standardized, 2.0 if is_standardized else 1.0)


def _scale_of(column: NumberColumn, is_standardized: bool) -> NumberScale:
    known = column.cells[~np.isnan(column.cells)]
    low, high = column.bounds or ((float(known.min()), float(known.max())) if len(known) else (0.0, 0.0))
    unit = max(abs(low), abs(high)) or 1.0
    low, high = low / unit, high / unit
    if not len(known) or low == high:
        return NumberScale(unit, low, 0.0, 0.0)
    ratios = (known / unit - low) / (high - low)  # between 0 and 1: their squares neither overflow nor vanish
    mean, deviation = float(ratios.mean()), float(ratios.std())
    if not is_standardized:
        return NumberScale(unit, low, 1 / (high - low), mean)
    if deviation == 0:
        return NumberScale(unit, low, 0.0, 0.0)
    return NumberScale(unit, low + mean * (high - low), 1 / ((high - low) * deviation), 0.0)


def _round_exactly(numbers: F64) -> None:
    """Round, in place, to multiples of a power of two so coarse that the sum of all rows is exact, in whatever order."""
    largest = float(np.abs(numbers).max(initial=0.0)) * max(1, numbers.shape[1])
    if largest > 0:
        unit = 2.0 ** (np.ceil(np.log2(largest)) - EXACT_DIGITS)
        np.rint(numbers / unit, out=numbers)
        numbers *= unit
