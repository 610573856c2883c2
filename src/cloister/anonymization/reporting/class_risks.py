"""The risk of rows, or people, by the sizes of their classes: of a counted table, before and after it is generalised."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.find_recoding import SearchResult
from cloister.risks import class_measures
from cloister.risks.measures import Reidentification, reidentification

__all__ = ["THRESHOLD", "original_risk", "published_risk"]

THRESHOLD = 0.2  # from which probability on, exclusive, a row is at risk


def published_risk(result: SearchResult, rows: TupleCounts, threshold: float = THRESHOLD) -> Reidentification:
    """The risk of the rows, or people, of the published classes; suppressed rows that stay are one class."""
    labels = result.labels
    return _risk(labels, np.flatnonzero((rows.counts > 0) & ((labels >= 0) | result.is_starred)), rows, threshold)


def original_risk(rows: TupleCounts, threshold: float = THRESHOLD) -> Reidentification:
    """The risk of the rows, or people, as they were counted: of columns of very many numbers, by intervals."""
    widths = rows.codes.max(axis=0).astype(np.int64) + 1
    codes = rows.codes.astype(np.int64)
    if math.prod(widths.tolist()) < 2**62:
        tuple_of = np.ravel_multi_index(tuple(codes.T), tuple(widths.tolist()))
    else:
        tuple_of = np.unique(codes, axis=0, return_inverse=True)[1].ravel()
    return _risk(tuple_of, np.flatnonzero(rows.counts > 0), rows, threshold)


def _risk(labels: NDArray[np.int64], kept: NDArray[np.int64], rows: TupleCounts, threshold: float) -> Reidentification:
    _, class_of = np.unique(labels[kept], return_inverse=True)
    number = int(class_of.max()) + 1
    if rows.persons is None:
        return reidentification(class_measures.sizes(class_of, number, rows.counts[kept]), threshold=threshold)
    members = class_measures.memberships(class_of, rows.persons[kept])
    return reidentification(members.sizes(number), threshold=threshold, members=members)
