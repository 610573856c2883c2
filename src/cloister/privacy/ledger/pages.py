"""Accounts and entries of a ledger as documents for a person, and as plain data for a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.privacy.ledger.accounts import Account, CarriedOver, Entry
from cloister.privacy.ledger.replay import ChainReport
from cloister.privacy.ledger.rho_totals import AccountInRho
from cloister.report.document import Block, Fact, Section, Sentence, TextTable
from cloister.schema.numerals import exact_text, short_decimal

__all__ = [
    "account_dict",
    "carried_dict",
    "describe_accounts",
    "describe_carried",
    "describe_chain",
    "describe_entries",
    "entry_dict",
    "report_dict",
]


def describe_accounts(place: str, accounts: Sequence[Account], in_rho: Mapping[str, AccountInRho] | None = None) -> Section:
    """What is left for each table; of some of them as a rho beside the epsilon."""
    heads = ["table", "neighbours", "epsilon left", "delta left", "releases", "holder uses"]
    rows = [
        [
            account.table + (f", per {account.unit}" if account.unit else ""),
            account.neighbours,
            f"{short_decimal(account.epsilon_left)} of {short_decimal(account.epsilon_total)}",
            f"{short_decimal(account.delta_left)} of {short_decimal(account.delta_total)}",
            str(account.releases),
            str(account.holder_uses),
            *(rho_cells(in_rho.get(account.table)) if in_rho else ()),
        ]
        for account in accounts
    ]
    heads += ["rho so far", "rho left"] if in_rho else []
    blocks: list[Block] = [TextTable.of(heads, rows, title=f"Ledger {place}", align="left")]
    if any(account.holder_uses for account in accounts):
        blocks.append(
            Sentence("Holder uses are exact results; the epsilon spent does not cover those that left the building.")
        )
    if in_rho:
        blocks.append(
            Sentence(
                "Rho so far: how sure all releases together can make somebody of one of so many equally likely values. Rho left: "
                "the largest of one more release. Odds multiply: rhos do not add up, epsilons do."
            )
        )
    return Section(tuple(blocks))


def rho_cells(account: AccountInRho | None) -> tuple[str, str]:
    """An account as a rho, for a person."""
    if account is None:
        return "-", "-"
    left = "none" if account.left is None else short_decimal(account.left)
    return f"{short_decimal(account.so_far, up=True)} among {account.worlds:,}", f"{left} of {short_decimal(account.total)}"


def rho_dict(account: AccountInRho | None) -> dict[str, Any] | None:
    """An account as a rho, for a program."""
    if account is None:
        return None
    return {
        "worlds": account.worlds,
        "total": exact_text(account.total),
        "so_far": exact_text(account.so_far),
        "left": None if account.left is None else exact_text(account.left),
    }


def describe_entries(entries: Sequence[Entry]) -> Section:
    """Every charge and every holder use of a table."""
    if not entries:
        return Section((Sentence("Nothing was charged yet."),))
    heads = ["entry", "when", "kind", "purpose", "epsilon", "delta", "status"]
    rows = [
        [
            str(entry.id),
            entry.when,
            entry.kind,
            entry.purpose,
            short_decimal(entry.epsilon, up=True),
            short_decimal(entry.delta, up=True),
            entry.status,
        ]
        for entry in entries
    ]
    blocks: list[Block] = [TextTable.of(heads, rows, title="Entries", align="left")]
    if any(entry.status == "begun" for entry in entries):
        blocks.append(
            Sentence(
                "Begun: the holder's rows may have been read, and nothing was published of it (refused, stopped, or kept)."
            )
        )
    return Section(tuple(blocks))


def describe_carried(carried: CarriedOver | None) -> tuple[Sentence, ...]:
    """What nobody vouches for: the accounts as they were when a ledger of version 1 was upgraded."""
    if carried is None:
        return ()
    totals = "; ".join(
        f'"{account.table}" epsilon {short_decimal(account.epsilon_spent, up=True)} spent of '
        f"{short_decimal(account.epsilon_total)}, delta {short_decimal(account.delta_spent, up=True)} of "
        f"{short_decimal(account.delta_total)}"
        for account in carried.accounts
    )
    accounts = len(carried.accounts)
    return (
        Sentence(
            f"Carried over from version 1 on {carried.when}: {accounts:,} account{'s' * (accounts != 1)} and {carried.entries:,} "
            f"entr{'y' if carried.entries == 1 else 'ies'}{', totals: ' * bool(totals)}{totals}. Nothing was signed before: "
            "a change from before that day is not found."
        ),
    )


def describe_chain(place: str, report: ChainReport) -> Section:
    """What was checked of a ledger that is in order."""
    blocks: list[Block] = [
        Sentence(
            f"The {report.records:,} records of the ledger {place} follow each other, and its accounts are what they add up to: "
            "none was changed, removed or put in. Records that were cut off at the end are found by verifying a certificate: "
            "cloister verify RELEASE --ledger URL"
        ),
        Fact("last record", report.head),
    ]
    blocks += [Fact("signed by", f"{key} ({count:,} records)") for key, count in report.signed.items()]
    return Section((*blocks, *describe_carried(report.carried_over)))


def report_dict(report: ChainReport) -> dict[str, Any]:
    """What was checked of a ledger, as plain data."""
    tables = {table: account_dict(account) for table, account in report.accounts.items()}
    return {
        "verified": True,
        "records": report.records,
        "head": report.head,
        "signed": dict(report.signed),
        "accounts": tables,
        "carried_over": carried_dict(report.carried_over),
    }


def carried_dict(carried: CarriedOver | None) -> dict[str, Any] | None:
    """What was carried over from version 1, as plain data."""
    if carried is None:
        return None
    accounts = [account_dict(account) for account in carried.accounts]
    return {"when": carried.when, "entries": carried.entries, "accounts": accounts}


def account_dict(account: Account, in_rho: Mapping[str, AccountInRho] | None = None) -> dict[str, Any]:
    """An account as plain data, exact numbers as text; as a rho, too, where it is among `in_rho`."""
    return {
        "table": account.table,
        "neighbours": account.neighbours,
        "protects": account.unit or None,
        "epsilon_total": exact_text(account.epsilon_total),
        "epsilon_spent": exact_text(account.epsilon_spent),
        "epsilon_left": exact_text(account.epsilon_left),
        "delta_total": exact_text(account.delta_total),
        "delta_spent": exact_text(account.delta_spent),
        "delta_left": exact_text(account.delta_left),
        "releases": account.releases,
        "holder_uses": account.holder_uses,
        "created": account.created,
        "rho": rho_dict((in_rho or {}).get(account.table)),
    }


def entry_dict(entry: Entry) -> dict[str, Any]:
    """An entry as plain data, exact numbers as text."""
    return {
        "id": entry.id,
        "when": entry.when,
        "kind": entry.kind,
        "purpose": entry.purpose,
        "epsilon": exact_text(entry.epsilon),
        "delta": exact_text(entry.delta),
        "status": entry.status,
        "release_hash": entry.release_hash or None,
        "digest": entry.digest,
    }
