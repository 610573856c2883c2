"""DuckDB files, read as Arrow batches of the types that the database declares."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import pyarrow as pa

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.databases.connection import DatabaseUrl, Result, no_such_table
from cloister.sources.databases.row_queries import folded
from cloister.sources.databases.safe_comparisons import OTHER
from cloister.sources.source import BATCH_ROWS

__all__ = ["DuckDatabase"]

KINDS = {  # by the names of types
    "VARCHAR": "text",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "TIMESTAMP": "moment",
    "FLOAT": "float",
    "DOUBLE": "float",
    "TINYINT": "int8",
    "SMALLINT": "int16",
    "INTEGER": "int32",
    "BIGINT": "int64",
    "HUGEINT": "int128",
    "UTINYINT": "uint8",
    "USMALLINT": "uint16",
    "UINTEGER": "uint32",
    "UBIGINT": "uint64",
    "UHUGEINT": "uint128",
}
MISTOLD = ("UHUGEINT", "BIGNUM", "TIME WITH TIME ZONE")  # negative numbers, bytes, and times without their zone come of them
CLOSED = {"enable_external_access": "false", "autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
TABLES = """
    SELECT sql FROM duckdb_tables() WHERE NOT internal AND NOT temporary AND database_name = current_database()
    AND lower(table_name) = lower(?) AND lower(schema_name) = lower(coalesce(?, current_schema()))
"""


class DuckDatabase:
    """A file of DuckDB, opened for reading; a query can neither write nor reach other files."""

    dialect = "duckdb"

    def __init__(self, place: DatabaseUrl) -> None:
        try:
            import duckdb
        except ImportError:
            raise SourceError("DuckDB files are read by duckdb. Install it with: pip install 'cloister[duckdb]'") from None
        self._shown, self._error = place.shown, duckdb.Error
        if not os.path.isfile(place.path):
            raise SourceError(
                f"{place.shown}: no such file. Check the path: three slashes before one from here, four from the root."
            )
        try:
            connection = duckdb.connect(place.path, read_only=True, config=CLOSED)
            connection.execute("SET arrow_large_buffer_size = true")  # texts of one batch may hold more than 2 GiB
            connection.execute("BEGIN TRANSACTION READ ONLY")
        except duckdb.Error:
            raise_alone(
                SourceError(
                    f"{place.shown}: this is no DuckDB file that the installed version reads, or another program writes "
                    "to it. Close "
                    "that, or check the file."
                )
            )
        self._connection: Any = connection

    def describe(self, query: str) -> Result:
        """The columns, by their declared types."""
        try:
            found = self._connection.sql(f"SELECT * FROM (\n{query}\n) LIMIT 0")
            for name, kind in zip(found.columns, found.types, strict=True):
                if str(kind) in MISTOLD:
                    raise SourceError(
                        f'{self._shown}: column "{name}" is of the type {kind}, whose values leave DuckDB as others. Store it '
                        "as another type, or leave it out by a query that names the columns."
                    )
            return Result(_reader(found).schema)
        except self._error as error:
            if type(error).__name__ == "CatalogException" and "Table with name" in str(error):
                raise_alone(no_such_table(self._shown))
            self._refuse()

    def columns_of(self, table: Sequence[str]) -> dict[str, str]:
        """The columns of an ordinary table; those that are computed of others are so for each reading, and may fail."""
        plain = [part.strip('"').replace('""', '"') for part in table]
        try:
            found = self._connection.execute(TABLES, [plain[-1], plain[-2] if len(plain) > 1 else None])
            definitions = found.fetchall()
            if len(definitions) != 1 or len(plain) > 2:
                raise SourceError(
                    f"{self._shown}: there is no such table of rows; in views and system tables one person may change "
                    "many rows. Name "
                    "the table itself, or store the view's result as a table."
                )
            if "GENERATED ALWAYS" in str(definitions[0][0]).upper():
                raise SourceError(
                    f"{self._shown}: the table has generated columns, which are computed when they are read and may fail on "
                    "one row. Store the columns that you need as a table of its own."
                )
            found = self._connection.sql(f"SELECT * FROM {'.'.join(table)} LIMIT 0")
            kinds = zip(found.columns, found.types, strict=True)
            return {folded(name): KINDS.get(str(kind), OTHER) for name, kind in kinds}
        except self._error:
            self._refuse()

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows; a few batches of them are held at a time."""
        try:
            reader = _reader(self._connection.sql(query))
            yield from (pa.RecordBatch.from_arrays(batch.columns, schema=schema) for batch in reader)
        except (self._error, pa.ArrowException):
            raise_alone(DataError(f"{self._shown}: DuckDB stopped the query while its rows were read. Try it there."))
        finally:
            self._connection.close()

    def close(self) -> None:
        """End the connection."""
        self._connection.close()

    def _refuse(self) -> NoReturn:
        raise_alone(
            SourceError(
                f"{self._shown}: DuckDB does not accept this query. Try it with duckdb: names of tables and columns are "
                "checked there."
            )
        )


def _reader(relation: Any) -> Any:
    """Batches of a result; older versions have another name for it."""
    read = relation.to_arrow_reader if hasattr(relation, "to_arrow_reader") else relation.fetch_record_batch
    return read(BATCH_ROWS)
