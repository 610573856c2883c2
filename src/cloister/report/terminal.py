"""Documents on a terminal: as plain text for `str`, or printed with the tables drawn by rich."""

from __future__ import annotations

import shutil
import sys
import textwrap
from collections.abc import Sequence
from typing import TextIO

from cloister.report.document import Block, Chart, Document, Fact, Section, Sentence, TextTable
from cloister.report.one_line import one_line

__all__ = ["print_document", "ruled", "screen_width", "stacked", "text", "wrapped"]


def screen_width(stream: TextIO | None = None) -> int | None:
    """How many characters a line of a terminal has (COLUMNS goes first); None: lines go into a file or a pipe, and stay whole.

    Of standard output, if no other stream is named. COLUMNS alone makes no terminal: readline sets it for whatever is started.
    """
    if not is_screen(sys.stdout if stream is None else stream):
        return None
    return max(shutil.get_terminal_size().columns, 20)


def is_screen(stream: TextIO) -> bool:
    """Whether somebody reads along."""
    return stream.isatty()


def wrapped(line: str, width: int | None) -> str:
    """A line broken between words where it is longer than so many characters; a path or a key is not broken.

    >>> print(wrapped("Written: clusters/centers.csv, clusters/release.json", 32))
    Written: clusters/centers.csv,
    clusters/release.json
    """
    if width is None or len(line) <= width:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return textwrap.fill(
        line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False, drop_whitespace=True
    )


def text(document: Document, width: int | None = None) -> str:
    r"""The document as lines of text; a blank line between sections, a rule under the heads of a table.

    With a `width` longer lines are broken, and tables that are wider are stacked.

    >>> from cloister.report.document import Fact, Section
    >>> print(text(Document((Section((Fact("status", "private"),), heading="Release"),))))
    Release
    Status: private
    """
    return "\n\n".join("\n".join(_section_lines(section, width)) for section in document.sections)


def print_document(document: Document) -> None:
    """Print the document on standard output: on a terminal lines are broken at its width, and tables drawn where they fit."""
    width = screen_width()
    for i, section in enumerate(document.sections):
        if i:
            print()
        if section.heading:
            print(wrapped(one_line(section.heading), width))
        for block in section.blocks:
            if isinstance(block, (TextTable, Chart)):
                _print_table(block if isinstance(block, TextTable) else block.as_table())
            else:
                print(wrapped(_line(block), width))


def ruled(table: TextTable) -> str:
    """The table as text, a rule under its heads.

    >>> print(ruled(TextTable.of(["who", "risk"], [["prosecutor", "20%"], ["marketer", "3%"]])))
    who         risk
    ----------  ----
    prosecutor   20%
    marketer      3%
    """
    lines = [[one_line(cell) for cell in line] for line in (table.heads, *table.rows)]
    columns = range(len(table.heads))
    widths = [max(len(line[j]) for line in lines) for j in columns]
    is_right = [table.is_right(j) for j in columns]

    def aligned(cells: Sequence[str]) -> str:
        padded = [cells[j].rjust(widths[j]) if is_right[j] else cells[j].ljust(widths[j]) for j in columns]
        return "  ".join(padded).rstrip()

    rule = "  ".join("-" * width for width in widths)
    return "\n".join([aligned(lines[0]), rule, *(aligned(line) for line in lines[1:])])


def stacked(table: TextTable, width: int) -> str:
    """The table as one block of lines for each row: for one that is wider than a line.

    >>> print(stacked(TextTable.of(["who", "risk"], [["prosecutor", "20%"], ["marketer", "3%"]]), 20))
    who: prosecutor
    risk: 20%
    <BLANKLINE>
    who: marketer
    risk: 3%
    """
    heads = [one_line(head) for head in table.heads]
    blocks = [
        "\n".join(
            wrapped(f"{head}: {one_line(cell)}" if head else one_line(cell), width)
            for head, cell in zip(heads, row, strict=True)
        )
        for row in table.rows
    ]
    return "\n\n".join(blocks or [wrapped(", ".join(heads), width)])


def _fitted(table: TextTable, width: int | None) -> str:
    """The table with a rule under its heads, or stacked where that is too wide."""
    plain = ruled(table)
    return plain if width is None or len(plain.splitlines()[1]) <= width else stacked(table, width)


def _section_lines(section: Section, width: int | None) -> list[str]:
    lines = [wrapped(section.heading, width)] if section.heading else []
    for block in section.blocks:
        if isinstance(block, (TextTable, Chart)):
            table = block if isinstance(block, TextTable) else block.as_table()
            lines += [wrapped(table.title, width)] if table.title else []
            lines.append(_fitted(table, width))
        else:
            lines.append(wrapped(_line(block), width))
    return lines


def _line(block: Block) -> str:
    """A sentence or a fact as one line."""
    if isinstance(block, Fact):
        return one_line(f"{block.name[:1].upper()}{block.name[1:]}: {block.value}")
    assert isinstance(block, Sentence)
    return one_line(block.text)


def _print_table(table: TextTable) -> None:
    from rich.console import Console  # only what draws a table pays for rich
    from rich.table import Table
    from rich.text import Text

    console, width = Console(), screen_width()
    plain = ruled(table)
    if table.title:
        print(wrapped(one_line(table.title), width))
    if len(plain.splitlines()[1]) + len(table.heads) + 3 > console.width:  # with its borders; rich would break cells apart
        print(_fitted(table, width))
        return
    # Text: brackets in names and labels are not markup
    grid = Table()
    for j, head in enumerate(table.heads):
        grid.add_column(Text(one_line(head)), justify="right" if table.is_right(j) else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(grid)
