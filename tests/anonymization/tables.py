"""Small tables for property tests: any tree, any ordered column, nulls, several rows a person, sensitive values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from cloister.anonymization.counting.put_on_grid import make_bins
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.writing.recoding import Recoding
from cloister.schema.hierarchies import Hierarchy, flat


@dataclass(frozen=True)
class Table:
    """Whole rows, and the histogram that a specialization sees of them."""

    columns: list[Hierarchy | Scale]
    codes: np.ndarray  # (n, q)
    sensitive: list[int]
    target: list[int]
    persons: list[int]

    def histogram(self, *, persons: bool = False) -> TupleCounts:
        parts = [self.codes, np.array([self.sensitive, self.target]).T]
        if persons:
            parts.append(np.array(self.persons)[:, None])
        q = self.codes.shape[1]
        tuples, counts = np.unique(np.hstack(parts), axis=0, return_counts=True)
        return TupleCounts(
            np.ascontiguousarray(tuples[:, :q], dtype=np.int32),
            counts.astype(np.int64),
            sensitive=tuples[:, q : q + 1].astype(np.int32),
            target=tuples[:, q + 1].astype(np.int32),
            persons=tuples[:, q + 2].astype(np.int64) if persons else None,
        )

    def classify(self, recoding: Recoding) -> np.ndarray:
        """The class that a recoding gives to each row, by its cells alone."""
        codes = self.codes.copy()
        for j, column in enumerate(self.columns):
            if isinstance(column, Scale):
                cells = pa.array(np.append(column.values, np.nan)[codes[:, j]], from_pandas=True)
                codes[:, j] = recoding.columns[j].coder.look_up(cells)
        return recoding.classify(codes)

    def on_grid(self, k: int) -> tuple[list[Hierarchy | CutBins], np.ndarray]:
        """The columns as a search sees them, and the codes of the rows in them."""
        columns: list[Hierarchy | CutBins] = []
        codes = self.codes.copy()
        for j, column in enumerate(self.columns):
            if isinstance(column, Hierarchy):
                columns.append(column)
                continue
            rows = TupleCounts(codes, np.ones(len(codes), np.int64))
            bins, bin_of = make_bins(column, codes[:, j].astype(np.int64), rows, k)
            codes[:, j] = bin_of[codes[:, j]]
            columns.append(bins)
        return columns, codes

    @property
    def names(self) -> list[str]:
        return [f"q{j}" for j in range(len(self.columns))]


@st.composite
def trees(draw: st.DrawFn) -> Hierarchy:
    """A tree of up to four levels, some leaves shallower than others, perhaps with a leaf for nulls."""
    leaves = draw(st.integers(1, 7))
    paths = []
    for leaf in range(leaves):
        depth = draw(st.integers(0, 2))
        middle = [f"g{leaf // 2}", f"h{leaf // 4}"][2 - depth :]
        paths.append((f"v{leaf}", *middle, "*"))
    # a middle label keeps its parent only if every path through it agrees: drop what does not
    kept: dict[tuple[int, str], str] = {}
    for i, path in enumerate(paths):
        labels = list(path)
        for at in range(1, len(labels) - 1):
            if kept.setdefault((len(labels) - at, labels[at]), labels[at + 1]) != labels[at + 1]:
                paths[i] = (path[0], "*")
    tree = Hierarchy.from_paths(paths)
    return tree.with_null() if draw(st.booleans()) else tree


@st.composite
def scales(draw: st.DrawFn) -> Scale:
    """Up to six numbers, perhaps with nulls."""
    values = draw(st.lists(st.integers(-5, 30), min_size=1, max_size=6, unique=True))
    return Scale(np.array(sorted(values), np.float64), has_null=draw(st.booleans()))


@st.composite
def tables(draw: st.DrawFn, *, min_rows: int = 1) -> Table:
    """Any small table; often with equal rows, so that some classes are large."""
    columns = draw(st.lists(st.one_of(trees(), scales()), min_size=1, max_size=3))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(min_rows, 40))
    spread = draw(st.floats(0.05, 1.0))
    codes = np.stack([np.floor(random.random(n) ** (1 / spread) * column.leaves) for column in columns], axis=1)
    persons = random.integers(0, max(1, n // draw(st.integers(1, 3))), n).tolist()
    return Table(
        columns, codes.astype(np.int32), random.integers(0, 3, n).tolist(), random.integers(0, 2, n).tolist(), persons
    )


def labels_of_rows(table: Table, rows: TupleCounts, labels: np.ndarray, *, persons: bool = False) -> list[int]:
    """The class of each whole row."""
    parts = [rows.codes, rows.sensitive, rows.target[:, None]] + ([rows.persons[:, None]] if persons else [])
    place = {tuple(entry): int(label) for entry, label in zip(np.hstack(parts).tolist(), labels, strict=True)}
    whole = [table.codes, np.array([table.sensitive, table.target]).T] + (
        [np.array(table.persons)[:, None]] if persons else []
    )
    return [place[tuple(row)] for row in np.hstack(whole).tolist()]


FLAT = flat(["a", "b", "c"])
