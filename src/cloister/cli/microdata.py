"""``cloister microdata``: rows that may leave in place of a table's own, private or averaged in groups of k."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.planned_files import planned_files
from cloister.cli.report import reporting
from cloister.cli.tabulate import read_bins
from cloister.errors import UsageError
from cloister.report.terminal import print_document

EXAMPLE = (
    "Example: cloister microdata people.csv --schema people.toml --epsilon 1 --out rows.csv; how good they are: cloister risk "
    "rows.csv --against people.csv --schema people.toml. Averages in groups of 5, not private: cloister microdata people.csv "
    "--method microaggregation --k 5 --columns age,income --out averaged.csv"
)

MICROAGGREGATION = "microaggregation"


@dataclass(frozen=True)
class AveragingFlags:
    """What only microaggregation takes."""

    distance: Annotated[
        Literal["mixed", "standardized"] | None,
        typer.Option(help="Microaggregation: numbers by their range and categories by 0 or 1, or z-scored."),
    ] = None
    rule: Annotated[
        Literal["cmd", "mdav"] | None, typer.Option(help="Microaggregation: how groups are found; cmd is the default.")
    ] = None
    hierarchies: Annotated[
        str | None, typer.Option(metavar="DIR", help="Microaggregation: how categories generalise; else by the most common.")
    ] = None
    sensitive: Annotated[list[str] | None, flags.name_list("Microaggregation: columns that ride along as they are.")] = None
    keep: Annotated[list[str] | None, flags.name_list("Microaggregation: other columns to publish as they are.")] = None

    def stated(self) -> dict[str, Any]:
        """Those that were given."""
        return {name: value for name, value in vars(self).items() if value is not None}

    def parameters(self) -> dict[str, Any]:
        """As parameters of `Microaggregation`."""
        lists = {"sensitive", "keep"}
        return {name: flags.read_names(value) if name in lists else value for name, value in self.stated().items()}


@flags.takes_groups
def microdata(
    data: flags.Data,
    *,
    method: Annotated[
        Literal["clusters", "marginals", "insensitive", "microaggregation"],
        typer.Option(help="How the rows are made; all but microaggregation are private."),
    ] = "clusters",
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv, .parquet or .xlsx file.")] = None,
    spending: flags.Spending,
    columns: Annotated[
        list[str] | None, flags.name_list("The columns to make up, or to average. Default: by the schema.")
    ] = None,
    clusters: Annotated[
        int | None, typer.Option(metavar="N", help="Method clusters: how many. Default: as many as the budget carries.")
    ] = None,
    k: Annotated[
        int | None, typer.Option("--k", metavar="K", help="Rows of a group: methods microaggregation and insensitive.")
    ] = None,
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=10", help="Method marginals: bins of a column, as in tabulate. Default: where its rows are."
        ),
    ] = None,
    grouping: AveragingFlags,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    publishing: flags.PublishingRows,
    plot: flags.PlotFile = None,
    dry_run: flags.DryRun = False,
    rows: flags.ExpectedRows = 10_000,
    everywhere: flags.Everywhere,
) -> None:
    """Write rows in place of a table's own: private and made up, or averaged in groups of k."""
    facts = flags.read_schema(schema)
    shared: dict[str, Any] = {"columns": flags.read_names(columns) or None, "schema": facts, **access.parameters()}
    if method == MICROAGGREGATION:
        refuse_flags(spending.flags() | {"--clusters": clusters, "--bins": bins, "--neighbours": neighbours})
        if k is None:
            raise UsageError("how many rows are averaged? Give --k (5 is a common choice).")
        averaging = {"k": k, **grouping.parameters(), **shared}
        if dry_run:
            path = None if out is None else check_out(out)
            with planned_files(path, publishing.report, plot, with_certificate=True, as_json=everywhere.as_json):
                show_averaging(averaging, access.column_names(data, facts, shared["columns"]), everywhere.as_json)
        else:
            publish_averaged(averaging, access.files(data), out, publishing, plot, everywhere.as_json)
        return
    if stated := grouping.stated():
        raise UsageError(f"--{next(iter(stated))} is for --method {MICROAGGREGATION}. Leave it out, or choose that method.")
    from cloister.microdata.private.private_rows import format_of_rows
    from cloister.microdata.private.request import RowsRequest

    request = RowsRequest(
        budget=spending.budget(),
        method=method,
        n_clusters=clusters,
        k=k,
        bins=read_bins(bins) if bins else None,
        neighbours=neighbours,
        **shared,
    )
    if dry_run:
        path = None if out is None else check_out(out)
        check_private_dialect(publishing)
        with planned_files(path, publishing.report, plot, with_certificate=True, as_json=everywhere.as_json):
            plan = request.dry_run(access.files(data), rows, None if path is None else format_of_rows(path))
            output.print_plan(plan, everywhere.as_json, rows)
        return
    publish_private(request, access.files(data), check_out(out), publishing, plot, everywhere.as_json)


def refuse_flags(given: dict[str, object]) -> None:
    """Refuse flags of private methods, which microaggregation has no use for."""
    if wrong := [flag for flag, value in given.items() if value is not None]:
        raise UsageError(
            f"{wrong[0]} is for private rows, and microaggregation is not private. Drop it, or drop --method for private rows."
        )


def check_out(out: Path | None) -> Path:
    """Where the rows go, in a format that rows have."""
    from cloister.microdata.private.private_rows import format_of_rows

    if out is None:
        raise UsageError("where should the rows go? Give --out FILE, ending in .csv, .parquet or .xlsx.")
    format_of_rows(out)
    return out


def check_private_dialect(publishing: flags.PublishingRows) -> None:
    """Refuse to write private rows in another dialect than the standard one."""
    if publishing.dialect not in (None, "standard"):
        raise UsageError("private rows are written with commas, in UTF-8: only averaged ones are written in other dialects.")


def publish_private(
    request: Any, data: Any, path: Path, publishing: flags.PublishingRows, plot: Path | None, as_json: bool
) -> None:
    """Make private rows and write them; what was paid for is kept until it is there."""
    check_private_dialect(publishing)
    from cloister.microdata.private.private_rows import format_of_rows
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import certificate_path, reserved

    with (
        reserved(path, with_certificate=True) as held,
        reporting(publishing, path, request.ledger, quiet=as_json) as write_report,
        drawing(plot, path, quiet=as_json) as draw,
        paid_result(),
    ):
        with output.progress(as_json) as step:
            made = request.run(data, progress=step, written_as=format_of_rows(path))
        place = {"out": str(path), "certificate": str(certificate_path(path))}
        place |= output.named_files(report=publishing.report, picture=plot)
        release = output.write_release(
            made.release_,
            request.ledger,
            held.target,
            write=made.save,
            as_data=lambda: {**place, **made.release_.as_dict(), "made_up": made.as_rows()},
        )
        if as_json:
            output.print_json({**place, **release.as_dict()})
        else:
            print_document(made.describe())
            output.print_release(release, f"{path}, {certificate_path(path)}")
        write_report()
        draw(made)


def show_averaging(parameters: dict[str, Any], names: tuple[str, ...], as_json: bool) -> None:
    """What would be averaged of columns of these names."""
    from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation

    plan = Microaggregation(**parameters).plan(names)
    if as_json:
        output.print_json(plan.as_dict())
    else:
        output.print_text(plan.describe())
        output.print_line("No row was read.")


def publish_averaged(
    parameters: dict[str, Any],
    data: Any,
    out: Path | None,
    publishing: flags.PublishingRows,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Average rows in groups of k and write them, for whoever holds them."""
    from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
    from cloister.sinks import certificate_path, reserved
    from cloister.sources.csv_dialect import STANDARD

    model = Microaggregation(**parameters)
    path = check_out(out)
    model.request()
    with (
        reserved(path, with_certificate=True),
        reporting(publishing, path, parameters["ledger"], quiet=as_json) as write_report,
        drawing(plot, path, quiet=as_json) as draw,
    ):
        with output.progress(as_json) as step:
            release = model.publish(data, path, dialect=publishing.dialect or "input", progress=step)
        if as_json:
            place = {"out": str(path), "certificate": str(certificate_path(path))}
            output.print_json({**place, **output.named_files(report=publishing.report, picture=plot), **release.as_dict()})
        else:
            output.print_text(model.summary_.describe())
            if model.dialect_ != STANDARD:
                output.print_line(model.dialect_.told(publishing.dialect))
            output.print_release(release, f"{path}, {certificate_path(path)}")
        write_report()
        draw(model.summary_)
