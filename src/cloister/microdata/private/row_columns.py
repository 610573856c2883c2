"""Which columns are made up anew, what is publicly known of each, and how made-up values are written."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.domain import Domain, from_bounds, with_categories
from cloister.column_names import missing_column
from cloister.encode import Codes, DayGrid, Grid
from cloister.errors import SchemaError, UsageError, by_door
from cloister.schema import Category, Date, Number, Role, Schema, Text
from cloister.schema.stated_kinds import kind_of, stated_ends
from cloister.schema.value_steps import ValueSteps
from cloister.tabulation.day_bins import day_number

__all__ = ["RowColumns", "RowKind", "choose_row_columns"]

RowKind = Number | Date | Category
MOST_CATEGORIES = 4_096  # of a column
DIGITS = 9  # of a number without a step: its grid is no finer


@dataclass(frozen=True, slots=True)
class RowColumns:
    """The columns of the made-up rows, in their order, with what is publicly known of them.

    Dates are numbers of days since 1970-01-01 until they are written.
    """

    kinds: Mapping[str, RowKind]
    left_behind: tuple[str, ...] = ()  # columns of the data that are not written

    @property
    def names(self) -> tuple[str, ...]:
        """Every column, in order."""
        return tuple(self.kinds)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers and dates."""
        return tuple(name for name, kind in self.kinds.items() if not isinstance(kind, Category))

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories of more than one value; one that has a single value is written as that."""
        return tuple(name for name, kind in self.kinds.items() if isinstance(kind, Category) and len(kind.cells) > 1)

    @property
    def domain(self) -> Domain:
        """The grid of the numbers and days, scaled to their bounds, and the values of the categories."""
        kinds = [(name, kind) for name, kind in self.kinds.items() if name in self.categories]
        categories = [Codes.over(name, kind) for name, kind in kinds if isinstance(kind, Category)]
        order = [name for name in self.names if name in self.numbers or name in self.categories]
        return with_categories(self._numbers_domain() if self.numbers else None, categories, order)

    def _numbers_domain(self) -> Domain:
        facts = [number_facts(self.kinds[name]) for name in self.numbers]
        domain = from_bounds(
            self.numbers,
            (np.array([fact.low for fact in facts]), np.array([fact.high for fact in facts])),
            "bounds",
            [fact.default for fact in facts],
            [self.kinds[name].form for name in self.numbers],
            [None if fact.step is None else (fact.low, fact.step) for fact in facts],
        )
        grids = tuple(as_days(grid) if isinstance(self.kinds[grid.name], Date) else grid for grid in domain.encoding.numbers)
        return replace(domain, encoding=replace(domain.encoding, numbers=grids))

    def table(self, values: Mapping[str, NDArray[Any]]) -> pa.Table:
        """Made-up values by column -> rows as they are written.

        Numbers and days are put on their column's steps between its bounds; categories are codes of their domain.
        """
        rows = max((len(column) for column in values.values()), default=0)
        columns = {}
        for name, kind in self.kinds.items():
            if isinstance(kind, Category):
                codes = values.get(name, np.zeros(rows, dtype=np.int32))  # one value: every row has it
                columns[name] = pa.array(np.array(kind.cells, dtype=object)[codes], pa.string())
            else:
                columns[name] = written_numbers(values[name], kind)
        return pa.table(columns)


@dataclass(frozen=True, slots=True)
class NumberFacts:
    """The bounds, default and step of a column of numbers, or of days as numbers."""

    low: float
    high: float
    default: float
    step: float | None


def number_facts(kind: RowKind) -> NumberFacts:
    """What is publicly known of a column of numbers or days."""
    if isinstance(kind, Date):
        assert kind.bounds is not None
        assert kind.fallback is not None
        first, last = (float(day_number(day)) for day in kind.bounds)
        return NumberFacts(first, last, float(day_number(kind.fallback)), 1.0)
    assert isinstance(kind, Number)
    assert kind.bounds is not None
    assert kind.fallback is not None
    return NumberFacts(*kind.bounds, kind.fallback, kind.step)


def as_days(grid: Grid) -> DayGrid:
    """The same grid over a column whose cells are dates."""
    return DayGrid(grid.name, grid.center, grid.step, grid.half, grid.default, grid.form, grid.values)


def written_numbers(values: NDArray[np.float64], kind: Number | Date) -> pa.Array:
    """Numbers as a column has them: days as dates, whole numbers as such, others to as many digits as they are worth."""
    facts = number_facts(kind)
    inside = np.clip(values, facts.low, facts.high)
    if isinstance(kind, Date):
        return pa.array(np.rint(inside).astype(np.int64).astype("datetime64[D]"))
    if facts.step is None:
        rounded = np.array([float(f"{value:.{DIGITS}g}") for value in inside.tolist()], dtype=np.float64)
        return pa.array(np.clip(rounded, facts.low, facts.high))  # few digits may lie beyond the bounds
    on_steps = ValueSteps(facts.low, facts.step, facts.low, facts.high).nearest(inside)
    if facts.low.is_integer() and facts.step.is_integer():
        return pa.array(np.rint(on_steps).astype(np.int64))
    return pa.array(on_steps)


def choose_row_columns(
    names: Sequence[str],
    columns: Sequence[str] | None,
    bounds: Mapping[str, Any],
    domains: Mapping[str, Sequence[str]],
    schema: Schema | None,
) -> RowColumns:
    """The columns that a user named, or all that are described and identify nobody; the others are left behind.

    Raises
    ------
    SchemaError, UsageError
        For a column that is missing, free text, an identifier, or without bounds or a domain.
    """
    for name in bounds:
        stated_ends(name, bounds, schema[name].kind if schema is not None and name in schema else None)
    described = [*(schema.names if schema is not None else ()), *(name for name in (*bounds, *domains))]
    wanted = list(columns) if columns is not None else default_columns(names, list(dict.fromkeys(described)), schema)
    if not wanted:
        raise UsageError(
            "nothing is publicly known of any column, so no row can be made up. "
            + by_door(
                'Give a schema, or bounds={"age": (0, 99)} for numbers and domains={"sex": ["f", "m"]} for categories.',
                "Describe the columns in a schema (cloister schema FILE drafts one), and give --schema.",
            )
        )
    for name in wanted:
        if names and name not in names:
            raise missing_column(name, names, wanted, described=schema.names if schema is not None else ())
        check_no_identifier(name, schema)
    kinds = {name: kind_of(name, bounds, domains, schema, "a made-up row") for name in wanted}
    check_categories(kinds)
    return RowColumns(kinds, tuple(name for name in names if name not in kinds))


def default_columns(names: Sequence[str], described: Sequence[str], schema: Schema | None) -> list[str]:
    """The columns that are made up when none are named, in the order of the data."""
    usable = [name for name in described if schema is None or name not in schema or is_usable(schema, name)]
    return [name for name in names if name in usable] + [name for name in usable if name not in names]


def is_usable(schema: Schema, name: str) -> bool:
    """Whether a column is made up when none are named: it is no free text, and says of nobody who they are."""
    column = schema[name]
    return name != schema.unit and column.role is not Role.IDENTIFIER and not isinstance(column.kind, Text)


def check_categories(kinds: Mapping[str, RowKind]) -> None:
    """Refuse a column of so many values that each would be nothing but noise in a table of any usual size."""
    for name, kind in kinds.items():
        if isinstance(kind, Category) and len(kind.cells) > MOST_CATEGORIES:
            raise UsageError(
                f'column "{name}" has {len(kind.cells):,} categories, and made-up rows tell at most {MOST_CATEGORIES:,} apart. '
                f"Group its values in the schema, or leave it out of {by_door('columns', '--columns')}."
            )


def check_no_identifier(name: str, schema: Schema | None) -> None:
    """Refuse a column that says who a row is about: there is nobody whom a made-up row is about."""
    if schema is not None and (name == schema.unit or (name in schema and schema[name].role is Role.IDENTIFIER)):
        raise SchemaError(
            f'column "{name}" says who a row is about, by the schema, and made-up rows are about nobody. Leave it out of '
            f"{by_door('columns', '--columns')}."
        )
