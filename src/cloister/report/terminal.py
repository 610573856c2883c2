"""Documents on a terminal: as plain text for `str`, or printed with the tables drawn by rich."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.report.document import Block, Chart, Document, Fact, Section, Sentence, TextTable
from cloister.report.one_line import one_line

__all__ = ["print_document", "ruled", "text"]


def text(document: Document) -> str:
    r"""The document as lines of text; a blank line between sections, a rule under the heads of a table.

    >>> from cloister.report.document import Fact, Section
    >>> print(text(Document((Section((Fact("status", "private"),), heading="Release"),))))
    Release
    Status: private
    """
    return "\n\n".join("\n".join(_section_lines(section)) for section in document.sections)


def print_document(document: Document) -> None:
    """Print the document on standard output; lines are not wrapped, and tables are drawn where they fit the terminal."""
    for i, section in enumerate(document.sections):
        if i:
            print()
        if section.heading:
            print(one_line(section.heading))
        for block in section.blocks:
            if isinstance(block, (TextTable, Chart)):
                _print_table(block if isinstance(block, TextTable) else block.as_table())
            else:
                print(_line(block))


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


def _section_lines(section: Section) -> list[str]:
    lines = [section.heading] if section.heading else []
    for block in section.blocks:
        if isinstance(block, (TextTable, Chart)):
            table = block if isinstance(block, TextTable) else block.as_table()
            lines += [table.title] if table.title else []
            lines.append(ruled(table))
        else:
            lines.append(_line(block))
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

    console = Console()
    plain = ruled(table)
    if table.title:
        print(one_line(table.title))
    if len(plain.splitlines()[1]) + len(table.heads) + 3 > console.width:  # with its borders; rich would break cells apart
        print(plain)
        return
    # Text: brackets in names and labels are not markup
    grid = Table()
    for j, head in enumerate(table.heads):
        grid.add_column(Text(one_line(head)), justify="right" if table.is_right(j) else "left", overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(one_line(cell)) for cell in row))
    console.print(grid)
