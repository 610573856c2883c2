"""Excel workbooks as outputs: one sheet, row by row into a temporary file, so that memory does not grow with the table.

No cell is a formula. A text is written as a text, whatever it begins with, so that a program that opens the workbook computes
nothing. A text that is a plain number of at most 15 digits (31, -0.50, and not 007 or 1e3) is written as the number: a sum in a
spreadsheet passes over texts without a word. Both are told by the cell alone, but for columns that are known to hold texts
(`marked_by`): codes such as postcodes stay texts in every cell.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Collection
from datetime import date, datetime, time
from types import TracebackType
from typing import Any, Self

import pyarrow as pa

from cloister.errors import SinkError
from cloister.schema import Category, Schema, Text
from cloister.sources.excel_cells import cell_text

__all__ = ["MOST_ROWS", "ExcelWriter", "check_rows_fit", "marked_as_texts", "marked_by"]

MOST_ROWS = 1_048_575  # below the header
MOST_COLUMNS = 16_384
OPTIONS = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "in_memory": False}
FIRST_DAY = date(1900, 3, 1)  # before it the calendar of Excel has a day that never was
LONGEST_TEXT = 32_767  # characters of a cell
TEXTS = {b"cells": b"texts"}  # metadata of a column whose texts stay texts
_MOST_EXACT = 2**53
MOST_SIGNS = 16  # a workbook keeps 15 digits of a number
_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?", re.ASCII)


class ExcelWriter:
    """Writes tables of one schema below each other."""

    def __init__(self, target: Any, schema: pa.Schema) -> None:
        try:
            import xlsxwriter
        except ImportError:
            raise SinkError(
                "Excel workbooks are written by xlsxwriter. Install it with: pip install 'cloister[excel]'"
            ) from None
        if len(schema) > MOST_COLUMNS:
            raise SinkError(f"an Excel sheet has at most {MOST_COLUMNS:,} columns. Write CSV or Parquet.")
        for column in schema:
            if not _is_writable(column.type):
                raise pa.ArrowInvalid(f"no cell of a sheet is of type {column.type}")
        self._rows, self._is_closed = 0, False
        self._texts = [dict(column.metadata or {}).items() >= TEXTS.items() for column in schema]
        # what is no path is asked only whether the cells can be written
        self._book = xlsxwriter.Workbook(target if isinstance(target, str) else io.BytesIO(), OPTIONS)
        self._sheet = self._book.add_worksheet("table")
        self._day = self._book.add_format({"num_format": "yyyy-mm-dd"})
        for place, name in enumerate(schema.names):
            self._text(0, place, name)

    def write_table(self, table: pa.Table) -> None:
        """Write rows."""
        check_rows_fit(self._rows + table.num_rows)
        columns = [column.to_pylist() for column in table.columns]
        for row in zip(*columns, strict=True):
            self._rows += 1
            for place, cell in enumerate(row):
                if cell is not None:
                    self._write(self._rows, place, cell)

    def _write(self, row: int, column: int, cell: Any) -> None:
        if isinstance(cell, bool):
            self._sheet.write_boolean(row, column, cell)
        elif isinstance(cell, str):
            number = None if self._texts[column] else _plain_number(cell)
            if number is None:
                self._text(row, column, cell)
            else:
                self._sheet.write_number(row, column, number)
        elif isinstance(cell, date):
            self._write_day(row, column, cell)
        elif math.isfinite(cell) and abs(cell) <= _MOST_EXACT:
            self._sheet.write_number(row, column, cell)
        else:
            self._text(row, column, cell_text(cell))

    def _write_day(self, row: int, column: int, day: date) -> None:
        if day >= FIRST_DAY:
            self._sheet.write_datetime(row, column, datetime.combine(day, time()), self._day)
        else:
            self._text(row, column, day.isoformat())

    def _text(self, row: int, column: int, text: str) -> None:
        if len(text.encode("utf-16-le")) // 2 > LONGEST_TEXT:
            raise ValueError("a text is longer than a cell")
        if text:
            self._sheet.write_string(row, column, text)

    def close(self) -> None:
        """Pack the workbook."""
        from xlsxwriter.exceptions import XlsxFileError

        if not self._is_closed:
            self._is_closed = True
            try:
                self._book.close()
            except XlsxFileError:
                raise OSError("the workbook could not be packed") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


def marked_as_texts(schema: pa.Schema, names: Collection[str]) -> pa.Schema:
    """A schema in which texts of some columns stay texts, also those that are plain numbers."""
    return pa.schema([column.with_metadata(TEXTS) if column.name in names else column for column in schema])


def marked_by(described: Schema | None, schema: pa.Schema) -> pa.Schema:
    """The same with the columns that are described as categories or text."""
    known = () if described is None else described.columns
    return marked_as_texts(schema, [column.name for column in known if isinstance(column.kind, Category | Text)])


def check_rows_fit(count: int) -> None:
    """Refuse more rows than a sheet has."""
    if count > MOST_ROWS:
        raise SinkError(f"an Excel sheet has at most {MOST_ROWS:,} rows below its header. Write CSV or Parquet.")


def _is_writable(kind: pa.DataType) -> bool:
    is_number = pa.types.is_integer(kind) or pa.types.is_boolean(kind) or pa.types.is_floating(kind)
    return bool(
        is_number
        or pa.types.is_date32(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_null(kind)
    )


def _plain_number(text: str) -> float | None:
    """The number that a text is, if it is written plainly and a workbook keeps all its digits; None: it stays a text.

    >>> [_plain_number(text) for text in ("31", "-0.50", "007", "1e3", "=1+1", "20-29", "nan", "0.30000000000000004")]
    [31.0, -0.5, None, None, None, None, None, None]
    """
    return float(text) if len(text) <= MOST_SIGNS and _NUMBER.fullmatch(text) else None
