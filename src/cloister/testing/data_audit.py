"""The exact audit of a release on a holder's own data: with and without single rows or people."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels.per_unit import people
from cloister.schema import Neighbours
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.sources.source import Source
from cloister.testing.exact_audit import ExactAudit, replay

__all__ = ["AuditedRow", "ChangedSource", "audit_rows"]


@dataclass(frozen=True)
class ChangedSource:
    """A source without some of its rows, and where `doubled` names one with a second copy of that row."""

    source: Source
    dropped: frozenset[int]
    doubled: int | None = None

    @property
    def in_memory(self) -> bool:
        """As the source."""
        return self.source.in_memory

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self.source.names

    def keeping_kinds(self) -> ChangedSource:
        """The same rows, in which every cell keeps its kind, as the source itself is read."""
        return replace(self, source=_keeping_kinds(self.source))

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists or structs."""
        return tuple(getattr(self.source, "nested", ()))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        return tuple(getattr(self.source, "texts", ()))

    @property
    def typed(self) -> bool:
        """Whether the source says what its columns hold."""
        return bool(getattr(self.source, "typed", True))

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows that are left, in their order."""
        start = 0
        for batch in self.source.batches(columns):
            places = np.arange(start, start + batch.num_rows)
            kept = places[[place not in self.dropped for place in places]]
            if self.doubled is not None and start <= self.doubled < start + batch.num_rows:
                kept = np.append(kept, self.doubled)
            yield batch if np.array_equal(kept, places) else batch.take(pa.array(kept - start, pa.int64()))
            start += batch.num_rows


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """The audit of one row of the data, which is named by its place."""

    row: int  # the first is 1
    audit: ExactAudit


def audit_rows(
    release: Callable[[Any], Any],
    data: Any,
    *,
    neighbours: Neighbours,
    unit: Unit | None = None,
    rows: Sequence[int] = (),
    tries: int = 5,
) -> Iterator[AuditedRow]:
    """Audit a release on the data with and without single rows, or people; under replace-one with a row replaced by another.

    Parameters
    ----------
    release : callable
        From data to a result, with its public choices fixed and without a ledger.
    data : paths, or anything that `cloister` reads and can read again
    neighbours, unit
        What the release protects.
    rows : places of rows, the first is 1
        By default `tries` of them, evenly spread over the table.
    """
    if unit is not None and not isinstance(unit, Unit):
        raise UsageError('unit must be a Unit, with how many rows of a person count: Unit("mrn", max_rows=5).')
    source = open_source(data)
    owners = owners_of(source, unit)
    count = len(owners)
    if count == 0:
        raise UsageError("the data has no rows, so there is none to leave out.")
    if any(not 1 <= row <= count for row in rows):
        raise UsageError(f"the data has rows 1 to {count:,}. Name one of them.")
    chosen = rows or (1 + np.unique(np.linspace(0, count - 1, min(tries, count)).astype(int))).tolist()
    for row in chosen:
        place = row - 1
        gone = frozenset(np.flatnonzero((owners == owners[place]).all(axis=1)).tolist()) if unit else frozenset([place])
        doubled = (place + count // 2) % count if neighbours is Neighbours.REPLACE_ONE else None
        yield AuditedRow(row, replay(release, (source, ChangedSource(source, gone, doubled))))


def owners_of(source: Source, unit: Unit | None) -> NDArray[Any]:
    """Whose row each is, as a release tells people apart, (n, 2); without a unit only their number counts."""
    rows, wanted = _keeping_kinds(source), [unit.column] if unit else []
    owners = [np.empty((0, 2), np.uint64)]
    for batch in rows.batches(wanted or list(source.names[:1])):
        owners.append(people(batch.column(0)) if unit else np.zeros((batch.num_rows, 2), np.uint64))
    return np.concatenate(owners)


def _keeping_kinds(source: Source) -> Source:
    """The source as the private verbs read it."""
    kept: Source = source.keeping_kinds() if hasattr(source, "keeping_kinds") else source
    return kept
