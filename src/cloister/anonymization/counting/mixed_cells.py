"""Columns whose cells are not all of one form: how the labels of everybody are written must not hang on a few rows.

The kind of a column decides how its labels are written: as intervals, or as the cells themselves. A text column without a
schema has a kind that all its cells fit, and labels of numbers are single values where all cells are on a step. So one
odd cell, of a row that is then removed, would show in everybody's labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import ColumnValues
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.leaf_coder import StepCoder
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.errors import SchemaError
from cloister.kernels.distinct_values import CODE_PATTERN
from cloister.schema import Number, Schema
from cloister.schema.cell_values import days, numbers
from cloister.schema.numerals import label_text

__all__ = ["check_on_step", "check_one_kind", "find_on_step"]


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


def check_on_step(counted: CountedTable, values: Mapping[str, ColumnValues], schema: Schema | None, k: int) -> None:
    """Refuse a column of a schema if fewer than k rows (people) hold numbers between its steps, and others are on them.

    The step is that of the schema; without one it is 1 for texts, which would have that step if all were whole. A population
    is held to the same, unless k rows of the table are between two steps anyway.

    Privacy: labels are single values if no row is between two steps, intervals if at least k rows are.
    """
    rows = counted.rows
    for j, (name, scale) in enumerate(zip(counted.names, counted.columns, strict=True)):
        kind = schema[name].kind if schema is not None and name in schema else None
        if not isinstance(scale, Scale) or scale.width is not None or not isinstance(kind, Number):
            continue
        step = kind.step
        if step is None and not values[name].is_typed and (kind.bounds is None or kind.bounds[0].is_integer()):
            step = 1.0
        if step is None:
            continue
        are_on = scale.are_on_step(step)
        is_on, is_off = np.append(are_on, False)[rows.codes[:, j]], np.append(~are_on, False)[rows.codes[:, j]]  # no blanks
        held = _holders(rows, is_off), _holders(rows, is_on)
        _check_few(name, step, held, k, "rows" if rows.persons is None else "people")
        if rows.population is not None and held[0] < k:
            few = int(rows.population[is_off].sum()), int(rows.population[is_on].sum())
            _check_few(name, step, few, k, "rows in the population")


def find_on_step(
    scale: Scale, column: ColumnValues, k: int, count: Callable[[StepCoder], tuple[int, int]], *, by_people: bool
) -> Scale:
    """Very many numbers, counted in intervals: whether all are on their step, by the rule of `check_on_step`.

    `count` goes through the rows, and says how many rows (people) are between two steps and how many are not. Texts that
    are not all whole might be but for a few of them. Types decide without this.
    """
    step = scale.step
    if scale.width is None or scale.is_date or (step is not None and scale.width != Fraction(repr(step))):
        return scale
    has_whole_start = scale.bounds is None or scale.bounds[0].is_integer()
    if column.is_whole and step == 1 and has_whole_start:
        return replace(scale, is_on_step=True)
    if step is None and (column.is_typed or not has_whole_start):
        return scale
    held = count(StepCoder(column.name, step or 1.0, scale.bounds, scale.form))
    _check_few(column.name, step or 1.0, held, k, "people" if by_people else "rows")
    return replace(scale, is_on_step=not held[0])


def _check_few(name: str, step: float, held: tuple[int, int], k: int, whose: str) -> None:
    """Refuse a column of which a few rows (people) are between two steps; `held` are how many are so, and are not."""
    off, on = held
    if 0 < off < k <= on:
        raise SchemaError(
            f'column "{name}": {off:,} of its {whose}, fewer than k, hold numbers that are no multiples of its step '
            f"({label_text(step)}), as those of others are: how the labels of all are written would show them. Correct "
            "them, or give the column a finer step in the schema, or a hierarchy."
        )


def _holders(rows: TupleCounts, mask: NDArray[np.bool_]) -> int:
    """How many rows (people) of the table hold one of some tuples."""
    return int(rows.counts[mask].sum()) if rows.persons is None else len(np.unique(rows.persons[mask & (rows.counts > 0)]))


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
