"""``cloister synopsis``: release a synopsis of a table once, or ask one that was released."""

from __future__ import annotations

import shlex
from itertools import pairwise
from math import inf
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.planned_files import planned_files
from cloister.cli.report import reporting
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.errors import UsageError
from cloister.report.document import Document, Section, Sentence, TextTable
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.clustering.synopsis.synopsis import Synopsis

EXAMPLE = (
    "Example: cloister synopsis people.csv --epsilon 1 --schema people.toml --out people.synopsis.parquet, then "
    "cloister synopsis people.synopsis.parquet --suggest-k, and cloister cluster --synopsis people.synopsis.parquet --k 5 --out c"
)

SHOWN = 8  # numbers of clusters on a terminal, or as many as up to what is suggested


@flags.takes_groups
def synopsis(
    data: Annotated[list[str], typer.Argument(metavar="DATA", help="Files, globs or URLs; or one synopsis file to ask.")],
    *,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new file: the synopsis, or the made-up rows.")] = None,
    spending: flags.Spending,
    columns: Annotated[list[str] | None, flags.name_list("The number columns.")] = None,
    bounds: flags.ColumnBounds = None,
    schema: flags.SchemaFile = None,
    method: Annotated[
        str, typer.Option(metavar="|".join(SHAPES), help="Grids suit two or three columns, the tree any number.")
    ] = "adaptive-grid",
    alpha: Annotated[
        str, typer.Option(metavar="NUMBER", help="Adaptive grid: the first level's part of the budget.")
    ] = "0.5",
    c1: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Adaptive grid: rows a first-level cell is worth. Default 10.")
    ] = None,
    c2: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Adaptive grid: rows a second-level cell is worth. Default 5.")
    ] = None,
    threshold: Annotated[
        int | None, typer.Option(metavar="T", help="Uniform grid: leave out cells with a noisy count below T.")
    ] = None,
    scale: flags.Scale = "bounds",
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    suggest_k: Annotated[bool, typer.Option("--suggest-k", help="Ask a synopsis: how many clusters are there?")] = False,
    sample: Annotated[int | None, typer.Option(metavar="N", help="Ask a synopsis: write N made-up rows to --out.")] = None,
    count: Annotated[
        str | None, typer.Option(metavar="A=LOW:HIGH,...", help="Ask a synopsis: how many rows lie in a box?")
    ] = None,
    dry_run: flags.DryRun = False,
    rows: flags.ExpectedRows = 10_000,
    everywhere: flags.Everywhere,
) -> None:
    """Release cells with noisy counts, once; then cluster, sample and ask them for free."""
    if suggest_k or sample is not None or count is not None:
        ask(data, suggest_k, sample, count, out, everywhere.as_json)
        return
    from cloister.clustering.synopsis.request import SynopsisRequest
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import reserved
    from cloister.vault import open_data

    files = access.files(data)
    if not any(spending.flags().values()) and all(Path(name).is_file() for name in data) and files is data:
        open_data(
            data, access.chosen_engine()
        )  # a synopsis that is to be asked is told how, before it is asked for an epsilon
    facts = flags.read_schema(schema)
    request = SynopsisRequest(
        budget=spending.budget(),
        bounds=flags.read_column_bounds(bounds),
        method=method,
        alpha=alpha,
        threshold=threshold,
        c1=c1,
        c2=c2,
        scale=None if scale == "none" else scale,
        columns=flags.read_names(columns) or None,
        schema=facts,
        neighbours=neighbours,
        **access.parameters(),
    )
    if dry_run:
        target = None if out is None else check_out(out)
        with planned_files(target, publishing.report, plot, as_json=everywhere.as_json):
            output.print_plan(request.plan(rows, request.read(files)), everywhere.as_json, rows)
        return
    out = check_out(out)
    with (
        reserved(out) as held,
        reporting(publishing, out, access.ledger, quiet=everywhere.as_json) as write_report,
        drawing(plot, out, quiet=everywhere.as_json) as draw,
        paid_result(),
    ):
        with output.progress(everywhere.as_json) as step:
            released = request.release(files, step)
        certificate = output.write_release(
            released.release_,
            request.ledger,
            held.target,
            write=released.save,
            as_data=released.as_dict,
            reader="cl.Synopsis.from_json(text).save(FILE)",
        )
        if everywhere.as_json:
            named = output.named_files(report=publishing.report, picture=plot)
            output.print_json({"out": str(out), **named, **certificate.as_dict()})
        else:
            show(released, out)
        write_report()
        draw(released)


def check_out(out: Path | None) -> Path:
    """Where the synopsis goes, in the one format that it has."""
    if out is None:
        raise UsageError("where should the synopsis go? Give --out FILE.parquet, a file that does not exist yet.")
    if out.suffix.lower() != ".parquet":
        raise UsageError("a synopsis is a Parquet file. Give --out a name that ends in .parquet.")
    return out


def ask(data: list[str], suggest_k: bool, sample: int | None, count: str | None, out: Path | None, as_json: bool) -> None:
    """Questions to a released synopsis: free, and without the data."""
    from cloister.clustering.synopsis.synopsis import Synopsis

    if len(data) != 1:
        raise UsageError("one synopsis file is asked at a time.")
    released = Synopsis.load(data[0])
    answer: dict[str, Any] = {}
    if suggest_k:
        suggestion = released.suggest_k()
        answer["suggest_k"] = {
            "k": suggestion.clusters,
            "distances": suggestion.distances.tolist(),
            "depths": suggestion.depths.tolist(),
        }
    if count is not None:
        number = released.count(read_box(count))
        answer["count"] = {"value": number.value, "standard_error": number.standard_error}
    if sample is not None:
        if out is None:
            raise UsageError("where should the made-up rows go? Give --out FILE, ending in .csv or .parquet.")
        write_rows(released, sample, out)
        answer["sample"] = {"rows": sample, "out": str(out)}
    if as_json:
        output.print_json(answer)
        return
    print_answer(answer)


def print_answer(answer: dict[str, Any]) -> None:
    """The answers of a synopsis, for a person."""
    if suggestion := answer.get("suggest_k"):
        print_document(describe_suggestion(suggestion["k"], suggestion["distances"]))
    if number := answer.get("count"):
        output.print_line(f"{number['value']:.1f} rows, standard error {number['standard_error']:.1f} (of the noise)")
    if sample := answer.get("sample"):
        output.print_line(f"Written: {sample['out']} ({sample['rows']:,} made-up rows)")


def describe_suggestion(k: int, distances: list[float]) -> Document:
    """How many clusters there seem to be, and how far each centre more would lie from those before it."""
    found = f"{k} cluster{'s' if k > 1 else ''} seem{'' if k > 1 else 's'} to be there"
    if not any(distances[:1]):  # the synopsis has hardly any dense cells
        return Document((Section((Sentence(f"{found}: hardly any of its cells are dense."),)),))
    falls = [last / following if following else inf for last, following in pairwise(distances)]  # falls[0] belongs to k = 2
    rows = [
        [f"{at}", f"{distance / distances[0]:.0%}", f"{fall:.1f} times nearer" + (" <" if at == k else "")]
        for at, (distance, fall) in enumerate(zip(distances, falls, strict=False), start=2)
    ]
    heads = ["clusters", "distance of the last centre", "the next one"]
    nearer = f"a centre more would lie {falls[k - 2]:.1f} times nearer to the others than the last one"
    meaning = "Centres are dense cells, each as far as possible from those before it; 100% is the first distance."
    table = TextTable.of(heads, rows[: max(SHOWN, k)], align="right")
    return Document((Section((Sentence(f"{found}: {nearer}."), table, Sentence(meaning))),))


def read_box(text: str) -> dict[str, tuple[float, float]]:
    """Ranges from A=LOW:HIGH,B=LOW:HIGH."""
    box = {}
    for part in text.split(","):
        name, _, ends = part.partition("=")
        try:
            low, high = (float(end) for end in ends.split(":"))
        except ValueError:
            raise UsageError("--count takes ranges such as age=20:30,income=0:1000.") from None
        box[name.strip()] = (low, high)
    return box


def write_rows(released: Synopsis, count: int, out: Path) -> None:
    """Made-up rows as CSV or Parquet."""
    from cloister.sinks import stage

    if out.suffix.lower() not in (".csv", ".parquet"):
        raise UsageError("made-up rows are written as .csv or .parquet. Give --out a name that ends so.")
    rows = released.sample(count)
    with stage(out, directory=False) as staged:
        if out.suffix.lower() == ".csv":
            from pyarrow import csv

            csv.write_csv(rows, staged.path)
        else:
            import pyarrow.parquet as pq

            pq.write_table(rows, staged.path)
        staged.commit()


def show(released: Synopsis, out: Path) -> None:
    """What was released, for a person."""
    rows = max(0, released.total)
    output.print_line(
        f"{released.method}: {len(released):,} cells over {', '.join(released.columns)}, about {rows:,.0f} rows"
    )
    command = f"cloister cluster --synopsis {shlex.quote(str(out))} --k K --out DIR"
    output.print_release(released.release_, f"{out}. Cluster it for free: {command}")
