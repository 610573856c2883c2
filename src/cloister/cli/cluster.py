"""``cloister cluster``: private clusters of the rows of a table."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags
from cloister.clustering.method import METHODS
from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.clustering.clusters import Clusters
    from cloister.clustering.request import ClusterRequest

EXAMPLE = "Example: cloister cluster people.csv --k 5 --epsilon 1 --columns age,income --schema people.toml --out clusters"


def cluster(
    data: Annotated[
        list[str] | None, typer.Argument(metavar="[DATA...]", help="CSV, Parquet or Arrow files, globs or URLs.")
    ] = None,
    *,
    k: Annotated[str, typer.Option("--k", metavar="K", help="How many clusters, or auto: chosen from what is released.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="A new folder for centers.csv and release.json.")] = None,
    epsilon: flags.Epsilon = None,
    delta: flags.Delta = None,
    rho: flags.Rho = None,
    worlds: flags.Worlds = None,
    columns: Annotated[str | None, typer.Option(metavar="A,B", help="The number columns to cluster.")] = None,
    bounds: Annotated[
        str | None,
        typer.Option(
            metavar="LOW,HIGH",
            help="Public bounds of every column. Default: from the schema; without one, found inside the budget.",
        ),
    ] = None,
    schema: flags.SchemaFile = None,
    method: Annotated[str, typer.Option(help=f"One of: {', '.join(METHODS)}.")] = "auto",
    scale: flags.Scale = "bounds",
    neighbours: flags.NeighbourRelation = None,
    table: flags.Table = None,
    ledger: flags.LedgerUrl = None,
    engine: flags.Engine = None,
    master: flags.Master = None,
    remote: flags.Remote = None,
    spark_conf: flags.SparkConf = None,
    synopsis: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Cluster a released synopsis instead of data: free.")
    ] = None,
    seeding: Annotated[
        str, typer.Option(help="Of a synopsis' cells: kmeans++, kmeans||, canopy or evolution.")
    ] = "kmeans++",
    labels: Annotated[bool, typer.Option("--labels", help="Also write labels.parquet, for the holder only.")] = False,
    dry_run: flags.DryRun = False,
    rows: flags.ExpectedRows = 10_000,
    as_json: flags.Machine = False,
) -> None:
    """Find private clusters and write their centres with a certificate."""
    from cloister.clustering.request import ClusterRequest
    from cloister.schema import Schema
    from cloister.sinks import check_free

    if synopsis is not None:
        spent = {"--epsilon": epsilon, "--delta": delta, "--rho": rho, "--worlds": worlds, "--dry-run": dry_run or None}
        described = {"--columns": columns, "--bounds": bounds, "--schema": schema, "--neighbours": neighbours}
        if idle := [flag for flag, value in {**spent, **described}.items() if value is not None]:
            raise UsageError(f"a synopsis is released already: clustering it spends nothing. Drop {', '.join(idle)}.")
        if data and not labels:
            raise UsageError("--synopsis stands in for DATA. Give one of them; or both with --labels, to label rows.")
        if labels and not data:
            raise UsageError("--labels needs the rows to label. Give DATA too, or drop --labels.")
        target = read_out(out)
        check_free(target)
        clusters = cluster_synopsis(synopsis, k, seeding, flags.read_engine(engine, master, remote, spark_conf))
        finish(dataclasses.replace(clusters, ledger=ledger), target, data, as_json)
        return
    if not data:
        raise UsageError("what should be clustered? Give DATA, or --synopsis FILE.")
    facts = Schema.from_toml(schema) if schema else None
    request = ClusterRequest(
        n_clusters=read_clusters(k),
        budget=flags.read_budget(epsilon, delta, rho, worlds, facts),
        bounds=flags.read_bounds(bounds),
        method=method,
        scale=None if scale == "none" else scale,
        columns=flags.read_names(columns),
        schema=facts,
        neighbours=neighbours,
        table=table,
        ledger=ledger,
        engine=flags.read_engine(engine, master, remote, spark_conf),
        seeding=seeding,
    )
    if dry_run:
        show_plan(request, data, rows, as_json)
        return
    target = read_out(out)
    if labels and request.engine not in (None, "local"):
        raise UsageError(
            "--labels writes a file here. On Spark label rows with predict, which gives a DataFrame to write where you like."
        )
    check_free(target)
    with flags.progress(as_json) as step:
        clusters = request.fit(data, step)
    finish(clusters, target, data if labels else None, as_json)


def read_out(out: Path | None) -> Path:
    """Where the result goes."""
    if out is None:
        raise UsageError("where should the result go? Give --out DIR, a folder that does not exist yet.")
    return out


def cluster_synopsis(file: Path, k: str, seeding: str, engine: Any) -> Clusters:
    """Cluster a released synopsis: no data is read and nothing is charged."""
    from cloister.clustering.synopsis.synopsis import Synopsis

    wanted = read_clusters(k)
    if engine not in (None, "local"):
        if not isinstance(wanted, int) or seeding not in ("kmeans++", "kmeans||"):
            raise UsageError("on Spark a synopsis is seeded by kmeans||, for a number of clusters. Give --k N.")
        return Synopsis.cluster_file(file, wanted, engine)
    released = Synopsis.load(file)
    return released.cluster(wanted if isinstance(wanted, int) else released.suggest_k().clusters, seeding)


def finish(clusters: Clusters, out: Path, labelled: list[str] | None, as_json: bool) -> None:
    """Write the result and show it."""
    certificate = clusters.save(out, label=labelled)
    if as_json:
        flags.print_json({"out": str(out), **json.loads(certificate.to_json())})
        return
    show_result(clusters, out)
    if labelled is not None:
        typer.echo(f"For the holder only, keep it here: {out}/labels.parquet")


def read_clusters(text: str) -> int | str:
    """A whole number, or auto."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageError("--k takes a whole number of clusters, or auto.") from None


def plain(value: float) -> str:
    """A coordinate for a person: four digits or all before the point, and no exponent where it can be helped."""
    if 1e-4 <= abs(value) < 1e15:
        decimals = max(0, 3 - math.floor(math.log10(abs(value))))
        return f"{value:,.{min(decimals, 8)}f}"
    return f"{value:.4g}"


def show_plan(request: ClusterRequest, data: list[str], rows: int, as_json: bool) -> None:
    """Print what a fit would spend."""
    from cloister.vault import open_data

    # Spark is not started to read the names of columns that are named already
    known = request.columns if request.engine not in (None, "local") else None
    plan = request.plan(rows, known or open_data(data, request.engine).names)
    flags.print_plan(plan, rows, as_json)
    if not as_json and (refusal := foreseen(request)):
        typer.echo(f"It would be refused: {refusal}")


def foreseen(request: ClusterRequest) -> str | None:
    """Why the ledger would refuse the charge of a fit, as far as that is known before."""
    if request.table_name is None:
        return None
    from cloister.errors import CloisterError
    from cloister.privacy.ledger import Ledger

    try:
        ledger = Ledger(request.ledger) if isinstance(request.ledger, str) else request.ledger or Ledger.default()
        account = ledger.account(request.table_name)
    except CloisterError as error:
        return str(error)
    budget = request.terms.budget
    if budget.epsilon > account.epsilon_left or budget.delta > account.delta_left:
        return f'it needs more than is left for table "{request.table_name}". See: cloister ledger show'
    return None


def show_result(clusters: Clusters, out: Path) -> None:
    """The centres and the guarantee, for a person."""
    from rich.console import Console
    from rich.table import Table as RichTable

    release = clusters.release_
    names = release.parameters["columns"]
    grid = RichTable(title=f"{len(clusters.cluster_centers_)} private clusters (sizes are noisy)")
    for name in ["cluster", "size", *names[:8]]:
        grid.add_column(str(name), justify="right", overflow="fold")
    for i, (size, center) in enumerate(zip(clusters.cluster_sizes_, clusters.cluster_centers_, strict=True)):
        grid.add_row(str(i), f"{size:,.0f}", *(plain(value) for value in center[:8]))
    console = Console()
    console.print(grid)
    if len(names) > 8:
        console.print(f"... and {len(names) - 8} columns more in centers.csv")
    for name, choice in release.parameters["choices"].items():
        console.print(f"{name.capitalize()}: {choice}", highlight=False)
    console.print(f"Guarantee: {release.guarantee}", highlight=False)
    console.print(f"Status: {release.status}", highlight=False)
    for note in release.notes:
        console.print(f"Note: {note}", highlight=False)
    console.print(f"Written: {out}/centers.csv, {out}/release.json", highlight=False, soft_wrap=True)
