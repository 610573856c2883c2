"""The files of a private table, read back: its rows, checked against their certificate, and the arrays that they are made of."""

from __future__ import annotations

import csv as csv_text
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import DataError, SourceError
from cloister.privacy.certificate_json import is_as_written
from cloister.privacy.certified_files import check_kind, existing_file, faults_told, read_beside
from cloister.privacy.events import GaussianEvent
from cloister.privacy.mechanisms import gaussian, laplace
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency
from cloister.schema.strict_json import read_json
from cloister.sources.exact_parquet import has_only
from cloister.sources.sound_batches import read_table
from cloister.tabulation.axes import ALL
from cloister.tabulation.cell_quantiles import quantile_name
from cloister.tabulation.cell_statistics import CellStatistic, CellSums, Columns, MarginCounts
from cloister.tabulation.margins import Axes
from cloister.tabulation.table_workbooks import XLSX, is_workbook, read_workbook

__all__ = [
    "BESIDE",
    "CERTIFICATE",
    "COUNTED",
    "ENDINGS",
    "KIND",
    "MOST_COLUMNS",
    "WHOLE",
    "SavedTable",
    "has_whole_counts",
    "hash_of_rows",
    "json_bytes",
    "read_certificate",
    "read_rows_beside",
    "read_saved",
]

KIND = "table"  # of its certificate
CERTIFICATE = "cloister.release"  # the key in a Parquet file's metadata
ENDINGS = (".csv", ".parquet", ".json", XLSX)
BESIDE = (".csv", XLSX)  # which have their certificate beside them; it is inside the others
MOST_COLUMNS = 8  # that make cells
COUNTED = ("count", "standard_error", "low", "high")
WHOLE = ("count", "low", "high")
WANTED = "Give a table that cloister tabulate or PrivateTable.save wrote"
Rows = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class SavedStatistic:
    """A mean or quantiles as the file has them, by which axes a margin keeps."""

    heads: tuple[str, ...]
    saved: Mapping[Axes, Columns]

    def columns(self, margin: MarginCounts) -> Columns:
        return self.saved[margin.kept]


@dataclass(frozen=True, slots=True)
class SavedTable:
    """What the rows of a file say of a table; `PrivateTable` documents the fields."""

    release: Release
    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    margins: Mapping[Axes, Columns]

    @property
    def counts(self) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = self.margins[tuple(range(len(self.by)))]["count"].astype(np.int64)
        return counts

    @property
    def errors(self) -> dict[Axes, float]:
        return self._errors("standard_error")

    @property
    def intervals(self) -> dict[Axes, tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """The lower and upper ends of the intervals of the counts."""
        return {kept: (of["low"].astype(np.int64), of["high"].astype(np.int64)) for kept, of in self.margins.items()}

    @property
    def width(self) -> float:
        """Standard deviations to either side of a 95% interval: those of the noise that was drawn."""
        has_gaussian = any(isinstance(event, GaussianEvent) for event in self.release.events)
        return gaussian.INTERVAL_WIDTH if has_gaussian else laplace.INTERVAL_WIDTH

    def statistics(self) -> Iterator[CellStatistic]:
        """What it says of numbers beside the counts, in the order of its columns."""
        heads = list(self.margins[()])[len(COUNTED) :]
        widths = head_counts(self.release.parameters)
        summed = {f"sum of {name}": str(name) for name in self.release.parameters["measures"]}
        while heads:
            own, heads = tuple(heads[: widths[heads[0]]]), heads[widths[heads[0]] :]
            if own[0] in summed:
                sums = self.margins[tuple(range(len(self.by)))][own[0]].astype(np.float64)
                yield CellSums(summed[own[0]], sums, self._errors(own[1]), most_decimals(sums))
            else:
                yield SavedStatistic(own, {kept: {head: of[head] for head in own} for kept, of in self.margins.items()})

    def _errors(self, head: str) -> dict[Axes, float]:
        """A standard error, which is the same in all cells of a margin."""
        return {kept: float(of[head].flat[0]) for kept, of in self.margins.items()}


def head_counts(parameters: Mapping[str, Any]) -> dict[str, int]:
    """How many columns each statistic of a table has, by the name of the first."""
    summed = {f"sum of {name}": 2 for name in parameters["measures"]}
    means = {f"mean of {name}": 2 for name in parameters.get("means", ())}
    asked = {name: facts["quantiles"] for name, facts in parameters.get("quantiles", {}).items()}
    return summed | means | {quantile_name(name, listed[0]): 3 * len(listed) for name, listed in asked.items()}


def most_decimals(numbers: NDArray[np.float64]) -> int:
    """How many decimals rounded numbers have at most.

    >>> most_decimals(np.array([0.1, 300.0, 2.25]))
    2
    """
    exponents = (Decimal(repr(number)).normalize().as_tuple().exponent for number in numbers.ravel().tolist())
    return max(0, *(-int(exponent) for exponent in exponents))


def json_bytes(certificate: Any, rows: list[Any]) -> bytes:
    """A table as a JSON file."""
    return (json.dumps({"release": certificate, "rows": rows}, indent=1, ensure_ascii=False) + "\n").encode()


def hash_of_rows(rows: Iterable[Mapping[str, Any]]) -> str:
    """A hash of the rows of a table, in their order."""
    digest = hashlib.sha256()
    for row in rows:
        digest.update(json.dumps(row, ensure_ascii=False).encode() + b"\n")
    return digest.hexdigest()


def most_rows(release: Release) -> int:
    """How many rows the table of a certificate has at most: its cells, and all margins of them."""
    cells, by = release.parameters.get("cells"), release.parameters.get("by")
    if not isinstance(cells, int) or not isinstance(by, list) or len(by) > MOST_COLUMNS:
        return 0
    return cells * int(2 ** len(by))


def read_certificate(path: Path) -> Release | None:
    """The certificate inside a table that `save` wrote as Parquet or JSON; None where there is none.

    Raises when the rows are not those of the certificate.
    """
    inside = read_inside(path)
    return None if inside is None else inside[0]


def read_inside(path: Path) -> tuple[Release, Rows] | None:
    """The certificate inside a Parquet or JSON file, and the rows that it fits."""
    is_parquet = path.suffix.lower() == ".parquet"
    rows: list[Any] = []
    if is_parquet:
        import pyarrow.parquet as pq

        text = (pq.read_schema(path).metadata or {}).get(CERTIFICATE.encode(), b"")
        is_plain = True
    else:
        read = path.read_bytes()
        whole = read_json(read, path.name, advice="Give a table as it was written.")
        if not isinstance(whole, dict) or whole.keys() != {"release", "rows"} or not isinstance(whole["rows"], list):
            return None
        text, rows = json.dumps(whole["release"], indent=2, ensure_ascii=False).encode() + b"\n", whole["rows"]
        is_plain = read == json_bytes(whole["release"], rows)
    if not text:
        return None
    release = Release.from_json(text.decode(errors="replace"))
    if not (is_plain and is_as_written(release, text)):
        raise DataError(f"{path.name} was changed after it was written: its certificate is not as Cloister writes it.")
    if is_parquet:  # its certificate says how many rows it may have: a small file may hold billions
        is_long = pq.read_metadata(path).num_rows > most_rows(release)
        if is_long or not has_only(path, (CERTIFICATE.encode(),), {pa.string(), pa.float64(), pa.int64()}):
            raise DataError(f"{path.name} was changed after it was written: it holds more than the rows of its certificate.")
        rows = read_table(path).to_pylist()
    if release.result.get("rows_sha256") != hash_of_rows(rows):
        raise DataError(f"{path.name} was changed after it was written: its rows are not those of its certificate.")
    return release, rows


def read_saved(path: str | PathLike[str]) -> SavedTable:
    """A table that `PrivateTable.save` wrote, checked as `cloister verify` does.

    Raises
    ------
    SourceError
        It is no such file.
    DataError
        It was changed, or contradicts its certificate.
    """
    place = existing_file(path, ENDINGS, WANTED)
    with faults_told(place.name, WANTED):
        try:
            return arrange(*(read_with_certificate(place) if place.suffix.lower() in BESIDE else read_checked_inside(place)))
        except (KeyError, IndexError, TypeError):
            raise DataError(f"{place.name} contradicts itself: it is not the table of its certificate.") from None


def read_with_certificate(place: Path) -> tuple[Release, Rows]:
    """A CSV or a workbook, whose certificate stands beside it."""
    release = read_beside(place, KIND, WANTED)
    return release, read_rows_beside(place, release)


def read_checked_inside(place: Path) -> tuple[Release, Rows]:
    """A file that holds its certificate."""
    inside = read_inside(place)
    if inside is None:
        raise SourceError(f"{place.name} has no certificate inside. {WANTED}.")
    check_kind(inside[0], KIND, place.name, WANTED)
    check_consistency(inside[0], place.parent)
    return inside


def has_whole_counts(release: Release) -> bool:
    """Whether its counts are whole; once they had decimals, as the total of the certificate has then."""
    return type(release.result.get("total")) is not float


def read_rows_beside(path: Path, release: Release) -> Rows:
    """The rows of a CSV or a workbook, which is told by its content: whoever gets a file renames it."""
    if not is_workbook(path):
        return read_csv_rows(path, release)
    by = release.parameters["by"]
    return read_workbook(path, by, WHOLE, len(by) + len(COUNTED) + sum(head_counts(release.parameters).values()))


def read_csv_rows(path: Path, release: Release) -> Rows:
    """The rows of a CSV, each column in the type that `PrivateTable.to_arrow` gives it."""
    from pyarrow import csv

    by: Sequence[str] = release.parameters["by"]
    counted = dict.fromkeys(WHOLE, pa.int64() if has_whole_counts(release) else pa.float64())
    with path.open(encoding="utf-8", newline="") as file:
        heads = next(csv_text.reader(file), [])
    if len({*heads}) != len(heads):  # of two columns of one name one would not be looked at
        raise DataError(f"{path.name} contradicts itself: two of its columns have one name.")
    kinds = dict.fromkeys(heads, pa.float64()) | counted | dict.fromkeys(by, pa.string())
    types = csv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=False)
    rows: Rows = csv.read_csv(path, None, csv.ParseOptions(newlines_in_values=True), types).to_pylist()
    return rows


def arrange(release: Release, rows: Rows) -> SavedTable:
    """Rows in the order of `PrivateTable.rows`, as arrays: cells, then margins from large to small, then the total."""
    by = tuple(map(str, release.parameters["by"]))
    cells = rows[: release.parameters["cells"]]
    labels = tuple(tuple(dict.fromkeys(row[name] for row in cells)) for name in by)
    every = list(rows[0])
    heads = [head for head in every if head not in by]
    margins: dict[Axes, Columns] = {}
    start = 0
    for kept in (axes for size in range(len(by), -1, -1) for axes in combinations(range(len(by)), size)):
        shape = tuple(len(labels[axis]) for axis in kept)
        own, start = rows[start : start + prod(shape)], start + prod(shape)
        for row, place in zip(own, np.ndindex(*shape), strict=False):
            wanted = dict.fromkeys(by, ALL) | {by[axis]: labels[axis][i] for axis, i in zip(kept, place, strict=True)}
            if list(row) != every or any(type(row[name]) is not str or row[name] != wanted[name] for name in by):
                raise DataError(
                    "the table contradicts itself: a row of it is not where it belongs, or has columns of its own."
                )
        margins[kept] = {head: _as_objects([row[head] for row in own]).reshape(shape) for head in heads}
    if start != len(rows):
        raise DataError("the table contradicts itself: it has more rows than its cells and their margins.")
    return SavedTable(release, by, labels, margins)


def _as_objects(values: list[Any]) -> NDArray[Any]:
    """An array of whatever was read: a list in place of a number stays one cell."""
    objects = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        objects[place] = value
    return objects
