"""Counting values that are not there: how many cells of each column stand for no value that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from cloister.encode import Encoded
from cloister.kernels.base import Change, Sensitivity, Summary
from cloister.schema import Neighbours

__all__ = ["MissingCounts", "missing_change"]


@dataclass(frozen=True, slots=True)
class MissingCounts:
    """How many rows have a made-up value in each of some columns; the codes of the rows say so (`encode.MadeUp`).

    Privacy: a row is counted at most once for each column. Replacing it moves each count by at most 1, as adding it does.
    """

    columns: int

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return {"counts": (self.columns,)}

    def fold(self, rows: Encoded) -> Summary:
        return Summary({"counts": np.count_nonzero(rows.codes[:, : self.columns], axis=0).astype(np.int64)})

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        return Sensitivity(({"counts": missing_change(self.columns)},))


def missing_change(columns: int) -> Change:
    """How far one row can move the counts of so many columns, under either relation."""
    return Change(l1=columns, l2_squared=columns)
