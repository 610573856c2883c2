"""Rows with more or fewer cells than their table has columns, counted for the holder.

Privacy
-------
Every release fills up what is too short and cuts what is too long, row by row, and says nothing of it. The count is exact: it
is for the holder's eyes, and no release may depend on it.
"""

from __future__ import annotations

from cloister.sources.csv import CsvSource
from cloister.sources.json_lines import JsonLinesSource
from cloister.sources.opening import SeveralSources
from cloister.sources.python_tables import RowsSource
from cloister.sources.source import Source

__all__ = ["count_ragged", "is_json"]


def count_ragged(source: Source) -> int:
    """How many rows are so: lines of text files, and rows of lists. Other data has a cell of each column in each row."""
    if isinstance(source, SeveralSources):
        return sum(map(count_ragged, source.parts))
    return source.ragged_rows() if isinstance(source, CsvSource | JsonLinesSource | RowsSource) else 0


def is_json(source: Source) -> bool:
    """Whether such rows are lines that are no JSON objects."""
    first = source.parts[0] if isinstance(source, SeveralSources) else source
    return isinstance(first, JsonLinesSource)
