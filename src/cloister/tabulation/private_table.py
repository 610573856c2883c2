"""A private table as a value: counts and sums by cell, with margins that agree, errors, and files."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import DataError, UsageError
from cloister.privacy.certificate_json import is_as_written
from cloister.privacy.release import Release
from cloister.schema.strict_json import read_json
from cloister.sinks import file_hashes, stage
from cloister.sources.exact_parquet import has_only
from cloister.sources.sound_batches import read_table
from cloister.tabulation.axes import ALL, TableLayout
from cloister.tabulation.margins import Axes

__all__ = ["PrivateTable"]

CERTIFICATE = "cloister.release"  # the key in a Parquet file's metadata
MOST_COLUMNS = 8  # that make cells
HALF_A_ROW = 0.5  # true counts are whole: without it a noise of less than a row would cover too little
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PrivateTable:
    """A released table.

    Attributes
    ----------
    by : names of its columns
    labels : the values or bins of each
    counts : array, one axis a column; not negative but not always whole, and every margin is a sum of it
    fitted : array, the same before counts were made not negative: unbiased
    sums : for each measure, an array of sums by cell; noise can take one below 0 or beyond what the bounds allow
    release, release_ : Release, the certificate, under the name that every result of Cloister has it

    `rows` says all of it with margins, total and 95% intervals; `save` writes it.
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    counts: Array
    fitted: Array
    errors: Mapping[Axes, float]
    sums: Mapping[str, Array]
    sum_errors: Mapping[str, Mapping[Axes, float]]
    width: float  # standard deviations to either side of a 95% interval
    release: Release | None = None

    @classmethod
    def from_layout(
        cls,
        layout: TableLayout,
        counts: Array,
        fitted: Array,
        errors: Mapping[Axes, float],
        sums: Mapping[str, Array],
        sum_errors: Mapping[str, Mapping[Axes, float]],
        interval_width: float,
    ) -> PrivateTable:
        """From arrays in the kernel's order of axes, to the user's."""
        order = layout.kernel_order
        turn = np.argsort(order)

        def renamed(table: Mapping[Axes, float]) -> dict[Axes, float]:
            return {tuple(sorted(order[axis] for axis in kept)): error for kept, error in table.items()}

        return cls(
            tuple(axis.name for axis in layout.axes),
            tuple(axis.labels for axis in layout.axes),
            counts.transpose(turn),
            fitted.transpose(turn),
            renamed(errors),
            {name: table.transpose(turn) for name, table in sums.items()},
            {name: renamed(table) for name, table in sum_errors.items()},
            interval_width,
        )

    def certified(self, release: Release) -> PrivateTable:
        """The same with its certificate."""
        return dataclasses.replace(self, release=release)

    @property
    def release_(self) -> Release | None:
        """The certificate."""
        return self.release

    @property
    def total(self) -> float:
        """The number of rows, as the cells add up to it."""
        return float(self.counts.sum())

    def margin(self, *kept: str) -> Array:
        """The counts by these columns alone: sums of the cells."""
        missing = [name for name in kept if name not in self.by]
        if missing:
            raise UsageError(f'the table has no column "{missing[0]}". Its columns: {", ".join(self.by)}.')
        axes = tuple(self.by.index(name) for name in kept)
        summed: Array = self.counts.sum(axis=tuple(axis for axis in range(len(self.by)) if axis not in axes))
        return summed.transpose(np.argsort(np.argsort(axes)))

    def rows(self) -> Iterator[dict[str, Any]]:
        """Cells, then margins from large to small, then the total: counts and sums with errors and 95% intervals."""
        axes = len(self.by)
        for kept in sorted(self.errors, key=lambda kept: (-len(kept), kept)):
            lost = tuple(axis for axis in range(axes) if axis not in kept)
            counts, fitted = self.counts.sum(axis=lost), self.fitted.sum(axis=lost)
            sums = {name: table.sum(axis=lost) for name, table in self.sums.items()}
            reach = self.width * self.errors[kept] + HALF_A_ROW if self.errors[kept] > 1e-3 else 0.0
            for place in np.ndindex(*(len(self.labels[axis]) for axis in kept)):
                names = dict.fromkeys(self.by, ALL)
                names |= {self.by[axis]: self.labels[axis][i] for axis, i in zip(kept, place, strict=True)}
                row: dict[str, Any] = {**names, "count": round(float(counts[place]), 3)}
                row["standard_error"] = round(self.errors[kept], 3)
                row["low"] = round(max(0.0, float(fitted[place]) - reach), 3)
                row["high"] = round(max(0.0, float(fitted[place]) + reach), 3)
                for name, table in sums.items():
                    row[f"sum of {name}"] = float(table[place])
                    row[f"standard_error of {name}"] = self.sum_errors[name][kept]
                yield row

    def frame(self) -> pa.Table:
        """`rows` as an Arrow table; "*" stands for a column that is added up."""
        return pa.Table.from_pylist(list(self.rows()))

    def fingerprint(self) -> str:
        """A hash of the rows; the certificate holds it, so that a changed file is seen."""
        return hash_of_rows(self.rows())

    def save(self, path: str | PathLike[str]) -> Release | None:
        """Write CSV, Parquet or JSON, by the name's ending; returns the certificate as it was written.

        A CSV has its certificate beside it, `NAME.release.json`; the other formats hold it inside.
        """
        target = Path(path)
        kind = target.suffix.lower()
        certificate = self.release.to_json() if self.release else "{}"
        if kind not in (".csv", ".parquet", ".json"):
            raise UsageError("a table is written as .csv, .parquet or .json. Give it a name that ends so.")
        with stage(target, directory=False, with_certificate=kind == ".csv") as staged:
            if kind == ".parquet":
                import pyarrow.parquet as pq

                pq.write_table(self.frame().replace_schema_metadata({CERTIFICATE: certificate}), staged.path)
            elif kind == ".json":
                staged.path.write_bytes(json_bytes(json.loads(certificate), list(self.rows())))
            else:
                from pyarrow import csv

                csv.write_csv(self.frame(), staged.path)
                release = self.release and dataclasses.replace(self.release, files=file_hashes(staged.path))
                staged.commit(release.to_json() if release else certificate)
                return release
            staged.commit()
        return self.release

    def __repr__(self) -> str:
        size = prod(self.counts.shape)
        return f"PrivateTable(by {', '.join(self.by)}: {size:,} cells, about {max(0, self.total):,.0f} rows)"


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
        if is_long or not has_only(path, (CERTIFICATE.encode(),), {pa.string(), pa.float64()}):
            raise DataError(f"{path.name} was changed after it was written: it holds more than the rows of its certificate.")
        rows = read_table(path).to_pylist()
    if release.result.get("rows_sha256") != hash_of_rows(rows):
        raise DataError(f"{path.name} was changed after it was written: its rows are not those of its certificate.")
    return release
