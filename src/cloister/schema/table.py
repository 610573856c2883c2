"""The schema of a table: its columns, their roles, and whom the guarantee protects."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path

from cloister.column_names import nearest_name
from cloister.errors import SchemaError
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.parameters import check_path, check_text
from cloister.schema import toml
from cloister.schema.column import Column, Role
from cloister.schema.kinds import Number, repeated
from cloister.schema.neighbours import Neighbours

__all__ = ["Column", "Role", "Schema"]

SHOWN = 8  # columns in one line


@dataclass(frozen=True, slots=True)
class Schema:
    """The public facts of a table.

    Parameters
    ----------
    columns : tuple of Column
    table : str, optional
        Name of the table in the ledger. None: releases are not ledgered.
    neighbours : Neighbours, optional
        Which two tables must not be told apart. None: not stated; releases assume add-remove.
    unit : str, optional
        The column that says whose row it is, when a person may have several rows.
    max_rows : int, optional
        At most so many rows of one unit are kept.
    file : FileOptions
        How the files of the table are written, where they do not say it themselves: without a header line, below a title.
    is_in_row_order : bool
        Whether the columns stand as in a row of the table. The short form of a schema lists numbers and categories apart, so that
        it cannot say which cell of a list or an array is which.

    Privacy
    -------
    Nothing in a schema may be computed from the rows: a bound that is a column's largest value publishes that value.

    Examples
    --------
    >>> from cloister.schema import Number
    >>> schema = Schema((Column("age", Number(bounds=(0, 100), step=1), Role.QUASI),), table="students")
    >>> schema["age"].kind.worlds
    101
    """

    columns: tuple[Column, ...]
    table: str | None = None
    neighbours: Neighbours | None = None
    unit: str | None = None
    max_rows: int | None = None
    file: FileOptions = NOTHING_SAID
    is_in_row_order: bool = field(default=True, compare=False, repr=False)

    def __repr__(self) -> str:
        names = ", ".join(repr(name)[1:-1] for name in self.names[:SHOWN]) + (
            f" and {len(self.names) - SHOWN:,} more" if len(self.names) > SHOWN else ""
        )
        table = "" if self.table is None else f", table={self.table!r}"
        return f"Schema({len(self.names):,} columns: {names}{table})"

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", _columns(self.columns))
        names = self.names
        twice = repeated(names)
        if twice:
            raise SchemaError(f'column "{twice[0]}" is there twice. Give every column its own name.')
        if self.table is not None and (not isinstance(self.table, str) or not self.table.strip()):
            raise SchemaError('table must be a name, such as table = "students".')
        if self.table is not None:
            check_text(self.table, "table")
        if self.neighbours is not None:
            try:
                object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
            except ValueError:
                raise SchemaError(f"neighbours must be one of {', '.join(Neighbours)}.") from None
        if self.unit is not None and check_text(self.unit, "unit") not in names:
            raise SchemaError(f'unit "{self.unit}" is not a column of the schema.{nearest_name(self.unit, names)}')
        if self.max_rows is not None:
            if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or self.max_rows < 1:
                raise SchemaError("max_rows must be a whole number of at least 1.")
            if self.unit is None:
                raise SchemaError("max_rows needs a unit: name the column that says whose row it is.")

    @property
    def without_numbers(self) -> tuple[str, ...]:
        """The columns that hold something else than numbers: digits in them are words."""
        return tuple(column.name for column in self.columns if not isinstance(column.kind, Number))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def row_names(self) -> tuple[str, ...] | None:
        """The columns of a row that does not name its cells; None: not known."""
        return self.names if self.is_in_row_order else None

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        check_text(name, "a name")
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f'the schema has no column "{name}".{nearest_name(name, self.names)}')

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file; paths of hierarchies are taken relative to it, so that the files can move together."""
        text = toml.read_text(check_path(path, "the schema"))
        try:
            schema = cls.from_text(text)
        except SchemaError as error:
            raise SchemaError(f"{path}: {error}") from None
        return replace(schema, columns=toml.relocated(schema.columns, Path(path).parent))

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """Read a schema from TOML text."""
        return cls(**toml.parse(check_text(text, "the text of a schema")))

    def to_toml(self, hints: bool = False, likely_unit: str | None = None) -> str:
        """The schema as TOML text; `from_text` gives the same schema back.

        With hints, comments show how to fill in what the schema does not say yet, and ask whether `likely_unit` is the unit.
        """
        facts = toml.TableFacts(
            columns=self.columns,
            table=self.table,
            neighbours=self.neighbours,
            unit=self.unit,
            max_rows=self.max_rows,
            file=self.file,
            is_in_row_order=self.is_in_row_order,
        )
        return toml.write(facts, hints, likely_unit)


def _columns(columns: object) -> tuple[Column, ...]:
    if not isinstance(columns, tuple | list) or not all(isinstance(column, Column) for column in columns):
        raise SchemaError("columns must be a list of Column.")
    return tuple(columns)
