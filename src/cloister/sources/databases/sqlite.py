"""SQLite files, whose columns have no types: each cell becomes a text by the rule of CSV, whatever the column was declared as."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import pyarrow as pa

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.databases.connection import DatabaseUrl, Result, no_such_table
from cloister.sources.databases.row_queries import folded
from cloister.sources.databases.safe_comparisons import ANYTHING
from cloister.sources.excel_cells import cell_text
from cloister.sources.source import BATCH_ROWS
from cloister.sources.text_head import read_text

__all__ = ["SqliteDatabase"]

READING = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
WAIT_SECONDS = 30
BATCH_CHARACTERS = 1 << 26  # of the texts of a batch: Arrow holds 2 GiB of them
CELL_BYTES = 1 << 29  # what is behind them in a cell is not read: one byte may become three


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
        except sqlite3.Error as error:
            raise_alone(SourceError(f"{place.shown}: {_fault(error)}"))
        connection.set_authorizer(_allowed)
        self._connection = connection

    def describe(self, query: str) -> Result:
        """The columns; all are texts."""
        try:
            found = self._connection.execute(f"SELECT * FROM (\n{query}\n) LIMIT 0").description
        except (sqlite3.Error, sqlite3.Warning) as error:
            if str(error).startswith("no such table"):
                raise_alone(no_such_table(self._shown))
            self._refuse()
        return Result(pa.schema([(column[0], pa.string()) for column in found]), (), typed=False)

    def columns_of(self, table: Sequence[str]) -> dict[str, str]:
        """The columns of an ordinary table; names of SQLite know no capital letters, and comparisons of it never fail."""
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
            quoted = name.replace('"', '""')
            facts = self._connection.execute(f'PRAGMA table_xinfo("{quoted}")').fetchall()
            if any(fact[-1] in (2, 3) for fact in facts):
                raise SourceError(
                    f"{self._shown}: the table has generated columns, which are computed when they are read and may fail on "
                    "one row. Store the columns that you need as a table of its own."
                )
            columns = self._connection.execute(f"SELECT * FROM {table[0]} LIMIT 0").description
        except sqlite3.Error:
            self._refuse()
        return {folded(column[0]): ANYTHING for column in columns}

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows; a batch of them is held at a time."""
        try:
            for rows in _pieces(self._connection.execute(f"SELECT * FROM (\n{query}\n)")):
                columns = [pa.array(column, pa.string()) for column in zip(*rows, strict=True)]
                yield pa.RecordBatch.from_arrays(columns, schema=schema)
        except sqlite3.Error:
            raise_alone(
                DataError(
                    f"{self._shown}: SQLite stopped while rows were read; the file may be damaged or the query may fail."
                )
            )
        finally:
            self._connection.close()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _refuse(self) -> NoReturn:
        raise_alone(
            SourceError(
                f"{self._shown}: SQLite does not accept this query. Try it with sqlite3: names of tables and columns are "
                "checked there."
            )
        )


def _allowed(action: int, first: str | None, *_: str | None) -> int:
    """Reading, and asking for the columns of a table."""
    is_reading = action in READING or (action == sqlite3.SQLITE_PRAGMA and first == "table_xinfo")
    return sqlite3.SQLITE_OK if is_reading else sqlite3.SQLITE_DENY


def _fault(error: sqlite3.Error) -> str:
    if "unsafe use of" in str(error):  # the name of a function follows
        return (
            "a generated column or an index in the file calls a function (such as json_extract) that SQLite runs for "
            "no file that others may have written. Copy the table without it into another file."
        )
    return "this is no SQLite database, or it cannot be opened. Check the file."


def _pieces(cells: Iterable[Sequence[object]]) -> Iterator[list[list[str | None]]]:
    """The texts of rows, as many rows at a time as a batch may hold."""
    rows: list[list[str | None]] = []
    size = 0
    for row in cells:
        texts = [_text(cell) for cell in row]
        rows.append(texts)
        size += sum(len(text) for text in texts if text is not None)
        if len(rows) == BATCH_ROWS or size >= BATCH_CHARACTERS:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _text(cell: object) -> str | None:
    """The text of a cell: numbers as CSV has them, bytes that are no text in hexadecimal digits."""
    if cell is None:
        return None
    if isinstance(cell, bytes):
        return read_text(cell[:CELL_BYTES])
    return cell_text(cell)
