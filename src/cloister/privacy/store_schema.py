"""Whether a store has the tables that this program makes, and nothing that changes what is written into them.

A trigger, a rule or a conflict clause (``UNIQUE ... ON CONFLICT IGNORE``) can make a database drop a row and report that all went
well; a view or a row policy can hide one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table

__all__ = ["has_planted", "is_as_created"]

# SQLite keeps each statement by which something was created, and follows it.
STATEMENTS = "SELECT type, name, sql FROM sqlite_master WHERE NOT (type = 'index' AND sql IS NULL)"  # of a key
OF_SQLITE = re.compile("sqlite_(sequence|stat[1-4])")  # tables of SQLite's own
PLANTED = "SELECT count(*) FROM sqlite_master WHERE type IN ('trigger', 'view')"

# PostgreSQL: plain tables that survive a crash, without triggers (but those of foreign keys), rules, row policies or heirs.
PLAIN_TABLES = """
    SELECT count(*) FROM pg_catalog.pg_class AS c
    WHERE c.oid = ANY (SELECT pg_catalog.to_regclass(name) FROM pg_catalog.unnest(%(names)s::text[]) AS name)
    AND c.relkind = 'r' AND c.relpersistence = 'p' AND NOT c.relrowsecurity
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_trigger AS t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = c.oid)
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE c.oid IN (i.inhparent, i.inhrelid))
"""


def has_planted(connection: Connection, names: Sequence[str]) -> bool:
    """Whether anything in the database stands between these tables and whoever uses them, whatever their columns are."""
    if connection.dialect.name == "sqlite":
        return bool(connection.exec_driver_sql(PLANTED).scalar())
    return connection.exec_driver_sql(PLAIN_TABLES, {"names": list(names)}).scalar() != len(names)


def is_as_created(connection: Connection, tables: Iterable[Table]) -> bool:
    """Whether a SQLite file has these tables and indexes as they are created, and no others; PostgreSQL's have no clauses."""
    if connection.dialect.name != "sqlite":
        return True
    rows = connection.exec_driver_sql(STATEMENTS).all()
    if not all(isinstance(value, str) for row in rows for value in row):  # of a damaged file
        return False
    own = [row for row in rows if row[0] != "table" or not OF_SQLITE.fullmatch(row[1])]
    found = {(kind, name, canonical_statement(sql)) for kind, name, sql in own}
    return found == set().union(*map(expected_statements, tables))


@cache
def expected_statements(table: Table) -> frozenset[tuple[str, str, tuple[str, ...]]]:
    """The statements that create a table and its indexes in SQLite."""
    from sqlalchemy.dialects import sqlite
    from sqlalchemy.schema import CreateIndex, CreateTable

    dialect = sqlite.dialect()
    statements = [("table", table.name, str(CreateTable(table).compile(dialect=dialect)))]
    statements += [("index", str(index.name), str(CreateIndex(index).compile(dialect=dialect))) for index in table.indexes]
    return frozenset((kind, name, canonical_statement(sql)) for kind, name, sql in statements)


def canonical_statement(sql: str) -> tuple[str, ...]:
    """A statement in parts that are the same however it is quoted and spaced, and in whatever order its columns stand."""
    words = " ".join(sql.replace('"', "").lower().split())
    head, opening, columns = words.partition("(")
    body, closing, tail = columns.rpartition(")")
    return (head.strip(), opening, *sorted(part.strip() for part in body.split(",")), closing, tail.strip())
