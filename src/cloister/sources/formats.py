"""The registry of file formats. A new format is a file beside this one and a line in `FORMATS`.

The command line lists the formats in its help, so nothing that takes time is imported here. `recognize` finds the format of
a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cloister.sources.places import Place
    from cloister.sources.source import Source

__all__ = ["CSV", "FORMATS", "Format", "format_names"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files, known by the bytes that they begin with."""

    name: str
    magic: bytes  # empty: text, which begins with anything
    module: str  # imported when the first file of the format is opened: its function `opener` takes a place, gives a source
    opener: str

    def open(self, place: Place) -> Source:
        """A source over a file of this format."""
        opener: Callable[[Place], Source] = getattr(import_module(self.module), self.opener)
        return opener(place)


CSV = Format("CSV", b"", "cloister.sources.csv", "open_csv")
FORMATS = (
    Format("Parquet", b"PAR1", "cloister.sources.parquet", "open_parquet"),
    Format("Arrow", b"ARROW1", "cloister.sources.arrow", "open_arrow_file"),
    Format("Arrow", b"\xff\xff\xff\xff", "cloister.sources.arrow", "open_arrow_stream"),
    CSV,  # last: any text may be CSV
)


def format_names() -> str:
    """The names of all formats as a person lists them.

    >>> format_names()
    'CSV, Parquet or Arrow'
    """
    *others, last = dict.fromkeys(format.name for format in (CSV, *FORMATS))
    return f"{', '.join(others)} or {last}"
