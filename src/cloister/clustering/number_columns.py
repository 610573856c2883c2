"""Which number columns are worked on, and what is publicly known of them: from the user, the schema and the columns' types."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cloister.clustering.domain import Ball, Lattice, pair
from cloister.clustering.inputs import Input
from cloister.clustering.named_bounds import check_bounded, with_bounds
from cloister.column_names import missing_column
from cloister.encode import Codes
from cloister.errors import SchemaError, UsageError, by_door
from cloister.parameters import check_facts
from cloister.schema import Category, Number, Role, Schema
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.kinds import Kind
from cloister.sources.stated_names import BY_COLUMNS, StatedNames, names_stated

__all__ = ["NumberColumns", "choose_columns", "kinds_of", "stated_bounds", "stated_names"]

MOST_LISTED = 20


@dataclass(frozen=True, slots=True)
class NumberColumns:
    """The columns to work on, with the bounds and defaults that are known of them; beside the numbers there may be categories."""

    names: list[str]  # of the numbers
    bounds: Any  # None: to be estimated inside the budget
    defaults: list[float] | None = None  # NaN: the middle of the bounds
    forms: tuple[CellFormat, ...] | None = None  # how the cells of each are written; None: plainly
    lattices: tuple[Lattice | None, ...] | None = None  # on which public values each lies, where the schema says it
    categories: tuple[Codes, ...] = ()
    order: tuple[str, ...] = ()  # numbers and categories as the user has them; none: there are numbers alone

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every column that is worked on, in order."""
        return self.order or tuple(self.names)


def choose_columns(rows: Input, schema: Schema | None, columns: Sequence[str] | None, bounds: Any) -> NumberColumns:
    """The columns that a user named, or all that can be numbers; bounds and defaults from the schema where it has them.

    A column that the schema does not describe must not be of a type of text; one that the user does not name either must say by
    its type that it holds numbers. Bounds by name say which columns are numbers, too.
    """
    chosen = NumberColumns(list(rows.names if columns is None else columns), bounds)
    is_named = columns is not None
    if isinstance(bounds, Mapping):
        chosen, is_named = by_named_bounds(schema, columns, bounds), True
    elif schema is not None:
        chosen = by_schema(chosen.names, schema, columns, bounds)
    missing = [name for name in chosen.names if rows.names and name not in rows.names]
    if missing:
        described = () if schema is None else schema.names
        raise missing_column(missing[0], rows.names, chosen.names, described=described)
    undescribed = [name for name in chosen.names if not is_named and (schema is None or name not in schema)]
    if undescribed and not getattr(rows.data, "typed", True):
        raise untold_numbers()
    if texts := [name for name in undescribed if name in rows.texts]:
        raise UsageError(
            f'column "{texts[0]}" holds text, or else no numbers. Say which columns to use: '
            + by_door('columns=["age", "income"].', "--columns A,B.")
        )
    named = [name for name in chosen.names if is_named and (schema is None or name not in schema)]
    if texts := [name for name in named if name in rows.declared_texts]:
        raise UsageError(
            f'column "{texts[0]}" holds text by its type, or else no numbers. Leave it out of '
            f"{by_door('columns', '--columns')}, or describe it in a schema as a number that is written as text."
        )
    return chosen


def untold_numbers() -> UsageError:
    """A file of text whose columns nobody described."""
    return UsageError(
        "a CSV file does not say which of its columns are numbers. Name those to use: "
        f"{by_door('columns=[...]', '--columns A,B')}; or give a schema."
    )


def kinds_of(columns: NumberColumns, schema: Schema | None) -> dict[str, Kind | None]:
    """What the schema says of each column; None: nothing."""
    return {name: schema[name].kind if schema is not None and name in schema else None for name in columns.all_names}


def stated_bounds(columns: NumberColumns) -> dict[str, tuple[float, float]]:
    """The lowest and highest value of each column; none where they are not known."""
    if columns.bounds is None:
        return {}
    if isinstance(columns.bounds, Ball):
        ball = columns.bounds
        center = np.broadcast_to(0.0 if ball.center is None else np.asarray(ball.center, np.float64), len(columns.names))
        low, high = center - ball.radius, center + ball.radius
    else:
        low, high = pair(columns.bounds, len(columns.names))
    return dict(zip(columns.names, zip(low.tolist(), high.tolist(), strict=True), strict=True))


def stated_names(schema: Schema | None, columns: Sequence[str] | None, bounds: Any) -> StatedNames:
    """What the user's own words say of the columns of a list of rows or an array."""
    ends = (bounds.center,) if isinstance(bounds, Ball) else bounds if isinstance(bounds, tuple | list) else ()
    sizes = [np.size(end) for end in ends if np.ndim(end) == 1]
    advice = f"{BY_COLUMNS} Or give bounds with one number a column."
    if isinstance(bounds, Mapping) and schema is None and columns is None:
        columns = tuple(check_facts(bounds, "bounds"))
    return replace(names_stated(schema, columns, advice), count=max(sizes, default=None))


def by_named_bounds(schema: Schema | None, columns: Sequence[str] | None, bounds: Mapping[str, Any]) -> NumberColumns:
    """The columns that were named, or all with bounds by name or by the schema."""
    facts = with_bounds(schema, bounds)
    numbers = [name for name in facts.names if may_be_number(facts, name)] if columns is None else list(columns)
    for name in numbers:
        if not may_be_number(facts, name):
            raise no_number_column(facts, name)
    check_bounded(numbers, facts)
    return by_schema(numbers, facts, numbers, None)


def by_schema(names: list[str], schema: Schema, columns: Sequence[str] | None, bounds: Any) -> NumberColumns:
    """What the schema leaves of the columns, with what it knows of them."""
    for name in columns or ():
        if not may_be_number(schema, name):
            raise no_number_column(schema, name)
    if columns is None:
        if bounds is None and any(may_be_number(schema, name) for name in schema.names):
            names = list(schema.names)  # it has bounds for these
        names = [name for name in names if may_be_number(schema, name)]
    if bounds is None and any(name in schema or has_numbers(schema) for name in names):
        ends = [ends_of(schema, name) for name in names]
        bounds = (np.array([low for low, _ in ends]), np.array([high for _, high in ends]))
    elif columns is None and is_by_column(bounds):
        raise UsageError("bounds are given one a column. Say which columns they are for: columns=[...].")
    kinds = [schema[name].kind if name in schema else None for name in names]
    defaults = [kind.default if isinstance(kind, Number) else None for kind in kinds]
    return NumberColumns(
        names,
        bounds,
        [np.nan if default is None else float(default) for default in defaults],
        tuple(PLAIN if kind is None else kind.form for kind in kinds),
        tuple(lattice_of(kind) if isinstance(kind, Number) else None for kind in kinds),
    )


def lattice_of(kind: Number) -> Lattice | None:
    """The values of a column with a step."""
    if kind.step is None:
        return None
    return (0.0 if kind.bounds is None else float(kind.bounds[0])), float(kind.step)


def may_be_number(schema: Schema, name: str) -> bool:
    """Whether a column can be worked on as far as the schema says: one that it does not name can."""
    if name == schema.unit:
        return False
    return name not in schema or (isinstance(schema[name].kind, Number) and schema[name].role is not Role.IDENTIFIER)


def has_numbers(schema: Schema) -> bool:
    """Whether the schema describes numbers, and with them which columns are numbers."""
    return any(isinstance(column.kind, Number) for column in schema.columns)


def no_number_column(schema: Schema, name: str) -> SchemaError:
    """Why a column that was named cannot be worked on, and what can be done with it."""
    column = schema[name]
    if name == schema.unit or column.role is Role.IDENTIFIER:
        return SchemaError(
            f'column "{name}" says who a row is about, by the schema. Leave it out of {by_door("columns", "--columns")}.'
        )
    kind = type(column.kind).__name__.lower()
    others = [other for other in schema.names if may_be_number(schema, other)]
    numbers = f" The number columns are: {', '.join(others[:MOST_LISTED])}." if others else ""
    advice = ""
    if isinstance(column.kind, Category):
        advice = (
            f" {by_door('KPrototypes', '--model kprototypes')} takes categories too; cloister tabulate counts its values."
        )
    return SchemaError(
        f'column "{name}" is a {kind} in the schema, and distances are between numbers. Leave it out of '
        f"{by_door('columns', '--columns')}.{numbers}{advice}"
    )


def ends_of(schema: Schema, name: str) -> tuple[float, float]:
    """The bounds of a number column."""
    kind = schema[name].kind
    assert isinstance(kind, Number)
    if kind.bounds is None:
        raise SchemaError(
            f'column "{name}" has no bounds. Add bounds = [low, high] to its part of the schema, from what is publicly known '
            "about it."
        )
    return kind.bounds


def is_by_column(bounds: Any) -> bool:
    """Whether bounds are given one a column."""
    return isinstance(bounds, tuple | list) and any(np.size(end) > 1 for end in bounds)
