"""``cloister score``: how well released clusters fit a table, and how far they agree with known classes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cloister.cli import flags, output
from cloister.report.terminal import print_document

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
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> None:
    """Measure F, NICV, SSE, costs and distances of clusters on a table, for the holder's eyes only.

    Each score stands beside that of everything in one cluster: what does not beat that has found nothing.
    """
    from cloister.clustering.saved_clusters import load_clusters
    from cloister.clustering.scores.score_clusters import Centers, score_clusters
    from cloister.schema.cell_format import PLAIN
    from cloister.sources.stated_names import names_stated
    from cloister.vault import open_data

    facts = flags.read_schema(schema)
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
        report = score_clusters(rows, Centers(saved.domain, saved.places, saved.modes), truth, form=form, **where)
    if everywhere.as_json:
        output.print_json(report.as_dict())
    else:
        print_document(report.describe())
