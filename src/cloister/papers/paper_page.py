"""The page of a paper: what it promised, what holds, and each item in three columns; as HTML and as Markdown for the docs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from cloister.papers.form_columns import form_table
from cloister.papers.paper_items import Item, Paper
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.document import Sentence, TextTable
from cloister.report.handout_blocks import Bullets, Callout, Chapter, Drawing, Handout, PaperBlock
from cloister.report.page import page_html
from cloister.report.picture import Picture
from cloister.report.plot import inline_svg

__all__ = ["PaperContents", "paper_html", "paper_markdown"]

COLUMNS = (
    "Printed: what the paper says. As printed, run again: its algorithm, on rows that anybody may see. Sound: what this program "
    "releases in its place. Beside each number stands what is proved of it; several runs are given as their median, from the 10% "
    "to the 90% quantile."
)
QUICK = "A quick run: fewer runs and settings than the paper has. Figures are coarse."
NOT_PRIVATE = "Nothing on this page is a private release: it was made of public data, to compare."


@dataclass(frozen=True, slots=True)
class PaperContents:
    """All that a page shows: rows, pictures and sentences by item."""

    paper: Paper
    rows: Mapping[str, Sequence[ReproducedRow]]
    pictures: Mapping[str, Sequence[Picture]]
    finds: Mapping[str, Sequence[str]]
    is_quick: bool


def paper_html(contents: PaperContents, version: str) -> str:
    """One HTML file that loads nothing."""
    paper = contents.paper
    return page_html(
        Handout(
            kicker=f"Paper {paper.number}, reproduced",
            title=paper.title,
            subtitle=paper.citation,
            summary=(
                Callout(paper.promised),
                Callout(paper.holds, tone="problem"),
                Sentence(NOT_PRIVATE),
                *([Sentence(QUICK)] if contents.is_quick else []),
            ),
            chapters=tuple(Chapter(item.title, tuple(_blocks(item, contents))) for item in paper.items),
            closing=(f"Made by cloister reproduce {paper.number}, Cloister {version}.", COLUMNS),
        )
    )


def _blocks(item: Item, contents: PaperContents) -> Iterator[PaperBlock]:
    yield Sentence(item.asks)
    yield form_table(contents.rows[item.name])
    for i, picture in enumerate(contents.pictures[item.name]):
        yield Drawing(inline_svg(picture, f"{item.name}-{i}-"), picture.caption)
    if finds := contents.finds[item.name]:
        yield Bullets.of(finds)
    if notes := notes_of(contents.rows[item.name]):
        yield Sentence("Notes: " + " ".join(notes))


def notes_of(rows: Sequence[ReproducedRow]) -> tuple[str, ...]:
    """What rows that have a number say beside it, each sentence once; where there is no number, its cell says why."""
    return tuple(dict.fromkeys(_sentence(row.note) for row in rows if row.note and row.value is not None))


def _sentence(note: str) -> str:
    return note[0].upper() + note[1:].rstrip(".") + "."


def paper_markdown(contents: PaperContents) -> str:
    """The same for the docs: a section of docs/papers.md, below whose heading pictures are named by their files."""
    paper = contents.paper
    lines = [f"## {paper.number}: {paper.title}", "", f"*{paper.citation}*", ""]
    lines += ["**Promised.** " + " ".join(paper.promised), "", "**What holds.** " + " ".join(paper.holds), ""]
    lines += [f"`cloister reproduce {paper.number} --out DIR`", ""]
    for item in paper.items:
        lines += [f"### {item.title}", "", item.asks, "", *_markdown_table(form_table(contents.rows[item.name])), ""]
        for i, picture in enumerate(contents.pictures[item.name]):
            number = f"-{i + 1}" if i else ""
            lines += [f"![{picture.title}](images/papers/{paper.number}-{item.name}{number}.svg)", ""]
        if finds := contents.finds[item.name]:
            lines += [*(f"- {sentence}" for sentence in finds), ""]
        if notes := notes_of(contents.rows[item.name]):
            lines += ["Notes: " + " ".join(notes), ""]
    return "\n".join(lines)


def _markdown_table(table: TextTable) -> list[str]:
    def line(cells: Sequence[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

    return [line(table.heads), "|" + "---|" * len(table.heads), *(line(row) for row in table.rows)]
