"""A page that is handed over, as plain data: chapters of the blocks that documents have, and of some that only paper needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cloister.report.document import Block, Document, Sentence

__all__ = ["Blank", "Bullets", "Callout", "Chapter", "CommandLine", "Drawing", "Handout", "PaperBlock", "Subheading"]


@dataclass(frozen=True, slots=True)
class Subheading:
    """A heading inside a chapter."""

    text: str


@dataclass(frozen=True, slots=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]

    @classmethod
    def of(cls, items: Sequence[str]) -> Bullets:
        """A list from any sequence."""
        return cls(tuple(items))


@dataclass(frozen=True, slots=True)
class Callout:
    """Sentences that nobody may overlook."""

    sentences: tuple[str, ...]
    tone: Literal["plain", "good", "problem"] = "plain"


@dataclass(frozen=True, slots=True)
class CommandLine:
    """What is typed into a terminal."""

    text: str


@dataclass(frozen=True, slots=True)
class Blank:
    """What is not known here, and is filled in by hand."""

    name: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A picture as the text of an ``<svg>`` element: it is shown as it is, so nobody but `report.plot` may make one."""

    svg: str
    caption: str = ""


PaperBlock = Block | Subheading | Bullets | Callout | CommandLine | Blank | Drawing


@dataclass(frozen=True, slots=True)
class Chapter:
    """Blocks under a heading, which the table of contents lists."""

    heading: str
    blocks: tuple[PaperBlock, ...]

    @classmethod
    def of(cls, heading: str, *blocks: PaperBlock | str) -> Chapter:
        """A chapter; a plain text is a sentence."""
        return cls(heading, tuple(Sentence(block) if isinstance(block, str) else block for block in blocks))

    @classmethod
    def of_document(cls, heading: str, document: Document) -> Chapter:
        """A document as a chapter: headings of its sections are subheadings."""
        blocks: list[PaperBlock] = []
        for section in document.sections:
            blocks += [Subheading(section.heading)] if section.heading else []
            blocks += section.blocks
        return cls(heading, tuple(blocks))


@dataclass(frozen=True, slots=True)
class Handout:
    """A page: what it is about, what stands above everything else, and its chapters.

    Attributes
    ----------
    kicker, title, subtitle
        What kind of page it is, what it is about, and one line more.
    summary
        What somebody should know who reads no further.
    closing
        The last lines: what made the page, and when.
    is_for_holder
        The page must not be handed over; it looks different, and says so on every printed sheet.
    """

    kicker: str
    title: str
    subtitle: str
    summary: tuple[PaperBlock, ...]
    chapters: tuple[Chapter, ...]
    closing: tuple[str, ...] = ()
    is_for_holder: bool = False
