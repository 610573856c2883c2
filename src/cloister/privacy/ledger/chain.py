"""The chain of a ledger inside one transaction: its end is checked before anything is read from it or added to it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from cloister.errors import CloisterError, LedgerError
from cloister.privacy.ledger.accounts import Account
from cloister.privacy.ledger.chain_records import Record, account_facts, canonical, digest_of, state_digest
from cloister.privacy.ledger.stored_records import (
    MALFORMED,
    last_records,
    read_account_of,
    read_accounts,
    read_keys,
    record_count,
    write_account,
    write_key,
    write_record,
)
from cloister.privacy.signing import HostKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["Chain", "now", "open_chain"]

CHECKED = 3  # records at the end that each use of a ledger looks at; `Ledger.verify` looks at all


@dataclass(slots=True)
class Chain:
    """Accounts and keys as the last record vouches for them, and the way to add a record.

    Parameters
    ----------
    connection
        The transaction. On PostgreSQL it holds the lock of the ledger when it is there to write.
    accounts, keys
        As they are after the last record.
    head
        The last record; None before the first.
    """

    connection: Connection
    accounts: dict[str, Account] = field(default_factory=dict)
    keys: set[str] = field(default_factory=set)
    head: Record | None = None

    @property
    def last_entry(self) -> int:
        """The number of the newest charge or holder's use."""
        return 0 if self.head is None else int(self.head.facts()["last_entry"])

    def append(self, key: HostKey, kind: str, *, account: Account | None = None, entry: int = 0, **facts: Any) -> Record:
        """Add a record, signed with this key, and put the account in its new state.

        The first record of a chain is its start, and the first that a host signs is preceded by its key.
        """
        if self.head is None and kind != "start":
            self.append(key, "start")
        if key.public not in self.keys and kind not in ("start", "key"):
            self.append(key, "key")
        if kind == "key":
            self.keys.add(key.public)
            write_key(self.connection, key.public)
        if account is not None:
            write_account(self.connection, account, is_new=account.table not in self.accounts)
            self.accounts[account.table] = account
            facts["account"] = account_facts(account)
        # The clock tells two records apart that are the same in all else: one that was cut off, and one that took its place.
        body = canonical({"when": now(), "clock": time.time_ns(), "last_entry": max(self.last_entry, entry), **facts})
        record = Record(
            number=1 if self.head is None else self.head.number + 1,
            kind=kind,
            table="" if account is None else account.table,
            entry=entry,
            body=body,
            previous="" if self.head is None else self.head.digest,
            state=state_digest(self.accounts.values(), self.keys),
            signer=key.public,
        ).sealed(key)
        write_record(self.connection, record)
        self._read_back(record, account)
        self.head = record
        return record

    def _read_back(self, record: Record, account: Account | None) -> None:
        """Refuse, and so undo, what the database did not keep as it was written, whatever in it made it do so."""
        try:
            kept = last_records(self.connection, 1)
            # 1.0 and True equal 1, and have other digests: what is equal need not be what was signed.
            is_kept = kept == [record] and kept[0].is_intact()
            is_kept &= record.kind == "start" or record.signer in read_keys(self.connection)
            if account is not None:
                kept_account = read_account_of(self.connection, account.table)
                is_kept &= kept_account is not None and digest_of(account_facts(kept_account)) == digest_of(
                    account_facts(account)
                )
        except MALFORMED:
            is_kept = False
        if not is_kept:
            raise LedgerError(
                "the ledger did not keep what was written into it, so nothing was: something in its database drops or changes "
                "it. Restore it from a backup."
            )


def open_chain(connection: Connection, damaged: Callable[[], CloisterError]) -> Chain:
    """The chain of a ledger, whose end and totals are as they were signed; `damaged` gives the error where they are not.

    A change of an older record, or of one that was put in before the last few, is found by `Ledger.verify`.
    """
    try:
        last = last_records(connection, CHECKED)
        chain = Chain(connection, read_accounts(connection), read_keys(connection), last[0] if last else None)
        is_sound = _is_sound(chain, last)
    except MALFORMED:
        is_sound = False
    if not is_sound:
        raise damaged()
    return chain


def _is_sound(chain: Chain, last: list[Record]) -> bool:
    """Whether the last records follow each other and the last one vouches for all accounts and keys."""
    if chain.head is None:
        return False  # a ledger is made with its start
    follows = all(newer.previous == older.digest and newer.number == older.number + 1 for newer, older in pairwise(last))
    return (
        follows
        and all(record.is_intact() for record in last)
        and chain.head.is_signed()
        and all(record.number == 1 if record.kind == "start" else record.signer in chain.keys for record in last)
        and chain.head.number == record_count(chain.connection)
        and chain.head.state == state_digest(chain.accounts.values(), chain.keys)
    )


def now() -> str:
    """The time, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
