"""``cloister tabulate``: private tables of counts with margins that agree."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.errors import UsageError
from cloister.report.document import Document, Section, Sentence, TextTable
from cloister.report.terminal import print_document

EXAMPLE = (
    "Example: cloister tabulate people.csv --by school,age --bins age=0:18:99 --epsilon 1 --schema people.toml --out t.csv"
)

SHOWN = 20  # rows on a terminal
RESIDUE = 1e-12
ENDINGS = (".csv", ".parquet", ".json")


@dataclass(frozen=True)
class TableChoice:
    """What a private table counts and sums; its audit takes the same."""

    by: Annotated[str, typer.Option("--by", metavar="A,B", help="The columns that make the cells.")]
    measures: Annotated[str | None, typer.Option(metavar="X,Y", help="Numbers to sum in each cell.")] = None
    bins: Annotated[
        list[str] | None, typer.Option(metavar="A=10", help="Bins: A=10 of equal width, edges A=0:18:65:100, or days.")
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
            "bins": read_bins(self.bins or []),
            "margins": self.margins,
            "count_missing": self.count_missing,
        }


@flags.takes_groups
def tabulate(
    data: flags.Data,
    *,
    choice: TableChoice,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv, .parquet or .json file.")] = None,
    spending: flags.Spending,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    dry_run: flags.DryRun = False,
    everywhere: flags.Everywhere,
) -> None:
    """Count rows by public categories or bins, privately, with totals and margins that agree with the cells."""
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import certificate_path, reserved
    from cloister.tabulation.tabulate import plan_table
    from cloister.tabulation.tabulate import tabulate as release_table  # the verb has that name too

    facts = flags.read_schema(schema)
    where = access.parameters()
    terms: dict[str, Any] = {
        **choice.parameters(),
        "budget": spending.budget(),
        "schema": facts,
        "neighbours": neighbours,
    }
    if dry_run:
        output.print_plan(plan_table(access.column_names(data, facts), **terms), everywhere.as_json)
        return
    path = check_out(out)
    with reserved(path, with_certificate=is_csv(path)) as held, paid_result():
        with output.progress(everywhere.as_json) as step:
            table = release_table(access.files(data), **terms, **where, progress=step)
        assert table.release is not None
        rows = list(table.rows())
        as_data = {"out": str(path), "rows": rows, **table.release.as_dict()}
        output.write_release(table.release, access.ledger, held.target, write=table.save, as_data=lambda: as_data)
        if everywhere.as_json:
            output.print_json(as_data)
            return
        print_document(describe(rows))
        output.print_release(table.release, f"{path}, {certificate_path(path)}" if is_csv(path) else f"{path}")


def check_out(out: Path | None) -> Path:
    """Where the table goes, in a format that tables have."""
    if out is None:
        raise UsageError("where should the table go? Give --out FILE, ending in .csv, .parquet or .json.")
    if out.suffix.lower() not in ENDINGS:
        raise UsageError("a table is written as .csv, .parquet or .json. Give --out a name that ends so.")
    return out


def is_csv(path: Path) -> bool:
    """Whether the table has its certificate beside it; the other formats hold it inside."""
    return path.suffix.lower() == ".csv"


def read_bins(texts: list[str]) -> dict[str, Any]:
    """Bins from A=10, A=0:18:65:100 or A=1950-01-01,1970-01-01; edges are parted by colons or, without any, by commas."""
    bins: dict[str, Any] = {}
    for text in texts:
        name, _, ends = text.partition("=")
        if ":" in ends and "," in ends:
            raise UsageError("--bins: numbers are written with a point, such as 0.5, and edges are parted by colons.")
        parts = [end.strip() for end in ends.split(":" if ":" in ends else ",")]
        try:
            edges: list[Any] = [float(part) for part in parts]
            bins[name.strip()] = edges if len(edges) > 1 else int(ends)
        except ValueError:
            if not all(re.search(r"[0-9].*[0-9]", part) for part in parts):
                raise UsageError(
                    "--bins takes one column, and is given again for another: A=10 (bins of equal width), edges such as "
                    "A=0:18:65:100, or days such as A=1950-01-01,1970-01-01."
                ) from None
            bins[name.strip()] = parts  # days, as far as can be said without the schema
    return bins


def describe(rows: list[dict[str, Any]]) -> Document:
    """The first rows and the total."""
    shown = rows[:SHOWN] if len(rows) <= SHOWN + 1 else [*rows[:SHOWN], rows[-1]]
    residue = {  # what rounding leaves of 0 where other cells have so much
        name: RESIDUE * max(abs(row[name]) for row in rows) for name, cell in rows[0].items() if isinstance(cell, float)
    }
    table = TextTable.of(
        [str(name) for name in rows[0]],
        [[cell_text(cell, residue.get(name, 0.0)) for name, cell in row.items()] for row in shown],
        title="private table (every number is noisy; * adds a column up)",
        align="left",
    )
    left_out = len(rows) - len(shown)
    more = [Sentence(f"... and {left_out} rows more in the file; the last row is the total")] if left_out else []
    return Document((Section((table, *more)),))


def cell_text(cell: Any, residue: float) -> str:
    """A cell as it is shown: numbers no longer than they are worth."""
    if not isinstance(cell, float):
        return str(cell)
    if abs(cell) >= 1e6:
        return f"{cell:.0f}"
    return "0" if abs(cell) <= residue else f"{cell:.6g}"
