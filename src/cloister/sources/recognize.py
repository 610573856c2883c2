"""Which registered format a file has, by its first bytes."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePosixPath

from cloister.errors import SourceError, by_door
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.sources import formats
from cloister.sources.places import Place
from cloister.sources.source import Source, retold
from cloister.sources.stated_names import NOTHING_STATED, StatedNames
from cloister.sources.zip_members import ZipMember

__all__ = ["open_file", "recognize"]

_COMPRESSED = (".gz", ".bz2", ".zst", ".zstd", ".xz")
_TEXT = (".csv", ".tsv", ".tab", ".txt", ".dat")
_JSON_LINES = (".jsonl", ".ndjson")
_TYPED = (".xlsx", ".xlsm", ".xls", ".parquet", ".orc", ".arrow", ".feather")  # whose first bytes are never a row's
_NOT_CSV = (".json", ".html", ".htm", ".xml", ".toml", ".yaml", ".yml", ".py", ".md")
_NOT_CSV_STARTS = (b"{", b"[", b"<", b"%PDF")
_DATABASES = {"sqlite": (0, b"SQLite format 3\0"), "duckdb": (8, b"DUCK")}  # where a file says so, and with which bytes
_TELLING = 4  # bytes that no header line begins with by chance
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def open_file(place: Place, said: FileOptions = NOTHING_SAID, stated: StatedNames = NOTHING_STATED) -> Source:
    """A source over a file of any known format. Only names of columns are read, no row."""
    options = said.over(stated.file)
    format = recognize(place, options)
    begins_with_row = format is formats.JSON_LINES or (format is formats.CSV and options.names)
    if begins_with_row and PurePosixPath(place.path).suffix.lower() not in _COMPRESSED:
        place = replace(place, is_plain=True)
    return format.open(place, said, stated)


def recognize(place: Place, options: FileOptions = NOTHING_SAID) -> formats.Format:
    """The format of a file, by its first bytes: what it is called does not matter, unless it could be text.

    Where the call or a schema says that there is no header line, the first bytes of text are of a row, and are not looked at.
    """
    suffix = _suffix(place.path)
    if stated := _stated_format(place, options, suffix):
        return stated
    with retold(place.shown):
        with place.open() as file:
            head = file.read(16)
        if not head:
            raise SourceError(f"{place.shown}: the file is empty.")
        _check_no_database(head, place.shown)
        for format in formats.FORMATS:
            if format.magic and head.startswith(format.magic) and not (len(format.magic) < _TELLING and suffix in _TEXT):
                if isinstance(place, ZipMember):
                    raise SourceError(f"{place.shown}: in an archive only text is read. Unpack it, and give the files.")
                return format
        with place.stream() as file:
            start: bytes = file.read(4096)
    said = by_door('Files(..., format="jsonl")', "--format jsonl")
    if suffix == ".json":
        raise SourceError(
            f"{place.shown}: unknown format. Of JSON only lines are read, one object a line: write them, for example with "
            f"jq -c '.[]', into a file that ends in .jsonl; or say {said}."
        )
    if not _may_be_csv(place.path, b"" if options.names else start):
        raise SourceError(f"{place.shown}: unknown format. Give {formats.format_names()}. Of JSON Lines say {said}.")
    return formats.CSV


def _stated_format(place: Place, options: FileOptions, suffix: str) -> formats.Format | None:
    """The format of text that begins with a row, by its name or by what was said; None: its first bytes may say it."""
    if options.format == "jsonl" or (options.format is None and suffix in _JSON_LINES):
        return formats.JSON_LINES
    if options.format is not None or (options.names and suffix in _TEXT):
        return formats.CSV
    if options.names and suffix not in _TYPED:
        door = by_door('Files(..., format="csv")', "--format csv")
        raise SourceError(
            f"{place.shown}: without a header line what a file is must be known by its name (.csv, .tsv, .txt, .xlsx), or said: "
            f"{door}."
        )
    return None


def _check_no_database(head: bytes, shown: str) -> None:
    """A database holds several tables: say how one of them is asked for."""
    for kind, (at, magic) in _DATABASES.items():
        if head[at : at + len(magic)] == magic and b"\0" in head:  # text holds no NUL
            raise SourceError(
                f"{shown} is a database. Give {kind}:///PATH in place of the path, and its table: "
                f"{by_door('Files(..., sql_table=...)', '--sql-table NAME')}."
            )


def _suffix(path: str) -> str:
    """How a name ends, the ending of a compression aside."""
    name = PurePosixPath(path)
    return (name.with_suffix("").suffix if name.suffix.lower() in _COMPRESSED else name.suffix).lower()


def _may_be_csv(path: str, start: bytes) -> bool:
    # the header line alone: what a row holds must not decide whether a file is read
    header = start.lstrip(b"\r\n").replace(b"\r", b"\n").partition(b"\n")[0]
    is_binary = b"\0" in header and not start.startswith(_UTF16_MARKS)
    return not (is_binary or _suffix(path) in _NOT_CSV or start.lstrip().startswith(_NOT_CSV_STARTS))
