"""Where small records that must not be lost are kept: a SQLite file, or PostgreSQL for many hosts.

The ledger keeps its accounts in a store. A store gives two kinds of transaction: `Store.writing`, one
at a time and on the disk when it ends, and `Store.reading`, one moment of the whole store. SQLite runs
in WAL mode with full synchronous commits; PostgreSQL is asked for synchronous commits when its server
has them off.

Every store carries a version, so that an older Cloister refuses a newer file instead of misreading it, and a newer one
can bring an older file up to date (`Store.upgrading`). A file appears whole or not at all: one without its tables is damaged.
SQLAlchemy is loaded when a store is opened, not when this module is imported.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sqlite3
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from cloister.errors import CloisterError, UsageError
from cloister.parameters import from_home, without_passwords
from cloister.privacy.new_files import NO_LINKS, place_new_file
from cloister.privacy.store_engines import WAIT_SECONDS, engine_of
from cloister.privacy.store_names import FINISHED, STAGED, log_without_file, second_name_of, staging_prefix
from cloister.privacy.store_schema import has_planted, is_as_created

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Table

__all__ = ["Store", "StoreMissing", "StoreOutdated", "open_store"]

VERSION = re.compile("[1-9][0-9]{0,8}")  # of the tables, as it is written

_SQLITE = ("sqlite", "sqlite+pysqlite")
_POSTGRES = ("postgres", "postgresql", "postgresql+psycopg")

KEPT_OPEN = ("PRAGMA cache_size=-8192", "PRAGMA wal_autocheckpoint=4000")  # 8 MB of pages, 16 MB of log
_MAGIC = 16  # bytes by which SQLite knows its files; it takes a file of 0 or 1 for a new one
_DAMAGED = "is damaged. Restore it from a backup; do not start a new one for the same data."
_BUSY = f"has been in use by another process for more than {WAIT_SECONDS} s. Try again when that one has finished."

# What went wrong, by SQLite's primary result code, and what to do about it.
_SQLITE_FAULTS = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_NOTADB: "is a file of another kind. Name another file.",
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_READONLY: "cannot be written. Check the permissions of the file and of its folder.",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened. Check the permissions of the file and of its folder.",
    sqlite3.SQLITE_FULL: "cannot be written: the disk is full. Nothing was recorded; free some space and try again.",
}


class StoreMissing(Exception):
    """Nothing has been written at this place yet."""


class StoreOutdated(Exception):
    """An older Cloister wrote the store: bring it up to date with `Store.upgrading`."""


@dataclass(frozen=True, slots=True)
class Store:
    """A place for records, with transactions that hold under concurrent processes and after a crash.

    It is plain data: it can be copied and pickled, and holds no connection between transactions (a
    SQLite connection must not cross a fork).

    Parameters
    ----------
    kind : str
        One word for it in messages and in the names of its tables, such as ``"ledger"``.
    version : int
        The version of its tables that this code writes and understands.
    url : str
        The place as SQLAlchemy spells it; it may hold a password.
    shown : str
        The place as people are shown it: a path, or the URL without its password.
    error : type of CloisterError
        What is raised when the store cannot be reached, read or understood.
    damage : type of CloisterError
        What is raised when it was read, and is not what was written.
    tables : callable
        Gives the tables of this version. A store whose tables were made otherwise is refused.
    make_folder : bool
        Whether a missing folder may be created.
    """

    kind: str
    version: int
    url: str = field(repr=False)
    shown: str
    error: type[CloisterError]
    damage: type[CloisterError]
    tables: Callable[[], MetaData] = field(repr=False)
    make_folder: bool = False

    @property
    def path(self) -> Path | None:
        """The SQLite file, or None for PostgreSQL."""
        return Path(self.url.removeprefix("sqlite:///")) if self.url.startswith("sqlite") else None

    @property
    def version_table(self) -> str:
        """The name of the table that holds the version, and nothing else."""
        return str(_meta(self.kind).name)

    def create(self, fill: Callable[[Connection], object] = lambda _: None) -> bool:
        """Make the store with its tables and what `fill` puts into them, all at once, unless it is there already.

        Returns
        -------
        bool
            Whether it was made: what `fill` did is in no store otherwise, even if it was called.
        """
        try:
            with self._connection(write=False):
                return False
        except StoreOutdated:
            return False
        except StoreMissing:
            pass
        if self.path is None:
            with self._connection(write=True, check=False) as connection:
                # Two hosts that start at once: PostgreSQL's CREATE TABLE IF NOT EXISTS can still collide.
                key = zlib.crc32(f"cloister {self.kind}".encode())
                connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({key})")
                try:
                    self._check(connection)
                    return False
                except StoreMissing:
                    self._create_tables(connection, fill)
            return True
        if self.make_folder:
            self._make_folder(self.path.parent)
        try:
            return self._create_file(self.path, fill)
        except OSError as fault:
            reason = fault.strerror or "refused"
            raise self.error(f"the {self.kind} {self.shown} cannot be created: {reason}. Name another place.") from fault

    def _create_file(self, path: Path, fill: Callable[[Connection], object]) -> bool:
        """Make a SQLite file beside its place, then give it its name: a file that can be seen is never half made.

        Whether it was given the name: of several processes that do so at once the first one wins.
        """
        folder = Path(tempfile.mkdtemp(prefix=staging_prefix(path), suffix=STAGED, dir=path.parent))
        try:
            finished = folder / FINISHED
            try:
                self._fill_file(finished, fill)
                is_placed = place_new_file(finished, path)
                finished.unlink(missing_ok=True)
                return is_placed
            except OSError as fault:
                if fault.errno not in NO_LINKS:
                    raise
                self._fill_file(path, fill)
                return True
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _fill_file(self, path: Path, fill: Callable[[Connection], object]) -> None:
        store = replace(self, url=f"sqlite:///{path}")
        with self.translated():
            _make_wal(path, self)
        with store._connection(write=True, check=False) as connection:
            store._create_tables(connection, fill)

    def _create_tables(self, connection: Connection, fill: Callable[[Connection], object]) -> None:
        meta = _meta(self.kind)
        meta.metadata.create_all(connection)
        self.tables().create_all(connection)
        connection.execute(meta.insert().values(key="version", value=str(self.version)))
        fill(connection)

    @contextlib.contextmanager
    def reading(self) -> Iterator[Connection]:
        """Open a transaction that sees one moment of the store; `StoreMissing` when there is none yet.

        `StoreOutdated` when an older Cloister wrote it, here and in `writing`.
        """
        with self._connection(write=False) as connection:
            yield connection

    @contextlib.contextmanager
    def writing(self) -> Iterator[Connection]:
        """Open a transaction that is on the disk when it ends and undone when an exception leaves it.

        There is one at a time: SQLite gives it the whole file, PostgreSQL a lock. `StoreMissing` when there is no store yet.
        """
        with self._connection(write=True) as connection:
            self._lock(connection)
            yield connection

    @contextlib.contextmanager
    def kept_open(self) -> Iterator[Connection]:
        """One connection for many short writing transactions of one thread, each ``with connection.begin():``.

        The store is checked when it is opened. PostgreSQL does not let such transactions wait for each other: those who write
        this way leave it to keys and to locks on rows. `StoreMissing` when there is no store yet.
        """
        if self.path is not None:
            self._find(self.path)
        with self.translated(), engine_of(self.url).connect() as connection:
            connection = connection.execution_options(cloister_write=True)
            with connection.begin():
                self._check(connection)
            if self.path is not None:
                for pragma in KEPT_OPEN:
                    connection.connection.driver_connection.execute(pragma)  # type: ignore[union-attr]
            yield connection

    @contextlib.contextmanager
    def upgrading(self, version: int) -> Iterator[Connection | None]:
        """Open a transaction that brings a store of this older version up to date; None when another process has done so."""
        with self._connection(write=True, check=False) as connection:
            self._lock(connection)
            if self._version(connection) != version:
                yield None
                return
            yield connection
            meta = _meta(self.kind)
            connection.execute(meta.update().where(meta.c.key == "version").values(value=str(self.version)))
            self._check(connection)

    def damaged(self) -> CloisterError:
        """What to raise when something in the store cannot be what was written."""
        return self.damage(f"the {self.kind} {self.shown} {_DAMAGED}")

    @contextlib.contextmanager
    def _connection(self, *, write: bool, check: bool = True) -> Iterator[Connection]:
        if self.path is not None:
            self._find(self.path)
        with self.translated(), engine_of(self.url).connect() as connection:
            connection = connection.execution_options(cloister_write=write)
            with connection.begin():
                if check:
                    self._check(connection)
                yield connection

    def _lock(self, connection: Connection) -> None:
        """Let one transaction write at a time: by the row of the version on PostgreSQL; SQLite does so by itself."""
        if self.path is None:
            meta = _meta(self.kind)
            connection.execute(meta.select().where(meta.c.key == "version").with_for_update())

    def _find(self, path: Path) -> None:
        """Tell a store that is not there yet from a place where none can be."""
        try:
            if not path.parent.is_dir() and not self.make_folder:
                raise self.error(
                    f"the folder of the {self.kind} {self.shown} does not exist. Create it, or name another place."
                )
            if path.is_dir():
                raise self.error(f"{self.shown} is a folder, and a {self.kind} is a file. Name a file in it.")
            if not path.exists():
                if log := log_without_file(path):
                    raise self.error(
                        f"the {self.kind} {self.shown} is gone, and {log.name} is still beside its place: what was written last "
                        f"is in that. Bring the file back, or, if the {self.kind} is to start anew, remove {log.name} too."
                    )
                raise StoreMissing(self.shown)
            if path.stat().st_size < _MAGIC:
                raise self.damaged()
            if problem := second_name_of(path):
                raise self.error(f"the {self.kind} {self.shown} {problem}")
        except OSError as fault:  # a folder on the way that may not be entered
            raise self.error(f"the {self.kind} {self.shown} {_SQLITE_FAULTS[sqlite3.SQLITE_CANTOPEN]}") from fault

    def _make_folder(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as fault:
            reason = fault.strerror or "refused"
            raise self.error(f"the folder {folder} of the {self.kind} cannot be created: {reason}.") from fault

    def _check(self, connection: Connection) -> None:
        """Refuse a newer store and a database of another kind, before anything in it is touched."""
        import sqlalchemy

        meta = _meta(self.kind)
        database = sqlalchemy.inspect(connection)
        if not database.has_table(meta.name):
            if self.path is None:  # a PostgreSQL database is shared with others by design
                raise StoreMissing(self.shown)
            if database.get_table_names():
                raise self.error(f"{self.shown} is not a {self.kind} of Cloister. Name another file.")
            raise self.damage(
                f"the {self.kind} {self.shown} is damaged: nothing is in it. Restore it from a backup; remove it only if "
                "it never held anything."
            )
        if has_planted(connection, [meta.name]):
            raise self.damaged()
        version = self._version(connection)
        if version > self.version:
            raise self.error(
                f"the {self.kind} {self.shown} was written by a newer Cloister (version {version} of its tables, "
                f"and this one knows {self.version}). Upgrade with: pip install --upgrade cloister"
            )
        if version < self.version:
            raise StoreOutdated(self.shown)
        tables = [meta, *self.tables().tables.values()]
        if has_planted(connection, [table.name for table in tables]) or not is_as_created(connection, tables):
            raise self.damaged()

    def _version(self, connection: Connection) -> int:
        meta = _meta(self.kind)
        facts = connection.execute(meta.select().with_only_columns(meta.c.key, meta.c.value)).all()
        version = facts[0][1] if [key for key, _ in facts] == ["version"] else None  # nothing stands beside it
        if not isinstance(version, str) or not VERSION.fullmatch(version):
            raise self.damaged()
        return int(version)

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Translate a database's error into the user's words."""
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError

        try:
            yield
        except UnicodeError as fault:  # a text that is none
            raise self.damaged() from fault
        except (SQLAlchemyError, sqlite3.Error) as fault:
            origin = fault.orig if isinstance(fault, DBAPIError) else fault
            code = getattr(origin, "sqlite_errorcode", None)
            if code is not None and code & 0xFF in _SQLITE_FAULTS:  # the low byte is the primary code
                problem = _SQLITE_FAULTS[code & 0xFF]
            elif getattr(origin, "sqlstate", None) == "55P03":  # PostgreSQL: lock_not_available
                problem = _BUSY
            else:
                reason = (str(origin).strip().splitlines() or [type(origin).__name__])[0].rstrip(".")
                problem = f"cannot be used: {reason}. Check the address and that the server lets you in."
                if self.path is not None:
                    problem = f"cannot be used: {reason}. Check the file and its disk."
            kind = self.damage if problem == _DAMAGED else self.error
            raise kind(f"the {self.kind} {self.shown} {problem}") from fault


def open_store(
    place: str | os.PathLike[str],
    *,
    kind: str,
    version: int,
    error: type[CloisterError],
    damage: type[CloisterError],
    tables: Callable[[], MetaData],
) -> Store:
    """Name a store by URL or path; nothing is read, written or connected to yet.

    Parameters
    ----------
    place : str or path
        ``sqlite:///path``, ``postgresql+psycopg://user@host/database`` or a plain path, which is SQLite.
    kind, version, error, damage, tables
        As in `Store`.

    Returns
    -------
    Store
        With an absolute path, so that a later change of folder does not lead to another file.
    """
    if not isinstance(place, str | os.PathLike):
        raise UsageError(f"the {kind} must be the path of a file, or a URL.")
    text = os.fspath(place)
    if not isinstance(text, str) or "\0" in text or not text.isprintable() or not text.strip():
        raise UsageError(f"the {kind} has no place. Name a file, or a URL such as sqlite:///{kind}.sqlite.")
    if "://" not in text:
        return _file_store(text, kind, version, error, damage, tables)

    import sqlalchemy

    forms = f"Use a path, sqlite:///{kind}.sqlite or postgresql+psycopg://user@host/database."
    try:
        url = sqlalchemy.make_url(text)
    except (sqlalchemy.exc.ArgumentError, ValueError):
        # Nothing of the text is repeated, nor chained: it may hold a password.
        raise UsageError(f"the URL of the {kind} cannot be read. {forms}") from None
    if url.drivername in _SQLITE:
        if not url.database or url.database == ":memory:" or url.database.startswith("file:") or url.query:
            raise UsageError(f"a {kind} in SQLite is a plain file that lasts. {forms}")
        return _file_store(url.database, kind, version, error, damage, tables)
    if url.drivername not in _POSTGRES:
        raise UsageError(f"a {kind} cannot be kept in {url.drivername}. {forms}")
    if "@" in (url.host or ""):  # what stands before the last one may be a part of the password
        raise UsageError(f"the URL of the {kind} cannot be read: in a password @ is written %40, and / %2F. {forms}")
    url = url.set(drivername="postgresql+psycopg")
    shown = without_passwords(url.render_as_string(hide_password=True))
    store = Store(kind, version, url.render_as_string(hide_password=False), shown, error, damage, tables)
    try:
        engine_of(store.url)
    except ModuleNotFoundError as fault:
        raise error(
            f'the {kind} {shown} needs the PostgreSQL driver. Install it with: pip install "cloister[postgres]"'
        ) from fault
    return store


def _file_store(
    text: str,
    kind: str,
    version: int,
    error: type[CloisterError],
    damage: type[CloisterError],
    tables: Callable[[], MetaData],
) -> Store:
    path = _from_root(from_home(text, f"the {kind}"))
    return Store(kind, version, f"sqlite:///{path}", str(path), error, damage, tables)


def _make_wal(path: Path, store: Store) -> None:
    """Make an empty SQLite file in WAL mode; processes that do so at once wait for each other."""
    deadline = time.monotonic() + WAIT_SECONDS
    with contextlib.closing(sqlite3.connect(path, timeout=WAIT_SECONDS, isolation_level=None)) as connection:
        while True:
            try:
                mode = connection.execute("PRAGMA journal_mode=WAL").fetchone()[0]
                break
            except sqlite3.OperationalError as fault:
                # SQLite does not wait by itself for this one statement.
                if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
    if mode != "wal":
        raise store.error(
            f"the disk of {store.shown} cannot keep a {store.kind} safely (no write-ahead log, as on some network "
            "drives). Use a local disk, or PostgreSQL."
        )


@lru_cache(maxsize=8)
def _meta(kind: str) -> Table:
    from sqlalchemy import Column, MetaData, String, Table

    name = f"cloister_{kind}_meta"
    return Table(name, MetaData(), Column("key", String, primary_key=True), Column("value", String, nullable=False))


def _from_root(path: Path) -> Path:
    """A path from the root on, without the ``..`` at its start: the working directory they lead out of may be removed."""
    if path.is_absolute():
        return path
    folder, parts = Path.cwd(), path.parts
    while parts[:1] == ("..",):
        folder, parts = folder.parent, parts[1:]
    return folder.joinpath(*parts)
