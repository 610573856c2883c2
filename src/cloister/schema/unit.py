"""Whom a guarantee protects: a row, or a person who may have many rows."""

from __future__ import annotations

from dataclasses import dataclass

from cloister.errors import SchemaError
from cloister.schema.table import Schema

__all__ = ["Unit", "rows_each", "unit_of"]


@dataclass(frozen=True, slots=True)
class Unit:
    """Whom the guarantee protects: the people named in a column, each with at most `max_rows` rows."""

    column: str
    max_rows: int

    def __post_init__(self) -> None:
        if self.max_rows < 1:
            raise SchemaError("max_rows must be at least 1: how many rows of one person count.")

    def __str__(self) -> str:
        rows = "1 row" if self.max_rows == 1 else f"{self.max_rows:,} rows"
        return f'person (at most {rows} each, column "{self.column}")'


def unit_of(schema: Schema | None) -> Unit | None:
    """Whom a schema says the guarantee should protect; None: a row."""
    if schema is None or schema.unit is None:
        return None
    if schema.max_rows is None:
        raise SchemaError(
            f'the schema names the unit "{schema.unit}" but not how many rows of one person may count. Add max_rows = 5, or '
            "whatever suits the table: more rows keep more of the data and need more noise."
        )
    return Unit(schema.unit, schema.max_rows)


def rows_each(unit: Unit | None) -> int:
    """How many rows of one person count; 1 where a row is protected by itself."""
    return 1 if unit is None else unit.max_rows
