"""Where between two public cuts a row lies decides no label: neither its own nor anybody's.

``CLOISTER_FUZZ=50000`` runs as many tables; the usual run has a few dozen.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.counting import put_on_grid
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching import column_blocks
from cloister.anonymization.searching.localize import localize
from cloister.anonymization.searching.specialize import specialize
from cloister.errors import UsageError
from cloister.schema.hierarchies import flat

TABLES = int(os.environ.get("CLOISTER_FUZZ", "50"))
WORDS = flat(["f", "m", "x"])
SETTINGS = [("global", "loss"), ("global", "distance"), ("global", "entropy"), ("local", "")]


@dataclass(frozen=True)
class Facts:
    """What is public about a column."""

    step: float | None = None
    bounds: tuple[float, float] | None = None
    is_date: bool = False

    def between(self, random: np.random.Generator, low: float, high: float) -> float:
        """A place from `low` on and below `high`, or far beyond where there is no end."""
        if self.bounds is not None:
            low, high = max(low, self.bounds[0]), min(high, self.bounds[1])
        elif not np.isfinite(high):
            high = (low if np.isfinite(low) else 0.0) + np.floor(2 + 10.0 ** random.uniform(0, 5))
        if not np.isfinite(low):
            low = high - np.floor(2 + 10.0 ** random.uniform(0, 5))
        step = 1.0 if self.is_date else self.step
        if step is None:
            return float(random.uniform(low, high))
        return float(low + step * random.integers(0, max(1, int((high - low) / step))))  # cuts are on the step


FACTS = [Facts(1.0), Facts(), Facts(1.0, (-50.0, 400.0)), Facts(None, (-50.0, 400.0)), Facts(is_date=True)]


@dataclass(frozen=True)
class Table:
    """Groups of numbers or days, far apart; a word for each row, and a lone one with a word and a place of its own."""

    cells: np.ndarray  # (n, columns)
    words: np.ndarray  # (n,)
    facts: list[Facts]
    persons: np.ndarray | None

    def moved(self, row: int, column: int, place: float) -> Table:
        cells = self.cells.copy()
        cells[row, column] = place
        return Table(cells, self.words, self.facts, self.persons)

    def count(self) -> CountedTable:
        scales = [
            Scale(np.unique(cells), is_date=facts.is_date, bounds=facts.bounds, step=facts.step)
            for cells, facts in zip(self.cells.T, self.facts, strict=True)
        ]
        codes = [np.searchsorted(scale.values, cells) for scale, cells in zip(scales, self.cells.T, strict=True)]
        rows = TupleCounts(
            np.stack([*codes, self.words], 1).astype(np.int32), np.ones(len(self.cells), np.int64), persons=self.persons
        )
        return CountedTable(rows, [*scales, WORDS], [*(f"q{j}" for j in range(len(scales))), "w"])

    def edges(self, k: int) -> list[np.ndarray]:
        """Where the bins of each column begin and end."""
        return [bins.edges for bins in put_on_grid.put_on_grid(self.count(), k).columns if isinstance(bins, CutBins)]


def make_table(random: np.random.Generator, k: int) -> Table:
    sizes = k * random.integers(1, 5, random.integers(2, 6))
    facts = [FACTS[random.integers(len(FACTS))] for _ in range(random.integers(1, 3))]
    columns = []
    for each in facts:
        by = 30 if each.is_date else 1
        centres = np.sort(random.choice(60, len(sizes), replace=False))
        cells = np.repeat(centres, sizes) * by + random.integers(0, 3 * by, sizes.sum())
        if each.step is None and not each.is_date:
            cells = cells + random.random(len(cells)).round(int(random.integers(0, 3)))
        columns.append(np.append(random.permutation(cells), random.integers(100, 290) * by).astype(float))
    words = np.append(random.integers(0, 2, sizes.sum()), 2)
    persons = random.permutation(len(words)) if random.random() < 0.2 else None
    return Table(np.stack(columns, 1), words, facts, persons)


def labels_of(table: Table, k: int, scope: str, gain: str, suppression: float) -> list[tuple[str, ...]] | None:
    """What each row is published as; None if the table is refused."""
    try:
        if scope == "local":
            found = localize(table.count(), k)
        else:
            found = specialize(table.count(), k, gain=gain, suppression=suppression)
    except UsageError:
        return None
    texts = found.recoding.published(np.arange(len(found.recoding.classes)))
    return [texts[at] if at >= 0 else () for at in found.labels.tolist()]


def moves(seed: int, scope: str, gain: str, tables: int) -> Iterator[bool]:
    """Whether all labels stay, of random tables in which one row moves between the cuts around it, and the cuts stay."""
    random = np.random.default_rng(seed)
    for _ in range(tables):
        k, suppression = int(random.choice([3, 5, 8])), float(random.choice([0.0, 0.1, 0.2]))
        table = make_table(random, k)
        edges = table.edges(k)
        before = labels_of(table, k, scope, gain, suppression)
        for row in (-1, -1, int(random.integers(len(table.cells)))):
            column = int(random.integers(len(edges)))
            cell, ends = float(table.cells[row, column]), edges[column]
            at = min(int(np.searchsorted(ends, cell, side="right")) - 1, len(ends) - 2)
            moved = table.moved(row, column, table.facts[column].between(random, float(ends[at]), float(ends[at + 1])))
            if all(np.array_equal(old, new) for old, new in zip(edges, moved.edges(k), strict=True)):
                yield before == labels_of(moved, k, scope, gain, suppression)


@pytest.mark.parametrize(("scope", "gain"), SETTINGS)
def test_the_place_of_a_row_between_two_cuts_changes_no_label(scope: str, gain: str) -> None:
    """A lone row far away, removed or not, and any other row: wherever it lies between its cuts, all labels are the same."""
    stays = list(moves(3, scope, gain, TABLES))
    assert len(stays) > TABLES
    assert all(stays)


@pytest.mark.parametrize("gain", ["loss", "distance"])
def test_bins_measured_by_their_cells_are_caught(gain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the rule as it was, a bin as wide as the least and the largest cell in it make it."""
    make_bins, reach = put_on_grid.make_bins, {}

    def remember(scale: Scale, *arguments: object) -> tuple[CutBins, np.ndarray]:
        bins, bin_of = make_bins(scale, *arguments)  # type: ignore[arg-type]
        first = np.searchsorted(bin_of[:-1], np.arange(bins.count))
        reach[id(bins)] = bins, scale.values[first], scale.values[np.append(first[1:], len(scale.values)) - 1]
        return bins, bin_of

    monkeypatch.setattr(put_on_grid, "make_bins", remember)
    monkeypatch.setattr(column_blocks, "bin_reach", lambda bins: reach[id(bins)][1:])
    assert not all(moves(3, "global", gain, max(TABLES, 150)))


HELD = {  # the ages of a table, and how often women and men have them
    17: (3, 0), 18: (1, 1), 44: (4, 3), 45: (1, 5), 46: (5, 2), 59: (6, 4), 60: (2, 2), 61: (1, 5),
}  # fmt: skip
BOUNDED = """
[columns.age]
kind = "number"
bounds = [0, 300]
step = 1
role = "quasi"
[columns.sex]
kind = "category"
domain = ["f", "m", "x"]
role = "quasi"
"""


def test_the_age_of_one_removed_row_is_in_no_label(tmp_path: Path) -> None:
    """Two tables that differ in the age of a row that is removed from both, publish the same."""
    people = [
        (age, sex) for age, counts in HELD.items() for sex, count in zip("fm", counts, strict=True) for _ in range(count)
    ]
    shown = []
    for age in (110, 225):
        rows = [*people, (age, "x")]
        table = pa.table({"age": [row[0] for row in rows], "sex": [row[1] for row in rows]})
        made = cl.TopDownSpecialization(k=5, schema=cl.Schema.from_text(BOUNDED), suppression=0.2)
        made.publish(table, tmp_path / f"{age}.parquet")
        shown.append(pq.read_table(tmp_path / f"{age}.parquet").to_pylist())
    assert "x" not in {row["sex"] for row in shown[0]}
    assert shown[0] == shown[1]
