"""``cloister ledger``: what each table may spend, what it has spent, and that nobody changed it since."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.cli import flags
from cloister.cli.output import print_json, print_line
from cloister.errors import BrokenChain, LedgerError, LedgerNotAsked, UsageError, VerificationFailed
from cloister.report.document import Document, Section
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.privacy.ledger import Ledger

__all__ = ["app"]

app = typer.Typer(help="Show, create and verify the privacy accounts of tables.", no_args_is_help=True)


@app.command(epilog="Example: cloister ledger show students")
@flags.takes_groups
def show(
    name: Annotated[str | None, typer.Argument(metavar="[NAME]", help="One table, with every charge.")] = None,
    *,
    ledger: flags.LedgerPlace = None,
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The same as NAME.")] = None,
    worlds: Annotated[
        int | None,
        typer.Option(metavar="M", help="Show every total as a rho among so many values. Default: those stated as one."),
    ] = None,
    everywhere: flags.EverywhereInLedger,
) -> None:
    """Show what is left for each table, or every charge of one."""
    from cloister.privacy.identifiability import check_worlds

    among = None if worlds is None else check_worlds(worlds)
    book = open_ledger(ledger)
    wanted = table or name
    if wanted is not None:
        show_table(book, wanted, among, everywhere.as_json)
    else:
        show_all(book, among, everywhere.as_json, "" if ledger is None else f" --ledger {shlex.quote(book.place)}")


def show_all(book: Ledger, worlds: int | None, as_json: bool, flag: str) -> None:
    """What is left for each table; `flag` leads the command line to this ledger."""
    from cloister.privacy.ledger.pages import account_dict, carried_dict, describe_accounts, describe_carried
    from cloister.privacy.ledger.rho_totals import accounts_in_rho

    accounts, carried = book.accounts(), book.carried_over()
    in_rho = accounts_in_rho(accounts, book.rho_totals(), worlds)
    if as_json:
        lines = [account_dict(account, in_rho) for account in accounts]
        print_json({"ledger": book.place, "accounts": lines, "carried_over": carried_dict(carried)})
    elif accounts:
        print_document(Document((describe_accounts(book.place, accounts, in_rho), Section(describe_carried(carried)))))
    else:
        print_line(f"No table is in the ledger {book.place} yet.")
        print_line(f"Add one with: cloister ledger create NAME --epsilon TOTAL{flag}")


def show_table(book: Ledger, table: str, worlds: int | None, as_json: bool) -> None:
    """What is left for one table, and every charge."""
    from cloister.privacy.ledger import pages
    from cloister.privacy.ledger.rho_totals import accounts_in_rho

    account, entries, carried = book.audit(table), book.entries(table), book.carried_over()
    in_rho = accounts_in_rho([account], book.rho_totals(), worlds)
    if as_json:
        lines = [pages.entry_dict(entry) for entry in entries]
        facts = {
            "account": pages.account_dict(account, in_rho),
            "entries": lines,
            "carried_over": pages.carried_dict(carried),
        }
        print_json({"ledger": book.place, **facts})
        return
    blocks = (*pages.describe_accounts(book.place, [account], in_rho).blocks, *pages.describe_entries(entries).blocks)
    print_document(Document((Section((*blocks, *pages.describe_carried(carried))),)))


@app.command(
    epilog="Example: cloister ledger create students --epsilon 3 --delta 1e-6, or cloister ledger create pupils --rho 0.05 "
    "--worlds 10001"
)
@flags.takes_groups
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The table, as its schema names it.")],
    *,
    epsilon: Annotated[str | None, typer.Option(metavar="TOTAL", help="The epsilon of all its releases together.")] = None,
    delta: Annotated[str, typer.Option(metavar="D", help="The delta of all its releases together.")] = "0",
    rho: Annotated[
        str | None,
        typer.Option(
            metavar="R", help="Instead of --epsilon: the largest probability of identifying somebody after all releases."
        ),
    ] = None,
    worlds: Annotated[
        str | None, typer.Option(metavar="M", help="With --rho: among how many equally likely values.")
    ] = None,
    neighbours: Annotated[
        Literal["add-remove", "replace-one"] | None,
        typer.Option(
            help="Tables that differ by one row more or less (default), or by one row changed (default with --rho)."
        ),
    ] = None,
    ledger: flags.LedgerPlace = None,
    everywhere: flags.EverywhereInLedger,
) -> None:
    """Give a table a total that its releases may spend. It cannot be raised later."""
    from cloister.privacy.ledger.pages import account_dict, describe_accounts
    from cloister.privacy.ledger.rho_totals import accounts_in_rho

    total, relation = read_total(epsilon, delta, rho, worlds, neighbours)
    book = open_ledger(ledger)
    account = book.create(name, relation, total, delta)
    in_rho = accounts_in_rho([account], {} if rho is None else book.rho_totals())
    if everywhere.as_json:
        print_json({"ledger": book.place, "account": account_dict(account, in_rho)})
    elif not everywhere.quiet:
        print_document(Document((describe_accounts(book.place, [account], in_rho),)))


def read_total(
    epsilon: str | None, delta: str, rho: str | None, worlds: str | None, neighbours: str | None
) -> tuple[Any, str]:
    """The total that the flags mean together, and the relation of the account."""
    if rho is None:
        if worlds is not None:
            raise UsageError("--worlds goes with --rho. Add --rho, or drop --worlds.")
        if epsilon is None:
            raise UsageError("how much may all releases reveal together? Give --epsilon TOTAL, or --rho with --worlds.")
        return epsilon, neighbours or "add-remove"
    from cloister.privacy.budgets import relation

    has_delta = delta.strip().strip("0") not in ("", ".")
    budget = flags.Spending(epsilon, delta if has_delta else None, rho, worlds).budget()
    return budget, relation(budget, neighbours).value


@app.command(epilog="Example: cloister ledger verify --ledger people.sqlite")
@flags.takes_groups
def verify(
    *,
    ledger: flags.LedgerPlace = None,
    key: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PUBLIC", help="A host that may write, by its public key or a file with it; may be given again."
        ),
    ] = None,
    everywhere: flags.EverywhereInLedger,
) -> None:
    """Go through every record again: find one that was changed, removed or put in.

    Exit code 0: all of it holds. 5: it was checked and does not hold. 4: there is no such ledger, or it cannot be read.
    """
    from cloister.privacy.ledger.pages import describe_chain, report_dict
    from cloister.privacy.signing import read_public_key

    keys = [read_public_key(text) for text in key or []]
    book = open_ledger(ledger)
    try:
        report = book.verify()
    except BrokenChain:
        raise
    except LedgerError as error:
        raise LedgerNotAsked(f"nothing was verified: {error}") from None
    if not report.records:
        raise LedgerNotAsked(f"there is no ledger {book.place}, so nothing was verified. Name the one that is to be.")
    if strangers := [signer for signer in report.signed if keys and signer not in keys]:
        raise VerificationFailed(
            f"records of the ledger {book.place} ({report.signed[strangers[0]]:,} of them) are signed by {strangers[0]}, "
            "which is none of the keys that you gave. Ask whose it is before the next release."
        )
    if everywhere.as_json:
        print_json({"ledger": book.place, **report_dict(report)})
    elif not everywhere.quiet:  # the exit code says it
        print_document(Document((describe_chain(book.place, report),)))


@app.command(epilog="Example: cloister ledger upgrade --ledger people.sqlite")
@flags.takes_groups
def upgrade(*, ledger: flags.LedgerPlace = None, everywhere: flags.EverywhereInLedger) -> None:
    """Carry the accounts of a version 1 ledger over into a signed one. Look at what it prints."""
    from cloister.privacy.ledger.pages import carried_dict, describe_carried

    book = open_ledger(ledger)
    carried = book.upgrade()
    if everywhere.as_json:
        print_json({"ledger": book.place, "carried_over": carried_dict(carried)})
    elif not everywhere.quiet:
        print_document(Document((Section(describe_carried(carried)),)))


@app.command(epilog="Example: cloister ledger key")
@flags.takes_groups
def key(*, ledger: flags.LedgerPlace = None, everywhere: flags.EverywhereInLedger) -> None:
    """Show the public key of this host, and those of all hosts that wrote into the ledger."""
    from cloister.privacy.signing import SIGNS, host_key, key_path

    public = host_key().public
    book = open_ledger(ledger)
    known = book.keys()
    if everywhere.as_json:
        print_json({"key": public, "private_key": str(key_path()), "ledger": book.place, "keys_of_the_ledger": known})
        return
    typer.echo(f"{SIGNS}{public}")
    print_line(f"Its private half is {key_path()}: keep it to yourself, and keep a copy.")
    print_line(f"Keys in the ledger {book.place}: {', '.join(known) or 'none yet'}")


@app.command(epilog="Example: cloister ledger recover 7 --out clusters")
@flags.takes_groups
def recover(
    entry: Annotated[
        str | None, typer.Argument(metavar="[ENTRY]", help="The entry that was charged. Default: the only one that is kept.")
    ] = None,
    *,
    out: Annotated[
        Path | None, typer.Option(metavar="PATH", help="A new file or folder. Default: list what is kept.")
    ] = None,
    drop: Annotated[bool, typer.Option("--drop", help="Throw the kept release away; its charge stays.")] = False,
    ledger: flags.LedgerPlace = None,
    everywhere: flags.EverywhereInLedger,
) -> None:
    """Hand out a release that was paid for and could not be written, at no cost."""
    from cloister.privacy.kept_places import check_unused
    from cloister.privacy.kept_releases import find_kept, flag, kept_releases

    book = open_ledger(ledger)
    if drop and (out is not None or entry is None):
        raise UsageError("--drop throws one kept release away: give its ENTRY, and no --out.")
    if drop:
        find_kept(book, entry).drop()
    elif out is not None:
        find_kept(book, entry).hand_out(out, book)
    elif entry is not None:
        wanted = find_kept(book, entry)
        raise UsageError(f"--out says where to write it: cloister ledger recover {wanted.id} --out PATH{flag(book)}")
    left = kept_releases(book)
    if everywhere.as_json:
        print_json({"out": None if out is None else str(out), "kept": [kept.as_dict() for kept in left]})
    elif out is not None:
        print_line(f"Written: {out}. Nothing was charged.")
    else:
        for kept in left:
            print_line(str(kept))
    if out is None:
        check_unused(book)  # before it is said that nothing is kept
    if out is None and not everywhere.as_json:
        get = f"Get one with: cloister ledger recover ENTRY --out PATH{flag(book)}"
        print_line(get if left else "Nothing is kept.")


def open_ledger(place: str | None) -> Ledger:
    """The ledger that --ledger names, or the user's own."""
    from cloister.privacy.ledger import Ledger

    return Ledger.default() if place is None else Ledger(place)
