"""Bounds by the names of columns, `bounds={"age": (0, 110)}`: joined to what a schema says of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cloister.errors import SchemaError, UsageError, by_door
from cloister.parameters import check_facts
from cloister.schema import Column, Number, Role, Schema
from cloister.schema.stated_bounds import has_days

__all__ = ["check_bounded", "with_bounds"]

NO_DAYS = (
    "distances are between numbers. Leave the column out, or make it a number, such as the year; tabulate, choose and "
    "PrivateMicrodata take dates."
)
EXAMPLE = '{"age": (0, 110)}'


def with_bounds(schema: Schema | None, bounds: Mapping[str, Any]) -> Schema:
    """The schema with these bounds in place of its own; a column that it does not describe is a number, by the user's word.

    >>> with_bounds(None, {"age": (0, 110)})["age"].kind.bounds
    (0.0, 110.0)
    """
    if not check_facts(bounds, "bounds"):
        raise UsageError(f"bounds is an empty dict. Give each column its own: bounds={EXAMPLE}.")
    stated = {name: bounded(name, schema, ends) for name, ends in bounds.items()}
    if schema is None:
        return Schema(tuple(stated.values()))
    others = tuple(stated.get(column.name, column) for column in schema.columns)
    return replace(schema, columns=(*others, *(column for name, column in stated.items() if name not in schema)))


def bounded(name: str, schema: Schema | None, ends: Any) -> Column:
    """A number column with these bounds; refused where the schema says that it is none."""
    column = schema[name] if schema is not None and name in schema else Column(name, Number())
    is_unit = schema is not None and name == schema.unit
    if not isinstance(column.kind, Number) or column.role is Role.IDENTIFIER or is_unit:
        kind = (
            "says who a row is about"
            if is_unit or column.role is Role.IDENTIFIER
            else f"is a {type(column.kind).__name__.lower()}"
        )
        raise SchemaError(f'column "{name}" {kind} by the schema, and bounds are of numbers. Leave it out of the bounds.')
    if has_days(ends):
        raise UsageError(f'the bounds of column "{name}" are days, and {NO_DAYS}')
    try:
        low, high = (end.item() if isinstance(end, np.generic) else end for end in ends)
        return replace(column, kind=replace(column.kind, bounds=(low, high)))
    except SchemaError as error:
        raise UsageError(f'the bounds of column "{name}": {error}') from None
    except (TypeError, ValueError):
        raise UsageError(f'the bounds of column "{name}" must be two numbers, (low, high): bounds={EXAMPLE}.') from None


def check_bounded(names: list[str], facts: Schema, place: str = "columns") -> None:
    """Refuse columns that have no bounds, neither by name nor by the schema; `place`: what to leave such a column out of."""
    for name in names:
        kind = facts[name].kind if name in facts else None
        if kind is None or (isinstance(kind, Number) and kind.bounds is None):
            raise UsageError(
                f'column "{name}" has no bounds. Add them from what is publicly known about it: '
                + by_door(f'bounds={{..., "{name}": (low, high)}}', f"--bounds '{name}=LOW:HIGH'")
                + f", or leave it out of {by_door(place, '--columns')}."
            )
