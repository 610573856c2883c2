"""``cloister cluster``: private clusters of the rows of a table."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.planned_files import planned_files
from cloister.cli.report import reporting
from cloister.clustering.methods import METHODS, MODELS
from cloister.clustering.schedules import SCHEDULES
from cloister.errors import BudgetExceeded, CloisterError, UsageError
from cloister.parameters import unknown_choice
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.clustering.clusters import Clusters
    from cloister.clustering.inputs import Input
    from cloister.clustering.request import ClusterRequest
    from cloister.privacy.budgets import Budget
    from cloister.privacy.plan import Plan
    from cloister.privacy.release import Release
    from cloister.schema import Schema

EXAMPLE = "Example: cloister cluster people.csv --k 5 --epsilon 1 --columns age,income --schema people.toml --out clusters"


@flags.takes_groups
def cluster(
    data: flags.OptionalData = None,
    *,
    k: Annotated[str, typer.Option("--k", metavar="K", help="How many clusters, or auto: chosen from what is released.")],
    out: Annotated[Path | None, typer.Option(metavar="DIR", help="A new folder for centers.csv and release.json.")] = None,
    spending: flags.Spending,
    columns: Annotated[
        list[str] | None, flags.name_list("The columns to cluster: numbers, and categories of the schema.")
    ] = None,
    model: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help=f"One of: auto, {', '.join(MODELS)}. auto: by whether the columns are numbers or categories.",
        ),
    ] = "auto",
    gamma: Annotated[
        str,
        typer.Option(
            metavar="NUMBER",
            help="Of kprototypes: what a differing category adds to a squared distance; or K such, with commas.",
        ),
    ] = "auto",
    bounds: flags.ColumnBounds = None,
    schema: flags.SchemaFile = None,
    method: Annotated[str, typer.Option(metavar="NAME", help=f"One of: {', '.join(METHODS)}.")] = "auto",
    scale: flags.Scale = "bounds",
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    synopsis: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Cluster a released synopsis instead of data: free.")
    ] = None,
    seeding: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Where centres start: packing (lloyd), or of a synopsis' cells: kmeans++, kmeans||, canopy, evolution.",
        ),
    ] = None,
    evolution: Annotated[
        str | None,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="Of seeding evolution: population=40,generations=100,F=0.5,CR=0.25:0.95,start=random.",
        ),
    ] = None,
    schedule: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"How rounds of lloyd share the budget: {', '.join(SCHEDULES)}.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(metavar="WIDTH", help="lloyd stops when no released centre moves as far in a round.")
    ] = None,
    max_iter: Annotated[
        int | None, typer.Option(metavar="N", help="Rounds. Default: as many as the budget carries.")
    ] = None,
    count_missing: Annotated[
        bool, typer.Option("--count-missing", help="Spend on how many values of each column are made up, too.")
    ] = False,
    labels: Annotated[bool, typer.Option("--labels", help="Also write labels.parquet, for the holder only.")] = False,
    dry_run: flags.DryRun = False,
    rows: flags.RowsBeforehand = None,
    everywhere: flags.Everywhere,
) -> None:
    """Find private clusters and write their centres with a certificate."""
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import reserved

    where = access.parameters()
    if synopsis is not None:
        described = {"--columns": columns or None, "--bounds": bounds, "--schema": schema, "--neighbours": neighbours}
        described |= {"--model": None if model == "auto" else model, "--gamma": None if gamma == "auto" else gamma}
        check_free_of_charge(
            {**spending.flags(), "--dry-run": dry_run or None, "--count-missing": count_missing or None, **described}
        )
        check_no_rounds({"--schedule": schedule, "--tolerance": tolerance, "--max-iter": max_iter})
        if data and not labels:
            raise UsageError("--synopsis stands in for DATA. Give one of them; or both with --labels, to label rows.")
        if labels and not data:
            raise UsageError("--labels needs the rows to label. Give DATA too, or drop --labels.")
        if labels:
            check_labels(where["engine"])
        target = read_out(out)
        with (
            reserved(target),
            reporting(publishing, target, access.ledger, quiet=everywhere.as_json) as write_report,
            drawing(plot, target, quiet=everywhere.as_json) as draw,
        ):
            clusters = cluster_synopsis(synopsis, k, seeding or "kmeans++", read_evolution(evolution), where["engine"])
            clusters = dataclasses.replace(clusters, ledger=access.ledger)
            labelled = access.files(data) if data else None
            named = output.named_files(report=publishing.report, picture=plot)
            show(clusters, clusters.save(target, label=labelled), target, labels, named if everywhere.as_json else None)
            write_report()
            draw(clusters)
        return
    if not data:
        raise UsageError("what should be clustered? Give DATA, or --synopsis FILE.")
    facts = flags.read_schema(schema)
    request = find_request(
        pick_kind(model, facts, columns),
        gamma,
        n_clusters=read_clusters(k),
        budget=spending.budget(),
        bounds=flags.read_column_bounds(bounds),
        method=method,
        scale=None if scale == "none" else scale,
        columns=flags.read_names(columns) or None,
        schema=facts,
        neighbours=neighbours,
        seeding=seeding,
        evolution=read_evolution(evolution),
        schedule=schedule,
        tolerance=tolerance,
        max_iter=max_iter,
        count_missing=count_missing,
        **where,
    )
    if dry_run:
        with planned_files(out, publishing.report, plot, as_json=everywhere.as_json):
            show_plan(request, access.files(data), rows or 10_000, everywhere.as_json)
        return
    if rows is not None:
        warn_before_charge(
            request.plan(rows, opened(request, access.files(data)))
        )  # or refuse what so many rows cannot carry
    target = read_out(out)
    if labels:
        check_labels(request.engine)
    with (
        reserved(target) as held,
        reporting(publishing, target, request.ledger, quiet=everywhere.as_json) as write_report,
        drawing(plot, target, quiet=everywhere.as_json) as draw,
        paid_result(),
    ):
        source = request.read(access.files(data))
        if not (everywhere.as_json or everywhere.quiet) and (note := request.note_before_charge(source)) is not None:
            output.print_notice(note)
        with output.progress(everywhere.as_json) as step:
            clusters = request.fit(source, step)
        certificate = output.write_release(
            clusters.release_,
            request.ledger,
            held.target,
            write=lambda path: clusters.save(path, label=source.data if labels else None),
            save=clusters.save,
            as_data=clusters.release_.as_dict,
        )
        named = output.named_files(report=publishing.report, picture=plot)
        show(clusters, certificate, target, labels, named if everywhere.as_json else None)
        write_report()
        draw(clusters)


def check_free_of_charge(value_of_flag: dict[str, object]) -> None:
    """Refuse flags that would spend a budget or describe data: a synopsis is released already."""
    if idle := [flag for flag, value in value_of_flag.items() if value is not None]:
        raise UsageError(f"a synopsis is released already: clustering it spends nothing. Drop {', '.join(idle)}.")


def check_no_rounds(value_of_flag: dict[str, object]) -> None:
    """Refuse flags of rounds on the rows: the cells of a synopsis are clustered without any."""
    if idle := [flag for flag, value in value_of_flag.items() if value is not None]:
        raise UsageError(f"a synopsis is clustered without rounds on the rows. Drop {', '.join(idle)}.")


def check_labels(engine: Any) -> None:
    """Refuse to write labels where the engine does not hand them out in memory."""
    from cloister.vault import engine_traits

    traits = engine_traits(engine)
    if not traits.labels_in_memory:
        raise UsageError(
            f"--labels writes a file here. On {traits.title} label rows with predict, which gives a DataFrame to write where "
            "you like."
        )


def read_out(out: Path | None) -> Path:
    """Where the result goes."""
    if out is None:
        raise UsageError("where should the result go? Give --out DIR, a folder that does not exist yet.")
    return out


def cluster_synopsis(file: Path, k: str, seeding: str, evolution: dict[str, Any] | None, engine: Any) -> Clusters:
    """Cluster a released synopsis: no data is read and nothing is charged."""
    from cloister.clustering.synopsis.synopsis import Synopsis
    from cloister.vault import clusters_points, engine_traits

    wanted = read_clusters(k)
    if clusters_points(engine):
        if not isinstance(wanted, int) or seeding not in ("kmeans++", "kmeans||") or evolution is not None:
            title = engine_traits(engine).title
            raise UsageError(f"on {title} a synopsis is seeded by kmeans||, for a number of clusters. Give --k N.")
        return Synopsis.cluster_file(file, wanted, engine)
    released = Synopsis.load(file)
    return released.cluster(wanted, seeding, evolution=evolution)


def show(clusters: Clusters, certificate: Release, out: Path, has_labels: bool, named: dict[str, str] | None) -> None:
    """The result for a person, or with the files beside it for a program."""
    if named is not None:
        output.print_json({"out": str(out), **named, **json.loads(certificate.to_json())})
    else:
        show_result(clusters, out)
        if has_labels:
            output.print_line(f"For the holder only, keep it here: {out}/labels.parquet")
    if clusters.warning is not None:
        output.print_warning(clusters.warning)


def read_clusters(text: str) -> int | Literal["auto"]:
    """A whole number, or auto."""
    if text == "auto":
        return "auto"
    try:
        return int(text)
    except ValueError:
        raise UsageError("--k takes a whole number of clusters, or auto.") from None


def read_evolution(text: str | None) -> dict[str, Any] | None:
    """Options of evolution from NAME=VALUE,...; a range is LOW:HIGH. What they may be is checked where they are used.

    >>> read_evolution("population=40,F=0.7,CR=0.1:0.9")
    {'population': 40, 'F': 0.7, 'CR': (0.1, 0.9)}
    >>> read_evolution("start=random")
    {'start': 'random'}
    """
    if text is None:
        return None
    options: dict[str, Any] = {}
    for part in text.split(","):
        name, _, value = part.partition("=")
        if name.strip() == "start":
            options["start"] = value.strip()
            continue
        try:
            ends = [int(end) if end.strip().isdecimal() else float(end) for end in value.split(":")]
        except ValueError:
            raise UsageError("--evolution takes options such as population=40,generations=100,F=0.5,CR=0.25:0.95.") from None
        options[name.strip()] = ends[0] if len(ends) == 1 else tuple(ends)
    return options


def show_plan(request: ClusterRequest, data: Any, rows: int, as_json: bool) -> None:
    """Print what a fit would spend."""
    plan = request.plan(rows, opened(request, data))
    output.print_plan(plan, as_json, rows)
    if not as_json and (refusal := foreseen_refusal(request, plan.budget)):
        output.print_line(f"It would be refused: {refusal}")


def warn_before_charge(plan: Plan) -> None:
    """Say that clusters of so many rows are lost in the noise; whoever still wants them has them."""
    if lost := plan.choices.get("too little"):
        output.print_warning(lost)


def opened(request: ClusterRequest, data: Any) -> Input | Sequence[str]:
    """The data as a fit opens it; no cluster is started to read the names of columns that are named already."""
    from cloister.vault import engine_traits

    known = None if engine_traits(request.engine, data).opens_at_once else request.columns
    return known or request.read(data)


def pick_kind(model: str, facts: Schema | None, columns: list[str] | None) -> str:
    """What is clustered: what was asked for, or what the kinds of the columns say; where columns are named, of these."""
    from cloister.clustering.mixed_columns import pick_model

    if model != "auto":
        if model not in MODELS:
            raise unknown_choice("model", model, ("auto", *MODELS))
        return model
    return pick_model(facts, flags.read_names(columns) or None)


def find_request(model: str, gamma: str, **parameters: Any) -> ClusterRequest:
    """The request for a model; its other parameters are those of k-means."""
    if model == "kmeans":
        from cloister.clustering.request import ClusterRequest

        if gamma != "auto":
            raise UsageError("--gamma weighs categories against numbers, and k-means has numbers alone. Drop it.")
        return ClusterRequest(**parameters)
    from cloister.clustering.prototype_request import PrototypeRequest

    return PrototypeRequest(model=model, gamma=read_gamma(gamma), **parameters)


def read_gamma(text: str) -> list[float] | str:
    """One number or one a cluster, with commas; or auto."""
    try:
        return text if text == "auto" else [float(each) for each in text.split(",")]
    except ValueError:
        raise UsageError("--gamma takes a number above 0, such as 0.1, one a cluster (0.1,0.2), or auto.") from None


def foreseen_refusal(request: ClusterRequest, budget: Budget) -> str | None:
    """Why the ledger would refuse the charge of a fit, as far as that is known before."""
    if request.table_name is None:
        return None
    from cloister.privacy.ledger import Ledger

    try:
        account = Ledger.find(request.ledger).account(request.table_name)
    except CloisterError as error:
        return str(error)
    if budget.epsilon > account.epsilon_left or budget.delta > account.delta_left:
        return str(BudgetExceeded.of_planned_release(request.table_name))
    return None


def show_result(clusters: Clusters, out: Path) -> None:
    """The centres and the guarantee, for a person."""
    print_document(clusters.describe(with_warning=False))
    output.print_release(clusters.release_, f"{out}/centers.csv, {out}/release.json")
