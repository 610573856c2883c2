"""Frames of Polars, which hand themselves over as Arrow streams: all but columns of Python objects.

Privacy
-------
Polars hands over a column of type Object as the addresses of its objects, eight bytes each: every row would be another person,
and nobody's rows would be bounded. The type is a public fact, so such a column is refused before anything is charged.
"""

from __future__ import annotations

import sys
from typing import Any

from cloister.errors import SourceError
from cloister.sources.class_facts import is_a

__all__ = ["check_polars_column", "check_polars_frame"]


def check_polars_frame(frame: Any) -> None:
    """Refuse a Polars frame with a column of Python objects; what is no Polars frame passes."""
    polars = sys.modules.get("polars")
    if polars is None or not is_a(frame, polars.DataFrame):
        return
    for name in polars.DataFrame.columns.__get__(frame):
        check_polars_column(name, polars.DataFrame.get_column(frame, name))


def check_polars_column(name: str, column: Any) -> None:
    """Refuse a Polars Series of Python objects; what is no Polars Series passes."""
    polars = sys.modules.get("polars")
    if polars is None or not is_a(column, polars.Series):
        return
    if polars.Series.dtype.__get__(column) == polars.Object:
        raise SourceError(
            f'column "{name}" is of the Polars type Object, whose cells leave Polars as addresses and not as values. Cast it to '
            "String or another type of values, or drop it."
        )
