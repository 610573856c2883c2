"""The search for a recoding, global or local, behind one function."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.request import Request
from cloister.anonymization.searching.specialize import specialize
from cloister.anonymization.writing.recoding import Recoding

__all__ = ["SearchResult", "find_recoding"]


@dataclass(frozen=True, slots=True, eq=False)
class SearchResult:
    """A recoding, and what it does to the tuples that it was found on."""

    recoding: Recoding
    labels: NDArray[np.int64]  # (t,) the class of each tuple, -1: suppressed
    suppressed: int  # rows
    is_starred: bool  # whether suppressed rows stay, published as *
    loss: float
    reason: str  # why the search stopped
    losses: tuple[float, ...]  # of each column


def find_recoding(request: Request, counted: CountedTable) -> SearchResult:
    """Find how to publish a table."""
    if request.scope == "local":
        from cloister.anonymization.searching.localize import localize  # here: it loads numba

        local = localize(counted, request.k, guards=request.guards, weights=request.weights, limits=request.limits)
        reason = f"every row is in a class that cannot be split without breaking k = {request.k}"
        reason += " or another guard" if request.guards else ""
        return SearchResult(local.recoding, local.labels, 0, False, local.loss, f"{reason}.", local.losses)
    end = specialize(
        counted, request.k, gain=request.gain, suppression=request.suppression, guards=request.guards,
        weights=request.weights, limits=request.limits,
    )  # fmt: skip
    return SearchResult(end.recoding, end.labels, end.suppressed, end.is_starred, end.loss, end.reason, end.losses)
