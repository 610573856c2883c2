"""``cloister anonymize``: a table in which everybody looks like at least k - 1 others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.report import reporting
from cloister.cli.verbosity import is_quiet
from cloister.errors import UsageError
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.anonymization.estimator import TopDownSpecialization
    from cloister.anonymization.reporting.outcome import TableOutcome
    from cloister.privacy.release import Release
    from cloister.report.document import Document

EXAMPLE = (
    "Example: cloister anonymize people.csv --k 10 --quasi age,sex,region --hierarchies trees --suppress 0.02 --out safe.csv"
)
SAVED_IS_GLOBAL = (
    "The scope is global, since a local recoding describes no rows but those of its own table (--save-recoding)."
)


@dataclass(frozen=True)
class Searching:
    """What is generalised, and how."""

    quasi: Annotated[
        list[str] | None, flags.name_list("What others may know of a person. Default: by role in the schema.")
    ] = None
    hierarchies: Annotated[
        str | None, typer.Option(metavar="DIR", help="How values generalise: age.csv is for column age.")
    ] = None
    gain: Annotated[
        Literal["loss", "entropy", "distance", "class"] | None, typer.Option(help="What a step should gain.")
    ] = None
    suppression: Annotated[
        float, typer.Option("--suppress", metavar="SHARE", help="Share of the rows that may be suppressed.")
    ] = 0.0
    scope: Annotated[
        Literal["local", "global"] | None,
        typer.Option(
            help="local (the default): every row as finely as some k rows allow, labels overlap; global: a value reads the same "
            "in every row (the default with --suppress, --target, --gain and --save-recoding)."
        ),
    ] = None

    weight: Annotated[
        list[str] | None,
        typer.Option("--weight", metavar="A=5", help="How much a column counts beside the others (1); may be given again."),
    ] = None
    most_level: Annotated[
        list[str] | None,
        typer.Option(
            "--most-level",
            metavar="A=1",
            help="The highest level of its hierarchy that a column may be published as (0: its values); may be given again.",
        ),
    ] = None
    widest: Annotated[
        list[str] | None,
        typer.Option(
            "--widest",
            metavar="A=20",
            help="The widest interval that a column of numbers or dates (days) may be published as; may be given again.",
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """As parameters of the estimator, which have the names of most fields."""
        return {
            **{name: getattr(self, name) for name in ("hierarchies", "gain", "suppression", "scope")},
            "quasi": read_list(self.quasi),
            "weights": read_numbers("--weight", self.weight),
            "most_levels": read_numbers("--most-level", self.most_level),
            "widest": read_numbers("--widest", self.widest),
        }


@dataclass(frozen=True)
class Guarding:
    """What every class must hold beside k, and what the table should still predict."""

    sensitive: Annotated[list[str] | None, flags.name_list("Columns that the next guards look at.")] = None
    l_diversity: Annotated[
        int | None, typer.Option("--l-diversity", metavar="L", help="Different sensitive values in every class, at least.")
    ] = None
    entropy_l_diversity: Annotated[
        float | None, typer.Option("--entropy-l-diversity", metavar="L", help="The same by entropy.")
    ] = None
    t_closeness: Annotated[
        float | None, typer.Option("--t-closeness", metavar="T", help="How far a class may be from the whole table.")
    ] = None
    ordered: Annotated[bool, typer.Option("--ordered", help="With --t-closeness: values have an order.")] = False
    population: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="With --k-map: the people among whom somebody is looked for, a row each."),
    ] = None
    k_map: Annotated[
        int | None,
        typer.Option("--k-map", metavar="K", help="Rows (people, with a unit) of the population that look alike."),
    ] = None
    target: Annotated[str | None, typer.Option(metavar="COLUMN", help="What the table should still predict.")] = None

    def parameters(self) -> dict[str, Any]:
        """As parameters of the estimator, which have the names of the fields."""
        return {**vars(self), "sensitive": read_list(self.sensitive)}


@dataclass(frozen=True)
class Pseudonymizing:
    """Which identifiers stay, as keyed hashes, and where the key is."""

    identifiers: Annotated[
        list[str] | None, flags.name_list("Columns to drop, or none. Default: by role in the schema.")
    ] = None
    keep_unique: Annotated[
        list[str] | None, flags.name_list("Columns to publish although nearly all their values differ.")
    ] = None
    pseudonyms: Annotated[list[str] | None, flags.name_list("Identifiers to replace by a keyed hash instead.")] = None
    key_file: Annotated[str | None, typer.Option("--key-file", metavar="FILE", help="The key of the pseudonyms.")] = None
    key_variable: Annotated[
        str | None, typer.Option("--key-env", metavar="NAME", help="Or the environment variable that holds it.")
    ] = None

    def key(self) -> dict[str, Any]:
        """Where the key is, as parameters of the estimator."""
        return {"key_file": self.key_file, "key_variable": self.key_variable}


@flags.takes_groups
def anonymize(
    data: flags.Data,
    *,
    k: Annotated[int | None, typer.Option("--k", metavar="K", help="How many rows look alike, at least.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A new .csv (written as the input is), .parquet (on Spark: a folder) or .xlsx."),
    ] = None,
    searching: Searching,
    guarding: Guarding,
    pseudonymizing: Pseudonymizing,
    shuffle: Annotated[
        bool, typer.Option("--shuffle", help="Write the rows in an order that tells nothing of the input's.")
    ] = False,
    save_recoding: Annotated[
        Path | None,
        typer.Option("--save-recoding", metavar="FILE", help="Also write the recoding (JSON), for the holder."),
    ] = None,
    apply: Annotated[
        Path | None, typer.Option("--apply", metavar="FILE", help="Apply a saved recoding to these rows instead.")
    ] = None,
    curve: Annotated[
        Path | None,
        typer.Option(
            "--curve",
            metavar="FILE",
            help="Write no table: show loss and risk for k = 2 to 100, and draw them (.png or .svg).",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Write nothing: read the rows for the holder, and show what would be published, lost and risked.",
        ),
    ] = False,
    schema: flags.SchemaFile = None,
    access: flags.Access,
    publishing: flags.PublishingRows,
    plot: flags.PlotFile = None,
    everywhere: flags.Everywhere,
) -> None:
    """Publish a k-anonymous table: generalise the quasi-identifiers, drop the identifiers, keep the rest."""
    check_modes(out, k, curve, apply, save_recoding, publishing.report, dry_run)
    if plot is not None and (apply is not None or curve is not None):
        raise UsageError(
            "--plot draws what a search lost; --curve names its own picture, and --apply searches nothing. Drop it."
        )
    where = access.parameters()
    files = access.files(data)
    if apply is not None:
        if schema is not None:
            raise UsageError(
                "--apply and --schema both say what becomes of the columns, and the recoding holds: it keeps how cells are "
                "written, too. Drop --schema, or drop --apply to anonymize the table anew."
            )
        settings = (searching, guarding, pseudonymizing.pseudonyms, shuffle, save_recoding)
        if settings != (Searching(), Guarding(), None, False, None):
            raise UsageError(
                "--apply takes the columns from the recoding and counts k alone. Give only --k, --identifiers, "
                "--keep-unique, the key of its pseudonyms and where to write."
            )
        assert out is not None
        apply_saved(apply, files, out, k, pseudonymizing, where, publishing, everywhere.as_json)
        return
    from cloister.anonymization.estimator import TopDownSpecialization

    searched = searching.parameters()
    if save_recoding is not None and searching.scope is None:  # a local one describes the tuples of its own table alone
        searched["scope"] = "global"
    model = TopDownSpecialization(
        k=2 if k is None else k,
        **searched,
        **guarding.parameters(),
        identifiers=read_list(pseudonymizing.identifiers),
        keep_unique=read_list(pseudonymizing.keep_unique) or (),
        pseudonyms=read_list(pseudonymizing.pseudonyms) or (),
        **pseudonymizing.key(),
        shuffle=shuffle,
        schema=schema,
        **where,
    )
    if curve is not None:
        show_curve(model, files, curve, everywhere.as_json)
    elif dry_run:
        try_out(model, files, out, plot, everywhere.as_json)
    else:
        assert out is not None
        reason = SAVED_IS_GLOBAL if save_recoding is not None and searching.scope is None else model.request().scope_reason
        publish(model, files, out, save_recoding, publishing, plot, everywhere.as_json, reason)


def check_modes(
    out: Path | None,
    k: int | None,
    curve: Path | None,
    apply: Path | None,
    save_recoding: Path | None,
    report: Path | None,
    dry_run: bool,
) -> None:
    """Refuse flags of which each asks for something else: a table, a curve, a dry run, a recoding that is applied."""
    if out is None and curve is None and not dry_run:
        raise UsageError("where should the table go? Give --out FILE, which does not exist yet (or --dry-run).")
    if curve is not None and (out or k is not None or apply or save_recoding or report or dry_run):
        raise UsageError(
            "--curve writes no table: drop --out, --k, --apply, --save-recoding, --report and --dry-run, choose a k, then run it "
            "again."
        )
    if dry_run and (apply is not None or save_recoding is not None or report is not None):
        raise UsageError("--dry-run writes nothing and searches a recoding: drop --apply, --save-recoding and --report.")
    if k is None and curve is None and apply is None:
        raise UsageError("how many rows should look alike? Give --k (10 is a common choice), or look at --curve first.")


def publish(
    model: TopDownSpecialization,
    data: Any,
    out: Path,
    save_recoding: Path | None,
    publishing: flags.PublishingRows,
    plot: Path | None,
    as_json: bool,
    scope_reason: str,
) -> None:
    """Write the table and, if it is asked for, its recoding."""
    from cloister.anonymization.writing.rewriting import format_of
    from cloister.sinks import certificate_path, reserved
    from cloister.sources.csv_dialect import STANDARD

    format_of(out)
    if save_recoding is not None and save_recoding.resolve() in (out.resolve(), certificate_path(out.resolve())):
        raise UsageError("--save-recoding and --out are the same file. Give the recoding a name of its own.")
    with ExitStack() as names:
        if save_recoding is not None:
            names.enter_context(reserved(save_recoding))
        names.enter_context(reserved(out, with_certificate=True))
        write_report = names.enter_context(reporting(publishing, out, model.ledger, quiet=as_json))
        draw = names.enter_context(drawing(plot, out, quiet=as_json))
        with output.progress(as_json) as step:
            release = model.publish(data, out, dialect=publishing.dialect or "input", progress=step)
        if save_recoding is not None:
            output.write_text(save_recoding, model.recoding_.to_json(), for_holder=True)
        named = output.named_files(report=publishing.report, picture=plot, recoding=save_recoding)
        show(release, model.summary_.describe(), out, as_json, model.outcome_, scope_reason, named)
        if model.dialect_ != STANDARD and not as_json:
            output.print_line(model.dialect_.told(publishing.dialect))
        if save_recoding is not None and not as_json:
            output.print_line(f"Recoding: {save_recoding} (for the holder; on other rows it guarantees nothing)")
        write_report()
        draw(model.outcome_)


def try_out(model: TopDownSpecialization, data: Any, out: Path | None, plot: Path | None, as_json: bool) -> None:
    """Show what a run would do."""
    with drawing(plot, out, quiet=as_json) as draw:
        with output.progress(as_json) as step:
            tried = model.dry_run(data, out, progress=step)
        if as_json:
            output.print_json(tried.as_dict())
        else:
            print_document(tried.describe())
        draw(tried.outcome)


def apply_saved(
    recoding: Path,
    data: Any,
    out: Path,
    k: int | None,
    pseudonymizing: Pseudonymizing,
    where: dict[str, Any],
    publishing: flags.PublishingRows,
    as_json: bool,
) -> None:
    """Apply a saved recoding to other rows; `where` names the table, its ledger and the engine."""
    from cloister.anonymization.writing.apply import apply_recoding, read_recoding
    from cloister.anonymization.writing.rewriting import format_of
    from cloister.sinks import reserved

    format_of(out)
    dropped = read_list(pseudonymizing.identifiers) or ()
    kept = read_list(pseudonymizing.keep_unique) or ()
    saved = read_recoding(recoding)
    with (
        reserved(out, with_certificate=True),
        reporting(publishing, out, where["ledger"], quiet=as_json) as write_report,
    ):
        release = apply_recoding(
            saved,
            data,
            out,
            k=k,
            identifiers=dropped,
            keep_unique=kept,
            dialect=publishing.dialect or "input",
            **pseudonymizing.key(),
            **where,
        )
        named = output.named_files(report=publishing.report)
        show(release, ", ".join(f"{what} {number:,}" for what, number in release.result.items()), out, as_json, named=named)
        write_report()


def show_curve(model: TopDownSpecialization, data: Any, path: Path, as_json: bool) -> None:
    """Loss and risk by k, as a table and a picture."""
    from cloister.anonymization.reporting.curve import curve
    from cloister.report.plot import check_drawable
    from cloister.sinks import check_free, stage

    check_drawable(path)
    check_free(path)
    with output.progress(as_json) as step:
        points = curve(model, data, progress=step)
    with stage(path, directory=False) as staged:
        points.draw(staged.path)
        staged.commit()
    if as_json:
        output.print_json({"picture": str(path), **points.as_dict()})
        return
    output.print_text(points.describe())
    output.print_line(f"Drawn: {path}")


def read_list(texts: list[str] | None) -> list[str] | None:
    """Column names from A,B; an empty list from the word none; None where the flag is not given."""
    if not texts:
        return None
    return [] if texts == ["none"] else flags.read_names(texts)


def read_numbers(flag: str, texts: list[str] | None) -> dict[str, float] | None:
    """Numbers by column, from COLUMN=NUMBER; whole ones are whole."""
    if not texts:
        return None
    numbers: dict[str, float] = {}
    for text in texts:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not name.strip() or math.isnan(value):
            raise UsageError(f"{flag} takes a column and a number, such as {flag} age=5; give it again for another column.")
        if name.strip() in numbers:
            raise UsageError(f"{flag} names a column twice. Give each of them once.")
        numbers[name.strip()] = int(value) if value.is_integer() else value
    return numbers


def show(
    release: Release,
    summary: str | Document,
    out: Path,
    as_json: bool,
    outcome: TableOutcome | None = None,
    scope_reason: str = "",
    named: Mapping[str, str] = MappingProxyType({}),
) -> None:
    """The result for a person, or for a program; the outcome is for the holder, and not part of the release."""
    from cloister.sinks import certificate_path

    if as_json:
        theirs = {} if outcome is None else {"for_the_holder": outcome.as_dict()}
        place = {"out": str(out), "certificate": str(certificate_path(out)), **named}
        output.print_json({**place, **release.as_dict(), **theirs})
        return
    if is_quiet():  # notes are dropped; this one is a warning
        warn_of_untouched(release)
    if scope_reason:
        output.print_line(scope_reason)
    output.print_text(summary)
    if outcome is not None:
        typer.echo()
        print_document(outcome.describe())
        typer.echo()
    output.print_release(release, f"{out}{' (a folder)' if out.is_dir() else ''}, {certificate_path(out)}")


def warn_of_untouched(release: Release) -> None:
    """Name the columns that nothing was done to."""
    from cloister.anonymization.reporting.notes import AS_THEY_ARE

    for note in release.notes:
        if note.startswith(AS_THEY_ARE):
            output.print_warning(note)
