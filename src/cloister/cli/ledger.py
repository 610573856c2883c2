"""``cloister ledger``: what each table may spend, and what it has spent."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from cloister.privacy.ledger import Account, Entry, Ledger

__all__ = ["app"]

app = typer.Typer(help="Show and create the privacy accounts of tables.", no_args_is_help=True)

Place = Annotated[
    str | None,
    typer.Option(
        "--ledger",
        metavar="URL",
        help="The ledger: a path, sqlite:///PATH or postgresql://HOST/NAME. "
        "Default: CLOISTER_LEDGER, or else ledger.sqlite in your data folder.",
    ),
]
Machine = Annotated[bool, typer.Option("--json", help="Print JSON, with exact numbers as text.")]


@app.command(epilog="Example: cloister ledger show students")
def show(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One table, with every charge.")] = None,
    ledger: Place = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The same as NAME.")] = None,
    as_json: Machine = False,
) -> None:
    """Show what is left for each table, or every charge of one."""
    table = table or name
    book = _open(ledger)
    if table is None:
        accounts = book.accounts()
        if as_json:
            _print_json({"ledger": book.place, "accounts": [_account_dict(account) for account in accounts]})
        elif accounts:
            _print_accounts(book, accounts)
        else:
            typer.echo(f"No table is in the ledger {book.place} yet.")
            flag = "" if ledger is None else f" --ledger {shlex.quote(book.place)}"
            typer.echo(f"Add one with: cloister ledger create NAME --epsilon TOTAL{flag}")
        return
    account = book.audit(table)
    entries = book.entries(table)
    if as_json:
        lines = [_entry_dict(entry) for entry in entries]
        _print_json({"ledger": book.place, "account": _account_dict(account), "entries": lines})
    else:
        _print_accounts(book, [account])
        if entries:
            _print_entries(entries)
        else:
            typer.echo("Nothing was charged yet.")


@app.command(epilog="Example: cloister ledger create students --epsilon 3 --delta 1e-6")
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The table, as its schema names it.")],
    epsilon: Annotated[str, typer.Option(metavar="TOTAL", help="The epsilon of all its releases together.")],
    delta: Annotated[str, typer.Option(metavar="D", help="The delta of all its releases together.")] = "0",
    neighbours: Annotated[
        Literal["add-remove", "replace-one"],
        typer.Option(help="Tables that differ by one row more or less, or by one row changed."),
    ] = "add-remove",
    ledger: Place = None,
    as_json: Machine = False,
) -> None:
    """Give a table a total that its releases may spend. It cannot be raised later."""
    book = _open(ledger)
    account = book.create(name, neighbours, epsilon, delta)
    if as_json:
        _print_json({"ledger": book.place, "account": _account_dict(account)})
    else:
        _print_accounts(book, [account])


def _open(place: str | None) -> Ledger:
    from cloister.privacy.ledger import Ledger

    return Ledger.default() if place is None else Ledger(place)


def _account_dict(account: Account) -> dict[str, Any]:
    from cloister.schema.numerals import exact_text

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
    }


def _entry_dict(entry: Entry) -> dict[str, Any]:
    from cloister.schema.numerals import exact_text

    return {
        "id": entry.id,
        "when": entry.when,
        "kind": entry.kind,
        "purpose": entry.purpose,
        "epsilon": exact_text(entry.epsilon),
        "delta": exact_text(entry.delta),
        "status": entry.status,
        "release_hash": entry.release_hash or None,
    }


def _print_json(value: dict[str, Any]) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _print_accounts(book: Ledger, accounts: list[Account]) -> None:
    from rich.text import Text

    from cloister.schema.numerals import short_decimal

    rows = [
        [
            Text(account.table + (f", per {account.unit}" if account.unit else "")),  # Text: brackets are not markup
            account.neighbours,
            f"{short_decimal(account.epsilon_left)} of {short_decimal(account.epsilon_total)}",
            f"{short_decimal(account.delta_left)} of {short_decimal(account.delta_total)}",
            str(account.releases),
            str(account.holder_uses),
        ]
        for account in accounts
    ]
    heads = ["table", "neighbours", "epsilon left", "delta left", "releases", "holder uses"]
    _print_table(heads, rows, f"Ledger {book.place}")
    if any(account.holder_uses for account in accounts):
        typer.echo("Holder uses are exact results; the epsilon spent does not cover those that left the building.")


def _print_entries(entries: list[Entry]) -> None:
    from rich.text import Text

    from cloister.schema.numerals import short_decimal

    rows = [
        [
            str(entry.id),
            entry.when,
            entry.kind,
            Text(entry.purpose),
            short_decimal(entry.epsilon, up=True),
            short_decimal(entry.delta, up=True),
            entry.status,
        ]
        for entry in entries
    ]
    _print_table(["entry", "when", "kind", "purpose", "epsilon", "delta", "status"], rows, "Entries")


def _print_table(heads: list[str], rows: list[list[Any]], title: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    shown = Table(title=Text(title), title_justify="left")
    for head in heads:
        shown.add_column(head, overflow="fold")
    for row in rows:
        shown.add_row(*row)
    Console().print(shown)
