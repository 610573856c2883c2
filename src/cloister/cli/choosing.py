"""``cloister choose``: the most common value of a column, a quantile, or the best of some options, privately."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.cli.drawing import drawing
from cloister.cli.planned_files import planned_files
from cloister.cli.report import reporting
from cloister.errors import UsageError
from cloister.report.terminal import print_document

EXAMPLE = (
    "Example: cloister choose people.csv --column age --quantile 0.5 --epsilon 1 --schema people.toml --out median.json"
)

SCORE_NAMES = (
    "count",
    "rank",
    "distance",
)  # as `cloister.choosing.named_scores` has them, which need not be loaded for help


@dataclass(frozen=True)
class ValueChoice:
    """What is chosen and by which score; its audit takes the same."""

    column: Annotated[str, typer.Option("--column", metavar="NAME", help="The column whose value is chosen.")]
    quantile: Annotated[
        str | None, typer.Option(metavar="Q", help="A quantile, 0.5 for the median. Default: the most common value.")
    ] = None
    options: Annotated[
        str | None, typer.Option(metavar="A,B", help="Choose among these alone: numbers, days, or values of the domain.")
    ] = None
    score: Annotated[
        str | None, typer.Option(metavar="|".join(SCORE_NAMES), help="What makes an option good. Default: by what is asked.")
    ] = None
    clip: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="By distance: a row farther away counts as that far.")
    ] = None
    bounds: Annotated[
        str | None,
        typer.Option(metavar="LOW,HIGH", help="Public bounds of a number or date that no schema describes."),
    ] = None
    step: Annotated[float | None, typer.Option(metavar="NUMBER", help="The distance between two of its values.")] = None
    count_rows: Annotated[
        bool, typer.Option("--count-rows", help="Spend a tenth on the number of rows, too; it is free where it is public.")
    ] = False

    def parameters(self) -> dict[str, Any]:
        """As the parameters of that name that a request has."""
        options = self.options
        return {
            "column": self.column,
            "quantile": self.quantile,
            "options": None if options is None else [option.strip() for option in options.split(",")],
            "score": self.score,
            "clip": self.clip,
            "bounds": flags.read_ends(self.bounds),
            "step": self.step,
            "count_rows": self.count_rows,
        }


@flags.takes_groups
def choose(
    data: flags.Data,
    *,
    choice: ValueChoice,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A new .json file.")] = None,
    spending: flags.Spending,
    schema: flags.SchemaFile = None,
    neighbours: flags.NeighbourRelation = None,
    access: flags.Access,
    publishing: flags.Publishing,
    plot: flags.PlotFile = None,
    dry_run: flags.DryRun = False,
    everywhere: flags.Everywhere,
) -> None:
    """Choose a value of a column privately: the most common one, a quantile, or the best of some options."""
    from cloister.choosing.choose_privately import choose as release_choice  # the verb has that name too
    from cloister.choosing.request import ChoiceRequest
    from cloister.privacy.kept_releases import paid_result
    from cloister.sinks import reserved

    facts = flags.read_schema(schema)
    where = access.parameters()
    terms: dict[str, Any] = {
        **choice.parameters(),
        "budget": spending.budget(),
        "schema": facts,
        "neighbours": neighbours,
    }
    if dry_run:
        path = None if out is None else check_out(out)
        with planned_files(path, publishing.report, plot, as_json=everywhere.as_json):
            plan = ChoiceRequest(**terms).dry_run(access.files(data), where["engine"])
            output.print_plan(plan, everywhere.as_json)
        return
    path = check_out(out)
    with (
        reserved(path) as held,
        reporting(publishing, path, access.ledger, quiet=everywhere.as_json) as write_report,
        drawing(plot, path, quiet=everywhere.as_json) as draw,
        paid_result(),
    ):
        with output.progress(everywhere.as_json) as step:
            chosen = release_choice(access.files(data), **terms, **where, progress=step)
        assert chosen.release is not None
        named = output.named_files(report=publishing.report, picture=plot)
        as_data = {"out": str(path), **named, **chosen.release.as_dict()}
        output.write_release(chosen.release, access.ledger, held.target, write=chosen.save, as_data=lambda: as_data)
        if everywhere.as_json:
            output.print_json(as_data)
        else:
            print_document(chosen.describe())
            output.print_release(chosen.release, f"{path}")
        write_report()
        draw(chosen)


def check_out(out: Path | None) -> Path:
    """Where the choice goes: a file that holds its certificate."""
    if out is None:
        raise UsageError("where should the choice go? Give --out FILE, ending in .json.")
    if out.suffix.lower() != ".json":
        raise UsageError("a choice is written as .json. Give --out a name that ends so.")
    if out.name.lower().endswith("release.json"):
        raise UsageError("a name that ends in release.json is for the certificate of other files. Give --out another one.")
    return out
