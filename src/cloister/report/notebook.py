"""Documents in a notebook: HTML without scripts, every text escaped, with styles that end at its own box."""

from __future__ import annotations

from html import escape
from itertools import groupby

from cloister.report.document import Block, Chart, Document, Fact, Section, Sentence, TextTable
from cloister.report.one_line import one_line

__all__ = ["html"]

BOX = "cloister-display"
SHORT = 24  # characters of cells that are not broken
STYLE = (
    # The notebook's own colours, light or dark, are kept: lines and quiet words are shades of them.
    f".{BOX} {{ max-width: 60rem; overflow-x: auto; line-height: 1.45; font-variant-numeric: tabular-nums }} "
    f".{BOX} h4 {{ margin: .8em 0 .3em }} .{BOX} p {{ margin: .4em 0; max-width: 44rem; white-space: pre-wrap }} "
    f".{BOX} table {{ border-collapse: collapse; margin: .6em 0; color: inherit; background: none; font-size: inherit }} "
    f".{BOX} caption {{ caption-side: top; text-align: left; font-weight: 600; padding: 0 0 .35em; color: inherit }} "
    f".{BOX} th, .{BOX} td {{ text-align: left; vertical-align: top; padding: .25em 1.2em .25em 0; background: none; "
    "border: 0; border-bottom: 1px solid color-mix(in srgb, currentColor 22%, transparent) } "
    f".{BOX} td {{ max-width: 40rem; white-space: normal }} .{BOX} th {{ font-weight: 500; opacity: .8 }} "
    f".{BOX} .number {{ text-align: right }} .{BOX} .number, .{BOX} .short {{ white-space: nowrap }}"
)


def html(document: Document) -> str:
    """The document as HTML.

    Facts that follow each other are one table. A title or a heading right above a table is the table's caption.

    >>> shown = html(Document((Section((Fact("note", "a < b"),)),), title="Release of kmeans"))
    >>> shown.partition("</style>")[2]
    '<table><caption>Release of kmeans</caption><tr><th>note</th><td>a &lt; b</td></tr></table></div>'
    """
    shown, title = "", document.title
    for section in document.sections:
        titles = [words for words in (title, section.heading) if words]
        shown += _section(section, titles)
        title = ""
    return f'<div class="{BOX}"><style>{STYLE}</style>{shown}</div>'


def _section(section: Section, titles: list[str]) -> str:
    shown = ""
    for kind, group in groupby(section.blocks, key=type):
        for blocks in [list(group)] if kind is Fact else [[block] for block in group]:
            captions: list[str] = []
            if titles and not isinstance(blocks[0], Sentence):
                captions = [titles.pop()]
            shown += "".join(f"<h4>{_text(words)}</h4>" for words in titles)
            titles = []
            shown += _blocks(blocks, captions)
    return "".join(f"<h4>{_text(words)}</h4>" for words in titles) + shown


def _blocks(blocks: list[Block], captions: list[str]) -> str:
    """One sentence, one table, or facts that follow each other."""
    first = blocks[0]
    if isinstance(first, Sentence):
        return f"<p>{_text(first.text)}</p>"
    if isinstance(first, Fact):
        facts = [(block.name, block.value) for block in blocks if isinstance(block, Fact)]
        cells = "".join(f"<tr><th>{_text(name)}</th><td>{_text(value)}</td></tr>" for name, value in facts)
        return f"<table>{_caption(captions)}{cells}</table>"
    table = first.as_table() if isinstance(first, Chart) else first
    return _table(table, [*captions, *([table.title] if table.title else [])])


def _table(table: TextTable, captions: list[str]) -> str:
    sides = [_class_of(table, i) for i in range(len(table.heads))]
    heads = "".join(f"<th{side}>{_text(head)}</th>" for side, head in zip(sides, table.heads, strict=True))
    rows = "".join(
        "<tr>" + "".join(f"<td{side}>{_text(cell)}</td>" for side, cell in zip(sides, row, strict=True)) + "</tr>"
        for row in table.rows
    )
    return f"<table>{_caption(captions)}<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _class_of(table: TextTable, column: int) -> str:
    """How a column is set: numbers to the right; bins and other short words stay in one line, as numbers do."""
    names = ["number"] if table.is_right(column) else []
    if all(len(row[column]) <= SHORT for row in table.rows):
        names.append("short")
    return f' class="{" ".join(names)}"' if names else ""


def _caption(captions: list[str]) -> str:
    return f"<caption>{_text(': '.join(captions))}</caption>" if captions else ""


def _text(words: str) -> str:
    """Text of others: no tag, and no character that is not printed as itself."""
    return escape(one_line(words))
