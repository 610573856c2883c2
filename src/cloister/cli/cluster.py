"""``cloister cluster``: private clusters of the rows of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.cli import flags
from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.clustering.kmeans import KMeans
    from cloister.clustering.synopsis.value import SynopsisClusters

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
    method: Annotated[str, typer.Option(help="auto, votes, lloyd, uniform-grid, adaptive-grid, tree or hybrid.")] = "auto",
    scale: Annotated[
        Literal["bounds", "none"], typer.Option(help="bounds: each column's width counts the same; none: own units.")
    ] = "bounds",
    neighbours: Annotated[
        Literal["add-remove", "replace-one"] | None, typer.Option(help="Which tables must not be told apart.")
    ] = None,
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
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the plan; read no row and charge nothing.")] = False,
    rows: Annotated[int, typer.Option(metavar="N", min=1, help="With --dry-run: about how many rows to expect.")] = 10_000,
    as_json: flags.Machine = False,
) -> None:
    """Find private clusters and write their centres with a certificate."""
    from cloister.clustering.kmeans import KMeans
    from cloister.schema import Schema

    if synopsis is not None:
        spent = {"--epsilon": epsilon, "--delta": delta, "--rho": rho, "--worlds": worlds, "--dry-run": dry_run or None}
        facts_given = {"--columns": columns, "--bounds": bounds, "--schema": schema, "--neighbours": neighbours}
        if idle := [flag for flag, value in {**spent, **facts_given}.items() if value is not None]:
            raise UsageError(f"a synopsis is released already: clustering it spends nothing. Drop {', '.join(idle)}.")
        chosen = flags.read_engine(engine, master, remote, spark_conf)
        from_synopsis(synopsis, data, k, seeding, out, as_json, labels, ledger, chosen)
        return
    if not data:
        raise UsageError("what should be clustered? Give DATA, or --synopsis FILE.")
    facts = Schema.from_toml(schema) if schema else None
    model = KMeans(
        n_clusters=read_clusters(k),
        budget=flags.read_budget(epsilon, delta, rho, worlds, facts),
        bounds=read_bounds(bounds),
        method=method,
        scale=None if scale == "none" else scale,
        columns=[name.strip() for name in columns.split(",")] if columns else None,
        schema=facts,
        neighbours=neighbours,
        table=table,
        ledger=ledger,
        engine=flags.read_engine(engine, master, remote, spark_conf),
        seeding=seeding,
    )
    if dry_run:
        show_plan(model, data, rows, as_json)
        return
    if out is None:
        raise UsageError("where should the result go? Give --out DIR, a folder that does not exist yet.")
    if labels and model.engine not in (None, "local"):
        raise UsageError(
            "--labels writes a file here. On Spark label rows with predict, which gives a DataFrame to write where you like."
        )
    from cloister.sinks import check_free

    check_free(out)
    with flags.progress(as_json) as step:
        model.fit(data, progress=step)
    finish(model, out, data if labels else None, as_json)


def finish(model: KMeans | SynopsisClusters, out: Path, labelled: list[str] | None, as_json: bool) -> None:
    """Write the result and tell of it."""
    import json

    certificate = write(model, out, labelled)
    if as_json:
        flags.print_json({"out": str(out), **json.loads(certificate)})
    else:
        show_result(model, out)
        if labelled is not None:
            typer.echo(f"For the holder only, keep it here: {out}/labels.parquet")


def from_synopsis(
    file: Path,
    data: list[str] | None,
    k: str,
    seeding: str,
    out: Path | None,
    as_json: bool,
    labels: bool,
    ledger: str | None,
    engine: Any,
) -> None:
    """Cluster a released synopsis: no data is read and nothing is charged. With --labels, label the rows of DATA."""
    import dataclasses

    from cloister.clustering.synopsis.value import Synopsis
    from cloister.sinks import check_free

    if data and not labels:
        raise UsageError("--synopsis stands in for DATA. Give one of them; or both with --labels, to label rows.")
    if labels and not data:
        raise UsageError("--labels needs the rows to label. Give DATA too, or drop --labels.")
    if out is None:
        raise UsageError("where should the result go? Give --out DIR, a folder that does not exist yet.")
    check_free(out)
    wanted = read_clusters(k)
    if engine not in (None, "local"):
        if not isinstance(wanted, int) or seeding not in ("kmeans++", "kmeans||"):
            raise UsageError("on Spark a synopsis is seeded by kmeans||, for a number of clusters. Give --k N.")
        model = Synopsis.cluster_file(file, wanted, engine)
    else:
        made = Synopsis.load(file)
        model = made.cluster(wanted if isinstance(wanted, int) else made.suggest_k().clusters, seeding)
    finish(dataclasses.replace(model, ledger=ledger), out, data, as_json)


def read_clusters(text: str) -> int | str:
    """A whole number, or auto."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError:
        raise UsageError("--k takes a whole number of clusters, or auto.") from None


def read_bounds(text: str | None) -> tuple[float, float] | None:
    """Two numbers from LOW,HIGH."""
    if text is None:
        return None
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise UsageError(
            "--bounds takes two numbers, LOW,HIGH, for all columns. Bounds by column go into a schema."
        ) from None
    return low, high


def show_plan(model: KMeans, data: list[str], rows: int, as_json: bool) -> None:
    """Print what a fit would spend."""
    from cloister.vault import open_data

    # Spark is not started to read the names of columns that are named already
    known = model.columns if model.engine not in (None, "local") else None
    plan = model.plan(n=rows, names=known or open_data(data, model.engine).names)
    if as_json:
        flags.print_json(plan.as_dict())
        return
    typer.echo(str(plan))
    typer.echo(f"For about {rows:,} rows (change with --rows). No row was read and nothing was charged.")
    if refusal := foreseen(model):
        typer.echo(f"It would be refused: {refusal}")


def foreseen(model: KMeans) -> str | None:
    """Why the ledger would refuse the charge of a fit, as far as it can be told before."""
    from cloister.clustering.inputs import Input
    from cloister.errors import CloisterError
    from cloister.privacy.ledger import Ledger

    problem = model._problem(Input(None, ()))
    if problem.table is None:
        return None
    try:
        account = Ledger.find(model.ledger).account(problem.table)
    except CloisterError as error:
        return str(error)
    if problem.budget.epsilon > account.epsilon_left or problem.budget.delta > account.delta_left:
        return f'it needs more than is left for table "{problem.table}". See: cloister ledger show'
    return None


def write(model: KMeans | SynopsisClusters, out: Path, labelled: list[str] | None) -> str:
    """Stage the folder, then rename it into place; gives the certificate as it was written."""
    import csv
    import dataclasses
    import hashlib

    from cloister.sinks import stage

    with stage(out, directory=True) as staged:
        centers = staged.path / "centers.csv"
        with centers.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(["cluster", "size", *model.release_.parameters["columns"]])
            for i, (size, center) in enumerate(zip(model.cluster_sizes_, model.cluster_centers_, strict=True)):
                writer.writerow([i, f"{size:.0f}", *(f"{value:.9g}" for value in center)])
        files = {"centers.csv": hashlib.sha256(centers.read_bytes()).hexdigest()}
        notes = model.release_.notes
        if labelled is not None:
            notes = (*notes, "labels.parquet beside this certificate is for the holder only: no guarantee covers it.")
        certificate = dataclasses.replace(model.release_, files=files, notes=notes).to_json()
        (staged.path / "release.json").write_text(certificate, encoding="utf-8")
        if labelled is not None:
            write_labels(model, labelled, staged.path / "labels.parquet")
        staged.commit()
    return certificate


def write_labels(model: KMeans | SynopsisClusters, data: list[str], path: Path) -> None:
    """The label of every row, for the holder only: the file says so itself."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = model._label(data, model.release_.ledger["table"] if model.release_.ledger else None)
    stamp = {"cloister": "for the holder only: labels are not a private release"}
    pq.write_table(pa.table({"cluster": labels}).replace_schema_metadata(stamp), path)


def show_result(model: KMeans | SynopsisClusters, out: Path) -> None:
    """The centres and the guarantee, for a person."""
    from rich.console import Console
    from rich.table import Table as RichTable

    from cloister.schema.numerals import coordinate_text

    release = model.release_
    names = release.parameters["columns"]
    grid = RichTable(title=f"{len(model.cluster_centers_)} private clusters (sizes are noisy)")
    for name in ["cluster", "size", *names[:8]]:
        grid.add_column(str(name), justify="right", overflow="fold")
    for i, (size, center) in enumerate(zip(model.cluster_sizes_, model.cluster_centers_, strict=True)):
        grid.add_row(str(i), f"{size:,.0f}", *(coordinate_text(value) for value in center[:8]))
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
