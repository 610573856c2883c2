"""``cloister reproduce``: what a paper prints, what its algorithm as printed gives, and what is sound."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cloister.cli import flags, output
from cloister.cli.verbosity import is_quiet

EXAMPLE = "Example: cloister reproduce 003 --quick --out papers"


@flags.takes_groups
def reproduce(
    numbers: Annotated[
        list[str],
        typer.Argument(metavar="NUMBER...", help="000, 001, 002, 003, 004, or all. They are listed in docs/papers.md."),
    ],
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="A folder: new, or of the same run, which goes on where it was.")
    ],
    quick: Annotated[bool, typer.Option("--quick", help="Half a minute a paper: fewer runs and settings.")] = False,
    datasets: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="Where the public data sets lie. Default: CLOISTER_DATA.")
    ] = None,
    peers: Annotated[
        Path | None, typer.Option("--peers", metavar="FILE", help="Peers' figures, which python -m bench audit writes.")
    ] = None,
    everywhere: flags.Everywhere,
) -> None:
    """Run the experiments of the five papers again: as printed, which is not private, and in the sound form.

    Writes a folder for each: page.html, rows.csv, pictures. Stopped and started again it goes on where it was.
    """
    from cloister import __version__
    from cloister.papers.paper_items import RunEffort
    from cloister.papers.reproduce import read_numbers
    from cloister.papers.reproduce import reproduce as run

    wanted = read_numbers(numbers)
    with output.progress(everywhere.as_json) as step:
        done = run(wanted, out, RunEffort(quick, datasets, peers), version=__version__, progress=step)
    if everywhere.as_json:
        output.print_json(
            {
                "papers": [
                    {"paper": each.paper.number, "folder": str(each.folder), "rows": sum(map(len, each.rows.values()))}
                    for each in done
                ]
            }
        )
    elif not is_quiet():
        for each in done:
            output.print_line(f"Written: {each.folder / 'page.html'} (paper {each.paper.number}: {each.paper.title})")
