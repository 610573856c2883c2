"""``cloister tabulate``: private tables of counts with margins that agree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from cloister.cli import flags
from cloister.errors import UsageError

EXAMPLE = (
    "Example: cloister tabulate people.csv --by school,age --bins age=0:18:99 --epsilon 1 --schema people.toml --out t.csv"
)

SHOWN = 20  # rows on a terminal


def tabulate(
    data: Annotated[list[str], typer.Argument(metavar="DATA...", help="CSV, Parquet or Arrow files, globs or URLs.")],
    by: Annotated[str, typer.Option("--by", metavar="A,B", help="The columns that make the cells.")],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .csv, .parquet or .json file.")] = None,
    epsilon: flags.Epsilon = None,
    delta: flags.Delta = None,
    rho: flags.Rho = None,
    worlds: flags.Worlds = None,
    measures: Annotated[str | None, typer.Option(metavar="X,Y", help="Numbers to sum in each cell.")] = None,
    bins: Annotated[
        list[str] | None, typer.Option(metavar="A=10", help="Bins of a number: A=10 of equal width, or edges A=0:18:65:100.")
    ] = None,
    margins: Annotated[
        bool | None, typer.Option("--margins/--no-margins", help="Buy one-way margins. Default: where they get better.")
    ] = None,
    schema: flags.SchemaFile = None,
    neighbours: Annotated[
        Literal["add-remove", "replace-one"] | None, typer.Option(help="Which tables must not be told apart.")
    ] = None,
    table: flags.Table = None,
    ledger: flags.LedgerUrl = None,
    engine: flags.Engine = None,
    master: flags.Master = None,
    remote: flags.Remote = None,
    spark_conf: flags.SparkConf = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; read no row and charge nothing.")] = False,
    as_json: flags.Machine = False,
) -> None:
    """Count rows by public categories or bins, privately, with totals and margins that agree with the cells."""
    from cloister.schema import Schema
    from cloister.sinks import check_free
    from cloister.tabulation.tabulate import plan_table
    from cloister.tabulation.tabulate import tabulate as make
    from cloister.vault import open_data

    facts = Schema.from_toml(schema) if schema else None
    chosen = flags.read_engine(engine, master, remote, spark_conf)
    terms: dict[str, Any] = {
        "by": names(by),
        "budget": flags.read_budget(epsilon, delta, rho, worlds, facts),
        "measures": names(measures),
        "bins": read_bins(bins or []),
        "margins": margins,
        "schema": facts,
        "neighbours": neighbours,
    }
    if dry_run:
        plan = plan_table(open_data(data, chosen).names, **terms)
        if as_json:
            flags.print_json(plan.as_dict())
        else:
            typer.echo(f"{plan}\nNo row was read and nothing was charged.")
        return
    if out is None:
        raise UsageError("where should the table go? Give --out FILE, ending in .csv, .parquet or .json.")
    if out.suffix.lower() not in (".csv", ".parquet", ".json"):
        raise UsageError("a table is written as .csv, .parquet or .json. Give --out a name that ends so.")
    check_free(out)
    if out.suffix.lower() == ".csv":
        check_free(out.with_name(out.name + ".release.json"))
    with flags.progress(as_json) as step:
        made = make(data, **terms, table=table, ledger=ledger, engine=chosen, progress=step)
    made.save(out)
    assert made.release is not None
    if as_json:
        flags.print_json({"out": str(out), "rows": list(made.rows()), **made.release.as_dict()})
        return
    show(list(made.rows()))
    typer.echo(f"Guarantee: {made.release.guarantee}")
    typer.echo(f"Status: {made.release.status}")
    for note in made.release.notes:
        typer.echo(f"Note: {note}")
    beside = f", {out}.release.json" if out.suffix.lower() == ".csv" else ""
    typer.echo(f"Written: {out}{beside}")


def names(text: str | None) -> list[str]:
    """Names from A,B."""
    return [name.strip() for name in text.split(",") if name.strip()] if text else []


def read_bins(given: list[str]) -> dict[str, Any]:
    """Bins from A=10 or A=0:18:65:100."""
    found: dict[str, Any] = {}
    for text in given:
        name, _, ends = text.partition("=")
        try:
            parts = [float(end) for end in ends.split(":")]
            found[name.strip()] = parts if len(parts) > 1 else int(ends)
        except ValueError:
            raise UsageError("--bins takes A=10 (bins of equal width) or edges such as A=0:18:65:100.") from None
    return found


def show(rows: list[dict[str, Any]]) -> None:
    """The first rows and the total, for a person."""
    from rich.console import Console
    from rich.table import Table as RichTable

    grid = RichTable(title="private table (every number is noisy; * adds a column up)")
    for name in rows[0]:
        grid.add_column(str(name), overflow="fold")
    shown = rows[:SHOWN] if len(rows) <= SHOWN + 1 else [*rows[:SHOWN], rows[-1]]
    for row in shown:
        grid.add_row(*(f"{value:.6g}" if isinstance(value, float) else str(value) for value in row.values()))
    console = Console()
    console.print(grid)
    if len(shown) < len(rows):
        console.print(f"... and {len(rows) - len(shown)} rows more in the file; the last row is the total")
