"""Documents in a notebook: HTML without styles or scripts, every text escaped."""

from __future__ import annotations

from html import escape
from itertools import groupby

from cloister.report.document import Block, Chart, Document, Fact, Section, Sentence, TextTable

__all__ = ["html"]


def html(document: Document) -> str:
    """The document as HTML.

    Facts that follow each other are one table. A title or a heading right above a table is the table's caption.

    >>> html(Document((Section((Fact("note", "a < b"),)),), title="Release of kmeans"))
    '<table><caption>Release of kmeans</caption><tr><th>note</th><td>a &lt; b</td></tr></table>'
    """
    shown, title = "", document.title
    for section in document.sections:
        titles = [words for words in (title, section.heading) if words]
        shown += _section(section, titles)
        title = ""
    return shown


def _section(section: Section, titles: list[str]) -> str:
    shown = ""
    for kind, group in groupby(section.blocks, key=type):
        for blocks in [list(group)] if kind is Fact else [[block] for block in group]:
            captions: list[str] = []
            if titles and not isinstance(blocks[0], Sentence):
                captions = [titles.pop()]
            shown += "".join(f"<h4>{escape(words)}</h4>" for words in titles)
            titles = []
            shown += _blocks(blocks, captions)
    return "".join(f"<h4>{escape(words)}</h4>" for words in titles) + shown


def _blocks(blocks: list[Block], captions: list[str]) -> str:
    """One sentence, one table, or facts that follow each other."""
    first = blocks[0]
    if isinstance(first, Sentence):
        return f"<p>{escape(first.text)}</p>"
    if isinstance(first, Fact):
        facts = [(block.name, block.value) for block in blocks if isinstance(block, Fact)]
        cells = "".join(f"<tr><th>{escape(name)}</th><td>{escape(value)}</td></tr>" for name, value in facts)
        return f"<table>{_caption(captions)}{cells}</table>"
    table = first.as_table() if isinstance(first, Chart) else first
    return _table(table, [*captions, *([table.title] if table.title else [])])


def _table(table: TextTable, captions: list[str]) -> str:
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.heads)
    rows = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in table.rows)
    return f"<table>{_caption(captions)}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _caption(captions: list[str]) -> str:
    return f"<caption>{escape(': '.join(captions))}</caption>" if captions else ""
