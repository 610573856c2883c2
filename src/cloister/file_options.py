"""How files are to be read, as far as their users say it: in a call, by flags, or in the [file] part of a schema.

A new option is a field of `FileOptions`: flags, schemas and `Files` take it from there, and a format says which ones it takes
(`sources/formats.py`).

Privacy
-------
All of it is public: stated by somebody, never found in rows.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

from cloister.errors import UsageError, by_door

__all__ = ["DELIMITERS", "NOTHING_SAID", "FileOptions", "Files", "option_name"]

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "bar": "|"}
TEXT_FORMATS = ("csv", "jsonl")
MOST_SKIPPED = 100_000  # lines
LONGEST_NAME = 1_000  # characters


@dataclass(frozen=True, kw_only=True)
class FileOptions:
    """What is said of files. None: nothing.

    Parameters
    ----------
    names : sequence of str, optional
        The columns of files without a header line, in the order of their fields. Empty: the first line names them,
        whatever the schema says.
    skip : int, optional
        Lines above the header, or above the first row where there is none: titles, remarks.
    delimiter : str, optional
        What parts the fields of a text file: "," ";" a tab or "|", or comma, semicolon, tab, bar. None: the header line
        tells; without one it is a comma, or a tab in files that end in .tsv.
    format : str, optional
        "csv" or "jsonl", for text whose name does not tell.
    sheet : str, optional
        The sheet of an Excel workbook. None: the only one that is not hidden.
    sql_table : str, optional
        The table of a database, as NAME or SCHEMA.NAME.
    query : str, optional
        In place of it a SELECT, in the database's own SQL. Private verbs take columns of one table, with comparisons of columns
        and constants in WHERE.

    >>> FileOptions(delimiter="semicolon").delimiter
    ';'
    """

    names: tuple[str, ...] | None = None
    skip: int | None = None
    delimiter: str | None = None
    format: str | None = None
    sheet: str | None = None
    sql_table: str | None = None
    query: str | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            object.__setattr__(self, "names", _checked_names(self.names))
        if self.skip is not None:
            object.__setattr__(self, "skip", _checked_skip(self.skip))
        if self.delimiter is not None:
            object.__setattr__(self, "delimiter", _checked_delimiter(self.delimiter))
        if self.format is not None and self.format not in TEXT_FORMATS:
            raise UsageError(
                f"format must be one of {', '.join(TEXT_FORMATS)}; of other files it is known from their bytes."
            )
        for option in ("sheet", "sql_table", "query"):
            value = getattr(self, option)
            if value is not None and (not isinstance(value, str) or not value.strip()):
                raise UsageError(f"{option_name(option)} must be a text that is not blank.")

    def stated(self) -> dict[str, Any]:
        """What is said, by its name."""
        said = {field.name: getattr(self, field.name) for field in fields(FileOptions)}
        return {name: value for name, value in said.items() if value is not None}

    def over(self, others: FileOptions) -> FileOptions:
        """What is said here, and of the rest what is said there."""
        return FileOptions(**{**others.stated(), **self.stated()})

    def only(self, names: Sequence[str]) -> FileOptions:
        """What is said of some options."""
        return FileOptions(**{name: value for name, value in self.stated().items() if name in names})


NOTHING_SAID = FileOptions()


def option_name(option: str) -> str:
    """An option as its user knows it: the name of a parameter in Python, of a flag at the shell."""
    return by_door(option, f"--{option.replace('_', '-')}")


@dataclass(frozen=True)
class Files(FileOptions):
    """Files with what is to be known of them: to be given wherever data is.

    Parameters
    ----------
    paths : path, URL, or a list of them
        As data may be given without this class.
    names, skip, delimiter, format, sheet, sql_table, query
        See `FileOptions`; a schema may say the same in its part [file].

    Examples
    --------
    >>> Files("people.csv", names=["age", "sex"], skip=2).names
    ('age', 'sex')
    """

    paths: Any

    def __post_init__(self) -> None:
        super().__post_init__()
        is_one = isinstance(self.paths, str | os.PathLike)
        paths = [self.paths] if is_one else self.paths
        if (
            not isinstance(paths, list | tuple)
            or not paths
            or not all(isinstance(path, str | os.PathLike) for path in paths)
        ):
            raise UsageError('Files takes a path or a list of paths, such as Files("people.csv", names=["age", "sex"]).')
        object.__setattr__(self, "paths", tuple(paths))

    def __repr__(self) -> str:
        """Without the paths: the URL of a database may hold a password."""
        return f"Files(..., {', '.join(f'{name}={value!r}' for name, value in self.stated().items())})"

    @classmethod
    def of(cls, paths: Any, options: FileOptions) -> Self:
        """Files with these options."""
        return cls(paths, **options.stated())


def _checked_names(names: Any) -> tuple[str, ...]:
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise UsageError('names must be a list of names, such as ["age", "sex"].')
    listed = tuple(name.strip() for name in names)
    if not all(listed):
        raise UsageError("names: one of the names is blank. Name every column of the file.")
    if any(len(name) > LONGEST_NAME for name in listed):
        raise UsageError(f"names: a name may have {LONGEST_NAME:,} characters at most.")
    if len(set(listed)) != len(listed):
        raise UsageError("names: a name is there twice. Give every column its own.")
    return listed


def _checked_skip(skip: Any) -> int:
    if isinstance(skip, bool) or not isinstance(skip, int) or not 0 <= skip <= MOST_SKIPPED:
        raise UsageError(f"skip must be a whole number of lines, from 0 to {MOST_SKIPPED:,}.")
    return skip


def _checked_delimiter(delimiter: Any) -> str:
    sign = DELIMITERS.get(delimiter, delimiter) if isinstance(delimiter, str) else None
    sign = "\t" if sign == "\\t" else sign
    if sign not in DELIMITERS.values():
        raise UsageError(f'delimiter must be one of {", ".join(DELIMITERS)} (or the sign itself: "," ";" "|").')
    return str(sign)
