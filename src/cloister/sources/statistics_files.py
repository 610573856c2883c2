"""Stata (.dta), SPSS (.sav, .zsav) and SAS files (.sas7bdat, .xpt): declared columns, read once a few rows at a time.

Their reader, ReadStat, goes through a file from the start for each piece of it where the rows are compressed, and a fit goes
through its rows several times. So the columns that are asked for are copied once to a temporary file (`spool`), and all
passes over them read that. Only those columns are: files of surveys have thousands.

Privacy
-------
The types of columns are those that the file declares, and never those that the reader gives to a piece of it, which depend
on its rows. `statistics_cells` has the rule for a cell. No row is read before a charge.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import pyarrow as pa

from cloister.errors import DataError, SourceError, raise_alone
from cloister.sources.columnar import ColumnarSource, open_columnar
from cloister.sources.places import Place
from cloister.sources.spool import Spool
from cloister.sources.statistics_cells import SAS, SPSS, STATA, AnyBytes, Program, cells_of

__all__ = ["StatisticsReader", "open_sas", "open_sas_transport", "open_spss", "open_stata"]

MOST_CELLS = 1 << 22  # at a time: about 200 MB of Python's numbers
MOST_BYTES = 1 << 28  # at a time, by the declared widths of texts


@dataclass(eq=False)
class StatisticsReader:
    """Reads one file; the rows that were asked for once are kept in temporary files."""

    program: Program
    function: str  # of pyreadstat
    place: Place
    declared: pa.Schema = field(default_factory=lambda: pa.schema([]))
    called: dict[str, str] = field(default_factory=dict)  # as the reader names them when it takes bytes for characters
    widths: dict[str, int] = field(default_factory=dict)  # how many bytes a cell takes in the file
    texts: AnyBytes = field(default_factory=lambda: AnyBytes(None))
    spools: dict[tuple[str, ...], Spool] = field(default_factory=dict)

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file, as it declares them."""
        with _told(self.place.shown):
            _, known = self._read(file, metadataonly=True)
            _, raw = self._read(file, metadataonly=True, encoding=AnyBytes.READ_AS)
            stored, formats = known.readstat_variable_types, known.original_variable_types
            self.declared = pa.schema(
                [(name, self.program.kind(stored[name], formats[name])) for name in known.column_names]
            )
            self.called = dict(zip(known.column_names, raw.column_names, strict=True))
            self.widths = known.variable_storage_width
        try:
            self.texts = AnyBytes(known.file_encoding)
        except LookupError:
            raise_alone(
                SourceError(
                    f"{self.place.shown}: the texts are in an encoding that is unknown, or in which one text may end the "
                    "reading of all. Save the file anew, in Unicode."
                )
            )
        if not self.called:
            raise SourceError(f"{self.place.shown}: the file declares no columns. Check that it holds a table.")
        return self.declared

    def unsafe(self, file: Any) -> tuple[str, ...]:
        """None: any cell is read."""
        return ()

    def ambiguous(self, file: Any) -> tuple[str, ...]:
        """None: columns have no parts."""
        return ()

    def rounded(self, file: Any) -> tuple[str, ...]:
        """Days and moments: they are stored as numbers, which may have more places."""
        return tuple(column.name for column in self.declared if pa.types.is_temporal(column.type))

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, copied when they are first asked for."""
        names = tuple(sorted(columns)) or (self.declared.names[0],)  # a pass over no columns still counts rows
        schema = pa.schema([self.declared.field(name) for name in names])
        spool = self.spools.setdefault(names, Spool(schema, partial(self._pieces, schema), self.place.shown))
        return spool.batches(columns)

    def _pieces(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        """The rows from the start, as many at a time as fit."""
        limit = self._most_rows(schema)
        count = limit
        start = 0
        with self.place.open() as file:
            while count == limit:
                batch = self._piece(file, schema, start, limit)
                count = batch.num_rows
                start += count
                yield batch

    def _most_rows(self, schema: pa.Schema) -> int:
        width = sum(max(self.widths[name], 1) for name in schema.names)
        return max(1, min(MOST_CELLS // len(schema), MOST_BYTES // width))

    def _piece(self, file: Any, schema: pa.Schema, start: int, limit: int) -> pa.RecordBatch:
        wanted = [self.called[name] for name in schema.names]
        with _told(self.place.shown):
            cells, _ = self._read(file, encoding=AnyBytes.READ_AS, usecols=wanted, row_offset=start, row_limit=limit)
            columns = [
                cells_of(self.program, kind, cells.pop(name), self.texts)
                for name, kind in zip(wanted, schema.types, strict=True)
            ]
            return pa.RecordBatch.from_arrays(columns, schema=schema)

    def _read(self, file: Any, **options: Any) -> tuple[dict[str, list[Any]], Any]:
        import pyreadstat

        file.seek(0)
        found: tuple[dict[str, list[Any]], Any] = getattr(pyreadstat, self.function)(
            file, output_format="dict", disable_datetime_conversion=True, **options
        )
        return found


@contextmanager
def _told(shown: str) -> Iterator[None]:
    """Retell what the reader raises: its own messages may quote a text."""
    try:
        yield
    except MemoryError:
        raise
    except Exception:
        raise_alone(DataError(f"{shown}: the file breaks while it is read; it may be damaged or incomplete. Get it anew."))


def _open(program: Program, function: str, place: Place) -> ColumnarSource:
    try:
        import pyreadstat  # noqa: F401
    except ImportError:
        raise SourceError(
            f"{place.shown} is a file of {program.name}. Install its reader with: pip install 'cloister[statistics]'"
        ) from None
    return open_columnar(place, StatisticsReader(program, function, place))


def open_stata(place: Place) -> ColumnarSource:
    """A source over a file of Stata; what it declares is read."""
    return _open(STATA, "read_dta", place)


def open_spss(place: Place) -> ColumnarSource:
    """A source over a file of SPSS; what it declares is read."""
    return _open(SPSS, "read_sav", place)


def open_sas(place: Place) -> ColumnarSource:
    """A source over a table of SAS; what it declares is read."""
    return _open(SAS, "read_sas7bdat", place)


def open_sas_transport(place: Place) -> ColumnarSource:
    """A source over a transport file of SAS with some number in it; what it declares is read.

    The end of such a file is filled with blanks. Where all columns are texts, a last row without any is blanks too: rows above
    it would be there or not by what the last one holds.
    """
    source = _open(SAS, "read_xport", place)
    if len(source.texts) == len(source.stored):
        raise SourceError(
            f"{place.shown}: a transport file that holds texts alone does not say where its rows end. Add a column of numbers, "
            "such as the number of the row, or write it as CSV."
        )
    return source
