"""``cloister risk``: what a table risks, and against its original what it no longer says."""

from __future__ import annotations

from typing import Annotated

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing

EXAMPLE = (
    "Example: cloister risk people.csv --quasi age,sex,postcode --sensitive illness; later: cloister risk published.csv "
    "--quasi age,sex,postcode --against people.csv --hierarchies hierarchies; of rows: cloister risk rows.csv "
    "--against people.csv --as-rows --plot rows.png"
)


@flags.takes_groups
def risk(
    data: flags.Data,
    *,
    quasi: Annotated[
        list[str] | None,
        flags.name_list("Columns that others may know. Default: from the schema, else the worst combination is found."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="The original that DATA was made of: measures what was lost.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="From which probability on, exclusive, a row is at risk.")] = 0.2,
    sensitive: Annotated[list[str] | None, flags.name_list("Columns whose values must not be learned.")] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COL", help="With --against: what a classifier should predict.")
    ] = None,
    population: Annotated[
        str | None, typer.Option(metavar="FILE", help="Everybody whom the rows may be about: journalist's risk and k-map.")
    ] = None,
    hierarchies: Annotated[
        str | None, typer.Option(metavar="DIR", help="Hierarchies of the columns: what published labels stand for.")
    ] = None,
    search: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Which combinations of up to N columns single people out.")
    ] = None,
    as_rows: Annotated[
        bool | None,
        typer.Option(
            "--as-rows/--as-labels",
            help="With --against: DATA holds averaged or made-up rows, not labels. Default: as its certificate says.",
        ),
    ] = None,
    control: Annotated[
        str | None, typer.Option(metavar="FILE", help="With rows: others that were not in the table, to compare with.")
    ] = None,
    all_rows: Annotated[
        bool, typer.Option("--all-rows", help="With rows: measure distances for every row, not for 5,000 of them.")
    ] = False,
    plot: flags.PlotFile = None,
    schema: flags.SchemaFile = None,
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> None:
    """Measure re-identification risk and information loss, for the holder's eyes only."""
    from cloister.risks.assess import assess

    where = access.parameters()
    with drawing(plot, None, quiet=everywhere.as_json) as draw:
        with output.progress(everywhere.as_json) as step:
            step("counting")
            report = assess(
                access.files(data),
                flags.read_names(quasi) or None,
                against=against,
                sensitive=flags.read_names(sensitive),
                target=target,
                population=population,
                hierarchies=hierarchies,
                threshold=threshold,
                search=search,
                as_rows=as_rows,
                control=control,
                all_rows=all_rows,
                schema=schema,
                **where,
            )
        if everywhere.as_json:
            output.print_json({**({} if plot is None else {"picture": str(plot)}), **report.as_dict()})
        else:
            output.print_text(report.describe())
        draw(report)
