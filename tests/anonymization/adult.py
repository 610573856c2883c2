"""Adult, the usual benchmark of k-anonymity, with its hierarchies."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import pyarrow as pa
import pyarrow.csv

from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.specialize import Specialization
from cloister.schema.hierarchies import Hierarchy, find_hierarchies, read_hierarchy
from tests.real_data import real, real_set


@dataclass(frozen=True)
class Adult:
    """The table, its eight quasi-identifiers, and their histogram."""

    data: pa.Table
    names: list[str]
    trees: list[Hierarchy]
    rows: TupleCounts


@cache
def adult() -> Adult:
    """Adult without missing rows."""
    path = real("adult-30162.csv")
    data = pyarrow.csv.read_csv(path, parse_options=pyarrow.csv.ParseOptions(delimiter=";"))
    names = data.column_names[:8]
    files = find_hierarchies(real("adult_hierarchies"), names)
    trees = [read_hierarchy(files[name]) for name in names]
    codes = np.stack([tree.codes(data[name].combine_chunks()) for name, tree in zip(names, trees, strict=True)], axis=1)
    tuples, counts = np.unique(codes, axis=0, return_counts=True)
    return Adult(data, names, trees, TupleCounts(tuples, counts))


def training_rows() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Age, education-num and income of the complete training rows."""
    rows = real_set("adult").table.slice(0, 32_561).drop_null()
    return (
        rows["age"].to_numpy(),
        rows["education-num"].to_numpy(),
        np.array([income == ">50K" for income in rows["class"].to_pylist()], int),
    )


def loss_metric(table: Adult, found: Specialization) -> float:
    """Mean over rows and columns of (leaves under the published value - 1) / (leaves - 1), a suppressed row counting 1."""
    total = 0.0
    for j, column in enumerate(found.recoding.columns):
        under = np.bincount(column.of)
        loss = (under[column.of[table.rows.codes[:, j]]] - 1) / (table.trees[j].leaves - 1)
        total += float(np.where(found.labels >= 0, loss, 1.0) @ table.rows.counts)
    return total / table.rows.total / len(table.names)
