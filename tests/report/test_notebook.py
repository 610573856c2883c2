"""Documents in a notebook."""

from __future__ import annotations

import ast
import re
from fractions import Fraction
from html.parser import HTMLParser
from pathlib import Path

import cloister as cl
from cloister.privacy.release import Guarantee, Release
from cloister.report.notebook import html
from cloister.risks.assess import assess
from tests.report.documents import DOCUMENT
from tests.risks.tables import PEOPLE


class Tags(HTMLParser):
    """The tags that are open at the end, and all texts."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.kinds: set[str] = set()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins; none has attributes but for its class."""
        assert {name for name, _ in attrs} <= {"class"}
        self.open.append(tag)
        self.kinds.add(tag)

    def handle_endtag(self, tag: str) -> None:
        """The last open tag ends."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keep the text."""
        self.texts.append(data)


def parsed(page: str) -> Tags:
    """The page as a browser would read it."""
    tags = Tags()
    tags.feed(re.sub("<style>[^<]*</style>", "", page))
    tags.close()
    assert not tags.open
    return tags


def test_every_text_is_escaped_and_shown_once() -> None:
    """Nothing of a text becomes a tag."""
    tags = parsed(html(DOCUMENT))
    assert tags.kinds <= {"div", "table", "caption", "thead", "tbody", "tr", "th", "td", "p", "h4"}
    for words in ("A <document>", "Risk <of> rows", "k = 5 & more", "who <looks>", "[bold]prosecutor[/]", "a < b", "50%"):
        assert tags.texts.count(words) == 1


def test_a_heading_above_a_sentence_is_no_caption() -> None:
    """A caption belongs to a table."""
    assert html(DOCUMENT).partition("</style>")[2].startswith("<h4>A &lt;document&gt;</h4><h4>Risk &lt;of&gt; rows</h4><p>")


def test_a_release_shows_guarantee_status_posteriors_and_notes() -> None:
    """One table with the release as its caption."""
    guarantee = Guarantee(Fraction(1), Fraction(0), cl.Neighbours.ADD_REMOVE)
    release = Release("kmeans <5>", guarantee, (), {}, {}, notes=("read this",))
    tags = parsed(release._repr_html_())
    assert tags.texts[0] == "Release of kmeans <5>"
    for words in ("guarantee", "status", "private, unledgered", "posterior among 100 worlds", "note", "read this"):
        assert words in tags.texts


def test_plans_and_reports_of_risk_show_themselves() -> None:
    """As tables, with the steps and with the stamp."""
    plan = cl.KMeans(n_clusters=2, budget=1.0, bounds=(0, 1)).plan(n=1_000, names=["x", "y"])
    tags = parsed(plan._repr_html_())
    assert all(event.step in tags.texts for event in plan.events)
    page = assess(PEOPLE, ["age"])._repr_html_()
    assert "for the holder only" in page
    assert "prosecutor" in parsed(page).texts


def test_whatever_describes_itself_shows_itself() -> None:
    """Every class that makes a document of itself has a display in notebooks."""
    silent = []
    for path in sorted(Path(cl.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                methods = {
                    each.name
                    for each in node.body
                    if isinstance(each, ast.FunctionDef) and len(each.args.args) == 1  # itself, and nothing else
                }
                if "describe" in methods and "_repr_html_" not in methods:
                    silent.append(f"{path.stem}.{node.name}")
    assert silent == []
