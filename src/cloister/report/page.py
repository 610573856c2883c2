"""A handout as one HTML file: no script, nothing loaded from elsewhere, for screens of 320 px and for A4."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cloister.report.document import Chart, Fact, TextTable
from cloister.report.handout_blocks import Drawing, Handout, PaperBlock
from cloister.report.one_line import one_line

if TYPE_CHECKING:
    from jinja2 import Environment

__all__ = ["page_html", "stylesheet"]

TEMPLATES = Path(__file__).parent / "templates"
WIDE = 7  # columns from which on a table is set smaller on paper


def page_html(handout: Handout) -> str:
    """The page. Every text is escaped, whatever it holds; a character that is not printed is written out."""
    return _environment().get_template("handout.html").render(page=handout, css=stylesheet())


@cache
def stylesheet() -> str:
    """The one stylesheet of pages, as text."""
    return (TEMPLATES / "page.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # only pages need it

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_printable,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(groups=_groups, kind=_kind, as_table=_as_table, markup=_markup)
    environment.globals.update(WIDE=WIDE)
    return environment


def _printable(value: Any) -> Any:
    """What a template puts out: texts of others are one line; what the templates themselves made is left alone."""
    return one_line(value) if type(value) is str else value


def _groups(blocks: Sequence[PaperBlock]) -> Iterator[tuple[str, list[PaperBlock]]]:
    """Blocks one by one, and facts that follow each other together."""
    for kind, group in groupby(blocks, key=_kind):
        for blocks_of_kind in [list(group)] if kind == Fact.__name__ else [[block] for block in group]:
            yield kind, blocks_of_kind


def _kind(block: PaperBlock) -> str:
    return type(block).__name__


def _as_table(block: TextTable | Chart) -> TextTable:
    return block.as_table() if isinstance(block, Chart) else block


def _markup(trusted: Drawing | str) -> Any:
    """What is shown as it is: the stylesheet of this package, and a picture that `report.plot` drew."""
    from markupsafe import Markup

    return Markup(trusted.svg if isinstance(trusted, Drawing) else trusted)
