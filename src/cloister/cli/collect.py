"""``cloister collect``: answers that are perturbed by whoever gives them, and what can be learned from many of them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.cli import collect_report, collect_service, flags, output
from cloister.cli.drawing import drawing
from cloister.cli.report import reporting
from cloister.errors import DataError, SourceError, UsageError
from cloister.report.document import Document, Section, TextTable
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.collect.collection import Collection
    from cloister.collect.estimates import CollectionEstimate

__all__ = ["app"]

app = typer.Typer(
    help="Collect answers without trusting the collector: plan, report, serve, estimate.", no_args_is_help=True
)

Reports = Annotated[
    list[str],
    typer.Argument(metavar="REPORTS", help="Files of reports: .jsonl or .json, a folder of them, or packed .parquet."),
]
Method = Annotated[
    Literal["em", "norm-sub", "unbiased", "clip"],
    typer.Option(help="em: the most likely distribution; unbiased: right on average; clip: as paper 002 prints it."),
]
Protocol = Annotated[
    Literal["randomized-response", "unary", "auto"],
    typer.Option(help="How answers are perturbed; auto: whatever has the smaller error for a question alone."),
]
Unmarked = Annotated[
    bool, typer.Option("--unmarked", help="Take tables that do not say they are reports: you vouch that clients made them.")
]
Seed = Annotated[int | None, typer.Option("--seed", metavar="N", min=0, help="Repeatable public choices; never the noise.")]


@app.command(epilog='Example: cloister collect new survey.toml --id students --question "smokes=no,yes" --epsilon 1')
@flags.takes_groups
def new(
    out: Annotated[Path, typer.Argument(metavar="FILE", help="The new file, .toml or .json.")],
    *,
    id: Annotated[str, typer.Option("--id", metavar="ID", help="Small letters, digits, dots, hyphens, underlines.")],
    question: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=A,B", help="A question and all values it may be answered with; may be given again."),
    ] = None,
    schema: flags.SchemaFile = None,
    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="What an answer to each question costs; smaller is safer.")],
    protocol: Protocol = "randomized-response",
    title: Annotated[str, typer.Option(metavar="TEXT", help="What it is about.")] = "",
    collector: Annotated[str, typer.Option(metavar="TEXT", help="Who collects.")] = "",
    opens: Annotated[
        str | None, typer.Option(metavar="DAY", help="From when reports are made: 2026-12-01 (UTC), or a moment.")
    ] = None,
    closes: Annotated[
        str | None,
        typer.Option(
            metavar="DAY", help="When it ends: as this day begins (UTC), or a moment such as 2026-12-24T18:00+01:00."
        ),
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Write the public file of a collection: questions, their values, and what an answer costs."""
    from cloister.collect.collection import Collection

    questions: Any = dict(read_question(text) for text in question or [])
    if len(questions) < len(question or []):
        raise UsageError("two --question have the same name. Rename one of them.")
    if schema is not None:
        if questions:
            raise UsageError("--question and --schema both name questions. Keep one of them.")
        questions = flags.read_schema(schema)
    if not questions:
        raise UsageError("what is asked? Give --question NAME=A,B for each question, or --schema FILE.")
    collection = Collection(id, questions, epsilon, collector, title, opens, closes, protocol)
    if collection.closes is not None and collection.closes <= datetime.now(UTC):
        output.print_notice(f"Note: it is over already, since {collection.closes.isoformat()}. Change --closes.")
    collection.save(out)
    show_collection(collection, everywhere.as_json, f"Written: {out}")


@app.command(epilog="Example: cloister collect show survey.toml")
@flags.takes_groups
def show(collection: flags.CollectionFile, *, everywhere: flags.Everywhere) -> None:
    """Show what is asked and what an answer costs, for whoever thinks of answering."""
    show_collection(load(collection), everywhere.as_json)


@app.command(epilog="Example: cloister collect plan survey.toml --people 10000 --error 0.01")
@flags.takes_groups
def plan(
    collection: flags.CollectionFile,
    *,
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many reports are expected. Default: what --error needs.")
    ] = None,
    error: Annotated[
        str | None,
        typer.Option(metavar="SHARE", help="A wanted error, e.g. 0.01: how many people or which epsilon reach it?"),
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Say what errors to expect, before anybody answers. No row is read."""
    from cloister.collect.planning import plan as plan_collection

    planned = plan_collection(load(collection), people, error=error)
    if everywhere.as_json:
        output.print_json(planned.as_dict())
    else:
        print_document(planned.describe())


app.command(epilog="Example: cloister collect report survey.toml --answers mine.json --out report.json")(
    collect_report.report
)
app.command(epilog="Example: cloister collect send survey.toml report.json --to https://survey.example")(collect_report.send)
app.command(epilog="Example: cloister collect serve survey.toml --store sqlite:///reports.db")(collect_service.serve)
app.command(epilog="Example: cloister collect invite students-2026 --count 100 --out codes.txt")(collect_service.invite)


@app.command(epilog="Example: cloister collect simulate survey.toml people.csv --people 10000")
@flags.takes_groups
def simulate(
    collection: flags.CollectionFile,
    data: flags.Data,
    *,
    people: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many people answer. Default: the rows.")
    ] = None,
    method: Method = "em",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write the reports too: .jsonl or .parquet.")] = None,
    seed: Seed = None,
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> None:
    """Let every row of a table answer, and compare what comes of it with the truth: for the holder of the table."""
    from cloister.collect.packed_reports import write_reports
    from cloister.collect.simulate import simulate as play
    from cloister.sinks import check_free

    asked = load(collection)
    if out is not None:
        if out.suffix.lower() not in (".parquet", ".jsonl"):
            raise UsageError("reports are written as .parquet or .jsonl. Give --out a name that ends so.")
        check_free(out)
    with output.progress(everywhere.as_json) as step:
        played = play(asked, data, people=people, method=method, **access.parameters(), random_state=seed, progress=step)
        facts, page = played.as_dict(), played.describe()
    if out is not None:
        write_reports(asked, played.reports, out)
    if everywhere.as_json:
        output.print_json({**facts, **({"out": str(out)} if out else {})})
        return
    print_document(page)
    if out is not None:
        output.print_line(f"Written: {out}")


@app.command(epilog="Example: cloister collect pack survey.toml inbox/ --out reports.parquet")
@flags.takes_groups
def pack(
    collection: flags.CollectionFile,
    reports: Reports,
    *,
    out: Annotated[Path, typer.Option(metavar="FILE", help="A new .parquet file.")],
    everywhere: flags.Everywhere,
) -> None:
    """Check reports in JSON and write those that count into one file, without their ids: for counting at scale, on Spark too."""
    from cloister.collect.packed_reports import pack as pack_reports

    packed = pack_reports(load(collection), existing(reports), out)
    if everywhere.as_json:
        output.print_json({"out": str(out), "reports": packed.reports, "refused": packed.refused})
        return
    output.print_line(f"Packed: {packed.reports:,} reports")
    for why, count in packed.refused.items():
        output.print_line(f"Refused: {count:,}: {why}")
    output.print_line(f"Written: {out}")


@app.command(epilog="Example: cloister collect estimate survey.toml reports.jsonl --out estimate.csv")
@flags.takes_groups
def estimate(
    collection: flags.CollectionFile,
    reports: Reports,
    *,
    marginal: Annotated[
        list[str] | None, typer.Option(metavar="A,B", help="A table of these questions alone; may be given again.")
    ] = None,
    method: Method = "em",
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many cells of a table of several questions to show.")
    ] = 10,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv or .parquet file of the tables.")] = None,
    rows_out: Annotated[
        Path | None, typer.Option("--rows-out", metavar="FILE", help="A new .csv or .parquet file of made-up rows.")
    ] = None,
    rows: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many of those. Default: as many as reports.")
    ] = None,
    unmarked: Unmarked = False,
    seed: Seed = None,
    reading: flags.Reading,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    everywhere: flags.Everywhere,
) -> None:
    """Estimate from reports how many people hold each answer, and each combination of answers. Nothing is charged."""
    from cloister.sinks import certificate_path, check_free_with_certificate

    asked = load(collection)
    for path in filter(None, (out, rows_out)):
        if path.suffix.lower() not in (".csv", ".parquet"):
            raise UsageError("tables and rows are written as .csv or .parquet. Give the file a name that ends so.")
        check_free_with_certificate(path)
    if out is not None and rows_out is not None and out.absolute() == rows_out.absolute():
        raise UsageError("--out and --rows-out name the same file. Give two names.")
    if rows is not None and rows_out is None:
        raise UsageError("--rows goes with --rows-out FILE.")
    wanted = [flags.read_names([text]) for text in marginal or []]
    with (
        reporting(publishing, out, None, quiet=everywhere.as_json) as write_report,
        drawing(plot, out, quiet=everywhere.as_json) as draw,
    ):
        with output.progress(everywhere.as_json) as step:
            found = estimate_from(asked, reports, method, unmarked, reading, step)
            tables = [found.marginal(names, step) for names in wanted] if wanted else found.tables(step)
        written = []
        if out is not None:
            found.save(out, tables)
            written += [out, certificate_path(out)]
        if rows_out is not None:
            found.save_rows(rows_out, rows, seed)
            written += [rows_out, certificate_path(rows_out)]
        named = output.named_files(report=publishing.report, picture=plot)
        show_estimate(found, tables, bool(wanted), written, top, named if everywhere.as_json else None)
        write_report()
        draw(found)


def show_estimate(
    found: CollectionEstimate,
    tables: list[Any],
    is_chosen: bool,
    written: list[Path],
    top: int,
    named: dict[str, str] | None,
) -> None:
    """The estimate for a person, or for a program with the files beside it; `is_chosen`: no other tables were asked for."""
    release = found.release_
    if named is not None:
        shown = [{"questions": list(table.names), "cells": table.counts.size, "top": table.top(top)} for table in tables]
        files = [str(path) for path in written]
        output.print_json({"tables": shown, "written": files, **named, **release.as_dict()})
        return
    questions = len(found.collection.questions)
    print_document(describe_tables(found, tables, top) if is_chosen else found.describe())
    if not is_chosen and len(tables) > questions:
        print_document(describe_tables(None, tables[: len(tables) - questions], top))
    print_document(release.describe())
    if written:
        output.print_line(f"Written: {', '.join(map(str, written))}")


@app.command(epilog="Example: cloister collect cluster survey.toml reports.jsonl --k 4 --out modes.csv")
@flags.takes_groups
def cluster(
    collection: flags.CollectionFile,
    reports: Reports,
    *,
    k: Annotated[int, typer.Option("--k", metavar="K", min=1, help="How many clusters.")],
    init: Annotated[
        Literal["best", "frequent"], typer.Option(help="best: the best of many starts; frequent: as paper 002 prints it.")
    ] = "best",
    max_iter: Annotated[int, typer.Option(metavar="T", min=1, help="Rounds at most.")] = 100,
    method: Method = "em",
    unmarked: Unmarked = False,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv or .parquet file of the centres.")] = None,
    seed: Seed = None,
    reading: flags.Reading,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    everywhere: flags.Everywhere,
) -> None:
    """k-modes of the distribution that is estimated from reports. Nothing is charged."""
    from cloister.collect.local_kmodes import LocalKModes
    from cloister.sinks import certificate_path, check_free_with_certificate

    asked = load(collection)
    if out is not None:
        if out.suffix.lower() not in (".csv", ".parquet"):
            raise UsageError("centres are written as .csv or .parquet. Give --out a name that ends so.")
        check_free_with_certificate(out)
    with (
        reporting(publishing, out, None, quiet=everywhere.as_json) as write_report,
        drawing(plot, out, quiet=everywhere.as_json) as draw,
    ):
        with output.progress(everywhere.as_json) as step:
            found = estimate_from(asked, reports, method, unmarked, reading, step)
            found.joint(step)
            step("clustering")
            model = LocalKModes(k, init=init, max_iter=max_iter, random_state=seed).fit(found)
        if out is not None:
            model.save(out)
        if everywhere.as_json:
            named = output.named_files(out=out, report=publishing.report, picture=plot)
            output.print_json({**named, **model.release_.as_dict()})
        else:
            print_document(model.describe())
            print_document(model.release_.describe())
            if out is not None:
                output.print_line(f"Written: {out}, {certificate_path(out)}")
        write_report()
        draw(model)


def load(path: Path) -> Collection:
    """The collection in a file."""
    from cloister.collect.collection import Collection

    return Collection.load(path)


def show_collection(collection: Collection, as_json: bool, written: str = "") -> None:
    """What is asked, for a person or a program."""
    if as_json:
        facts = {
            "guarantee": str(collection.guarantee),
            "epsilon": str(collection.guarantee.epsilon),
            "terms": collection.terms,
        }
        output.print_json({**collection.facts(), **facts})
        return
    print_document(collection.describe())
    if written:
        output.print_line(written)


def read_question(text: str) -> tuple[str, list[str]]:
    """A question from NAME=A,B."""
    import csv

    name, equals, values = text.partition("=")
    if not equals:
        raise UsageError(
            '--question takes a name and its values, NAME=A,B. Put a value with a comma in quotes: NAME="1,000",B.'
        )
    return name.strip(), [value.strip() for value in next(csv.reader([values], skipinitialspace=True), [])]


def existing(reports: list[str]) -> list[str]:
    """Paths of reports, all of which are there; globs and URLs are left to whoever opens them."""
    for path in reports:
        try:
            is_there = any(sign in path for sign in "*?[") or "://" in path or Path(path).exists()
        except (OSError, ValueError):
            is_there = False
        if not is_there:
            raise SourceError(f"{path}: there are no such reports.")
    return reports


def estimate_from(
    collection: Collection, reports: list[str], method: str, unmarked: bool, reading: flags.Reading, step: Any
) -> CollectionEstimate:
    """The estimate that the flags ask for; one of no reports at all is an error."""
    from cloister.collect.estimates import estimate as estimate_reports

    engine = reading.chosen_engine()
    found = estimate_reports(collection, existing(reports), method=method, unmarked=unmarked, engine=engine, progress=step)
    if not found.reports:
        why = " ".join(f"{count:,} refused: {reason}" for reason, count in found.refused.items())
        raise DataError(f"no report was counted. {why or 'There were none.'}")
    return found


def describe_tables(found: CollectionEstimate | None, tables: list[Any], top: int) -> Document:
    """The most frequent cells of tables, below how many reports there were."""
    blocks: list[Any] = [] if found is None else [*found.count_facts()]
    for table in tables:
        rows = [
            [*(row[name] or '""' for name in table.names), f"{row['count']:,.0f}", f"{row['share']:.1%}",
             f"{row['standard_error'] / max(1, table.reports):.1%}"]
            for row in table.top(top)
        ]  # fmt: skip
        title = f"the {len(rows)} most frequent of {table.counts.size:,} cells" if table.counts.size > len(rows) else ""
        blocks.append(TextTable.of([*table.names, "people", "share", "std. error"], rows, title=title))
    return Document((Section(tuple(blocks)),))
