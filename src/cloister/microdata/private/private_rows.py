"""Private rows as a value: a table of made-up rows with its certificate, and files."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from cloister.errors import UsageError
from cloister.file_options import Files
from cloister.microdata.private.row_pictures import row_pictures
from cloister.parameters import check_path
from cloister.privacy.certified_files import existing_file, faults_told, read_beside
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, TextTable, with_sentence
from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plotted import PlottedByColumn
from cloister.sinks import file_hashes, stage
from cloister.sinks.batch_writer import writer_of
from cloister.sinks.excel_writer import marked_as_texts
from cloister.sources.opening import open_source
from cloister.sources.sound_batches import read_table

__all__ = ["FORMATS", "PrivateRows", "format_of_rows"]

KIND = "rows"  # of its certificate
WANTED = "Give private rows that cloister microdata or PrivateRows.save wrote"
FORMATS = {".csv": "csv", ".parquet": "parquet", ".xlsx": "xlsx"}
SHOWN_ROWS, SHOWN_COLUMNS = 8, 8


@dataclass(frozen=True, slots=True, eq=False)
class PrivateRows(PlottedByColumn):
    """Made-up rows that may leave the building.

    Attributes
    ----------
    table : pyarrow.Table
        The rows, with the columns of the original that were described.
    release_ : Release
        The certificate.
    """

    table: pa.Table
    release_: Release

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def to_pandas(self) -> Any:
        """The rows as a pandas DataFrame."""
        return self.table.to_pandas()

    def to_arrow(self) -> pa.Table:
        """The rows as an Arrow table: `table`."""
        return self.table

    def to_polars(self) -> Any:
        """The rows as a Polars frame; `polars.DataFrame(rows)` gives the same."""
        try:
            import polars
        except ImportError:
            raise UsageError("Polars is not installed. Install it (pip install polars), or use to_arrow().") from None
        return polars.from_arrow(self.table)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)

    def as_rows(self) -> list[dict[str, Any]]:
        """The rows as plain data, days as text: what JSON can hold."""
        days = {column.name for column in self.table.schema if pa.types.is_date(column.type)}
        rows: list[dict[str, Any]] = self.table.to_pylist()
        return [{name: str(cell) if name in days else cell for name, cell in row.items()} for row in rows]

    def save(self, path: str | PathLike[str]) -> Release:
        """Write CSV, Parquet or Excel, by the name's ending, with the certificate beside it; returns that as it was written.

        The certificate is ``<path>.release.json`` and holds the hash of the file.
        """
        target = Path(check_path(path, "the output", "a new file"))
        format = format_of_rows(target)
        with stage(target, directory=False, with_certificate=True) as staged:
            schema = self.table.schema
            if format == "xlsx":  # numbers are typed here, so what is text are categories
                schema = marked_as_texts(schema, [column.name for column in schema if pa.types.is_string(column.type)])
            with writer_of(str(staged.path), format, schema) as writer:
                for batch in self.table.to_batches():
                    writer.write_batch(batch)
            release = dataclasses.replace(self.release_, files=file_hashes(staged.path))
            staged.commit(release.to_json())
        return release

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PrivateRows:
        """Read back what `save` or ``cloister microdata`` wrote, checked as ``cloister verify`` does it.

        CSV and Excel do not say whether numbers are whole: a column all of whose numbers are comes back as such.

        Raises
        ------
        SourceError
            It is no such file.
        DataError
            It was changed, or contradicts its certificate.
        """
        place = existing_file(path, tuple(FORMATS), WANTED)
        release = read_beside(place, KIND, WANTED)
        with faults_told(place.name, WANTED):
            return cls(read_made_up(place, release.parameters), release)

    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """How each column is spread over the rows. `columns`: which, default the first."""
        return row_pictures(self.table, columns)

    def describe(self) -> Document:
        """The first rows, and what was chosen on the way."""
        names = self.table.schema.names
        shown = self.table.slice(0, SHOWN_ROWS).to_pylist()
        rows = [[cell_text(row[name]) for name in names[:SHOWN_COLUMNS]] for row in shown]
        title = f"{len(self):,} private rows, all made up"
        table = TextTable.of(names[:SHOWN_COLUMNS], rows, title=title, align="left")
        left_out = [f"{len(self) - len(shown):,} rows more"] if len(self) > len(shown) else []
        left_out += [f"{len(names) - SHOWN_COLUMNS} columns more"] if len(names) > SHOWN_COLUMNS else []
        more = [Sentence(f"... and {' and '.join(left_out)} in the file")] if left_out else []
        choices = [Fact(name, text) for name, text in self.release_.parameters["choices"].items()]
        return Document((Section((table, *more, *choices)),), title="Private rows")

    def _repr_html_(self) -> str:
        return notebook.html(with_sentence(self.describe(), str(self.release_.guarantee)))

    def __repr__(self) -> str:
        return one_line(f"PrivateRows({len(self):,} rows of {', '.join(self.table.schema.names[:SHOWN_COLUMNS])})")


def cell_text(cell: Any) -> str:
    """A cell as it is shown."""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def format_of_rows(path: Path) -> str:
    """The format that a name's ending means."""
    if path.suffix.lower() not in FORMATS:
        raise UsageError("rows are written as .csv, .parquet or .xlsx. Give a name that ends so.")
    return FORMATS[path.suffix.lower()]


def read_made_up(path: Path, parameters: Mapping[str, Any]) -> pa.Table:
    """The rows of a file; where it holds texts, in the types that their certificate tells: numbers and days have bounds."""
    if path.suffix.lower() == ".parquet":
        return read_table(path)
    names = [str(name) for name in parameters["columns"]]
    source = open_source(Files(str(path), delimiter=",") if path.suffix.lower() == ".csv" else str(path))
    texts = pa.schema([(name, pa.string()) for name in names])
    read = pa.Table.from_batches(source.batches(names), texts)
    return pa.table({name: read_column(read[name], parameters["bounds"].get(name)) for name in names})


def read_column(cells: pa.ChunkedArray, bounds: Sequence[Any] | None) -> pa.ChunkedArray:
    """Texts in the type of their column; without bounds they are categories."""
    if bounds is None:
        return cells
    if isinstance(bounds[0], str):
        return cells.cast(pa.date32())
    numbers = cells.cast(pa.float64())
    try:
        return numbers.cast(pa.int64())
    except pa.ArrowInvalid:
        return numbers
