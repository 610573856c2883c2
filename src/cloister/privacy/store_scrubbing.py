"""Removing what deleted and reordered rows left behind in the files of a store.

A database forgets where it is asked, and keeps what it need not overwrite: SQLite older pages in its log and, within a page,
rows in the order in which they came; PostgreSQL the bytes of deleted rows and the number of the transaction beside each row.

Whoever still reads an older state holds this back, and is never waited for while others wait who want to write.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.privacy.store import Store
from cloister.privacy.store_engines import engine_of

__all__ = ["Renewal", "scrub"]

TRIES, PAUSE = 20, 0.1  # seconds between looks at whoever still reads an older state
WRITER_SECONDS = 10  # SQLite: to wait for whoever writes; nobody waits for this meanwhile
EMPTYING_MS = 100  # SQLite: to wait for whoever reads the log; who writes waits meanwhile
LOCK_SECONDS = 1  # PostgreSQL: to wait for whoever uses a table that is rewritten; who comes later waits meanwhile
LOCK_NOT_AVAILABLE = "55P03"

# PostgreSQL: whether all that transactions up to a number deleted was dropped when these tables were last frozen or rewritten.
# `relfrozenxid` is then the oldest transaction that anybody might still have needed: other users, prepared transactions, slots
# and standbys count, whether this user may see them or not. A rewriting itself needs what its own snapshot does, which is held
# back by writers of other databases, too.
IS_PAST = """
    SELECT pg_catalog.txid_snapshot_xmin(pg_catalog.txid_current_snapshot()) > %(number)s
    AND pg_catalog.bool_and(pg_catalog.age(relfrozenxid) < pg_catalog.age(%(short)s::xid))
    FROM pg_catalog.pg_class WHERE oid = ANY (%(tables)s::regclass[])
"""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A table of PostgreSQL that is written anew in the order of its key; rows that meet `where` as if all came at once."""

    table: str
    key: str  # the name of its primary key
    column: str  # one that is set to itself
    where: str  # a condition of public numbers


def scrub(store: Store, tables: Sequence[str], renewals: Sequence[Renewal]) -> bool:
    """Rewrite tables so that the files show neither deleted rows nor the order of arrival; False: somebody was in the way.

    Others may go on meanwhile; who writes waits for the rewriting. Copies, backups and PostgreSQL's own log are not reached.
    """
    with store.translated(), engine_of(store.url).connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        return scrub_file(driver) if store.path is not None else scrub_database(store, driver, tables, renewals)


# SQLite.


def scrub_file(driver: Any) -> bool:
    """Write the whole file anew, and empty its log; neither while somebody reads an older state."""
    if not is_log_moved(driver, "PASSIVE"):  # what is rewritten now could not take the place of the old pages
        return False
    driver.execute(f"PRAGMA busy_timeout={1000 * WRITER_SECONDS}")
    try:
        driver.execute("VACUUM")
    except sqlite3.OperationalError as fault:
        if fault.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        return False
    return is_log_moved(driver, "TRUNCATE")


def is_log_moved(driver: Any, how: str) -> bool:
    """Try some times to move all of the log into the file; TRUNCATE empties it then, and holds the writers' lock meanwhile."""
    driver.execute(f"PRAGMA busy_timeout={EMPTYING_MS}")
    for place in range(TRIES):
        if place:
            time.sleep(PAUSE)
        is_busy, pages, moved = driver.execute(f"PRAGMA wal_checkpoint({how})").fetchone()
        if not is_busy and pages == moved:
            return True
    return False


# PostgreSQL.


def scrub_database(store: Store, driver: Any, tables: Sequence[str], renewals: Sequence[Renewal]) -> bool:
    """Write the tables anew, the rows of all renewals by one transaction and each table in the order of its key."""
    try:
        driver.autocommit = True
        driver.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        # first without writing anything: who is held back tries every minute, and each time a copy of all rows would stay
        if not is_unneeded(driver, store.version_table, driver.execute("SELECT txid_current()").fetchone()[0]):
            return False
        number = renew(driver, renewals)
        if not is_unneeded(driver, store.version_table, number):
            return False
        for renewal in renewals:
            driver.execute(f"CLUSTER {renewal.table} USING {renewal.key}")
        for table in tables:
            driver.execute(f"VACUUM FULL {table}")
        return is_past(driver, [*tables, *(renewal.table for renewal in renewals)], number)
    except Exception as fault:
        if not hasattr(fault, "sqlstate"):
            raise
        if fault.sqlstate == LOCK_NOT_AVAILABLE:
            return False
        raise store.error(
            f"the {store.kind} {store.shown} cannot be rewritten (PostgreSQL says {fault.sqlstate})."
        ) from None


def renew(driver: Any, renewals: Sequence[Renewal]) -> int:
    """Write the rows of all renewals again, and say by which transaction: what it and those before it deleted is to go."""
    with driver.transaction():
        for renewal in renewals:
            driver.execute(f"UPDATE {renewal.table} SET {renewal.column} = {renewal.column} WHERE {renewal.where}")
        number: int = driver.execute("SELECT txid_current()").fetchone()[0]
        return number


def is_unneeded(driver: Any, small_table: str, number: int) -> bool:
    """Wait a little until nobody needs what transactions up to this number deleted; a rewriting would keep it.

    A small table is frozen to learn of whoever this user may not see; that holds nobody up.
    """
    for place in range(TRIES):
        if place:
            time.sleep(PAUSE)
        driver.execute(f"VACUUM (FREEZE) {small_table}")
        if is_past(driver, [small_table], number):
            return True
    return False


def is_past(driver: Any, tables: Sequence[str], number: int) -> bool:
    """Whether these tables hold nothing any more that transactions up to this number deleted; to be asked after a freezing."""
    facts = {"number": number, "short": str(number % 2**32), "tables": list(tables)}  # a row holds 32 bits of a number
    return bool(driver.execute(IS_PAST, facts).fetchone()[0])
