"""A document as plain data: sections of sentences, facts, tables and charts. What it looks like is left to the renderers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["Block", "Chart", "ChartAxis", "Document", "Fact", "Section", "Sentence", "Series", "TextTable", "with_sentence"]


@dataclass(frozen=True, slots=True)
class Sentence:
    """A line of prose."""

    text: str


@dataclass(frozen=True, slots=True)
class TextTable:
    """A table of formatted cells.

    Attributes
    ----------
    heads : the names of the columns
    rows : the cells, as many in each row as there are heads
    title : what the table shows; may be empty
    align : "left" or "right" for every column, or "content": columns of numbers to the right, the others to the left
    """

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    title: str = ""
    align: Literal["left", "right", "content"] = "content"

    @classmethod
    def of(
        cls,
        heads: Sequence[str],
        rows: Sequence[Sequence[str]],
        *,
        title: str = "",
        align: Literal["left", "right", "content"] = "content",
    ) -> TextTable:
        """A table from any sequences."""
        return cls(tuple(heads), tuple(tuple(row) for row in rows), title, align)

    def is_right(self, column: int) -> bool:
        """Whether a column is aligned to the right."""
        if self.align != "content":
            return self.align == "right"
        return any(row[column][-1:].isdigit() or row[column][-1:] == "%" for row in self.rows)


@dataclass(frozen=True, slots=True)
class Fact:
    """A name and its value, such as the status of a release."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class ChartAxis:
    """An axis of a chart: its label, whether it is logarithmic, and how its numbers are written."""

    label: str
    is_log: bool = False
    format: Callable[[float], str] = "{:g}".format


@dataclass(frozen=True, slots=True)
class Series:
    """Numbers over the x axis of a chart."""

    name: str
    values: tuple[float, ...]
    is_right: bool = False  # measured on the right axis


@dataclass(frozen=True, slots=True)
class Chart:
    """Series of numbers over the same points. `report.plot` draws it; where no picture can be shown it is a table."""

    title: str
    x: ChartAxis
    points: tuple[float, ...]
    left: ChartAxis
    series: tuple[Series, ...]
    right: ChartAxis | None = None

    def as_table(self) -> TextTable:
        """The numbers of the chart, a row a point."""
        rows = []
        for i, point in enumerate(self.points):
            axes = [self.right if series.is_right and self.right else self.left for series in self.series]
            cells = [axis.format(series.values[i]) for axis, series in zip(axes, self.series, strict=True)]
            rows.append([self.x.format(point), *cells])
        return TextTable.of([self.x.label, *(series.name for series in self.series)], rows, title=self.title)


Block = Sentence | Fact | TextTable | Chart


@dataclass(frozen=True, slots=True)
class Section:
    """Blocks that belong together, under a heading or without one."""

    blocks: tuple[Block, ...]
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """Sections, and a title for places where the document stands among others.

    A notebook shows the title. A terminal does not: there the command that was typed stands above.
    """

    sections: tuple[Section, ...]
    title: str = ""


def with_sentence(document: Document, text: str) -> Document:
    """The document with a sentence at its end.

    >>> with_sentence(Document((Section((Fact("rows", "7"),)),)), "Add-remove epsilon 1").sections[0].blocks[-1].text
    'Add-remove epsilon 1'
    """
    *others, last = document.sections
    return replace(document, sections=(*others, replace(last, blocks=(*last.blocks, Sentence(text)))))
