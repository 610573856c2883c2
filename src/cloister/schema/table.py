"""The schema of a table: its columns, their roles, and whom the guarantee protects."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from os import PathLike

from cloister.errors import SchemaError
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.neighbours import Neighbours

__all__ = ["Column", "Role", "Schema", "nearest"]


class Role(StrEnum):
    """What a column may tell about a person."""

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its kind and its role.

    `guessed` says that a draft guessed the kind and the role. It is a note: two columns that differ in it are equal.
    """

    name: str
    kind: Kind
    role: Role = Role.OTHER
    guessed: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise SchemaError("a column needs a name.")
        if not isinstance(self.kind, (Number, Category, Date, Text)):
            raise SchemaError(f'column "{self.name}": kind must be Number, Category, Date or Text.')
        try:
            object.__setattr__(self, "role", Role(self.role))
        except ValueError:
            raise SchemaError(f'column "{self.name}": role must be one of {", ".join(Role)}.') from None


@dataclass(frozen=True, slots=True)
class Schema:
    """The public facts of a table.

    Parameters
    ----------
    columns : tuple of Column
    table : str, optional
        Name of the table in the ledger. None: releases are not ledgered.
    neighbours : Neighbours, optional
        Which two tables must not be told apart. None: not said; readers take add-remove.
    unit : str, optional
        The column that says whose row it is, when a person may have several rows.
    max_rows : int, optional
        At most so many rows of one unit are kept.

    Privacy
    -------
    Nothing in a schema may be computed from the rows: a bound that is a column's largest value publishes that value.

    Examples
    --------
    >>> schema = Schema((Column("age", Number(bounds=(0, 100), step=1), Role.QUASI),), table="students")
    >>> schema["age"].kind.worlds
    101
    """

    columns: tuple[Column, ...]
    table: str | None = None
    neighbours: Neighbours | None = None
    unit: str | None = None
    max_rows: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        names = self.names
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise SchemaError(f'column "{twice[0]}" is there twice. Give every column its own name.')
        if self.table is not None and (not isinstance(self.table, str) or not self.table.strip()):
            raise SchemaError('table must be a name, such as table = "students".')
        if self.neighbours is not None:
            try:
                object.__setattr__(self, "neighbours", Neighbours(self.neighbours))
            except ValueError:
                raise SchemaError(f"neighbours must be one of {', '.join(Neighbours)}.") from None
        if self.unit is not None and self.unit not in names:
            raise SchemaError(f'unit "{self.unit}" is not a column of the schema.{nearest(self.unit, names)}')
        if self.max_rows is not None:
            if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or self.max_rows < 1:
                raise SchemaError("max_rows must be a whole number of at least 1.")
            if self.unit is None:
                raise SchemaError("max_rows needs a unit: name the column that says whose row it is.")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns, in order."""
        return tuple(column.name for column in self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def __getitem__(self, name: str) -> Column:
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(f'the schema has no column "{name}".{nearest(name, self.names)}')

    @classmethod
    def from_toml(cls, path: str | PathLike[str]) -> Schema:
        """Read a schema file; hierarchies are looked for beside it."""
        from cloister.schema.toml import read

        return read(path)

    @classmethod
    def from_text(cls, text: str) -> Schema:
        """Read a schema from TOML text."""
        from cloister.schema.toml import parse

        return parse(text)

    def to_toml(self) -> str:
        """The schema as TOML text; `from_text` gives the same schema back."""
        from cloister.schema.toml import write

        return write(self)


def nearest(word: str, known: Iterable[str]) -> str:
    """A hint at the known word that was probably meant, or nothing; meant to follow a sentence."""
    close = difflib.get_close_matches(word, list(known), n=1)
    return f' Did you mean "{close[0]}"?' if close else ""
