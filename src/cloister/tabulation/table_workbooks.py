"""Private tables as Excel workbooks: what a sheet can hold of one, how it is written, and how its rows are read back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from cloister.errors import DataError, SinkError
from cloister.file_options import FileOptions
from cloister.sinks.batch_writer import check_storable, writer_of
from cloister.sinks.excel_writer import LONGEST_TEXT, MOST_ROWS, marked_as_texts
from cloister.sources.excel import open_excel
from cloister.sources.excel_parts import MOST_AREA
from cloister.sources.places import Place

__all__ = ["XLSX", "check_workbook", "is_workbook", "read_workbook", "write_workbook"]

XLSX = ".xlsx"
PACKED = b"PK\x03\x04"  # what a workbook begins with
LOST = ("\ufffe", "\uffff")  # characters that a workbook does not give back


def check_workbook(rows: int, columns: int, texts: Iterable[str]) -> None:
    """Refuse a table that no sheet can hold, by public facts alone: before anything is charged for it.

    Raises
    ------
    SinkError
    """
    check_storable(pa.schema([("count", pa.int64())]), "xlsx")  # whether the writer is installed
    if rows > MOST_ROWS or (rows + 1) * columns > MOST_AREA:
        raise SinkError(
            f"the table has {rows:,} rows with its margins, in {columns} columns, and an Excel sheet at most {MOST_ROWS:,} rows "
            f"and, to be read back, {MOST_AREA:,} cells. Write .csv or .parquet, or use fewer columns or bins."
        )
    if any(
        len(text.encode("utf-16-le", "replace")) // 2 > LONGEST_TEXT or any(each in text for each in LOST) for text in texts
    ):
        raise SinkError(
            "a name or label of the table is longer than a cell of Excel, or cannot be one. Write .csv or .parquet."
        )


def write_workbook(table: pa.Table, by: Sequence[str], path: Path) -> None:
    """Write a table: labels are texts, also those that look like numbers, and all else are numbers."""
    with writer_of(str(path), "xlsx", marked_as_texts(table.schema, by)) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)


def is_workbook(path: Path) -> bool:
    """Whether a file is one by its content, whatever it is called."""
    with path.open("rb") as file:
        return file.read(len(PACKED)) == PACKED


def read_workbook(path: Path, by: Sequence[str], whole: Sequence[str], width: int) -> list[dict[str, Any]]:
    """The rows of a workbook of so many columns: labels as texts, whole numbers as such, and blanks among the others as None.

    Raises
    ------
    DataError
        It has other columns.
    """
    # a column more than there should be, and the header as the first row: what stands there is compared, not passed over
    places = tuple(f"c{place}" for place in range(width + 1))
    sheet = open_excel(Place(fs.LocalFileSystem(), str(path), path.name), FileOptions(names=places))
    columns = [column for batch in sheet.batches(places) for column in [batch.to_pydict()]]
    cells = [[cell for batch in columns for cell in batch[place]] for place in places]
    heads = [column[0] if column else "" for column in cells[:-1]]
    if any(cells[-1]) or not all(heads) or len({*heads}) != len(heads):
        raise DataError(f"{path.name} contradicts itself: its columns are not those of its certificate.")
    read = {head: [_cell(text, head, by, whole) for text in column[1:]] for head, column in zip(heads, cells, strict=False)}
    return [dict(zip(heads, row, strict=True)) for row in zip(*read.values(), strict=True)]


def _cell(text: str, head: str, by: Sequence[str], whole: Sequence[str]) -> Any:
    if head in by:
        return text
    if head in whole:
        return int(text)
    return float(text) if text else None
