"""A large table cut into blocks of near rows: each is grouped by itself, since the work grows with the square of the rows.

Rows are put along a space-filling order: all are halved again and again, as a Morton order halves its columns in turn, but each
time across the column that adds most to the distance of two rows of the part, and in the middle of its rows rather than of its
range. A block is a piece of that order; neighbours in it are two halves of one part.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.microdata.microaggregation.mixed_rows import MixedRows
from cloister.microdata.microaggregation.row_scales import RowScales

__all__ = ["BLOCK_ROWS", "WHOLE_ROWS", "cut_blocks"]

WHOLE_ROWS = 50_000  # rows that are grouped as one: about 3 seconds with 14 columns and k = 5
BLOCK_ROWS = 15_000  # rows of a block at most, above that
FEWEST_GROUPS = 40  # in a block, where k is large
_LOOKED_AT = 2_000  # rows of a part by which the column is chosen that it is cut across

Places = NDArray[np.int64]


def cut_blocks(scales: RowScales, k: int) -> list[Places]:
    """The rows of each block, as places in the table; one block up to `WHOLE_ROWS` rows."""
    everything = np.arange(scales.rows.rows)
    most = max(BLOCK_ROWS, FEWEST_GROUPS * k)
    if len(everything) <= max(WHOLE_ROWS, most):
        return [everything]
    return halve(scales, everything, most, k)


def halve(scales: RowScales, part: Places, most: int, k: int) -> list[Places]:
    """A part in blocks of at most so many rows, each with 2k rows or people at least."""
    blocks = -(-len(part) // most)
    if blocks == 1:
        return [part]
    values = order_in(scales, part)
    size = len(part) * (blocks // 2) // blocks
    order = np.argsort(values, kind="stable")
    one, other = part[order[:size]], part[order[size:]]
    if any(_units(scales.rows, half) < 2 * k for half in (one, other)):
        return [part]
    return [*halve(scales, one, most, k), *halve(scales, other, most, k)]


def order_in(scales: RowScales, part: Places) -> NDArray[np.float64]:
    """What the rows of a part are ordered by before it is halved: a column, and equal cells by the column that is next."""
    few = scales.scaled(part[:: max(1, len(part) // _LOOKED_AT)])
    apart = [_differences(values, scales.is_squared) for values in few.numbers]
    apart += [scales.weight * _different(codes) for codes in few.codes[: len(scales.rows.words)]]
    first, second = np.argsort(apart, kind="stable")[::-1][[0, min(1, len(apart) - 1)]]
    ranks = _ranks(_cells(scales, int(first), part))
    return ranks + _ranks(_cells(scales, int(second), part)) / (len(part) + 1)


def _cells(scales: RowScales, column: int, part: Places) -> NDArray[np.float64]:
    """The scaled numbers of a column, or codes by how common they are."""
    table, numbers = scales.rows, len(scales.scales)
    if column < numbers:
        return scales.scales[column].scaled(table.numbers[column].cells[part])
    return table.words[column - numbers].codes[part].astype(np.float64)


def _ranks(cells: NDArray[np.float64]) -> NDArray[np.float64]:
    """How many different values lie below each."""
    return np.unique(cells, return_inverse=True)[1].astype(np.float64)


def _differences(values: NDArray[np.float64], is_squared: bool) -> float:
    """How far two of some numbers are apart on average; squared: twice their variance."""
    if is_squared:
        return 2 * float(values.var())
    ordered, n = np.sort(values), len(values)
    return float(2 * ((2 * np.arange(n) - n + 1) * ordered).sum() / n**2)


def _different(codes: NDArray[np.int32]) -> float:
    """How often two of some codes differ."""
    shares = np.bincount(codes) / len(codes)
    return 1 - float((shares**2).sum())


def _units(rows: MixedRows, part: Places) -> int:
    return len(np.unique(rows.people[part])) if len(rows.people) else len(part)
