"""SQLite files, whose columns have no types: each cell becomes a text by the rule of CSV, whatever the column was declared as."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.databases.connection import DatabaseUrl, Result
from cloister.sources.excel_cells import cell_text
from cloister.sources.source import BATCH_ROWS
from cloister.sources.text_head import read_text

__all__ = ["SqliteDatabase"]

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
WAIT_SECONDS = 30


class SqliteDatabase:
    """A file of SQLite, opened for reading."""

    dialect = "sqlite"

    def __init__(self, place: DatabaseUrl) -> None:
        self._shown = place.shown
        if not os.path.isfile(place.path):
            raise SourceError(
                f"{place.shown}: no such file. Check the path: three slashes before one from here, four from the root."
            )
        address = Path(place.path).absolute().as_uri() + "?mode=ro"
        try:
            connection = sqlite3.connect(
                address, uri=True, timeout=WAIT_SECONDS, isolation_level=None, check_same_thread=False
            )
            connection.text_factory = bytes  # not all of what SQLite calls text is UTF-8
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("BEGIN")
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()  # from here on one state of the file is read
        except sqlite3.Error:
            raise_alone(SourceError(f"{place.shown}: this is no SQLite database, or it cannot be opened. Check the file."))
        connection.set_authorizer(lambda action, *_: sqlite3.SQLITE_OK if action in READING else sqlite3.SQLITE_DENY)
        self._connection = connection

    def describe(self, query: str) -> Result:
        """The columns; all are texts."""
        try:
            found = self._connection.execute(f"SELECT * FROM (\n{query}\n) LIMIT 0").description
        except (sqlite3.Error, sqlite3.Warning):
            self._refuse()
        return Result(pa.schema([(column[0], pa.string()) for column in found]), (), typed=False)

    def columns_of(self, table: Sequence[str]) -> dict[str, bool]:
        """The columns of an ordinary table; names of SQLite know no capital letters."""
        name = table[-1].strip('"').replace('""', '"')
        try:
            found = self._connection.execute(
                "SELECT type, sql FROM sqlite_schema WHERE lower(name) = lower(?)", [name]
            ).fetchone()
            if found is None or len(table) > 1:
                raise SourceError(f"{self._shown}: there is no such table. Check its name; it has no schema before it.")
            kind, sql = found[0], found[1] or b""
            if kind != b"table" or name.lower().startswith("sqlite_") or sql.upper().split()[:2] == [b"CREATE", b"VIRTUAL"]:
                raise SourceError(
                    f"{self._shown}: this is a view, a virtual or a system table, in which one person may change many "
                    "rows. Private "
                    "verbs read tables of rows alone: name the table itself, or store the view's result as a table."
                )
            columns = self._connection.execute(f"SELECT * FROM {table[0]} LIMIT 0").description
        except sqlite3.Error:
            self._refuse()
        return {column[0]: True for column in columns}

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows; a batch of them is held at a time."""
        try:
            cursor = self._connection.execute(f"SELECT * FROM (\n{query}\n)")
            while rows := cursor.fetchmany(BATCH_ROWS):
                columns = [pa.array(map(_text, column), pa.string()) for column in zip(*rows, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except sqlite3.Error:
            raise_alone(
                DataError(
                    f"{self._shown}: SQLite stopped while rows were read; the file may be damaged or the query may fail."
                )
            )
        finally:
            self._connection.close()

    def _refuse(self) -> NoReturn:
        raise_alone(
            SourceError(
                f"{self._shown}: SQLite does not accept this query. Try it with sqlite3: names of tables and columns are "
                "checked there."
            )
        )


def _text(cell: object) -> str | None:
    """The text of a cell: numbers as CSV has them, bytes that are no text in hexadecimal digits."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return read_text(cell)
    return cell_text(cell)
