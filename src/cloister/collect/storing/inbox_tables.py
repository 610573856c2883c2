"""The tables of an inbox, and how an older one is brought up to date.

What may be read off them
-------------------------
A report has no time, no number and no address; its key is the id that its sender drew at random. The files of a database show
more until they are rewritten: SQLite fills a page in the order in which rows come and keeps older pages in its log; PostgreSQL
keeps the bytes of deleted rows, and the number of the transaction beside each row, so that a spent invitation and its report can
be joined. When a collection is closed or deleted `Inbox.settle` rewrites the tables. SQLite's log is empty then; that of
PostgreSQL (pg_wal) goes on holding ids and hashes in the order of arrival until its segments are used again
(docs/collect-threats.md).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Table

__all__ = ["COLLECTIONS", "INVITATIONS", "MIGRATIONS", "VERSION", "inbox_tables", "table_of"]

VERSION = 1  # of the tables; raise it when an older Cloister could misread them, and add a step to `MIGRATIONS`
INVITATIONS = "cloister_invitations"
COLLECTIONS = "cloister_collections"

MIGRATIONS: Mapping[int, Callable[[Connection], object]] = {}
"""What brings the tables of a version to the next one, by the version that they have."""


@cache
def inbox_tables() -> MetaData:
    """The tables of this version."""
    from sqlalchemy import Boolean, Column, Integer, LargeBinary, MetaData, String, Table, event

    metadata = MetaData()
    Table(
        COLLECTIONS,
        metadata,
        Column("number", Integer, primary_key=True),
        Column("id", String, nullable=False, unique=True),
        Column("terms", String, nullable=False),
        Column("facts", String, nullable=False),  # the public file of the collection, as JSON
        Column("is_invited", Boolean, nullable=False),
        Column("wanted", Integer),  # how many reports the collector hopes for
        Column("is_closed", Boolean, nullable=False),
        Column("is_settled", Boolean, nullable=False),  # closed, and nothing in the files tells the order of arrival
        sqlite_autoincrement=True,  # the number of a deleted collection is never given again
    )
    reports = Table(
        "cloister_reports",
        metadata,
        Column("collection", Integer, primary_key=True, autoincrement=False),
        Column("report", LargeBinary, primary_key=True),  # 128 bits that a participant drew for this collection
        Column("answers", LargeBinary, nullable=False),  # perturbed: `AnswerCodes`
        sqlite_with_rowid=False,  # in the order of the random ids, not in that of arrival
    )
    event.listen(reports, "after_create", keep_in_rows)
    event.listen(metadata, "after_create", keep_no_statistics)
    Table(
        INVITATIONS,
        metadata,
        Column("collection", Integer, primary_key=True, autoincrement=False),
        Column("code_hash", LargeBinary, primary_key=True),  # deleted when the code is spent
        sqlite_with_rowid=False,
    )
    Table(  # collections that were deleted and that the files still hold, until they are rewritten: `Unsettled`
        "cloister_deletions", metadata, Column("collection", Integer, primary_key=True, autoincrement=False)
    )
    Table("cloister_tokens", metadata, Column("token_hash", LargeBinary, primary_key=True), sqlite_with_rowid=False)
    return metadata


def keep_in_rows(_: Table, connection: Connection, **__: object) -> None:
    """Let PostgreSQL keep each report in its row.

    It would move answers of more than 2,000 bytes into a table of their own, under running numbers that tell the order of arrival
    and that no rewriting changes. The longest are of 2,700: a bit for each of 20,000 values, and 200 questions that are
    rounded up to bytes (`check_size`); a row may have 8,100.
    """
    if connection.dialect.name == "postgresql":
        for column in ("report", "answers"):
            connection.exec_driver_sql(f"ALTER TABLE cloister_reports ALTER COLUMN {column} SET STORAGE PLAIN")


def keep_no_statistics(_: MetaData, connection: Connection, **__: object) -> None:
    """Let PostgreSQL sample none of what is deleted one day: its statistics outlive the rows, and even their tables' rewriting.

    Rows are found by their keys, so that no plan needs them.
    """
    if connection.dialect.name == "postgresql":
        for table in inbox_tables().tables.values():
            for column in table.columns:
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STATISTICS 0")


def table_of(name: str) -> Table:
    """A table by the last word of its name."""
    return inbox_tables().tables[f"cloister_{name}"]
