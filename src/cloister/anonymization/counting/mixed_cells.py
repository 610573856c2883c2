"""Columns of texts that no schema describes: whether they are read as numbers, days or words must not hang on a few rows.

The kind of a column decides how its labels are written: as intervals, or as the cells themselves. A text column has a kind
that all its cells fit, so that one odd cell, of a row that is then removed, would show in everybody's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import ColumnValues
from cloister.errors import SchemaError
from cloister.kernels.distinct_values import CODE_PATTERN
from cloister.schema.cell_values import days, numbers

__all__ = ["check_one_kind"]


def check_one_kind(column: ColumnValues, k: int, count: Callable[[Sequence[str]], int]) -> None:
    """Refuse a column of texts that would be of another kind without some cells that fewer than k rows (people) hold.

    `count` says how many hold one of some words. Types of columns are declared, and decide without this; very many
    texts that are not all numbers or days are refused anyway.

    Privacy: a column of which at least k rows do not fit a kind is not of that kind, and no fewer rows decide it.
    """
    if column.is_typed or column.is_many:
        return
    words = np.array(column.words, object)
    for kind, fits in _fits(column.words).items():
        if fits.all() or not fits.any():
            continue
        odd = words[~fits].tolist()
        if (held := count(odd)) < k <= count(words[fits].tolist()):
            raise SchemaError(
                f'column "{column.name}": {held:,} of its rows, fewer than k, are not {kind}, as others are: how the labels of '
                "all are written would show them. Say in a schema what it is (kind), and what stands for a missing value; "
                "or correct them, or give it a hierarchy."
            )


def _fits(words: Sequence[str]) -> dict[str, NDArray[np.bool_]]:
    """Which words fit each kind that has labels of its own."""
    cells = pa.array(words, pa.string())
    as_numbers = numbers(cells)
    is_code = pc.match_substring_regex(cells, CODE_PATTERN).to_numpy(zero_copy_only=False)
    is_number = np.isfinite(as_numbers) & ~is_code.astype(bool)
    return {
        "true or false": np.array([word.lower() in ("true", "false") for word in words], bool),
        "whole numbers": is_number & (np.floor(as_numbers) == as_numbers),
        "numbers": is_number,
        "dates": np.isfinite(days(cells)),
    }
