"""How each quasi-identifier generalises: by a hierarchy, or, where there is none, as a scale or a list of its own values."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import MOST_CODES, ColumnValues
from cloister.anonymization.counting.public_grid import MonthGrid
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.wide_columns import RangeCount, intervals_of_range
from cloister.errors import SchemaError
from cloister.schema import Date, Number, Schema
from cloister.schema.cell_format import PLAIN
from cloister.schema.hierarchies import Hierarchy, flat
from cloister.schema.hierarchies.of_columns import fit_to_cells
from cloister.schema.kinds import Kind
from cloister.schema.numerals import WHOLE_NUMBERS

__all__ = ["column_from_values"]


def column_from_values(column: ColumnValues, schema: Schema | None, count: RangeCount) -> Hierarchy | Scale:
    """What stands for the hierarchy of a quasi-identifier that has none: ordered values to split, or a plain list.

    `count` counts the rows of a column with very many numbers, whose range would otherwise be that of single rows.
    """
    kind = schema[column.name].kind if schema is not None and column.name in schema else None
    wants_days = isinstance(kind, Date) or (kind is None and column.is_calendar)
    wants_numbers = isinstance(kind, Number) or (kind is None and not wants_days and column.is_numeric)
    cells = column.days if wants_days else column.numbers
    form = PLAIN if kind is None else kind.form
    if not len(cells):  # nothing but blanks
        return flat([""])
    if wants_days or wants_numbers:
        if not np.isfinite(cells).all():
            what = "dates" if wants_days else "numbers"
            raise SchemaError(
                f'column "{column.name}": some cells are infinite, or cannot be read as {what}. Correct them or its kind in the '
                "schema, or give it a hierarchy."
            )
        if wants_days:
            scale = months(np.floor(cells)) if column.is_many else Scale(np.unique(np.floor(cells)), is_date=True)
            return replace(scale, form=form)
        return _number_scale(column, kind, cells, count)
    if column.is_many:
        raise SchemaError(
            f'column "{column.name}" has more than {MOST_CODES:,} different texts and no hierarchy. Give it one '
            "(cloister schema --hierarchies DIR drafts it), or name it an identifier."
        )
    return fit_to_cells(flat(column.words), kind)


def _number_scale(column: ColumnValues, kind: Kind | None, cells: NDArray[np.float64], count: RangeCount) -> Scale:
    """The numbers of a column, with the bounds and the step that are known of it."""
    if not column.is_float and np.abs(cells).max() >= WHOLE_NUMBERS:
        raise SchemaError(
            f'column "{column.name}" holds numbers of {WHOLE_NUMBERS:,} or more, which are not told apart one by one: labels '
            "would name others. Call it a category in a schema, divide it, or drop it; if the number stands for a missing "
            "value, list it there as missing."
        )
    bounds, step, form = (kind.bounds, kind.step, kind.form) if isinstance(kind, Number) else (None, None, PLAIN)
    if kind is None and column.is_boolean:
        bounds, step = (0.0, 1.0), 1.0
    elif step is None and column.is_whole and (bounds is None or bounds[0].is_integer()):
        step = 1.0
    if column.is_many:
        read = partial(replace, form=form)
        return read(intervals_of_range(cells, bounds, step, lambda intervals: count(read(intervals))))
    values = np.unique(cells)
    if bounds is not None:  # what lies outside is refused when it is counted
        values = values[(bounds[0] <= values) & (values <= bounds[1])]
        values = values if len(values) else np.array(bounds[:1])
    return Scale(values, bounds=bounds, step=step, form=form)


def months(days: NDArray[np.float64]) -> Scale:
    """Very many different days as months."""
    grid, month = MonthGrid(), Fraction(1)
    first, last = grid.places(np.array([days.min(), days.max()]), month).tolist()
    return Scale(grid.starts(np.arange(first, last + 1), month), is_date=True, width=month)
