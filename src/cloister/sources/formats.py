"""The formats of files: how one is recognised, and what opens it.

A new format is a file beside this one and a line in `FORMATS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import PurePosixPath

from cloister.errors import SourceError
from cloister.sources.places import Place
from cloister.sources.source import Source, retold

__all__ = ["FORMATS", "Format", "format_of", "open_file"]

_COMPRESSED = (".gz", ".bz2", ".zst", ".zstd")
_NOT_CSV = (".json", ".jsonl", ".ndjson", ".html", ".htm", ".xml", ".toml", ".yaml", ".yml", ".py", ".md")
_NOT_CSV_STARTS = (b"{", b"[", b"<", b"%PDF")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


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


def open_file(place: Place) -> Source:
    """A source over a file of any known format. Only names of columns are read, no row."""
    return format_of(place).open(place)


def format_of(place: Place) -> Format:
    """The format of a file, by its first bytes: what it is called does not matter, unless it could be text."""
    with retold(place.shown):
        with place.open() as file:
            head = file.read(8)
        if not head:
            raise SourceError(f"{place.shown}: the file is empty.")
        for format in FORMATS:
            if format.magic and head.startswith(format.magic):
                return format
        with place.stream() as file:
            start: bytes = file.read(4096)
    if not _may_be_csv(place.path, start):
        *others, last = dict.fromkeys(format.name for format in (CSV, *FORMATS))
        known = f"{', '.join(others)} or {last}"
        raise SourceError(f"{place.shown}: unknown format. Give {known} (from Excel: save as CSV UTF-8).")
    return CSV


def _may_be_csv(path: str, start: bytes) -> bool:
    name = PurePosixPath(path)
    suffix = name.with_suffix("").suffix if name.suffix in _COMPRESSED else name.suffix
    # the header line alone: what a row holds must not decide whether a file is read
    is_binary = b"\0" in start.split(b"\n", 1)[0] and not start.startswith(_UTF16_MARKS)
    return not (is_binary or suffix.lower() in _NOT_CSV or start.lstrip().startswith(_NOT_CSV_STARTS))
