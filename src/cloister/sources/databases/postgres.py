"""PostgreSQL: the rows come as one COPY, in texts of the server's own, in a transaction that reads one state and cannot write."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import pyarrow as pa
from pyarrow import csv

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.databases.connection import DatabaseUrl, Result, no_such_table
from cloister.sources.databases.safe_comparisons import OTHER
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
    SET LOCAL datestyle = 'ISO'; SET LOCAL bytea_output = 'hex'; SET LOCAL extra_float_digits = 1; SET LOCAL lock_timeout = '30s';
    SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0;
    SET LOCAL standard_conforming_strings = on
"""
KINDS = {  # by the number of a type, what its columns are compared with
    16: "boolean",
    20: "int64",
    21: "int16",
    23: "int32",
    25: "text",
    700: "float",
    701: "float",
    1042: "text",
    1043: "text",
    1082: "date",
    1114: "moment",
    1184: "moment",
    1700: "float",
}
TOTAL = ("UTF8", "LATIN1")  # encodings of databases whose every byte has a form in UTF-8
CUT = {  # by the number of a type, the beginning of a cell: text, varchar, char, json, xml, bytea
    25: "pg_catalog.left({}, {})",
    1043: "pg_catalog.left({}, {})",
    1042: "pg_catalog.left({}::text, {})",
    114: "pg_catalog.left({}::text, {})",
    142: "pg_catalog.left({}::text, {})",
    17: "pg_catalog.substr({}, 1, {})",
}
CUT_CHARACTERS = 1 << 26  # of all such cells of a row: each may become 8 bytes, and the server sends rows below 1 GiB
SHORT = {  # types whose cells are short: numbers, names, times, addresses, points, ranges of numbers and times
    16, 18, 19, 20, 21, 23, 24, 26, 27, 28, 29, 600, 601, 603, 628, 650, 700, 701, 718, 774, 790, 829, 869, 1082, 1083, 1114,
    1184, 1186, 1266, 1700, 2950, 3904, 3906, 3908, 3910, 3912, 3926,
}  # fmt: skip
NAME, CHAR, LONG = 19, 1042, 1000  # numbers of types, and characters
ENUMS = "SELECT oid FROM pg_catalog.pg_type WHERE typtype = 'e' AND oid = ANY(%s)"
BATCH_BYTES = 1 << 26  # Arrow reads up to 2 GiB at a time, and a row of the server's is below 1 GiB
# The table with all that inherit from it: their rows are its rows. Row security is that of the table which is named.
TABLE = """
    WITH RECURSIVE related (oid) AS (
        SELECT pg_catalog.to_regclass(%s)::oid
        UNION SELECT inhrelid FROM pg_catalog.pg_inherits JOIN related ON inhparent = related.oid
    )
    SELECT bool_and(relkind IN ('r', 'p') AND relnamespace::regnamespace::text NOT IN ('pg_catalog', 'information_schema',
    'pg_toast')), pg_catalog.row_security_active(pg_catalog.to_regclass(%s)::oid), bool_or(EXISTS (SELECT 1 FROM
    pg_catalog.pg_attribute WHERE attrelid = oid AND attgenerated NOT IN ('', 's')))
    FROM pg_catalog.pg_class JOIN related USING (oid)
"""
# A collation that calls different texts equal makes LIKE fail at the first row.
COLUMNS = """
    SELECT attname, CASE WHEN coalesce(collisdeterministic, true) THEN atttypid ELSE 0 END FROM pg_catalog.pg_attribute
    LEFT JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
    WHERE attrelid = pg_catalog.to_regclass(%s) AND attnum > 0 AND NOT attisdropped
"""
# One that fits the types better goes before those of the server's own, and may fail, or look at other rows.
OPERATORS = """
    SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_operator JOIN pg_catalog.pg_type ON pg_type.oid IN (oprleft, oprright)
    WHERE oprname IN ('=', '<>', '<', '<=', '>', '>=', '~~', '!~~') AND oprnamespace <> 'pg_catalog'::regnamespace
    AND typnamespace = 'pg_catalog'::regnamespace)
"""


NOT_TOTAL = (
    "in which a row may hold bytes that have no form in UTF-8, and end the reading for all. Copy the table to a database in "
    "UTF8."
)
NO_TABLE = (
    "this is a view, a foreign or a system table, or one that has such tables as parts, in which one person may change many "
    "rows. Private verbs read tables of rows alone: name the table itself, or store the view's result as a table."
)
ROW_SECURITY = (
    "row security decides which rows of the table are seen, and may look at others for it. Read the table as its owner, or "
    "store what is seen as a table."
)
COMPUTED = (
    "the table has generated columns that are computed when they are read and may fail on one row. Store the columns that you "
    "need as a table of its own, or make the generated ones STORED."
)


UNBOUNDED = (
    "is of a type whose cells may be longer than the server can send (an array, jsonb, a type of your own), and one such row "
    "would end the run. Leave it out by a query that names the columns."
)
UNDEFINED_TABLE = "42P01"  # a SQLSTATE


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
        self._codes: dict[str, int] = {}  # the types of the columns of the query that was described
        self._is_private = False

    def describe(self, query: str) -> Result:
        """The columns, by the types that the server gives them."""
        try:
            found = self._connection.execute(f"SELECT * FROM (\n{query}\n) AS cloister_rows LIMIT 0").description
        except self._error as error:
            self._refuse(error)
        kinds = [(column.name, column.type_code) for column in found]
        # a char of few declared characters is as short as a number, and keeps the blanks that fill it up
        self._codes = {
            column.name: NAME if (column.display_size or LONG) < LONG and column.type_code == CHAR else column.type_code
            for column in found
        }
        schema = pa.schema([(name, TYPES.get(code, pa.string())) for name, code in kinds])
        return Result(schema, tuple(name for name, code in kinds if code not in TYPES and code not in UNTOLD))

    def columns_of(self, table: Sequence[str]) -> dict[str, str]:
        """The columns of an ordinary or partitioned table; as private verbs alone ask, long cells are cut from here on."""
        self._is_private = True
        name = ".".join(table)
        try:
            encoding = self._connection.info.parameter_status("server_encoding")
            are_tables, is_secured, is_computed = self._connection.execute(TABLE, [name, name]).fetchone()
            has_operators = self._connection.execute(OPERATORS).fetchone()[0]
            found = self._connection.execute(COLUMNS, [name]).fetchall()
            enums = {code for (code,) in self._connection.execute(ENUMS, [list(self._codes.values())]).fetchall()}
        except self._error as error:
            self._refuse(error)
        if not found:
            raise SourceError(f"{self._shown}: there is no such table. Check its name and its schema.")
        for is_wrong, why in (
            (encoding not in TOTAL, f"the database is encoded in {encoding}, {NOT_TOTAL}"),
            (not are_tables, NO_TABLE),
            (is_secured, ROW_SECURITY),
            (is_computed, COMPUTED),
        ):
            if is_wrong:
                raise SourceError(f"{self._shown}: {why}")
        for column, code in self._codes.items():
            if code not in SHORT and code not in CUT and code not in enums:
                raise SourceError(f'{self._shown}: column "{column}" {UNBOUNDED}')
        return {column: OTHER if has_operators else KINDS.get(code, OTHER) for column, code in found}

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows as one stream; a batch of them is held at a time."""
        try:
            with (
                self._connection as connection,
                connection.cursor() as cursor,
                cursor.copy(
                    f"COPY (\n{self._cut(query) if self._is_private else query}\n) TO STDOUT (FORMAT csv)"
                ) as copied,
            ):
                rows: list[bytes] = []
                size = 0
                for row in copied:  # the server sends each row by itself
                    rows.append(bytes(row))
                    size += len(row)
                    if len(rows) == BATCH_ROWS or size >= BATCH_BYTES:
                        yield from _parsed(rows, schema)
                        rows, size = [], 0
                if rows:
                    yield from _parsed(rows, schema)
        except self._error as error:
            raise_alone(
                DataError(
                    f"{self._shown}: the server stopped the query while its rows were read ({_state(error)}). Look there."
                )
            )

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _cut(self, query: str) -> str:
        """The query with the first characters of long cells: the server stops at a row that is too long to be sent."""
        longest = CUT_CHARACTERS // max(1, sum(code in CUT for code in self._codes.values()))
        quoted = [('"' + name.replace('"', '""') + '"', code) for name, code in self._codes.items()]
        items = ", ".join(f"{CUT.get(code, '{}').format(name, longest)} AS {name}" for name, code in quoted)
        return f"SELECT {items} FROM (\n{query}\n) AS cloister_rows"

    def _refuse(self, error: Any) -> NoReturn:
        if getattr(error, "sqlstate", None) == UNDEFINED_TABLE:
            raise_alone(no_such_table(self._shown))
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
    # Arrow drops one byte order mark from the start of all it is given: with one of ours it never drops one of a row's
    raw = b"".join([codecs.BOM_UTF8, *rows])
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
