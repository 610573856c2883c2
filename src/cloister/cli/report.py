"""``cloister report``: a release as one page to hand over, and for its holder a second one that stays."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloister.cli import flags, output
from cloister.cli.default_reports import ALONE
from cloister.cli.verify import check_content, read_release
from cloister.errors import CloisterError, UsageError, VerificationFailed

if TYPE_CHECKING:
    from cloister.privacy.ledger import Ledger
    from cloister.schema import Schema

EXAMPLE = (
    "Example: cloister report clusters -o clusters.html --ledger ledger.sqlite; for the holder too: cloister report safe.csv "
    "-o safe.html --against people.csv --schema people.toml"
)
ENDINGS = (".html", ".htm")


@flags.takes_groups
def report(
    release: Annotated[
        Path, typer.Argument(metavar="RELEASE", help="A release.json, or a folder, synopsis or table that a command wrote.")
    ],
    *,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="A new .html file. Default: RELEASE.report.html")
    ] = None,
    key: Annotated[
        list[str] | None,
        typer.Option(metavar="PUBLIC", help="A public key, or a file with it, that must have signed; may be given again."),
    ] = None,
    ledger: Annotated[
        str | None,
        typer.Option(metavar="URL", help="The ledger that must hold it, and is asked what is left; a path is SQLite."),
    ] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="For the holder: the original. A second page, NAME.holder.html, has risk and use before and after.",
        ),
    ] = None,
    schema: flags.SchemaFile = None,
    hierarchies: Annotated[
        str | None, typer.Option(metavar="DIR", help="With --against: what published labels stand for.")
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Check a release and write a report on it: one page to read, print and hand over, without the data.

    With --against the holder gets a second page, which must stay: its figures are exact.
    """
    from cloister.privacy.ledger import Ledger
    from cloister.privacy.signing import read_public_key
    from cloister.sinks import reserved

    keys = [read_public_key(text) for text in key or []]
    if against is None and (schema is not None or hierarchies is not None):
        raise UsageError("--schema and --hierarchies go with --against. Add that, or drop them.")
    path = check_page(default_page(release) if out is None else out, release)
    stays = path.with_name(f"{path.stem}.holder{path.suffix}")
    with ExitStack() as names:
        names.enter_context(reserved(path))
        if against is not None:
            names.enter_context(reserved(stays))
        page = make_page(release, keys, None if ledger is None else Ledger(ledger))
        if against is not None:
            with output.progress(everywhere.as_json) as step:
                step("measuring")
                own = make_holder_page(release, against, flags.read_schema(schema), hierarchies, ledger)
            output.write_text(stays, own, for_holder=True)
        output.write_text(path, page)
    if everywhere.as_json:
        output.print_json({"report": str(path), **({} if against is None else {"for_holder": str(stays)})})
        return
    output.print_line(f"Written: {path}")
    if against is not None:
        output.print_line(f"For the holder only, keep it here: {stays}")


def default_page(release: Path) -> Path:
    """Beside the release: inside its folder it would be a file that the certificate does not list."""
    place = Path(os.path.abspath(release))
    if place.name == "release.json":
        place = place.parent
    return place.with_name(f"{place.name.removesuffix('.release.json')}.report.html")


def check_page(path: Path, release: Path | None, hint: str = "") -> Path:
    """Refuse a name that is not a page's, or that would make the release, if it is known, one that does not verify."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"a report is a page: give it a name that ends in .html.{f' {hint}' if hint else ''}")
    if release is None:
        return path
    folder = Path(os.path.realpath(release))
    if Path(os.path.realpath(path)).is_relative_to(folder.parent if folder.name == "release.json" else folder):
        raise UsageError(
            "the report would lie in the folder of the release, whose certificate lists every file. Give it a place beside that."
        )
    return path


def make_page(release: Path, keys: list[str], ledger: Ledger | None) -> str:
    """Read a release, check it as `cloister verify` does, and make the page that may be handed over."""
    from cloister import __version__
    from cloister.handouts.check_words import ReleaseChecks
    from cloister.handouts.release_report import release_report
    from cloister.handouts.shown_results import show_result
    from cloister.privacy.signing import own_public_key
    from cloister.privacy.verification import check_consistency, check_origin, unreadable_told
    from cloister.report.page import page_html

    with unreadable_told():
        read = read_release(release)
    check_consistency(*read)
    check_content(read, release)
    certificate = read.certificate
    origin = check_origin(certificate, keys, ledger, own_public_key())
    table = None if certificate.ledger is None else certificate.ledger["table"]
    account = None if ledger is None or table is None else ledger.account(table)
    place = Path(os.path.abspath(release))
    name = f"{place.parent.name}/{place.name}" if place.name == "release.json" else place.name
    checks = ReleaseChecks(name, origin, account)
    try:
        page = release_report(certificate, checks, show_result(certificate, read.content(release)), version=__version__)
    except CloisterError:
        raise
    except (TypeError, ValueError, KeyError, IndexError, AttributeError, ArithmeticError):
        raise VerificationFailed(
            "this release cannot be shown: a figure of it is missing, or is of another kind than such a release has. Do not rely "
            "on it."
        ) from None
    return page_html(page)


def make_holder_page(
    release: Path, original: list[str], schema: Schema | None, hierarchies: str | None, ledger: str | None
) -> str:
    """Measure a release against its original, through the holder's door, and make the page that stays."""
    from cloister import __version__
    from cloister.handouts.holder_page import check_comparable, holder_page
    from cloister.report.page import page_html

    read = read_release(release)
    certificate = read.certificate
    check_comparable(certificate)
    table = (certificate.ledger or {}).get("table")
    where = {"schema": schema, "hierarchies": hierarchies, "table": table, "ledger": ledger}
    return page_html(holder_page(certificate, read.content(release), original, version=__version__, **where))


@contextmanager
def reporting(
    publishing: flags.Publishing, out: Path | None, ledger: str | Ledger | None, *, quiet: bool
) -> Iterator[Callable[[], None]]:
    """For a verb that publishes: hold the name of its report, which is written by a call once the release is there.

    A name that cannot be a report's is refused here, before anything is charged.
    """
    path = publishing.report
    if path is None:
        yield lambda: None
        return
    from cloister.sinks import reserved

    if out is None:
        raise UsageError("--report is about what is written: give --out too, or drop it.")
    check_page(path, out, ALONE)

    def write() -> None:
        output.write_text(path, make_page(out, [], charged_ledger(out, ledger)))
        if not quiet:
            output.print_line(f"Report: {path}")

    with reserved(path):
        yield write


def charged_ledger(out: Path, ledger: str | Ledger | None) -> Ledger | None:
    """The ledger that a release was charged to, which is asked what it has left; None: no ledger kept it."""
    from cloister.privacy.ledger import Ledger

    certificate = read_release(out).certificate
    return None if certificate.ledger is None else Ledger.find(ledger)
