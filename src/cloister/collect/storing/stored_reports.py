"""The reports of an inbox as a source of rows: what is counted, estimated and exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from cloister.collect.collection import Collection
from cloister.collect.reports import CheckedReports
from cloister.collect.storing.inbox import Hosted, Inbox
from cloister.schema.arrow_numpy import from_numbers
from cloister.sources.source import BATCH_ROWS, present

__all__ = ["StoredReports"]


@dataclass(slots=True)
class StoredReports(CheckedReports):
    """The reports of a hosted collection: each was checked when it came, and has an id of its own."""

    inbox: Inbox
    hosted: Hosted
    refused: Counter[str] = field(default_factory=Counter)  # none was: they are not stored

    @property
    def collection(self) -> Collection:  # type: ignore[override]
        return self.hosted.collection

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = present(self.names, columns)
        for counted in self.inbox.answers(self.hosted.number):
            try:
                answers = self.hosted.codes.columns([row for row, _ in counted])
            except ValueError:
                raise self.inbox.store.damaged() from None
            distinct = pa.record_batch([answers[name] for name in wanted], names=list(wanted))
            rows = np.repeat(np.arange(len(counted)), [count for _, count in counted])  # (reports,)
            for start in range(0, len(rows), BATCH_ROWS):
                yield distinct.take(from_numbers(rows[start : start + BATCH_ROWS]))
