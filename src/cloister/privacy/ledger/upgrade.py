"""Ledgers that were written before there was a chain (version 1): everything in them is carried over, once.

The chain then starts with a digest of what was there. Before the upgrade nobody vouched for it, so what was changed
before is not found; whatever did not add up is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cloister.errors import LedgerError
from cloister.privacy.ledger.accounts import Account
from cloister.privacy.ledger.chain import Chain
from cloister.privacy.ledger.chain_records import account_facts, digest_of, read_account, read_amount
from cloister.privacy.ledger.stored_records import MALFORMED, accounts_table, ledger_tables
from cloister.privacy.signing import HostKey

if TYPE_CHECKING:
    from sqlalchemy import Connection

__all__ = ["carry_over"]

ENTRIES = "cloister_ledger_entries"


def carry_over(connection: Connection, key: HostKey, place: str) -> None:
    """Make the chain of a ledger of version 1, inside the transaction that changes its version."""
    import sqlalchemy

    if sqlalchemy.inspect(connection).has_table("cloister_ledger_records"):
        raise _broken(place)
    accounts = [dict(row._mapping) for row in connection.execute(accounts_table().select())]
    entries = [dict(row._mapping) for row in connection.exec_driver_sql(f"SELECT * FROM {ENTRIES} ORDER BY id")]
    try:
        opened = {account.table: account for account in map(read_account, accounts)}
        digest = digest_of([sorted(accounts, key=lambda row: str(row["table"])), entries])
    except MALFORMED:
        raise _broken(place) from None
    connection.exec_driver_sql(f"DROP TABLE {ENTRIES}")  # it refers to accounts; all of it goes into the chain
    connection.execute(accounts_table().delete())
    ledger_tables().create_all(connection)
    chain = Chain(connection)
    chain.append(key, "start", carried=digest, version=1, entries=len(entries))
    for account in opened.values():
        chain.append(key, "account", account=account.unused())
    try:
        for entry in entries:
            _carry(chain, key, entry)
    except MALFORMED:
        raise _broken(place) from None
    if {table: account_facts(account) for table, account in chain.accounts.items()} != {
        table: account_facts(account) for table, account in opened.items()
    }:
        raise _broken(place)


def _carry(chain: Chain, key: HostKey, entry: dict[str, Any]) -> None:
    """Append what an old entry says: a charge or a holder's use, and the release that came of it."""
    account: Account = chain.accounts[entry["table"]]
    epsilon, delta = read_amount(entry["epsilon"]), read_amount(entry["delta"])
    account = replace(
        account,
        epsilon_spent=account.epsilon_spent + epsilon,
        delta_spent=account.delta_spent + delta,
        holder_uses=account.holder_uses + (entry["kind"] == "holder"),
    )
    kept = {name: entry[name] for name in ("when", "purpose", "epsilon", "delta")}
    chain.append(key, {"charge": "charge", "holder": "holder"}[entry["kind"]], account=account, entry=entry["id"], **kept)
    if entry["release_hash"]:
        account = replace(account, releases=account.releases + (entry["kind"] == "charge"))
        chain.append(key, "release", account=account, entry=entry["id"], release_hash=entry["release_hash"])


def _broken(place: str) -> LedgerError:
    return LedgerError(
        f"the entries of the ledger {place} do not add up to its accounts: the file was changed by something else. Restore it "
        "from a backup before the next release."
    )
