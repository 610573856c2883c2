"""Signs that a file is not read as it is meant, for the holder: a delimiter that is another one, a title above the header.

Privacy
-------
The first rows are looked at. The words are for the holder's eyes, and no private verb may ask for them.
"""

from __future__ import annotations

from itertools import islice

from cloister.errors import LikelyMisread, by_door, warn_of_release
from cloister.sources.csv import CsvSource
from cloister.sources.excel import ExcelSource
from cloister.sources.opening import SeveralSources

__all__ = ["warn_of_misreading"]

LOOKED_AT = 100  # rows


def warn_of_misreading(opened: object) -> None:
    """Warn the holder of data that was opened, if its first rows say that it is meant otherwise."""
    for source in opened.parts[:1] if isinstance(opened, SeveralSources) else (opened,):
        words = ""
        if isinstance(source, CsvSource) and len(source.names) > 1:
            words = _of_delimiter(source)
        elif isinstance(source, ExcelSource) and len(source.names) == 1 and source.has_cells_beside(LOOKED_AT):
            words = (
                "the header has one name, and rows below it have more cells. If it is a title above the header, give "
                f"{by_door('Files(..., skip=1)', '--skip 1')}."
            )
        if words:
            warn_of_release(words, LikelyMisread, 3)


def _of_delimiter(source: CsvSource) -> str:
    """What is said where every row has one field, and several columns are named."""
    widths = {len(row) for row in islice(source.raw_rows(), LOOKED_AT)}
    if widths != {1}:
        return ""
    said = by_door('Files(..., delimiter=";")', "--delimiter semicolon")
    return (
        f"{len(source.names)} columns are named, and the first rows have one field each: the file may have another delimiter. "
        f"Say which, for example {said}."
    )
