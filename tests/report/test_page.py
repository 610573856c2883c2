"""Pages: whatever a text holds, it is text."""

from __future__ import annotations

import html
import re
from html.parser import HTMLParser

import pytest

from cloister.report.document import Chart, ChartAxis, Fact, Sentence, Series, TextTable
from cloister.report.handout_blocks import Blank, Bullets, Callout, Chapter, CommandLine, Handout, PaperBlock, Subheading
from cloister.report.page import page_html

PLANTED = """</style></title><script>alert(1)</script><img src=x onerror="alert('2')">&amp;{{ 7 * 7 }}{% raw %}"""
CHART = Chart(PLANTED, ChartAxis(PLANTED), (1.0,), ChartAxis(PLANTED), (Series(PLANTED, (1.0,)),))
BLOCKS: tuple[PaperBlock, ...] = (
    Sentence(PLANTED),
    Fact(PLANTED, PLANTED),
    TextTable.of([PLANTED], [[PLANTED]], title=PLANTED),
    CHART,
    Subheading(PLANTED),
    Bullets((PLANTED,)),
    Callout((PLANTED,)),
    CommandLine(PLANTED),
    Blank(PLANTED, PLANTED),
)


class Attributes(HTMLParser):
    """The tags of a page, and the attributes of all of them."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.names: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """A tag begins."""
        self.tags.add(tag)
        self.names |= {name for name, _ in attrs}


def page_of(text: str, *blocks: PaperBlock) -> str:
    """A page whose every word is this text."""
    return page_html(Handout(text, text, text, blocks, (Chapter(text, blocks),), (text,)))


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: type(block).__name__)
def test_markup_is_shown_and_never_read(block: PaperBlock) -> None:
    """It stands there as it was written, and makes no tag and no attribute."""
    page = page_of(PLANTED, block)
    found = Attributes(page)
    assert not found.tags & {"script", "img"}
    assert not {name for name in found.names if name.startswith("on") or name == "src"}
    assert PLANTED in html.unescape(re.sub("<[^>]*>", " ", page))


def test_characters_that_are_not_printed_are_written_out() -> None:
    """Neither a line of its own nor another order of letters can be smuggled in."""
    page = page_of("safe\n\x1b[8m\u202eterces", Sentence("a\u2028b"))
    assert "safe\\u000a\\u001b[8m\\u202eterces" in page
    assert "a\\u2028b" in page
    assert not re.search("[\x1b\u202e\u2028]", page)


def test_the_stylesheet_loads_nothing() -> None:
    """No font, no picture, no other sheet."""
    style = page_of("x", Sentence("x")).partition("<style>")[2].partition("</style>")[0]
    assert "@import" not in style
    assert "url(" not in style
    assert "@page" in style
