"""Estimates read back from their files: the tables that were written, checked against their certificate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.collect.certified_tables import ENDINGS, collection_of, read_certified
from cloister.collect.collection import Collection
from cloister.collect.estimated_answers import (
    KIND,
    MOST_ROWS,
    NUMBERS,
    EstimatedAnswers,
    Progress,
    expect_reports,
    silent,
    tables_frame,
)
from cloister.collect.estimated_table import EstimatedTable
from cloister.collect.estimating import METHODS
from cloister.collect.protocols import Channel
from cloister.collect.questions import ADDED_UP
from cloister.errors import UsageError, VerificationFailed
from cloister.privacy.certified_files import existing_file, faults_told, read_beside
from cloister.privacy.release import Release

__all__ = ["SavedEstimate"]

WANTED = "Give an estimate that cloister collect estimate or CollectionEstimate.save wrote"
SHOWN_TABLES = 5
NO_CHANNELS: tuple[Channel, ...] = ()  # of answers that are bits


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SavedEstimate(EstimatedAnswers):
    """An estimate that was read back: the tables of its file.

    Attributes
    ----------
    collection : Collection, as the certificate describes it
    method : "em", "norm-sub", "unbiased" or "clip"
    release_ : Release, the certificate

    The file holds no counts of reports. A marginal that is none of its tables is the sum of the first of them that has all its
    questions; estimated from its own reports it may differ a little.
    """

    collection: Collection
    method: str
    release: Release
    saved: tuple[EstimatedTable, ...]

    @property
    def release_(self) -> Release:
        """The certificate."""
        return self.release

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        return int(self.release.result["reports"])

    @property
    def refused(self) -> Mapping[str, int]:
        """How many reports were not, by reason."""
        return dict(self.release.result["refused_why"])

    def tables(self, progress: Progress = silent) -> list[EstimatedTable]:
        """The tables of the file, in its order."""
        return list(self.saved)

    def _table(self, names: tuple[str, ...], progress: Progress) -> EstimatedTable:
        exact = [table for table in self.saved if set(table.names) == set(names)]
        holding = [table for table in self.saved if set(table.names) >= set(names)]
        if not holding:
            tables = [" x ".join(table.names) for table in self.saved]
            listed = ", ".join(tables[:SHOWN_TABLES]) + (", ..." if len(tables) > SHOWN_TABLES else "")
            raise UsageError(
                f"no table of the file has all of these questions. Its tables: {listed}. Others come of the reports: estimate "
                "them anew."
            )
        table = (exact or holding)[0]
        return table if table.names == names else table.marginal(names)

    def _shown(self) -> list[str]:
        held = {name for table in self.saved for name in table.names}
        return [name for name in self.collection.names if name in held]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SavedEstimate:
        """Read an estimate back; see `CollectionEstimate.load`."""
        place = existing_file(path, ENDINGS, WANTED)
        release = read_beside(place, KIND, WANTED)
        with faults_told(place.name, WANTED):
            return read_estimate(place, release)


def read_estimate(place: Path, release: Release) -> SavedEstimate:
    """The estimate, or that its file and its certificate are not of one."""
    try:
        collection, method = collection_of(release), release.parameters["method"]
        reports, refused = release.result["reports"], release.result["refused_why"]
        rows = read_certified(place, collection.names, NUMBERS, MOST_ROWS)
        is_whole = method in METHODS and all(type(count) is int and count >= 0 for count in (reports, *refused.values()))
        tables = tuple(read_tables(collection, rows, reports, method)) if is_whole else ()
        is_whole = is_whole and len(tables) > 0 and tables_frame(collection.names, tables).equals(rows.combine_chunks())
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError, UsageError):
        is_whole = False
    if not is_whole:
        raise VerificationFailed(
            f"{place.name} contradicts itself: its tables are not such as its certificate describes. Do not rely on it."
        )
    return SavedEstimate(collection, method, release, tables)


def read_tables(collection: Collection, rows: pa.Table, reports: int, method: str) -> Iterator[EstimatedTable]:
    """The tables that stand below one another in a file; whether all their cells are in order, the caller compares."""
    values = {question.name: question.values for question in collection.questions}
    codes = {name: codes_of(rows[name], values[name]) for name in collection.names}
    counts, errors = (rows[name].to_numpy() for name in ("count", "standard_error"))
    if not (np.isfinite(counts).all() and np.isfinite(errors).all() and (errors >= 0).all()):
        raise ValueError
    start = 0
    while start < rows.num_rows:
        kept = [name for name in collection.names if codes[name][start] >= 0]
        end = start + prod(len(values[name]) for name in kept)
        # the cells of the last question change from row to row, those of the first one the last
        changes = {name: int(np.argmax(codes[name][start:end] != codes[name][start])) for name in kept}
        names = tuple(sorted(kept, key=changes.__getitem__, reverse=True))
        domains = tuple(values[name] for name in names)
        shape = tuple(map(len, domains))
        own = counts[start:end].reshape(shape)
        expected, channels = None, NO_CHANNELS
        if names[1:] or collection.question(names[0]).answering().joins:
            channels = collection.channels(names)
            expected = expect_reports(own, channels, reports, method)
        yield EstimatedTable(names, domains, own, errors[start:end].reshape(shape), reports, expected, channels)
        start = end


def codes_of(cells: pa.ChunkedArray, values: tuple[str, ...]) -> NDArray[Any]:
    """The place of each cell among the values of its question; -1 where that is added up."""
    found = pc.index_in(cells, pa.array([*values, ADDED_UP], pa.string()))
    if found.null_count:
        raise ValueError
    codes: NDArray[Any] = found.to_numpy()
    return np.where(codes == len(values), -1, codes)
