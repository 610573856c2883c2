"""Names of columns that a CSV header does not give back: refused before a row is read, not when the output is read again."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from cloister.errors import SinkError
from cloister.sinks.output_cells import TITLES

__all__ = ["check_header"]


def check_header(names: Sequence[str], written: Sequence[str], format: str) -> None:
    """Refuse names that CSV cannot hold, by their place: the name may be the first line of a file without a header.

    Parameters
    ----------
    names : sequence of str
        The columns of the table.
    written : sequence of str
        Those that are written. The output is read again by their names, those of untouched columns too.
    format : str
        Parquet holds any name.

    Raises
    ------
    SinkError
    """
    if format == "parquet":
        return
    for name in written:
        plain = name.strip()
        if any(unicodedata.category(character) == "Cc" for character in name):
            fault = "holds a line break or another control character"
        elif not plain:
            fault = "is blank"
        elif name != plain:
            fault = "has blanks around it"
        else:
            continue
        place = list(names).index(name) + 1
        raise SinkError(
            f"the name of column {place} {fault}, which {TITLES[format]} does not give back. Rename it, or write Parquet."
        )
