"""Ledgers that were written before there was a chain (version 1): everything in them is carried over, once, on request.

The chain then starts with a digest of what was there, and its accounts. Before the upgrade nobody vouched for it, so what was
changed before is not found, and `ledger show` and `ledger verify` say so for good; whatever did not add up is refused.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cloister.errors import LedgerError
from cloister.privacy.ledger.accounts import RELATIONS, Account
from cloister.privacy.ledger.chain import Chain
from cloister.privacy.ledger.chain_records import account_facts, digest_of, read_account, read_amount
from cloister.privacy.ledger.replay import replay
from cloister.privacy.ledger.stored_records import (
    MALFORMED,
    accounts_table,
    ledger_tables,
    read_accounts,
    read_keys,
    select_records,
)
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
        if not all(map(_is_possible, opened.values())):
            raise ValueError("no account could say so")
        digest = digest_of([sorted(accounts, key=lambda row: str(row["table"])), entries])
    except MALFORMED:
        raise _broken(place) from None
    connection.exec_driver_sql(f"DROP TABLE {ENTRIES}")  # it refers to accounts; all of it goes into the chain
    connection.execute(accounts_table().delete())
    ledger_tables().create_all(connection)
    chain = Chain(connection)
    carried = [account_facts(account) for account in opened.values()]
    chain.append(key, "start", carried=digest, version=1, entries=len(entries), accounts=carried)
    for account in opened.values():
        chain.append(key, "account", account=account.unused())
    try:
        for entry in entries:
            _carry(chain, key, entry)
        # Charges below 0, a total that is passed, an entry that is there twice: what no chain may hold.
        replay(select_records(connection), read_accounts(connection), read_keys(connection))
    except (LedgerError, *MALFORMED):
        raise _broken(place) from None
    if {table: account_facts(account) for table, account in chain.accounts.items()} != {
        table: account_facts(account) for table, account in opened.items()
    }:
        raise _broken(place)


def _is_possible(account: Account) -> bool:
    """Whether an account could have been opened so, by name, relation and total."""
    return (
        account.table.isprintable()
        and account.unit.isprintable()
        and account.created.isprintable()
        and account.neighbours in RELATIONS
        and account.epsilon_total > 0
        and 0 <= account.delta_total < 1
    )


def _carry(chain: Chain, key: HostKey, entry: dict[str, Any]) -> None:
    """Append what an old entry says: a charge or a holder's use, and the release that came of it."""
    account: Account = chain.accounts[entry["table"]]
    epsilon, delta = read_amount(entry["epsilon"]), read_amount(entry["delta"])
    if (entry["kind"] == "holder" and (epsilon or delta)) or not f"{entry['purpose']}{entry['when']}".isprintable():
        raise ValueError("no entry could say so")
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
