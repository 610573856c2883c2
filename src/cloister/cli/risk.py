"""``cloister risk``: what a table risks, and against its original what it no longer says."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cloister.cli import flags, output
from cloister.errors import UsageError

if TYPE_CHECKING:
    from cloister.risks.assess import RiskReport, RowsReport

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
        str | None,
        flags.name_list("Columns that others may know. Default: from the schema, else the worst combination is found."),
    ] = None,
    against: Annotated[
        str | None, typer.Option(metavar="FILE", help="The original that DATA was made of: measures what was lost.")
    ] = None,
    threshold: Annotated[float, typer.Option(help="From which probability on, exclusive, a row is at risk.")] = 0.2,
    sensitive: Annotated[str | None, flags.name_list("Columns whose values must not be learned.")] = None,
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
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="With rows: one page of pictures, .png or .svg.")] = None,
    schema: flags.SchemaFile = None,
    access: flags.Access,
    everywhere: flags.Everywhere,
) -> None:
    """Measure re-identification risk and information loss, for the holder's eyes only."""
    from cloister.risks.assess import assess

    where = access.parameters()
    if plot is not None:
        check_plot(plot, as_rows, against)
    with output.progress(everywhere.as_json) as step:
        step("counting")
        report = assess(
            access.files(data),
            quasi,
            against=against,
            sensitive=sensitive or (),
            target=target,
            population=population,
            hierarchies=hierarchies,
            threshold=threshold,
            search=search,
            as_rows=as_rows if plot is None else True,  # pictures are of rows
            control=control,
            all_rows=all_rows,
            schema=schema,
            **where,
        )
    if plot is not None:
        save_pictures(report, plot)
    if everywhere.as_json:
        output.print_json({**({} if plot is None else {"picture": str(plot)}), **report.as_dict()})
        return
    typer.echo(str(report))
    if plot is not None:
        output.print_line(f"Drawn: {plot}")


def check_plot(path: Path, as_rows: bool | None, against: str | None) -> None:
    """Refuse a picture that cannot be drawn, before a row is read."""
    from cloister.report.plot import check_drawable
    from cloister.sinks import check_free

    if as_rows is False or against is None:
        raise UsageError("--plot draws rows beside their original: give --against, and drop --as-labels.")
    check_drawable(path)
    check_free(path)


def save_pictures(report: RiskReport | RowsReport, path: Path) -> None:
    """Write the page of pictures of a comparison of rows."""
    from cloister.risks.assess import RowsReport
    from cloister.sinks import stage

    assert isinstance(report, RowsReport)  # --plot compares rows
    with stage(path, directory=False) as staged:
        report.draw(staged.path)
        staged.commit()
