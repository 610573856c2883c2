"""``cloister demo``: the whole tour on a small made-up table. It prints for people alone: no `flags.Everywhere`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Annotated

import typer

from cloister.cli.output import print_line, print_text
from cloister.report.terminal import screen_width, wrapped

EXAMPLE = "Example: cloister demo"


def demo(
    keep: Annotated[Path | None, typer.Option(metavar="DIR", help="Keep the tour's files in this new folder.")] = None,
) -> None:
    """Take the tour: a schema, a plan, a clustering, the ledger, and a release that is refused."""
    if keep is not None:
        from cloister.sinks import check_free

        check_free(keep)
        keep.mkdir(parents=True)
        tour(keep)
        from cloister.datasets import write_pupils

        write_pupils(keep / "pupils")
        typer.echo()
        print_line(
            f"The files of this tour are in {keep}, with a table of pupils: the pages of docs/ can be followed there."
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        tour(Path(folder))


def tour(folder: Path) -> None:
    """Walk through the steps, printing what a user would type."""
    import pyarrow.csv

    from cloister.cli.cluster import show_result
    from cloister.clustering.request import ClusterRequest
    from cloister.datasets import STUDENTS, students
    from cloister.errors import BudgetExceeded
    from cloister.privacy.budgets import PureDP
    from cloister.privacy.ledger import Ledger

    pyarrow.csv.write_csv(students(), folder / "students.csv")
    (folder / "students.toml").write_text(STUDENTS.to_toml(), encoding="utf-8")
    data, columns = str(folder / "students.csv"), ["age", "hours_online", "forum_posts", "grade"]

    say("1. A schema says what is publicly known. Bounds come from what a column means, never from its rows.")
    typer.echo("\n".join(f"   {line}" for line in STUDENTS.to_toml().splitlines()[:12]) + "\n   ...")

    say("2. The ledger keeps what each table may still reveal.", "cloister ledger create students --epsilon 1.5")
    ledger = Ledger(str(folder / "ledger.sqlite"))
    ledger.create("students", "add-remove", PureDP("1.5").epsilon)
    typer.echo('   table "students" may reveal epsilon 1.5 in all')

    request = ClusterRequest(n_clusters=4, budget=1.0, columns=columns, schema=STUDENTS, ledger=ledger, random_state=0)
    say("3. A plan says what a release will spend, before any row is read.", "cloister cluster ... --dry-run")
    print_text("\n".join(f"   {line}" for line in str(request.plan(20_000, columns)).splitlines()))

    say(
        "4. Clusters: the budget is charged, the rows are read, the noise is added.",
        "cloister cluster students.csv --schema students.toml --columns age,hours_online,forum_posts,grade --k 4 "
        "--epsilon 1 --out clusters",
    )
    clusters = request.fit(data)
    clusters.save(folder / "clusters")
    show_result(clusters, Path("clusters"))

    say("5. A second release of the same size would pass the total, and is refused before a row is read.")
    try:
        request.fit(data)
    except BudgetExceeded as error:
        print_line(f"   BudgetExceeded: {error}")

    say("6. The ledger tells what happened.", "cloister ledger show")
    for account in ledger.accounts():
        print_line(
            f'   table "{account.table}": epsilon {float(account.epsilon_spent):g} of {float(account.epsilon_total):g} '
            f"spent in {account.releases} release, {float(account.epsilon_left):g} left"
        )
    typer.echo("\nNext: the README shows the same on a table of your own.")


def say(text: str, command: str | None = None) -> None:
    """A heading of the tour, with the command that a user would type."""
    typer.secho(f"\n{wrapped(text, screen_width())}", bold=True)
    if command:
        typer.secho(f"   $ {command}", dim=True)
