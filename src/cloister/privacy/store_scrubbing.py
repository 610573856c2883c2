"""Removing what deleted and reordered rows left behind in the files of a store.

A database forgets where it is asked, and keeps what it need not overwrite: SQLite older pages in its log and, within a page,
rows in the order in which they came; PostgreSQL the bytes of deleted rows and the number of the transaction beside each row.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.privacy.store import Store
from cloister.privacy.store_engines import engine_of

__all__ = ["Renewal", "scrub"]

LOCK_NOT_AVAILABLE = "55P03"
LOCK_SECONDS = 10  # to wait for whoever uses a table that is rewritten
TRIES, PAUSE = 20, 0.1  # seconds between looks at whoever still reads an older state

# PostgreSQL: transactions that began before now and may still need rows that are deleted; those of other users may not be seen
OLDER = """
    SELECT count(*) FROM pg_catalog.pg_stat_activity
    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_xmin IS NOT NULL AND xact_start < to_timestamp(%s)
"""


@dataclass(frozen=True, slots=True)
class Renewal:
    """A table of PostgreSQL that is written anew in the order of its key; rows that meet `where` as if all came at once."""

    table: str
    key: str  # the name of its primary key
    column: str  # one that is set to itself
    where: str  # a condition of public numbers


def scrub(store: Store, tables: Sequence[str], renewals: Sequence[Renewal]) -> bool:
    """Rewrite tables so that the files show neither deleted rows nor the order of arrival; False: somebody was reading.

    Others may go on meanwhile; who writes waits. Copies, backups and archived logs are not reached.
    """
    with store.translated(), engine_of(store.url).connect() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        return scrub_file(driver) if store.path is not None else scrub_database(store, driver, tables, renewals)


def scrub_file(driver: Any) -> bool:
    """SQLite: write the whole file anew, and empty its log."""
    driver.execute("VACUUM")
    return bool(driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0)


def scrub_database(store: Store, driver: Any, tables: Sequence[str], renewals: Sequence[Renewal]) -> bool:
    """PostgreSQL: write the tables anew, each row of a renewal by one transaction and all in the order of the key."""
    began = time.time()
    driver.autocommit = True
    try:
        driver.execute(f"SET lock_timeout = '{LOCK_SECONDS}s'")
        for renewal in renewals:
            driver.execute(f"UPDATE {renewal.table} SET {renewal.column} = {renewal.column} WHERE {renewal.where}")
        tries = 0
        while driver.execute(OLDER, [began]).fetchone()[0]:  # rows that somebody may still need would be kept
            tries += 1
            if tries == TRIES:
                return False
            time.sleep(PAUSE)
        for renewal in renewals:
            driver.execute(f"CLUSTER {renewal.table} USING {renewal.key}")
        for table in tables:
            driver.execute(f"VACUUM FULL {table}")
    except Exception as fault:
        if not hasattr(fault, "sqlstate"):
            raise
        if fault.sqlstate == LOCK_NOT_AVAILABLE:
            return False
        raise store.error(
            f"the {store.kind} {store.shown} cannot be rewritten (PostgreSQL says {fault.sqlstate})."
        ) from None
    return True
