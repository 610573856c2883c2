"""Columns of very many numbers: the intervals they are counted in follow the k-th lowest and the k-th highest row alone.

``CLOISTER_FUZZ=50000`` runs as many columns; the usual run has a few hundred.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.counting.public_grid import NumberGrid
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.wide_columns import intervals_of_range

COLUMNS = int(os.environ.get("CLOISTER_FUZZ", "150"))
MOST_INTERVALS, MOST_STEPS = 20_480, 131_072
MOST_PASSES = 7  # over the rows


def most_rows(cells: np.ndarray, k: int) -> Callable[[Scale], tuple[int, int]]:
    """Counts intervals: the first and the last without the k - 1 lowest and the k - 1 highest cells."""
    ends = np.sort(cells)[[k - 1, -k]]

    def count(intervals: Scale) -> tuple[int, int]:
        count.passes += 1  # type: ignore[attr-defined]
        assert count.passes <= MOST_PASSES  # type: ignore[attr-defined]
        places = np.searchsorted(intervals.edges, ends, side="right") - 1
        first, last = np.clip(places, 0, len(intervals.values) - 1).tolist()
        return first, last

    count.passes = 0  # type: ignore[attr-defined]
    return count


def make_cells(random: np.random.Generator, n: int) -> np.ndarray:
    kind = random.integers(0, 7)
    if kind == 0:
        return random.uniform(0, 10.0 ** random.integers(-8, 12), n).round(6)
    if kind == 1:
        return random.lognormal(8, random.choice([0.5, 2, 6, 40]), n)
    if kind == 2:  # beside a large number
        return 10.0 ** random.integers(2, 16) + random.normal(0, 1, n)
    if kind == 3:  # both signs, every size
        return random.normal(0, 1, n) * 10.0 ** random.integers(-300, 300, n).astype(float)
    if kind == 4:
        return random.normal(0, 10.0 ** random.integers(-300, 300), n)
    if kind == 5:  # near the ends of what a float holds
        return random.choice([5e-324, 1e-310, -1e-308, 1.7e308, -1.7e308], n) * random.choice([1, 0.5, 0.9], n)
    return np.floor(random.normal(0, 10.0 ** random.integers(0, 12), n))  # whole numbers


def expected_width(low: float, high: float, step: float | None) -> Fraction:
    """The least power of ten of which at most 20,480 intervals reach from one number to the other; of steps 131,072."""
    unit = Fraction(1) if step is None else Fraction(repr(step))
    least = max(abs(Fraction(low)), abs(Fraction(high))) / 2**50
    power = unit if step is not None else Fraction(10) ** -307
    grid = NumberGrid(power)
    while power < least:
        power *= 10
    while True:
        first, last = (int(grid.places(np.array([end]), power)[0]) for end in (low, high))
        if last - first < (MOST_INTERVALS if step is None else MOST_STEPS):
            return power
        power *= 10


def test_intervals_follow_the_kth_row_from_either_end_alone() -> None:
    """Whatever the cells are, and wherever fewer than k of them lie: the width is that of the range of most rows."""
    random, seen = np.random.default_rng(12), 0
    for _ in range(COLUMNS):
        k, n = int(random.integers(2, 30)), int(random.integers(100, 400))
        cells = make_cells(random, n)
        is_whole = bool((np.floor(cells) == cells).all() and np.abs(cells).max() < 2**53)
        step = 1.0 if is_whole else None
        low, high = np.sort(cells)[[k - 1, -k]].tolist()
        found = intervals_of_range(cells, None, step, most_rows(cells, k))
        assert found.width == expected_width(low, high, step)
        for _ in range(2):  # the outermost rows go elsewhere
            moved = np.sort(cells)
            moved[: k - 1] -= random.lognormal(0, 30, k - 1)
            moved[n - k + 1 :] += random.lognormal(0, 30, k - 1)
            moved = moved if step is None else np.floor(np.clip(moved, -(2.0**52), 2.0**52))
            moved[: k - 1], moved[n - k + 1 :] = np.minimum(moved[: k - 1], low), np.maximum(moved[n - k + 1 :], high)
            other = intervals_of_range(moved, None, step, most_rows(moved, k))
            assert (other.width, other.values.tolist()) == (found.width, found.values.tolist())
            seen += 1
    print(f"{seen:,} columns")


@pytest.mark.parametrize("span", [20.4799, 20.48, 20.4801, 2047.6, 2049.0, 7e5, 3e-9])
@pytest.mark.parametrize("start", [0.0, -3.3])
@pytest.mark.parametrize("step", [None, 1.0])
def test_one_extreme_row_does_not_decide_the_intervals(span: float, start: float, step: float | None) -> None:
    """A range beside which the width changes: with one more row anywhere beyond it, the intervals are the same."""
    k = 20
    cells = np.concatenate([np.full(2 * k, start), np.linspace(start, start + span, 5000), np.full(2 * k, start + span)])
    cells = cells if step is None else np.floor(cells)
    own = intervals_of_range(cells, None, step, most_rows(cells, k))
    for extreme in (2.0, 53.0, 1e4, 1e200):
        for beyond in (cells.max() + extreme * span, cells.min() - extreme * span):
            other = np.append(cells, beyond)
            found = intervals_of_range(other, None, step, most_rows(other, k))
            assert (found.width, found.values.tolist()) == (own.width, own.values.tolist())


def labels_of(cells: np.ndarray, k: int, out: Path, by_people: bool = False) -> list[str]:
    """The labels of a column that is published alone."""
    facts = '[columns.who]\nkind = "category"\nrole = "identifier"\n[columns.q]\nkind = "number"\nrole = "quasi"\n'
    schema = cl.Schema.from_text(f'unit = "who"\n{facts}' if by_people else facts)
    rows = pa.table({"q": cells, "who": [f"p{row}" for row in range(len(cells))]})
    cl.TopDownSpecialization(k=k, schema=schema, gain="entropy").publish(rows, out)
    return pq.read_table(out)["q"].to_pylist()


@pytest.mark.parametrize("by_people", [False, True])
def test_an_extreme_row_does_not_show_in_the_labels_of_others(by_people: bool, tmp_path: Path) -> None:
    """One row far away joins the outermost label, and nobody else's changes; by intervals of the range of all it would."""
    ends = np.repeat([0.0, 2047.0], 60)  # the range of most rows is the same with one row more
    cells = np.concatenate([ends, 10 + np.arange(5000) / 500 + 0.001])  # 50 rows in each tenth
    shown = [
        labels_of(np.append(cells, extra), 40, tmp_path / f"{at}.parquet", by_people)[: len(cells)]
        for at, extra in enumerate([[], 2100.0, -1e200])
    ]
    assert len(set(shown[0])) > 90
    assert all(other == shown[0] for other in shown[1:])


def test_rows_far_beyond_do_not_answer_for_a_cut(tmp_path: Path) -> None:
    """Where the k-th row from above is alone in its interval, no cut shows where that is."""
    dense, edge = np.linspace(0, 57, 5000), np.linspace(57.19, 57.1999, 20)
    beyond = 58e3 + np.arange(9) * 777.7
    shown = labels_of(np.concatenate([dense, edge, [57.205], beyond]), 10, tmp_path / "out.parquet")
    assert len(set(shown)) > 100
    assert not [label for label in shown if "57.2" in label]
