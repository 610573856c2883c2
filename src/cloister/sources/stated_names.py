"""Which columns a list of rows or an array has, as far as the user's own words say it.

Privacy
-------
A list cannot tell: taken from its rows, the names would depend on one of them. So they come from the call and the schema alone,
and words that could mean two things are refused, whatever the rows are. An array declares how many columns it has.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from cloister.errors import SourceError
from cloister.file_options import NOTHING_SAID, FileOptions

__all__ = ["BY_COLUMNS", "NOTHING_STATED", "StatedNames", "is_place", "names_stated"]

BY_COLUMNS = 'Name them in the order of the rows: columns=["age", "pay"] (dicts are read by these names).'
BY_SCHEMA = (
    "Give a schema, whose columns the rows then have in its order; or pass a dict of columns, such as "
    '{"age": [31, 40], "sex": ["f", "m"]}, or a data frame: pandas.DataFrame(rows) takes the keys of dicts for names.'
)
MOST_QUOTED = 6  # names in a message


class ListedColumns(Protocol):
    """A schema, as far as it lists columns: schema and sources do not import each other."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def row_names(self) -> tuple[str, ...] | None: ...

    @property
    def file(self) -> FileOptions: ...


@dataclass(frozen=True, slots=True)
class StatedNames:
    """What a call says of the columns of data that does not name its own.

    Columns without names are called x0, x1, ...: naming x2 states that there are three of them.

    >>> StatedNames(columns=("age", "pay")).of_rows()
    ('age', 'pay')
    >>> StatedNames(columns=("x2",)).of_rows()
    ('x0', 'x1', 'x2')
    """

    columns: tuple[str, ...] | None = None  # as the user named them
    schema: tuple[str, ...] | None = None  # as a schema lists them, in the order of a row
    count: int | None = None  # how many there are, where bounds say so
    advice: str = BY_SCHEMA  # what to do where nothing is said
    has_unordered_schema: bool = False  # there is one that lists numbers and categories apart
    described: tuple[str, ...] = ()  # the columns of the schema in any order
    file: FileOptions = NOTHING_SAID  # what the schema says of the table's files
    keys_from_rows: bool = (
        False  # a draft for the holder may take the names from the first rows, where nothing else has them
    )

    def of_rows(self) -> tuple[str, ...]:
        """The columns of a list of rows, in the order of cells in a row that is a list."""
        if last := _last_place(self.columns or self.schema or ()):
            return _places(last)
        if self.columns and self.schema and self.columns != self.schema and not self.of_narrow_rows():
            raise self._ambiguous("the rows of the list have", "pandas.DataFrame(rows")
        if names := self.schema or self.columns:
            return names
        if self.count is not None:
            return _places(self.count)
        if self.has_unordered_schema:
            raise self._unordered("a list of rows")
        raise SourceError(f"a list of rows does not say which columns it has. {self.advice}")

    def of_narrow_rows(self) -> tuple[str, ...]:
        """The columns of a row of a list that has just as many cells as were named, fewer than the schema has; none otherwise.

        As an array of that width would be read; but that of a list each row by itself, since none may decide for the others.
        """
        if not self.columns or not self.schema or _last_place(self.columns):
            return ()
        return self.columns if set(self.columns) < set(self.schema) else ()

    def of_array(self, width: int) -> tuple[str, ...]:
        """The columns of an array of so many; x0, x1, ... where no words fit it."""
        if not _last_place(self.columns or self.schema or ()):
            fitting = {names for names in (self.columns, self.schema) if names and len(names) == width}
            if len(fitting) > 1:
                raise self._ambiguous("the array has", "pandas.DataFrame(array")
            if fitting:
                return fitting.pop()
            if self.has_unordered_schema:
                raise self._unordered("an array")
        return _places(width)

    def of_keys(self) -> tuple[str, ...]:
        """The columns of rows that name each of their cells, as lines of JSON do: all that were described or named."""
        return tuple(dict.fromkeys((*self.described, *(self.columns or ()))))

    def _unordered(self, subject: str) -> SourceError:
        return SourceError(
            "the short form of a schema lists numbers and categories apart, so that it is not known in which order "
            f"{subject} has its columns. Name all of them in that order, columns=[...], or pass a frame or a dict of columns."
        )

    def _ambiguous(self, subject: str, call: str) -> SourceError:
        assert self.columns is not None
        assert self.schema is not None
        listed = ", ".join(f'"{name}"' for name in self.columns[:MOST_QUOTED])
        more = ", ..." if len(self.columns) > MOST_QUOTED else ""
        return SourceError(
            f"it is not clear whether {subject} the {len(self.columns)} columns that were named, in that order, or the "
            f"{len(self.schema)} of the schema. Name columns of the schema, in its order; or pass a data frame that says it, "
            f"{call}, columns=[{listed}{more}]), or a dict of columns."
        )


NOTHING_STATED = StatedNames()


def names_stated(schema: ListedColumns | None, columns: Sequence[str] | None = None, advice: str = BY_SCHEMA) -> StatedNames:
    """What a schema and the columns that a user names say of data that does not name its own."""
    return StatedNames(
        None if columns is None else tuple(columns),
        None if schema is None else schema.row_names,
        advice=advice,
        has_unordered_schema=schema is not None and schema.row_names is None,
        described=() if schema is None else schema.names,
        file=NOTHING_SAID if schema is None else schema.file,
    )


def is_place(name: str) -> bool:
    """Whether a name is that of a column without one: x0, x1, ..."""
    return re.fullmatch(r"x[0-9]{1,6}", name) is not None


def _places(count: int) -> tuple[str, ...]:
    return tuple(f"x{j}" for j in range(count))


def _last_place(names: Sequence[str]) -> int | None:
    """How many columns there are, if every name is a place; None if one is not."""
    return max(int(name[1:]) for name in names) + 1 if names and all(map(is_place, names)) else None
