"""Which registered format a file has, by its first bytes."""

from __future__ import annotations

from pathlib import PurePosixPath

from cloister.errors import SourceError
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.sources import formats
from cloister.sources.places import Place
from cloister.sources.source import Source, retold
from cloister.sources.stated_names import NOTHING_STATED, StatedNames

__all__ = ["open_file", "recognize"]

_COMPRESSED = (".gz", ".bz2", ".zst", ".zstd")
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
_NOT_CSV = (".json", ".jsonl", ".ndjson", ".html", ".htm", ".xml", ".toml", ".yaml", ".yml", ".py", ".md")
_NOT_CSV_STARTS = (b"{", b"[", b"<", b"%PDF")
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def open_file(place: Place, said: FileOptions = NOTHING_SAID, stated: StatedNames = NOTHING_STATED) -> Source:
    """A source over a file of any known format. Only names of columns are read, no row."""
    return recognize(place, said.over(stated.file)).open(place, said, stated)


def recognize(place: Place, options: FileOptions = NOTHING_SAID) -> formats.Format:
    """The format of a file, by its first bytes: what it is called does not matter, unless it could be text.

    Where the call or a schema says that there is no header line, the first bytes of text are of a row, and are not looked at.
    """
    if options.format is not None:
        return formats.CSV
    if options.names and _suffix(place.path) in _TEXT:
        return formats.CSV
    with retold(place.shown):
        with place.open() as file:
            head = file.read(8)
        if not head:
            raise SourceError(f"{place.shown}: the file is empty.")
        for format in formats.FORMATS:
            if format.magic and head.startswith(format.magic):
                return format
        with place.stream() as file:
            start: bytes = file.read(4096)
    if not _may_be_csv(place.path, b"" if options.names else start):
        raise SourceError(f"{place.shown}: unknown format. Give {formats.format_names()} (from Excel: save as CSV UTF-8).")
    return formats.CSV


def _suffix(path: str) -> str:
    """How a name ends, the ending of a compression aside."""
    name = PurePosixPath(path)
    return (name.with_suffix("").suffix if name.suffix.lower() in _COMPRESSED else name.suffix).lower()


def _may_be_csv(path: str, start: bytes) -> bool:
    # the header line alone: what a row holds must not decide whether a file is read
    header = start.lstrip(b"\r\n").replace(b"\r", b"\n").partition(b"\n")[0]
    is_binary = b"\0" in header and not start.startswith(_UTF16_MARKS)
    return not (is_binary or _suffix(path) in _NOT_CSV or start.lstrip().startswith(_NOT_CSV_STARTS))
