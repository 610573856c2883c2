"""What every database can do for a source, by which URL it is found, and how its faults are retold.

Privacy
-------
Messages of databases quote values and passwords; none of them is repeated. A URL is shown without the user, the password
and the options in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

import pyarrow as pa

from cloister.errors import SourceError

__all__ = ["DATABASES", "Database", "DatabaseUrl", "Result", "is_connection_string", "is_database_url", "read_url"]

CONNECTION_WORDS = re.compile(r"(^|\s)(password|passwd|host|hostaddr|dbname|user)\s*=", re.IGNORECASE)

OTHER_DATABASES = {
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "mssql": "SQL Server",
    "sqlserver": "SQL Server",
    "oracle": "Oracle",
}
DATABASES = {  # by the scheme of a URL -> module and class
    "postgresql": ("cloister.sources.databases.postgres", "PostgresDatabase"),
    "postgres": ("cloister.sources.databases.postgres", "PostgresDatabase"),
    "sqlite": ("cloister.sources.databases.sqlite", "SqliteDatabase"),
    "duckdb": ("cloister.sources.databases.duckdb", "DuckDatabase"),
}


@dataclass(frozen=True, slots=True)
class Result:
    """What a query will give, known before a row of it is read."""

    schema: pa.Schema
    texts: tuple[str, ...] | None = None  # the columns that hold text; None: as their types say
    typed: bool = True  # whether the columns have types: those of SQLite do not


class Database(Protocol):
    """An open connection that cannot write, in one transaction: what is described is what is read."""

    dialect: str  # as sqlglot calls it

    def describe(self, query: str) -> Result:
        """The columns of a query's result; no row is read."""
        ...

    def columns_of(self, table: Sequence[str]) -> dict[str, str]:
        """The columns of a table, by its name in parts, and the kinds of what they hold (`safe_comparisons`).

        Names are folded as the database folds them. What is no table of stored rows is refused: a view, a system table, one
        with columns that are computed when they are read.
        """
        ...

    def batches(self, query: str, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows, a batch at a time; the connection is closed at the end."""
        ...

    def close(self) -> None:
        """End the connection: a server would wait with an open transaction."""
        ...


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """Where a database is."""

    scheme: str
    url: str  # as it was given: it may hold a password
    path: str  # of the file, for those in one
    shown: str

    def __repr__(self) -> str:
        return f"DatabaseUrl({self.shown!r})"

    def connect(self) -> Database:
        """A connection that cannot write."""
        module, name = DATABASES[self.scheme]
        database: Database = getattr(import_module(module), name)(self)
        return database


def is_database_url(data: Any) -> bool:
    """Whether this is the URL of a database that is read here."""
    return isinstance(data, str) and data.partition("://")[0].lower() in DATABASES and "://" in data


def no_such_table(shown: str) -> SourceError:
    """What is said of a query of a table that a database lacks."""
    return SourceError(f"{shown}: there is no such table. Check its name and its schema, and whether you may read it.")


def unread_database(data: Any) -> str | None:
    """The name of the system behind a URL, if it is a database that is not read here.

    >>> unread_database("mysql+pymysql://ann@db.example/people"), unread_database("s3://bucket/people.parquet")
    ('MySQL', None)
    """
    scheme = re.match(r"([a-z0-9]+)[a-z0-9+.-]*://", data, re.IGNORECASE) if isinstance(data, str) else None
    return OTHER_DATABASES.get(scheme[1].lower()) if scheme else None


def is_connection_string(data: Any) -> bool:
    """Whether this is what libpq takes in place of a URL, such as "host=db.example password=..."."""
    return isinstance(data, str) and CONNECTION_WORDS.search(data) is not None


def read_url(url: str) -> DatabaseUrl:
    """The parts of a URL.

    >>> read_url("postgresql://ann:secret@db.example/people?sslmode=require").shown
    'postgresql://db.example/people'
    >>> read_url("sqlite:///folder/people.db").path
    'folder/people.db'
    """
    scheme = url.partition("://")[0].lower()
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        raise SourceError(f"the URL of the {scheme} database cannot be read. Write it as {_form(scheme)}.") from None
    if scheme in ("sqlite", "duckdb"):
        path = unquote(url.partition("://")[2].partition("?")[0])
        if not path.startswith("/") or len(path) < 2:
            raise SourceError(f"the URL of the {scheme} database names no file. Write it as {_form(scheme)}.")
        path = path[1:]
        return DatabaseUrl(scheme, url, path, f"{scheme}:///{path}")
    if "@" in parts.path + parts.fragment or (parts.netloc and "@" in parts.query and "@" not in parts.netloc):
        raise SourceError(
            f"the URL of the {scheme} database cannot be read: in a user or a password write / as %2F, ? as %3F, # as %23 and @ "
            f"as %40, or leave the password to PGPASSWORD. The form is {_form(scheme)}."
        )
    return DatabaseUrl(scheme, url, "", f"{scheme}://{host}{port}{parts.path}")


def _form(scheme: str) -> str:
    if scheme in ("sqlite", "duckdb"):
        return f"{scheme}:///PATH (three slashes before a path from here, four before one from the root)"
    return "postgresql://USER@HOST/DATABASE"
