"""docs/papers.md: every paper and item that the command runs stands there, with the columns that a run gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cloister.papers.numbered_papers import ROOMS, load_paper
from cloister.papers.paper_items import Paper

DOCS = Path(__file__).parents[2] / "docs"
COLUMNS = ["printed", "as printed, run again", "sound"]


def section(number: str) -> str:
    """The part of the page that is about a paper."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    return re.split(r"^## ", text, flags=re.MULTILINE)[1 + list(ROOMS).index(number)]


@pytest.mark.parametrize("number", ROOMS)
def test_the_page_has_every_item_of_a_paper(number: str) -> None:
    """Under its heading, with what was promised and what holds, the three columns, and a source in every line."""
    paper: Paper = load_paper(number)
    text = section(number)
    assert text.startswith(f"{number}: {paper.title}\n")
    assert " ".join(paper.promised) in text
    assert " ".join(paper.holds) in text
    titles = re.findall(r"^### (.*)$", text, re.MULTILINE)
    assert titles == [item.title for item in paper.items]
    for part in re.split(r"^### ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in part.splitlines() if line.startswith("| ")]
        heads, *rows = [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
        assert [head for head in heads if head in COLUMNS] == COLUMNS
        assert heads[-1] == "source"
        assert rows
        assert all(len(row) == len(heads) and row[-1] for row in rows)


def test_every_picture_of_the_page_is_there_and_every_one_there_is_shown() -> None:
    """A picture is a file beside the page."""
    text = (DOCS / "papers.md").read_text(encoding="utf-8")
    shown = set(re.findall(r"\(images/papers/(.*?)\)", text))
    assert shown == {path.name for path in (DOCS / "images" / "papers").iterdir()}
