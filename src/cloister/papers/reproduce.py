"""Run papers again: tasks one after another, each noted when it is done, then a page for each paper."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from cloister.datasets import load
from cloister.errors import UsageError
from cloister.papers.numbered_papers import ROOMS, load_paper
from cloister.papers.paper_folder import write_folder
from cloister.papers.paper_items import Item, Paper, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.papers.run_journal import Journal, open_journal
from cloister.report.plot.drawable import check_matplotlib
from cloister.work_done import counted

__all__ = ["Reproduced", "read_numbers", "reproduce"]

JOURNALS = "journal"  # the folder of unfinished runs inside the output


@dataclass(frozen=True, slots=True)
class Reproduced:
    """A paper that was run: its rows by item, and where its page is."""

    paper: Paper
    rows: dict[str, tuple[ReproducedRow, ...]]
    folder: Path


def read_numbers(texts: Sequence[str]) -> tuple[str, ...]:
    """Which papers: their numbers, or all.

    >>> read_numbers(["003", "all"])
    ('000', '001', '002', '003', '004')
    """
    if unknown := [text for text in texts if text not in (*ROOMS, "all")]:
        raise UsageError(f'"{unknown[0]}" is none of the papers. Give {", ".join(ROOMS)}, or all.')
    return tuple(ROOMS) if "all" in texts else tuple(number for number in ROOMS if number in texts)


def reproduce(
    numbers: Sequence[str],
    out: Path,
    effort: RunEffort,
    *,
    version: str,
    progress: Callable[[str], None] = lambda step: None,
) -> tuple[Reproduced, ...]:
    """Run papers, and write a folder for each below `out`; what was finished before is not run again.

    Raises
    ------
    UsageError, SourceError
        A data set is missing, or `out` holds a run of another kind: before anything is run.
    """
    check_matplotlib()
    papers = [load_paper(number) for number in numbers]
    progress("looking for the data sets")
    for name in sorted({name for paper in papers for name in paper.datasets}):
        load(name, folder=effort.data)
    return tuple(_reproduce(paper, out, effort, version, progress) for paper in papers)


def _reproduce(paper: Paper, out: Path, effort: RunEffort, version: str, progress: Callable[[str], None]) -> Reproduced:
    run = {"paper": paper.number, "effort": effort.pick("whole", "quick"), "cloister": version}
    with open_journal(out / JOURNALS / f"{paper.number}.jsonl", run) as journal:
        progress(f"paper {paper.number}")
        rows = run_items(paper.items, effort, journal)
    folder = out / paper.number
    if not folder.exists():
        progress(f"paper {paper.number}: its page")
        write_folder(paper, rows, folder, effort, version)
    return Reproduced(paper, rows, folder)


def run_items(items: Sequence[Item], effort: RunEffort, journal: Journal) -> dict[str, tuple[ReproducedRow, ...]]:
    """The rows of each item; tasks that the journal has are not run again."""
    planned = [(item, task) for item in items for task in item.tasks(effort)]
    names = [(item.name, task.name) for item, task in planned]
    assert len(set(names)) == len(names), "two tasks of one name"
    rows: dict[str, list[ReproducedRow]] = {item.name: [] for item in items}
    for item, task in counted(planned, len(planned)):
        found = journal.rows(item.name, task.name)
        if found is None:
            found = tuple(task.work())
            journal.add(item.name, task.name, found)
        rows[item.name] += found
    return {name: tuple(of_item) for name, of_item in rows.items()}
