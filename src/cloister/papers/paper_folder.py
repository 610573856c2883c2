"""The folder of a paper that was run: rows.csv, page.html, page.md, a picture a file, and a certificate that says `claimed`."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path

from cloister.papers.paper_items import Paper, RunEffort
from cloister.papers.paper_page import PaperContents, paper_html, paper_markdown
from cloister.papers.reproduced_row import ReproducedRow
from cloister.privacy.guarantees import Claimed
from cloister.privacy.release import Release
from cloister.report import plot
from cloister.report.picture import Picture
from cloister.sinks import file_hash, stage

__all__ = ["write_folder"]

KIND = "reproduction"


def write_folder(
    paper: Paper, rows: Mapping[str, Sequence[ReproducedRow]], folder: Path, effort: RunEffort, version: str
) -> Release:
    """Write the folder, at once and whole."""
    pictures = {item.name: tuple(item.draws(rows[item.name])) for item in paper.items}
    finds = {item.name: tuple(item.finds(rows[item.name])) for item in paper.items}
    contents = PaperContents(paper, rows, pictures, finds, effort.is_quick)
    with stage(folder, directory=True) as staged:
        _write_rows(staged.path / "rows.csv", paper, rows)
        for name, picture in picture_files(pictures).items():
            plot.save([picture], staged.path / name)
        (staged.path / "page.html").write_text(paper_html(contents, version), encoding="utf-8")
        (staged.path / "page.md").write_text(paper_markdown(contents), encoding="utf-8")
        release = _certify(paper, staged.path, effort)
        (staged.path / "release.json").write_text(release.to_json(), encoding="utf-8")
        staged.commit()
    return release


def picture_files(pictures: Mapping[str, Sequence[Picture]]) -> dict[str, Picture]:
    """The name of the file of each picture: its item's, with a number where an item has several."""
    return {
        f"{item}{f'-{i + 1}' if i else ''}.svg": picture
        for item, drawn in pictures.items()
        for i, picture in enumerate(drawn)
    }


def _write_rows(path: Path, paper: Paper, rows: Mapping[str, Sequence[ReproducedRow]]) -> None:
    """The tidy table."""
    names = [field.name for field in fields(ReproducedRow)]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["paper", "item", *names])
        for item, found in rows.items():
            writer.writerows([paper.number, item, *row.as_dict().values()] for row in found)


def _certify(paper: Paper, folder: Path, effort: RunEffort) -> Release:
    files = {path.name: file_hash(path) for path in sorted(folder.iterdir())}
    note = (
        "Algorithms as printed in a paper, run again on public data: for comparison only. Nothing here is a private release."
    )
    return Release(
        KIND,
        Claimed(paper.number, paper.claim, paper.proved),
        (),
        {"paper": paper.number, "title": paper.title, "effort": effort.pick("whole", "quick")},
        {"items": [item.name for item in paper.items]},
        notes=(note,),
        files=files,
    )
