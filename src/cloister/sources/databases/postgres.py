"""PostgreSQL: the rows come as one COPY, in texts of the server's own, in a transaction that reads one state and cannot write."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import pyarrow as pa
from pyarrow import csv

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.databases.connection import DatabaseUrl, Result
from cloister.sources.source import BATCH_ROWS

__all__ = ["PostgresDatabase"]

# By the number of a type in pg_type; all others come as the server writes them.
TYPES = {
    16: pa.bool_(),
    20: pa.int64(),
    21: pa.int64(),
    23: pa.int64(),
    26: pa.int64(),
    700: pa.float64(),
    701: pa.float64(),
}
UNTOLD = {1082, 1114, 1184, 1700, 1083, 1266}  # dates, moments, times and numeric: exact as texts, and no words
SETTINGS = """
    SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL lock_timeout = '30s'
"""
TABLE = """
    SELECT relkind IN ('r', 'p') AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema',
    'pg_toast'), pg_catalog.row_security_active(oid) FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass(%s)
"""


class PostgresDatabase:
    """A connection to PostgreSQL, in a transaction that reads one state of the database."""

    dialect = "postgres"

    def __init__(self, place: DatabaseUrl) -> None:
        try:
            import psycopg
        except ImportError:
            raise SourceError("PostgreSQL is read by psycopg. Install it with: pip install 'cloister[postgres]'") from None
        self._shown, self._error = place.shown, psycopg.Error
        try:
            connection = psycopg.connect(place.url, client_encoding="utf8", autocommit=False)
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            connection.execute(SETTINGS)
        except psycopg.Error:
            raise_alone(
                SourceError(
                    f"{place.shown}: the database cannot be reached. Check the URL, and the password in PGPASSWORD or "
                    ".pgpass."
                )
            )
        self._connection: Any = connection

    def describe(self, query: str) -> Result:
        """The columns, by the types that the server gives them."""
        try:
            found = self._connection.execute(f"SELECT * FROM (\n{query}\n) AS cloister_rows LIMIT 0").description
        except self._error as error:
            self._refuse(error)
        kinds = [(column.name, column.type_code) for column in found]
        schema = pa.schema([(name, TYPES.get(code, pa.string())) for name, code in kinds])
        return Result(schema, tuple(name for name, code in kinds if code not in TYPES and code not in UNTOLD))

    def columns_of(self, table: Sequence[str]) -> dict[str, bool]:
        """The columns of an ordinary or partitioned table."""
        name = ".".join(table)
        try:
            facts = self._connection.execute(TABLE, [name]).fetchone()
            if facts is None:
                raise SourceError(f"{self._shown}: there is no such table. Check its name and its schema.")
            if not facts[0]:
                raise SourceError(
                    f"{self._shown}: this is a view, a foreign or a system table, in which one person may change many "
                    "rows. "
                    "Private verbs read tables of rows alone: name the table itself, or store the view's result as a table."
                )
            if facts[1]:
                raise SourceError(
                    f"{self._shown}: row security decides which rows of the table are seen, and may look at others for "
                    "it. Read "
                    "the table as its owner, or store what is seen as a table."
                )
            found = self._connection.execute(f"SELECT * FROM {name} LIMIT 0").description
        except self._error as error:
            self._refuse(error)
        return {column.name: True for column in found}

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows as one stream; a batch of them is held at a time."""
        try:
            with (
                self._connection as connection,
                connection.cursor() as cursor,
                cursor.copy(f"COPY (\n{query}\n) TO STDOUT (FORMAT csv)") as copied,
            ):
                rows: list[bytes] = []
                for row in copied:  # the server sends each row by itself
                    rows.append(bytes(row))
                    if len(rows) == BATCH_ROWS:
                        yield from _parsed(rows, schema)
                        rows = []
                if rows:
                    yield from _parsed(rows, schema)
        except self._error as error:
            raise_alone(
                DataError(
                    f"{self._shown}: the server stopped the query while its rows were read ({_state(error)}). Look there."
                )
            )

    def _refuse(self, error: Any) -> NoReturn:
        raise_alone(
            SourceError(
                f"{self._shown}: the server does not accept this query ({_state(error)}). Try it in psql: names of "
                "tables, columns "
                "and rights are checked there."
            )
        )


def _state(error: Any) -> str:
    return f"SQLSTATE {error.sqlstate}" if getattr(error, "sqlstate", None) else "the connection was lost"


def _parsed(rows: list[bytes], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Rows as the server writes them: nothing for null, quotes around an empty text."""
    raw = b"".join(rows)
    table = csv.read_csv(
        pa.BufferReader(raw),
        read_options=csv.ReadOptions(use_threads=False, column_names=schema.names, block_size=len(raw) + 1),
        parse_options=csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False),
        convert_options=csv.ConvertOptions(
            check_utf8=False,
            column_types=schema,
            null_values=[""],
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            true_values=["t"],
            false_values=["f"],
        ),
    )
    yield from table.to_batches()
