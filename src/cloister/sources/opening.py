"""From whatever a user passes as data to a source."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.errors import SourceError
from cloister.file_options import NOTHING_SAID, FileOptions, Files
from cloister.sources.batch_streams import from_batches, from_lazy, from_reader, is_lazy
from cloister.sources.columnar import ColumnarSource, from_dataset
from cloister.sources.csv import is_blank
from cloister.sources.databases.connection import is_connection_string, is_database_url, unread_database
from cloister.sources.databases.sql_rows import open_database
from cloister.sources.in_memory import from_array, from_stream, from_table
from cloister.sources.pandas_frames import from_frame, is_frame
from cloister.sources.places import Place, find_all
from cloister.sources.python_tables import from_columns, from_rows, is_rows
from cloister.sources.recognize import open_file
from cloister.sources.source import Source, present
from cloister.sources.stated_names import NOTHING_STATED, StatedNames
from cloister.sources.zip_members import members_of
from cloister.work_done import counted

__all__ = ["NOTHING_STATED", "SeveralSources", "open_source"]


@dataclass(frozen=True)
class SeveralSources:
    """Files with the same columns, one after the other."""

    parts: tuple[Source, ...]
    in_memory: bool = False

    def keeping_kinds(self) -> SeveralSources:
        """The same rows, in which every cell keeps its kind."""
        return SeveralSources(tuple(part.keeping_kinds() if hasattr(part, "keeping_kinds") else part for part in self.parts))

    @property
    def names(self) -> tuple[str, ...]:
        """The columns, in the order of the first file."""
        return self.parts[0].names

    @property
    def typed(self) -> bool:
        """Whether every file says what its columns hold."""
        return all(getattr(part, "typed", True) for part in self.parts)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says, in some file, that they hold text."""
        return tuple(dict.fromkeys(name for part in self.parts for name in getattr(part, "texts", ())))

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold, in some file, lists or structs."""
        return tuple(dict.fromkeys(name for part in self.parts for name in getattr(part, "nested", ())))

    @property
    def unsafe(self) -> tuple[str, ...]:
        """The columns in which, in some file, one cell may end the reading of all."""
        return tuple(dict.fromkeys(name for part in self.parts for name in getattr(part, "unsafe", ())))

    @property
    def ambiguous(self) -> tuple[str, ...]:
        """The columns whose names are also, in some file, paths of parts of others."""
        return tuple(dict.fromkeys(name for part in self.parts for name in getattr(part, "ambiguous", ())))

    @property
    def rounded(self) -> tuple[str, ...]:
        """The columns of which, in some file, two stored cells that differ may be read as one value."""
        return tuple(dict.fromkeys(name for part in self.parts for name in getattr(part, "rounded", ())))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of the first file, of the second, and so on."""
        wanted = present(self.names, columns)
        parts = counted(self.parts, len(self.parts), has_parts=True)
        return (batch for part in parts for batch in part.batches(wanted))


def open_source(data: object, names: StatedNames = NOTHING_STATED) -> Source:
    """Open whatever holds rows.

    Parameters
    ----------
    data : path, URL, or a list of them; Files; list of rows; dict of columns; NumPy array; frame; pyarrow table, reader, dataset
        A path may be a file, a folder or a glob. Readers, generators of record batches and lazy frames of Polars are kept in a
        temporary file once their rows are asked for. Rows of a list are lists, in the order of `names`, or dicts. Anything else
        needs the Arrow C stream (`__arrow_c_stream__`), as frames of pandas and Polars have it. A source is returned as it is.
    names : StatedNames, optional
        What the call says of the columns of data that does not name its own: of a list of rows, which is refused without
        names, and of a NumPy array (default: x0, x1, ...).

    Returns
    -------
    Source

    Raises
    ------
    SourceError
        If there is nothing there, or if its format is not known.

    Privacy
    -------
    Only names of columns are read here. No row is.

    Examples
    --------
    >>> import numpy as np
    >>> source = open_source(np.zeros((3, 2)))
    >>> source.names
    ('x0', 'x1')
    """
    if (database := _database_url(data)) is not None:
        said = data if isinstance(data, Files) else NOTHING_SAID
        return open_database(database, said.over(names.file.only(("sql_table", "query"))))
    if isinstance(data, Files):
        return _several(_opened(find_all(data.paths), data, names))
    if isinstance(data, (str, os.PathLike)):
        return _several(_opened(find_all([data]), NOTHING_SAID, names))
    if isinstance(data, (list, tuple)):
        if is_rows(data):
            return from_rows(data, names.of_rows(), names.of_narrow_rows())
        return _several(_opened(find_all(data), NOTHING_SAID, names))
    return _open_in_memory(_unwrapped(data), names)


def _database_url(data: object) -> str | None:
    """The URL of a database, if that is the data; one among other data is refused."""
    paths = data.paths if isinstance(data, Files) else data if isinstance(data, (list, tuple)) else [data]
    if any(is_connection_string(path) and not os.path.exists(str(path)) for path in paths):
        raise SourceError(
            "databases are named by URLs here, not by words as in host=... dbname=... Write postgresql://USER@HOST/DATABASE, and "
            "leave the password to PGPASSWORD or .pgpass."
        )
    if others := [system for path in paths if (system := unread_database(path))]:
        raise SourceError(
            f"{others[0]} is not read here: SQLite, DuckDB and PostgreSQL are. Export the table to a .csv or .parquet file, and "
            "give that."
        )
    urls = [path for path in paths if is_database_url(path)]
    if not urls:
        return None
    if len(paths) > 1:
        raise SourceError("a database is read by itself, without other files or databases. Give one URL.")
    return str(urls[0])


def _unwrapped(data: Any) -> object:
    """The frame in a wrapper of Narwhals, behind which the types of its columns cannot be seen."""
    is_wrapper = type(data).__module__.partition(".")[0] == "narwhals" and hasattr(data, "to_native")
    return data.to_native() if is_wrapper else data


def _open_in_memory(data: object, names: StatedNames) -> Source:
    if is_frame(data):  # asked first: the columns of a frame are its attributes, whatever they are called
        return from_frame(data)
    if isinstance(data, Source):
        return data
    if isinstance(data, np.ndarray):
        return from_array(data, names.of_array(data.shape[1]) if data.ndim == 2 else None)
    if isinstance(data, Mapping):
        return from_columns(data)
    if isinstance(data, pa.Table):
        return from_table(data)
    if isinstance(data, pa.RecordBatch):
        return from_table(pa.Table.from_batches([data]))
    return _open_stream(data)


def _open_stream(data: Any) -> Source:
    """Rows that come in batches."""
    module = type(data).__module__.partition(".")[0]
    name = type(data).__name__
    if module == "pyarrow" and name.endswith("Dataset"):
        return from_dataset(data)
    if type(data) is pa.RecordBatchReader:  # others take their types from the rows
        return from_reader(data)
    if module == "pyarrow" and name == "Scanner":
        return from_reader(data.to_reader())
    if is_lazy(data):
        return from_lazy(data)
    if hasattr(data, "__arrow_c_stream__"):
        return from_stream(data)
    if isinstance(data, Iterator) and not hasattr(data, "read"):
        return from_batches(data)
    if hasattr(type(data), "tocsr"):
        raise SourceError("Sparse data is not supported. Convert it with X.toarray().")
    hint = " Of an open file give the path." if hasattr(data, "read") else ""
    raise SourceError(
        f"cannot read rows from {module}.{name}. Pass a path, a list of rows, a dict of columns, a NumPy array, a data frame, "
        f"an Arrow table or a generator of record batches.{hint}"
    )


def _opened(places: list[Place], said: FileOptions, stated: StatedNames) -> list[tuple[Place, Source]]:
    """The files with their sources, without parts that hold nothing at all: a writer leaves such a part where it had no rows."""
    opened: list[tuple[Place, Source]] = []
    options = said.over(stated.file)
    has_header = not options.names and options.format is None  # otherwise text may begin with a row
    places = [member for place in places for member in members_of(place, has_header=has_header)]
    for place in places:
        try:
            opened.append((place, open_file(place, said, stated)))
        except SourceError:
            # the last chance of a folder whose parts are all blank is to say so
            if len(places) == 1 or not is_blank(place) or (place is places[-1] and not opened):
                raise
    return opened


def _several(parts: list[tuple[Place, Source]]) -> Source:
    first, source = parts[0]
    if len(parts) == 1:
        return source
    for place, other in parts[1:]:
        if set(other.names) != set(source.names):
            raise SourceError(
                f"{place.shown} and {first.shown} have different columns. Give files with the same columns,"
                " or one at a time."
            )
        if getattr(other, "typed", True) != getattr(source, "typed", True):
            raise SourceError(
                f"{place.shown} and {first.shown} are not of one kind: cells of a CSV file are texts, and 1.0 there is another "
                "value than in a typed file. Write all files in one format, or give them one at a time."
            )
    _check_kinds([part for _, part in parts if isinstance(part, ColumnarSource)])
    return SeveralSources(tuple(part for _, part in parts))


def _check_kinds(parts: list[ColumnarSource]) -> None:
    """Refuse files whose columns differ in what they hold, as far as they say it: Spark cannot read them as one table."""
    for part in parts[1:]:
        kinds = dict(zip(part.stored, part.kinds, strict=True))
        for name, kind in zip(parts[0].stored, parts[0].kinds, strict=True):
            if kinds.get(name, kind) != kind:
                raise SourceError(
                    f'column "{name}" is of one type in {parts[0].place.shown} and of another in {part.place.shown}. Write all '
                    "files with one type, or give them one at a time."
                )
