"""``cloister score``: how well released clusters fit a table, and how far they agree with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.clustering.scores.score_report import ScoreReport
    from cloister.schema import Schema

EXAMPLE = "Example: cloister score clusters people.csv --truth group; before: cloister cluster people.csv ... --out clusters"


@flags.takes_groups
def score(
    clusters: Annotated[Path, typer.Argument(metavar="CLUSTERS", help="The folder that cloister cluster --out wrote.")],
    data: flags.Data,
    *,
    truth: Annotated[
        str | None, typer.Option(metavar="COL", help="The column that holds the true class of each row.")
    ] = None,
    schema: flags.SchemaFile = None,
    plot: flags.PlotFile = None,
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> None:
    """Measure F, NICV, SSE, costs and distances of clusters on a table, for the holder's eyes only.

    Each score stands beside that of everything in one cluster: what does not beat that has found nothing.
    """
    with drawing(plot, clusters, quiet=everywhere.as_json) as draw:
        report = _measure(clusters, data, truth, flags.read_schema(schema), access, everywhere)
        if everywhere.as_json:
            output.print_json({**output.named_files(picture=plot), **report.as_dict()})
        else:
            print_document(report.describe())
        draw(report)


def _measure(
    clusters: Path,
    data: list[str],
    truth: str | None,
    facts: Schema | None,
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> ScoreReport:
    """The scores of clusters that were released, through the holder's door."""
    from cloister.clustering.saved_clusters import load_clusters
    from cloister.clustering.scores.score_clusters import Centers, score_clusters
    from cloister.schema.cell_format import PLAIN
    from cloister.sources.stated_names import names_stated
    from cloister.vault import open_data

    saved = load_clusters(clusters, facts)
    where = access.parameters()
    stated = names_stated(facts, [*saved.domain.columns, *([truth] if truth else [])])
    rows = open_data(access.files(data), where["engine"], stated)
    if where["table"] is None:
        released = saved.release_.ledger or {}
        where["table"] = facts.table if facts is not None and facts.table is not None else released.get("table")
    form = facts[truth].kind.form if facts is not None and truth is not None and truth in facts else PLAIN
    with output.progress(everywhere.as_json) as step:
        step("scoring")
        return score_clusters(rows, Centers(saved.domain, saved.places, saved.modes), truth, form=form, **where)
