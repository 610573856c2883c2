"""A private table as a value: counts and statistics by cell, with margins that agree, errors, frames and files."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import DataError, UsageError
from cloister.parameters import check_path, check_shown
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Section, Sentence
from cloister.report.picture import Picture
from cloister.report.plotted import PlottedByColumn
from cloister.sinks import file_hashes, stage
from cloister.tabulation.axes import ALL
from cloister.tabulation.cell_statistics import CellStatistic, CellSums, MarginCounts
from cloister.tabulation.margins import Axes
from cloister.tabulation.saved_tables import BESIDE, CERTIFICATE, COUNTED, ENDINGS, hash_of_rows, json_bytes, read_saved
from cloister.tabulation.table_digits import significant
from cloister.tabulation.table_display import describe_rows, pivot_rows
from cloister.tabulation.table_figures import find_false_figure
from cloister.tabulation.table_pictures import MarginCells, table_pictures
from cloister.tabulation.table_workbooks import XLSX, check_workbook, write_workbook

__all__ = ["PrivateTable"]

HALF_A_ROW = 0.5  # true counts are whole: without it a noise of less than a row would cover too little
EXACT = 1e-3  # an error below which a count is known, such as a public number of rows
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PrivateTable(PlottedByColumn):
    """A released table.

    Attributes
    ----------
    by : names of its columns
    labels : the values or bins of each
    counts : array of whole numbers, one axis a column; not negative, and every margin is a sum of it
    fitted : array, the same before counts were made not negative and whole: unbiased; None of a table that was read back, since
        files hold the counts alone
    errors : the standard error of the counts, by which axes a margin keeps
    statistics : what it says of numbers beside the counts, in the order of its columns
    release, release_ : Release, the certificate, under the name that every result of Cloister has it
    intervals : of a table that was read back the ends of the counts' intervals, by which axes a margin keeps; else None

    `rows` says all of it with margins, total and 95% intervals; `to_pandas`, `to_polars` and `to_arrow` hand that out as a
    frame, `pivot` lays one number of it out in two ways, `save` writes it, and `load` reads it back.
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: NDArray[np.int64]
    fitted: Array | None
    errors: Mapping[Axes, float]
    statistics: tuple[CellStatistic, ...]
    width: float  # standard deviations to either side of a 95% interval
    release: Release | None = None
    intervals: Mapping[Axes, tuple[NDArray[np.int64], NDArray[np.int64]]] | None = None

    def certified(self, release: Release) -> PrivateTable:
        """The same with its certificate."""
        return dataclasses.replace(self, release=release)

    @property
    def release_(self) -> Release | None:
        """The certificate."""
        return self.release

    @property
    def total(self) -> int:
        """The number of rows, as the cells add up to it."""
        return int(self.counts.sum())

    @property
    def sums(self) -> dict[str, Array]:
        """For each measure, an array of sums by cell; noise can take one below 0 or beyond what the bounds allow."""
        return {each.name: each.sums for each in self.statistics if isinstance(each, CellSums)}

    @property
    def sum_errors(self) -> dict[str, Mapping[Axes, float]]:
        """For each measure the standard error of its sums, by which axes a margin keeps."""
        return {each.name: each.errors for each in self.statistics if isinstance(each, CellSums)}

    @property
    def heads(self) -> tuple[str, ...]:
        """The names of the columns that `rows` has."""
        return (*self.by, *COUNTED, *(head for each in self.statistics for head in each.heads))

    def margin(self, *kept: str) -> NDArray[np.int64]:
        """The counts by these columns alone: sums of the cells."""
        missing = [name for name in kept if name not in self.by]
        if missing:
            raise UsageError(f'the table has no column "{missing[0]}". Its columns: {", ".join(self.by)}.')
        axes = tuple(self.by.index(name) for name in kept)
        summed: NDArray[np.int64] = self.counts.sum(axis=tuple(axis for axis in range(len(self.by)) if axis not in axes))
        return summed.transpose(np.argsort(np.argsort(axes)))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Cells, then margins from large to small, then the total: counts, sums and what else is there, with their errors."""
        for kept in sorted(self.errors, key=lambda kept: (-len(kept), kept)):
            margin = self._margin_counts(kept)
            columns = {
                **self._counted(margin),
                **{k: v for each in self.statistics for k, v in each.columns(margin).items()},
            }
            flat = {name: column.ravel().tolist() for name, column in columns.items()}
            for row, place in enumerate(np.ndindex(*margin.counts.shape)):
                names = dict.fromkeys(self.by, ALL)
                names |= {self.by[axis]: self.labels[axis][i] for axis, i in zip(kept, place, strict=True)}
                yield {**names, **{name: column[row] for name, column in flat.items()}}

    def _margin_counts(self, kept: Axes) -> MarginCounts:
        lost = tuple(axis for axis in range(len(self.by)) if axis not in kept)
        added = prod(len(self.labels[axis]) for axis in lost)
        fitted = self.counts.astype(np.float64) if self.fitted is None else self.fitted
        return MarginCounts(kept, lost, self.counts.sum(axis=lost), fitted.sum(axis=lost), self.errors[kept], added)

    def _counted(self, margin: MarginCounts) -> dict[str, NDArray[Any]]:
        """Counts with errors and intervals; the ends are whole, since true counts are."""
        errors = np.full(margin.counts.shape, significant(margin.error) if margin.error > EXACT else 0.0)
        if self.intervals is not None:
            return dict(zip(COUNTED, (margin.counts, errors, *self.intervals[margin.kept]), strict=True))
        reach = self.width * margin.error + HALF_A_ROW if margin.error > EXACT else HALF_A_ROW - EXACT
        low = np.maximum(0, np.ceil(margin.fitted - reach)).astype(np.int64)
        high = np.maximum(0, np.floor(margin.fitted + reach)).astype(np.int64)
        return dict(zip(COUNTED, (margin.counts, errors, low, high), strict=True))

    def to_arrow(self) -> pa.Table:
        """`rows` as an Arrow table; "*" stands for a column that is added up."""
        kinds = dict.fromkeys(self.by, pa.string()) | dict.fromkeys(("count", "low", "high"), pa.int64())
        schema = pa.schema([(name, kinds.get(name, pa.float64())) for name in self.heads])
        return pa.Table.from_pylist(list(self.rows()), schema)

    def frame(self) -> pa.Table:
        """The same as `to_arrow`."""
        return self.to_arrow()

    def to_pandas(self) -> Any:
        """`rows` as a pandas frame."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> Any:
        """`rows` as a Polars frame; `polars.DataFrame(table)` gives the same."""
        try:
            import polars
        except ImportError:
            raise UsageError("Polars is not installed. Install it (pip install polars), or use to_arrow().") from None
        return polars.from_arrow(self.to_arrow())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def pivot(self, value: str = "count") -> pa.Table:
        """One number of the table laid out in two ways: a column for each value of the last column of `by`, and "*" for all."""
        return pivot_rows(self.by, self.labels[-1], self.to_arrow(), value)

    def describe(self) -> Document:
        """The first rows, the total and the guarantee, for a screen."""
        (shown,) = describe_rows(self.by, list(self.rows())).sections
        guarantee = [] if self.release is None else [Sentence(f"{self.release.guarantee}")]
        return Document((Section((*shown.blocks, *guarantee)),), title=f"Private table by {', '.join(self.by)}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def pictures(self, columns: Sequence[str] | None = None) -> tuple[Picture, ...]:
        """Bars with 95% intervals of each column, and a heat map of two. `columns`: which, default all of them."""
        asked = check_shown(columns, self.by, "the table has no column")
        pair = self.margin(*asked) if len(asked) == 2 else None
        columns_shown = [self._margin_cells(self.by.index(name)) for name in asked]
        return table_pictures(columns_shown, pair)

    def _margin_cells(self, axis: int) -> MarginCells:
        """The one-way margin of a column, as `rows` has it."""
        margin = self._margin_counts((axis,))
        found = {**self._counted(margin), **{k: v for each in self.statistics for k, v in each.columns(margin).items()}}
        numbers = {name: tuple(column.tolist()) for name, column in found.items()}
        return MarginCells(
            self.by[axis],
            self.labels[axis],
            numbers,
            tuple(each.heads for each in self.statistics),
            self.width,
            self.release is not None and self.by[axis] in self.release.parameters["bins"],
        )

    def fingerprint(self) -> str:
        """A hash of the rows; the certificate holds it, so that a changed file is seen."""
        return hash_of_rows(self.rows())

    def save(self, path: str | PathLike[str]) -> Release | None:
        """Write CSV, Parquet, JSON or Excel, by the name's ending; returns the certificate as it was written.

        A CSV has its certificate beside it, `NAME.release.json`; the other formats hold it inside.
        """
        target = Path(check_path(path, "the output", "a new file"))
        kind = target.suffix.lower()
        certified = self.release and dataclasses.replace(self.release, files={})  # one that was read back may list a CSV
        certificate = certified.to_json() if certified else "{}"
        if kind not in ENDINGS:
            raise UsageError("a table is written as .csv, .parquet, .json or .xlsx. Give it a name that ends so.")
        with stage(target, directory=False, with_certificate=kind in BESIDE) as staged:
            if kind == ".parquet":
                import pyarrow.parquet as pq

                pq.write_table(self.frame().replace_schema_metadata({CERTIFICATE: certificate}), staged.path)
            elif kind == ".json":
                staged.path.write_bytes(json_bytes(json.loads(certificate), list(self.rows())))
            else:
                self._write_beside(kind, staged.path)
                release = self.release and dataclasses.replace(self.release, files=file_hashes(staged.path))
                staged.commit(release.to_json() if release else certificate)
                return release
            staged.commit()
        return certified

    def _write_beside(self, kind: str, path: Path) -> None:
        """Write the rows in a format that has its certificate beside it."""
        table = self.to_arrow()
        if kind == XLSX:
            check_workbook(
                table.num_rows, table.num_columns, (*table.schema.names, *(each for some in self.labels for each in some))
            )
            write_workbook(table, self.by, path)
            return
        from pyarrow import csv

        csv.write_csv(table, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PrivateTable:
        """Read back what `save` or ``cloister tabulate`` wrote: the same rows, counts and certificate.

        A file is checked as ``cloister verify`` does it. It does not hold `fitted`, and errors to three digits.

        Raises
        ------
        SourceError
            It is no such file.
        DataError
            It was changed, or contradicts its certificate.
        """
        saved = read_saved(path)
        try:
            made = cls(
                saved.by, saved.labels, saved.counts, None, saved.errors, tuple(saved.statistics()), saved.width,
                saved.release, saved.intervals,
            )  # fmt: skip
            is_whole = find_false_figure(saved) is None and made.fingerprint() == saved.release.result["rows_sha256"]
        except (KeyError, IndexError, TypeError, ValueError, ArithmeticError):
            is_whole = False
        if not is_whole:
            raise DataError(
                f"{path} cannot be read back: its rows are not those of its certificate as this version writes them. Tables of "
                "earlier versions verify, and their files can be read as plain tables."
            )
        return made

    def __repr__(self) -> str:
        size = prod(self.counts.shape)
        return f"PrivateTable(by {', '.join(self.by)}: {size:,} cells, about {max(0, self.total):,.0f} rows)"
