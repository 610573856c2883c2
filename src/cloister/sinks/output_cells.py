"""What is written: the format that an output's name asks for, and cells in the type of their column in the output."""

from __future__ import annotations

import os
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from cloister.errors import DataError, SinkError, raise_alone
from cloister.parameters import check_path
from cloister.schema.cell_values import texts
from cloister.schema.plain_arrays import plain_cells

__all__ = ["TEXT_FORMATS", "TITLES", "fit_cells", "format_of", "is_text"]

FORMATS = {".csv": "csv", ".parquet": "parquet", ".pq": "parquet", ".xlsx": "xlsx"}
TITLES = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet"}
TEXT_FORMATS = ("csv", "xlsx")  # which keep no types of columns


def format_of(out: str | os.PathLike[str], format: str | None = None) -> str:
    """The format that an output is written in: the one that was asked for, or the one that its name ends in."""
    out = check_path(out, "the output")
    if "://" in out:
        raise SinkError(f"{out} is a URL, and an output is a path. On a cluster give one that all its machines share.")
    if format is not None and format not in FORMATS.values():
        raise SinkError(f'format "{format}" cannot be written. Choose parquet, csv or xlsx.')
    chosen = format or FORMATS.get(Path(out).suffix.lower())
    if chosen is None:
        raise SinkError(f"{out}: the name does not say the format. Let it end in .csv, .parquet or .xlsx.")
    return chosen


def is_text(kind: pa.DataType) -> bool:
    """Whether a type is that of texts, stored one by one."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def fit_cells(cells: pa.Array, kind: pa.DataType, name: str) -> pa.Array:
    """Cells in another type: files of one source may differ, and CSV holds texts."""
    cells = plain_cells(cells)
    if cells.type == kind:
        return cells
    try:
        return texts(cells).cast(kind) if is_text(kind) and not is_text(cells.type) else pc.cast(cells, kind)
    except pa.ArrowInvalid:
        raise_alone(
            DataError(
                f'column "{name}" changes its type on the way, and some cells do not fit the first one. Convert it first.'
            )
        )
