"""The whole chain of a ledger gone through again: every link, every signature, and every account from nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from cloister.errors import BrokenChain
from cloister.privacy.ledger.accounts import Account, CarriedOver, Entry
from cloister.privacy.ledger.chain_records import Record, read_account, state_digest
from cloister.privacy.ledger.stored_records import MALFORMED

__all__ = ["ChainReport", "carried_over", "check_links", "entries_of_records", "replay"]

KINDS = ("start", "key", "account", "charge", "holder", "release")
RESTORE = "Restore the ledger from a backup before the next release."


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What was found to be in order.

    Attributes
    ----------
    records
        How many there are.
    head
        The digest of the last one; empty when there is none.
    signed
        How many records each key signed; that of the first record need not be among `keys`.
    accounts
        Every account, added up again.
    entries
        Every charge and holder's use, oldest first.
    keys
        The keys of the hosts that write into the ledger, each brought in by a record. No other vouches for a release.
    carried_over
        What was taken over of a ledger in which nothing was signed; None: nothing.
    """

    records: int
    head: str
    signed: Mapping[str, int]
    accounts: Mapping[str, Account]
    entries: Sequence[Entry] = field(repr=False)
    keys: Set[str] = frozenset()
    carried_over: CarriedOver | None = None


def replay(records: Sequence[Record], accounts: Mapping[str, Account], keys: set[str]) -> ChainReport:
    """Go through a chain from its start, and compare what comes of it with the accounts and keys of the ledger.

    Raises
    ------
    BrokenChain
        At the first record that was changed, removed or put in.
    """
    added: dict[str, Account] = {}
    registered: set[str] = set()
    entries: dict[int, tuple[str, str]] = {}
    last: Record | None = None
    for record in records:
        _check_link(record, last)
        if not record.is_signed():
            raise _fault(record, "was changed or put in: its signature does not fit the key that it names")
        if record.kind == "key":
            registered.add(record.signer)
        elif record.kind != "start" and record.signer not in registered:
            raise _fault(record, "is signed by a key that no record before it brings in")
        try:
            _apply(record, added, entries)
        except MALFORMED:
            raise _fault(record, "does not follow from the records before it") from None
        last = record
    is_signed = last is None or last.state == state_digest(added.values(), registered)
    if added != accounts or registered != keys or not is_signed:
        raise BrokenChain(f"the accounts of the ledger are not those that its records add up to. {RESTORE}")
    signed = Counter(record.signer for record in records)
    head, carried = last.digest if last else "", carried_over(records[0]) if records else None
    return ChainReport(len(records), head, signed, added, entries_of_records(records), registered, carried)


def carried_over(start: Record) -> CarriedOver | None:
    """What the first record of a chain says of a ledger of version 1 that went into it; None: there was none."""
    facts = start.facts()
    if "carried" not in facts:
        return None
    accounts = tuple(read_account(account) for account in facts.get("accounts", ()))
    return CarriedOver(facts["when"], facts["entries"], accounts)


def entries_of_records(records: Sequence[Record]) -> list[Entry]:
    """The charges and holder's uses among these records, each with the release that came of it."""
    released = {record.entry: record.facts()["release_hash"] for record in records if record.kind == "release"}
    entries = []
    for record in records:
        if record.kind not in ("charge", "holder"):
            continue
        facts, release_hash = record.facts(), released.get(record.entry, "")
        entry = Entry(
            id=record.entry,
            table=record.table,
            when=facts["when"],
            kind=record.kind,
            purpose=facts["purpose"],
            epsilon=record.amount("epsilon"),
            delta=record.amount("delta"),
            status="released" if release_hash else "begun" if record.kind == "holder" else "charged",
            release_hash=release_hash,
            digest=record.digest,
        )
        entries.append(entry)
    return entries


def check_links(records: Sequence[Record]) -> Sequence[Record]:
    """Refuse a chain in which a record does not follow the one before.

    Each digest goes into the next record, so the signature of the last one, which every use of a ledger checks, vouches for
    what stands in all of them. Whether they add up is left to `replay`.

    Raises
    ------
    BrokenChain
    """
    last: Record | None = None
    for record in records:
        _check_link(record, last)
        last = record
    return records


def _check_link(record: Record, last: Record | None) -> None:
    """Whether a record is as it was written, and follows the one before."""
    expected = 1 if last is None else last.number + 1
    if record.number != expected:
        raise BrokenChain(f"record {expected} of the ledger is missing: it was removed, or others were put in. {RESTORE}")
    if not record.is_intact():
        raise _fault(record, "was changed: its digest differs")
    if record.previous != ("" if last is None else last.digest):
        raise _fault(record, "does not follow the one before: a record was changed, removed or put in")
    # A start needs no key that was brought in, so anybody could sign one.
    if record.kind == "start" and last is not None:
        raise _fault(record, "starts a chain in the middle of one: it was put in")
    if record.kind != "start" and last is None:
        raise _fault(record, "is not its start, which was removed")


def _apply(record: Record, accounts: dict[str, Account], entries: dict[int, tuple[str, str]]) -> None:
    """Do what a record says, and check that the account which it shows is what comes of it; ValueError where it is not.

    `entries`: of each number the kind, empty once it was released, and the table.
    """
    if record.kind not in KINDS:
        raise ValueError("no ledger has such a record")
    if record.kind in ("start", "key"):
        return
    shown = read_account(record.facts()["account"])
    before = accounts.get(record.table)
    if (before is None) != (record.kind == "account"):
        raise ValueError("an account is opened once, before it is used")
    if before is None:
        after = replace(shown.unused(), table=record.table)
    elif record.kind == "release":
        kind, table = entries[record.entry]
        if table != record.table or not kind:
            raise ValueError("one release comes of an entry")
        entries[record.entry] = ("", table)
        after = replace(before, releases=before.releases + (kind == "charge"))
    else:
        if record.entry <= max(entries, default=0):
            raise ValueError("an entry has one number, above those before")
        entries[record.entry] = (record.kind, record.table)
        epsilon, delta = record.amount("epsilon"), record.amount("delta")
        after = replace(
            before,
            unit=shown.unit if not before.unit and record.kind == "charge" else before.unit,
            epsilon_spent=before.epsilon_spent + epsilon,
            delta_spent=before.delta_spent + delta,
            holder_uses=before.holder_uses + (record.kind == "holder"),
        )
        if epsilon < 0 or delta < 0 or after.epsilon_left < 0 or after.delta_left < 0:
            raise ValueError("the total is passed")
    if after != shown:
        raise ValueError("another account")
    accounts[record.table] = after


def _fault(record: Record, what: str) -> BrokenChain:
    return BrokenChain(f"record {record.number} of the ledger {what}. {RESTORE}")
