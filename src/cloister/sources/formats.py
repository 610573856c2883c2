"""The registry of file formats. A new format is a file beside this one and a line in `FORMATS`.

The command line lists the formats in its help, so nothing that takes time is imported here. `recognize` finds the format of
a file.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from cloister.errors import SourceError
from cloister.file_options import FileOptions, option_name

if TYPE_CHECKING:
    from cloister.sources.places import Place
    from cloister.sources.source import Source
    from cloister.sources.stated_names import StatedNames

__all__ = ["CSV", "FORMATS", "JSON_LINES", "Format", "format_names"]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files, known by the bytes that they begin with."""

    name: str
    magic: bytes  # empty: text, which begins with anything
    module: str  # imported when the first file of the format is opened: its function `opener` takes a place, gives a source
    opener: str
    takes: tuple[
        str, ...
    ] = ()  # the `FileOptions` that the opener takes, as a second argument; none: it has no such argument
    takes_names: bool = False  # whether the opener needs to be told the columns: all that is stated is its third argument

    def open(self, place: Place, said: FileOptions, stated: StatedNames) -> Source:
        """A source over a file of this format.

        What a call says (`said`) and the format has no use for is refused; what a schema says of such files is for others.
        """
        if unused := [option for option in said.stated() if option not in self.takes]:
            raise SourceError(
                f"{place.shown} is {_article(self.name)} {self.name} file, for which {option_name(unused[0])} means "
                "nothing. Leave it out."
            )
        opener: Callable[..., Source] = getattr(import_module(self.module), self.opener)
        options = said.over(stated.file.only(self.takes))
        if self.takes_names:
            return opener(place, options, stated)
        return opener(place, options) if self.takes else opener(place)


def _article(word: str) -> str:
    return "an" if word[0] in "AEIO" else "a"


CSV = Format("CSV", b"", "cloister.sources.csv", "open_csv", takes=("names", "skip", "delimiter", "format"))
JSON_LINES = Format(
    "JSON Lines",
    b"",
    "cloister.sources.json_lines",
    "open_json_lines",
    takes=("names", "skip", "format"),
    takes_names=True,
)
_STATISTICS = "cloister.sources.statistics_files"
_OLD_STATA = (105, 108, 110, 111, 113, 114, 115)  # versions of files before Stata 13
FORMATS = (
    Format("Parquet", b"PAR1", "cloister.sources.parquet", "open_parquet"),
    Format("Excel", b"PK\x03\x04", "cloister.sources.excel", "open_excel", takes=("names", "skip", "sheet")),
    Format("Excel", b"\xd0\xcf\x11\xe0", "cloister.sources.excel", "open_excel", takes=("names", "skip", "sheet")),
    Format("ORC", b"ORC", "cloister.sources.orc", "open_orc"),
    Format("Stata", b"<stata_dta>", _STATISTICS, "open_stata"),
    *(Format("Stata", bytes([version, order, 1]), _STATISTICS, "open_stata") for version in _OLD_STATA for order in (1, 2)),
    Format("SPSS", b"$FL2", _STATISTICS, "open_spss"),
    Format("SPSS", b"$FL3", _STATISTICS, "open_spss"),
    Format("SAS", bytes(12) + b"\xc2\xea\x81\x60", _STATISTICS, "open_sas"),
    Format("SAS", b"HEADER RECORD***", _STATISTICS, "open_sas_transport"),
    Format("Arrow", b"ARROW1", "cloister.sources.arrow", "open_arrow_file"),
    Format("Arrow", b"\xff\xff\xff\xff", "cloister.sources.arrow", "open_arrow_stream"),
    CSV,  # last: any text may be CSV
)


def format_names() -> str:
    """The names of all formats as a person lists them.

    >>> format_names()
    'CSV, JSON Lines, Parquet, Excel, ORC, Stata, SPSS, SAS or Arrow'
    """
    *others, last = dict.fromkeys(format.name for format in (CSV, JSON_LINES, *FORMATS))
    return f"{', '.join(others)} or {last}"
