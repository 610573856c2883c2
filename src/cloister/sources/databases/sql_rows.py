"""The rows of a table or of a query, described before anything is charged and read once.

The rows are written to a temporary file in the first pass (`sources.spool`): a fit goes through them several times, and a
database promises neither the same rows nor the same order twice without holding a transaction open for all of that time.
"""

from __future__ import annotations

from typing import Any

from cloister.errors import SourceError, by_door
from cloister.file_options import FileOptions, option_name
from cloister.sources.databases.connection import Database, DatabaseUrl, read_url
from cloister.sources.databases.row_queries import RowQuery, parse_query, row_query
from cloister.sources.spool import SpooledSource

__all__ = ["SqlSource", "open_database"]

RESULT_NOTE = (
    "The rows are those of the result of a query over one table, each of which comes of one row of that table: the "
    "guarantee is per "
    "row of the result, and says nothing of rows that the query leaves out."
)
TABLE_NOTE = "The rows are those of one table of a database, as it was when it was read."


class SqlSource(SpooledSource):
    """The result of a query; a private verb asks first whether each row comes of one row of one table (`check_per_row`)."""

    def __init__(self, place: DatabaseUrl, database: Database, query: str, of_rows: RowQuery | str) -> None:
        self._of_rows, self._database, self._place = of_rows, database, place
        text = of_rows.text if isinstance(of_rows, RowQuery) else query
        described = database.describe(text)
        if not len(described.schema):
            raise SourceError(f"{place.shown}: the table or query has no columns.")
        super().__init__(described.schema, lambda: database.batches(text, described.schema), place.shown)
        self.typed = described.typed
        if described.texts is not None:
            self.texts = described.texts

    def check_per_row(self) -> tuple[str, ...]:
        """What a certificate says of the rows; a query of which one person may change many rows is refused."""
        try:
            if isinstance(self._of_rows, str):
                raise SourceError(self._of_rows)
            self._of_rows.check_columns(self._database.columns_of(self._of_rows.table), self._place.shown)
        except SourceError:
            self._database.close()  # nothing will be read
            raise
        return (RESULT_NOTE if self._of_rows.is_query else TABLE_NOTE,)


def open_database(url: str, options: FileOptions) -> SqlSource:
    """A source over a table (`options.sql_table`) or a query (`options.query`) of a database; no row is read."""
    place = read_url(url)
    table, query = options.sql_table, options.query
    if (table is None) == (query is None):
        one = by_door(
            'Files(url, sql_table="people") or Files(url, query="SELECT ...")', "--sql-table NAME or --query 'SELECT ...'"
        )
        raise SourceError(f"{place.shown}: which rows of the database? Give {one}, one of the two.")
    for other in options.stated():
        if other not in ("sql_table", "query"):
            raise SourceError(f"{place.shown} is a database, for which {option_name(other)} means nothing. Leave it out.")
    database = place.connect()
    try:
        return _source(place, database, table, query)
    except SourceError:
        database.close()
        raise


def _source(place: DatabaseUrl, database: Database, table: str | None, query: str | None) -> SqlSource:
    if table is not None:
        parts = ['"' + part.replace('"', '""') + '"' for part in table.split(".")]
        whole = RowQuery(tuple(parts), (), (), f"SELECT * FROM {'.'.join(parts)}", is_query=False)
        return SqlSource(place, database, whole.text, whole)
    assert query is not None
    tree: Any = parse_query(query, database.dialect)
    try:
        of_rows: RowQuery | str = row_query(tree, database.dialect)
    except SourceError as refusal:
        of_rows = str(refusal)  # the error itself would keep the connection, by the frames that it came through
    return SqlSource(place, database, query.strip().rstrip(";"), of_rows)
