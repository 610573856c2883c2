"""``cloister tabulate``: private tables of counts with margins that agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.planned_files import planned_files
from cloister.cli.report import reporting
from cloister.errors import UsageError
from cloister.report.terminal import print_document

EXAMPLE = (
    "Example: cloister tabulate people.csv --by school,age --bins age=0:18:99 --epsilon 1 --schema people.toml --out t.csv"
)

ENDINGS = (".csv", ".parquet", ".json", ".xlsx")
BESIDE = (".csv", ".xlsx")  # whose certificate stands beside the file; the other formats hold it inside


@dataclass(frozen=True)
class TableChoice:
    """What a private table counts and sums; its audit takes the same."""

    by: Annotated[list[str], flags.name_list("The columns that make the cells.")]
    measures: Annotated[list[str] | None, flags.name_list("Numbers to sum in each cell.")] = None
    means: Annotated[list[str] | None, flags.name_list("Numbers whose mean is wanted in each cell.")] = None
    quantiles: Annotated[
        list[str] | None,
        typer.Option(metavar="X=0.25,0.5", help="Quantiles of a number in each cell; given again for another."),
    ] = None
    medians: Annotated[list[str] | None, flags.name_list("Numbers whose median is wanted in each cell.")] = None
    bins: Annotated[
        list[str] | None,
        typer.Option(
            metavar="A=10",
            help="Bins: A=10 of equal width, edges A=0:18:65:100, days, or a period of dates such as A=month.",
        ),
    ] = None
    margins: Annotated[
        bool | None, typer.Option("--margins/--no-margins", help="Spend on one-way margins too. Default: where it helps.")
    ] = None
    count_missing: Annotated[
        bool, typer.Option("--count-missing", help="Spend on how many values of each column are made up, too.")
    ] = False

    def parameters(self) -> dict[str, Any]:
        """As the parameters of that name that a request has."""
        return {
            "by": flags.read_names(self.by),
            "measures": flags.read_names(self.measures),
            "means": flags.read_names(self.means),
            "quantiles": read_quantiles(self.quantiles or [], flags.read_names(self.medians)),
            "bins": read_bins(self.bins or []),
            "margins": self.margins,
            "count_missing": self.count_missing,
        }


@flags.takes_groups
def tabulate(
    data: flags.Data,
    *,
    choice: TableChoice,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv, .parquet, .json or .xlsx file.")] = None,
    spending: flags.Spending,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    dry_run: flags.DryRun = False,
    everywhere: flags.Everywhere,
) -> None:
    """Count rows by public categories or bins, privately, with totals and margins that agree with the cells."""
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import certificate_path, reserved
    from cloister.tabulation.request import TabulationRequest
    from cloister.tabulation.table_display import describe_rows

    facts = flags.read_schema(schema)
    where = access.parameters()
    request = TabulationRequest(**choice.parameters(), budget=spending.budget(), schema=facts, neighbours=neighbours)
    if dry_run:
        target = None if out is None else check_out(out)
        beside = target is not None and has_own_certificate(target)
        ending = None if target is None else target.suffix.lower()
        with planned_files(target, publishing.report, plot, with_certificate=beside, as_json=everywhere.as_json):
            output.print_plan(request.dry_run(access.files(data), where["engine"], ending), everywhere.as_json)
        return
    path = check_out(out)
    with (
        reserved(path, with_certificate=has_own_certificate(path)) as held,
        reporting(publishing, path, access.ledger, quiet=everywhere.as_json) as write_report,
        drawing(plot, path, quiet=everywhere.as_json) as draw,
        paid_result(),
    ):
        with output.progress(everywhere.as_json) as step:
            table = request.run(access.files(data), **where, progress=step, written_as=path.suffix.lower())
        assert table.release is not None
        rows = list(table.rows())
        named = output.named_files(report=publishing.report, picture=plot)
        as_data = {"out": str(path), **named, "rows": rows, **table.release.as_dict()}
        output.write_release(table.release, access.ledger, held.target, write=table.save, as_data=lambda: as_data)
        if everywhere.as_json:
            output.print_json(as_data)
        else:
            print_document(describe_rows(table.by, rows))
            written = f"{path}, {certificate_path(path)}" if has_own_certificate(path) else f"{path}"
            output.print_release(table.release, written)
        write_report()
        draw(table)


def check_out(out: Path | None) -> Path:
    """Where the table goes, in a format that tables have."""
    if out is None:
        raise UsageError("where should the table go? Give --out FILE, ending in .csv, .parquet, .json or .xlsx.")
    if out.suffix.lower() not in ENDINGS:
        raise UsageError("a table is written as .csv, .parquet, .json or .xlsx. Give --out a name that ends so.")
    return out


def has_own_certificate(path: Path) -> bool:
    """Whether the table has its certificate beside it, in a file of its own."""
    return path.suffix.lower() in BESIDE


def read_quantiles(texts: list[str], medians: list[str]) -> dict[str, list[float]]:
    """Quantiles from A=0.25,0.5,0.75, and medians of columns that are named alone."""
    quantiles: dict[str, list[float]] = {}
    for text in texts:
        name, _, numbers = text.rpartition("=")
        try:
            quantiles.setdefault(name.strip(), []).extend(float(number) for number in numbers.split(","))
        except ValueError:
            name = ""
        if not name.strip():
            raise UsageError("--quantiles takes one column, and is given again for another: income=0.25,0.5,0.75.")
    for name in medians:
        if 0.5 not in quantiles.setdefault(name, []):
            quantiles[name].append(0.5)
    return quantiles


def read_bins(texts: list[str]) -> dict[str, Any]:
    """Bins from A=10, A=0:18:65:100, A=month or A=1950-01-01,1970-01-01; edges are parted by colons or else by commas."""
    from cloister.tabulation.day_bins import PERIODS

    bins: dict[str, Any] = {}
    for text in texts:
        name, _, ends = text.partition("=")
        if ":" in ends and "," in ends:
            raise UsageError("--bins: numbers are written with a point, such as 0.5, and edges are parted by colons.")
        if ends.strip().lower() in PERIODS:
            bins[name.strip()] = ends.strip().lower()
            continue
        parts = [end.strip() for end in ends.split(":" if ":" in ends else ",")]
        try:
            edges: list[Any] = [float(part) for part in parts]
            bins[name.strip()] = edges if len(edges) > 1 else int(ends)
        except ValueError:
            if not all(re.search(r"[0-9].*[0-9]", part) for part in parts):
                raise UsageError(
                    "--bins takes one column, and is given again for another: A=10 (bins of equal width), edges such as "
                    f"A=0:18:65:100, days such as A=1950-01-01,1970-01-01, or a period of dates ({', '.join(PERIODS)})."
                ) from None
            bins[name.strip()] = parts  # days, as far as can be said without the schema
    return bins
