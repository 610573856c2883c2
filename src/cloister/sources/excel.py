"""Excel workbooks (.xlsx, .xlsm and .xls): one sheet, whose first row that is not blank names the columns.

Privacy
-------
Every cell becomes a text by one rule (`excel_cells`), whatever else is in its row, its column and the sheet; the schema and
the flags then say what a column holds, as for CSV. The columns are those of the header: what stands right of it, or under
no name, is no part of the table. A row without any value under the header is no row, as a blank line of a CSV file is none,
so formats without values add none. A sheet is read whole and before anything is charged; `excel_parts` bounds how large it
may be.
"""

from __future__ import annotations

import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from threading import Lock
from typing import Any

import pyarrow as pa

from cloister.errors import SourceError, by_door, raise_alone
from cloister.file_options import NOTHING_SAID, FileOptions
from cloister.sources.excel_cells import cell_text
from cloister.sources.excel_parts import MOST_BYTES, Sheet, check_area, check_sizes, list_sheets
from cloister.sources.places import Place
from cloister.sources.source import BATCH_ROWS, present, retold
from cloister.sources.text_head import header_names

__all__ = ["ExcelSource", "open_excel"]

WORKBOOK = "xl/workbook.xml"
LEGACY = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"  # what .xls files begin with, and workbooks with a password
MOST_NAMED = 20  # sheets in a message


@dataclass(frozen=True)
class ExcelSource:
    """One sheet of a workbook."""

    shown: str
    names: tuple[str, ...]
    rows: SheetRows
    in_memory: bool = False
    typed: bool = False  # each cell has a type, and no column has one

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; every column is text."""
        wanted = present(self.names, columns)
        return self._batches(wanted)

    def has_cells_beside(self, most: int) -> bool:
        """Whether one of the first rows has a value right of the columns; for the holder."""
        return self.rows.has_cells_beside(len(self.names), most)

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        yield from self.rows.table(self.names).select(names).to_batches(BATCH_ROWS)


@dataclass
class SheetRows:
    """The rows below the header: as the reader has them until they are asked for, then as texts."""

    sheet: Any  # of python_calamine; None once the rows are texts
    first: int  # how many rows stand above the first row of the table
    left: int  # how many columns left of it
    cells: pa.Table | None = None
    reading: Lock = field(default_factory=Lock)

    def has_cells_beside(self, width: int, most: int) -> bool:
        """Whether one of so many first rows has a value right of the header; not once the rows are texts."""
        with self.reading:
            if self.sheet is None:
                return False
            rows = islice(readable_rows(self.sheet), self.first, self.first + most)
            return any(cell != "" for row in rows for cell in (row or ())[self.left + width :])

    def table(self, names: Sequence[str]) -> pa.Table:
        """All rows as texts; what the reader holds is let go."""
        with self.reading:
            if self.cells is None:
                with silenced_reader():
                    self.cells = _texts(islice(readable_rows(self.sheet), self.first, None), names, self.left)
                self.sheet = None
        return self.cells


def _texts(rows: Iterator[list[Any] | None], names: Sequence[str], left: int) -> pa.Table:
    """The rows that are not blank under the header, as columns of text."""
    width = len(names)
    under = slice(left, left + width)
    schema = pa.schema([(name, pa.string()) for name in names])
    pieces = []
    while some := list(islice(rows, BATCH_ROWS)):
        kept = [
            row[under] + [""] * (left + width - len(row)) if row else [""] * width
            for row in some
            if row is None or any(cell != "" for cell in row[under])
        ]
        columns = [pa.array(map(cell_text, column), pa.string()) for column in zip(*kept, strict=True)]
        if columns:
            pieces.append(pa.RecordBatch.from_arrays(columns, schema=schema))
    return pa.Table.from_batches(pieces, schema)


def readable_rows(sheet: Any) -> Iterator[list[Any] | None]:
    """The rows of a sheet from its top; None in place of one with a number that its format calls a date and no calendar has.

    The reader gives up at such a row, and goes on behind it: it is a row whose cells are all missing, and no other is touched.
    """
    rows = iter(sheet.iter_rows())
    unused = [""] * (sheet.start or (0, 0))[1]  # the reader begins at the first column that any row uses, and a table at A
    while True:
        try:
            row = [*unused, *next(rows)]
        except StopIteration:
            return
        except OverflowError:
            row = None
        except BaseException as error:
            if not is_fault_of_reader(error):
                raise
            row = None
        yield row


@contextmanager
def silenced_reader() -> Iterator[None]:
    """While the reader works, what the process says on its error stream goes nowhere: the reader prints its faults there."""
    if sys.stderr is not None:
        sys.stderr.flush()
    try:
        kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    except OSError:  # no error stream
        yield
        return
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def is_fault_of_reader(error: BaseException) -> bool:
    """Whether an error is how the reader's own faults arrive."""
    return type(error).__name__ == "PanicException"


def open_excel(place: Place, options: FileOptions = NOTHING_SAID) -> ExcelSource:
    """A source over one sheet of a workbook: the one that is named, or the only one that is not hidden."""
    sheet = options.sheet
    with retold(place.shown), place.open() as file:
        if file.size() > MOST_BYTES:
            raise SourceError(
                f"{place.shown}: the workbook is larger than {MOST_BYTES >> 30} GiB. Save the sheet as CSV UTF-8."
            )
        is_legacy = file.read(len(LEGACY)) == LEGACY
        file.seek(0)
        if not is_legacy:
            _check_archive(file, place.shown, sheet)
            file.seek(0)
        with silenced_reader():
            cells = _read_sheet(file, place.shown, sheet)
    with silenced_reader():
        names, first, left = _head(cells, place.shown, options)
    return ExcelSource(place.shown, names, SheetRows(cells, first, left))


def _check_archive(file: Any, shown: str, wanted: str | None) -> None:
    """Refuse a workbook that is too large to be read, before it is."""
    try:
        with zipfile.ZipFile(file) as book:
            if WORKBOOK not in book.namelist():
                raise SourceError(f"{shown}: this is no Excel workbook. Give one (.xlsx), or CSV.")
            chosen = choose_sheet(list_sheets(book, shown), wanted, shown)
            assert chosen.part is not None
            others = [name for name in book.namelist() if not name.startswith("xl/worksheets/")]
            check_sizes(book, [chosen.part, *others], shown)
            check_area(book, chosen.part, shown)
    except (zipfile.BadZipFile, pa.ArrowException, OSError, EOFError, KeyError, NotImplementedError, RuntimeError):
        raise_alone(
            SourceError(f"{shown}: the workbook breaks while it is unpacked; it may be damaged or incomplete. Get it anew.")
        )


def choose_sheet(sheets: Sequence[Sheet], wanted: str | None, shown: str) -> Sheet:
    """The sheet of a name, or the only one that may be meant."""
    tables = [sheet for sheet in sheets if sheet.part is not None]
    if wanted is not None:
        found = [sheet for sheet in tables if sheet.name == wanted]
        if not found:
            raise SourceError(f'{shown}: there is no sheet "{wanted}". {_listed(tables)}')
        return found[0]
    seen = [sheet for sheet in tables if sheet.is_visible]
    if len(seen) == 1:
        return seen[0]
    if not seen:
        raise SourceError(f"{shown}: the workbook has no visible sheet with cells. {_listed(tables)}")
    flag = by_door("sheet=", "--sheet NAME")
    raise SourceError(
        f"{shown}: the workbook has {len(seen)} sheets, and one is read. Choose it with {flag}. {_listed(seen)}"
    )


def _listed(sheets: Sequence[Sheet]) -> str:
    names = [f'"{sheet.name}"' for sheet in sheets[:MOST_NAMED]]
    return f"Its sheets: {', '.join(names)}{', ...' if len(sheets) > MOST_NAMED else ''}." if names else "It has no sheets."


def _read_sheet(file: Any, shown: str, wanted: str | None) -> Any:
    """The cells of a sheet, read whole."""
    try:
        import python_calamine
    except ImportError:
        raise SourceError(f"{shown} is an Excel workbook. Install its reader with: pip install 'cloister[excel]'") from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(file)
        kinds = python_calamine.SheetTypeEnum.WorkSheet, python_calamine.SheetVisibleEnum.Visible
        sheets = [
            Sheet(each.name, each.visible == kinds[1], "" if each.typ == kinds[0] else None) for each in book.sheets_metadata
        ]
        return book.get_sheet_by_name(choose_sheet(sheets, wanted, shown).name)
    except SourceError:
        raise
    except python_calamine.PasswordError:
        raise_alone(SourceError(f"{shown}: the workbook has a password. Save a copy without one, and give that."))
    except (python_calamine.CalamineError, OSError, ValueError):
        raise_alone(_unreadable(shown))
    except BaseException as error:
        if not is_fault_of_reader(error):
            raise
        raise_alone(_unreadable(shown))


def _unreadable(shown: str) -> SourceError:
    return SourceError(
        f"{shown}: the workbook cannot be read; it may be damaged or no workbook. Save it anew as .xlsx or CSV."
    )


def _head(sheet: Any, shown: str, options: FileOptions) -> tuple[tuple[str, ...], int, int]:
    """The names of the columns, how many rows stand above the table, and how many columns left of it."""
    skip = options.skip or 0
    if options.names:  # of a sheet without a header: its first column is A, whichever cells are used
        return options.names, skip, 0
    for place, row in enumerate(readable_rows(sheet)):
        texts = [cell_text(cell).strip() for cell in row or ()]
        if place < skip or not any(texts):
            continue
        left = next(at for at, text in enumerate(texts) if text)
        right = next(at for at in range(len(texts), 0, -1) if texts[at - 1])
        return header_names(texts[left:right], shown), place + 1, left
    raise SourceError(f"{shown}: the sheet is empty. It needs a row with the names of its columns.")
