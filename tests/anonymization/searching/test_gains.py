"""Gains of single steps on tables that are worked out by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.put_on_grid import put_on_grid
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.cuts import Candidates, Workspace
from cloister.anonymization.searching.gains import Gain
from cloister.schema.hierarchies import Hierarchy, flat, intervals

# sex (f, m) and level (1, 2 are low; 3, 4 are high); rows: m1 m1 f2 f4
SEX = flat(["f", "m"])
LEVEL = Hierarchy.from_paths([("1", "low", "*"), ("2", "low", "*"), ("3", "high", "*"), ("4", "high", "*")])
ROWS = TupleCounts(np.array([[1, 0], [0, 1], [0, 3]], np.int32), np.array([2, 1, 1]))


def first_step(
    gain: Gain, rows: TupleCounts = ROWS, columns: tuple[Hierarchy | Scale, ...] = (SEX, LEVEL), allowed: int = 0, k: int = 1
) -> Candidates:
    """The candidates of the first step."""
    grid = put_on_grid(CountedTable(rows, columns, [f"q{j}" for j in range(len(columns))]), k)
    work = Workspace(grid.rows, grid.columns, k, [], gain, allowed)
    root = work.root()
    assert root is not None
    return work.weigh(root)


def test_entropy_gain() -> None:
    """Sex parts 4 rows into 2 and 2: one bit; level into 3 and 1: 0.8113 bits."""
    three_to_one = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    assert first_step(Gain.ENTROPY).information == pytest.approx([1.0, three_to_one])


def test_anonymity_divides_the_gain() -> None:
    """The smallest class falls from 4 to 2 by sex and to 1 by level: gains of 1/3 and 0.8113/4."""
    candidates = first_step(Gain.ENTROPY)
    assert candidates.score == pytest.approx(candidates.information / [3.0, 4.0])


def test_distance_gain_on_hierarchies() -> None:
    """Each row is at distance 1 of *; sex brings it to 0, level to (2 - 1)/(4 - 1); the mean is over two columns."""
    assert first_step(Gain.DISTANCE).information == pytest.approx([(1 - 0) / 2, (1 - 1 / 9) / 2])


def test_distance_gain_on_intervals() -> None:
    """Numbers are measured to the middle of their interval, over the range between the outermost middles."""
    tree = intervals(0, 40, width=10)  # leaves with the middles 5, 15, 25, 35
    rows = TupleCounts(np.array([[0], [1], [3]], np.int32), np.array([1, 1, 2]))
    before = (15**2 + 5**2 + 2 * 15**2) / 30**2  # to 20
    after = (5**2 + 5**2 + 2 * 5**2) / 30**2  # to 10 and to 30
    assert first_step(Gain.DISTANCE, rows, (tree,)).information == pytest.approx([(before - after) / 4])


# whole numbers from 0 to 10, of which 3, 1 and 2 rows hold 0, 4 and 10; cut at 2 and at 10: 0 to 1, 2 to 9, and 10
WHOLE = Scale(np.array([0.0, 4.0, 10.0]), bounds=(0.0, 10.0), step=1.0)
HELD = TupleCounts(np.array([[0], [1], [2]], np.int32), np.array([3, 1, 2]))


def test_distance_gain_on_thresholds() -> None:
    """Rows count as in the middle of their bins, 0.5, 5.5 and 10, each side of a cut is measured to its own middle."""
    whole = 3 * 4.75**2 + 1 * 0.25**2 + 2 * 4.75**2  # to 5.25
    before_2 = 0 + (2.25**2 + 2 * 2.25**2)  # to 0.5 and to 7.75
    before_10 = (3 * 2.5**2 + 2.5**2) + 0  # to 3 and to 10
    expected = [(whole - before_2) / (6 * 9.5**2), (whole - before_10) / (6 * 9.5**2)]
    assert first_step(Gain.DISTANCE, HELD, (WHOLE,)).information == pytest.approx(expected)


def test_loss_gain() -> None:
    """Sex loses 1 before and 0 after; level loses 1 and then (2 - 1)/(4 - 1)."""
    assert first_step(Gain.LOSS).information == pytest.approx([1 / 2, (1 - 1 / 3) / 2])


def test_loss_gain_on_thresholds() -> None:
    """An interval loses its width over the range: cut before 2 it leaves 0 to 1 with 0.1 and 2 to 10 with 0.8."""
    expected = [1 - (3 * 0.1 + 3 * 0.8) / 6, 1 - 4 * 0.9 / 6]
    assert first_step(Gain.LOSS, HELD, (WHOLE,)).information == pytest.approx(expected)


def test_a_suppressed_row_costs_as_much_as_stars() -> None:
    """At k = 2 level would suppress one row of four: it keeps its cost of 1 a column, and three rows gain 2/3."""
    candidates = first_step(Gain.LOSS, allowed=1, k=2)
    assert candidates.lost.tolist() == [0, 1]
    assert candidates.information[1] == pytest.approx(3 / 4 * (2 / 3) / 2)


def test_class_gain() -> None:
    """The class is that of the sex: a full bit by sex, and by level what three of one side still leave open."""
    rows = TupleCounts(ROWS.codes, ROWS.counts, target=np.array([1, 0, 0], np.int32))
    left = 0.75 * -(2 / 3 * np.log2(2 / 3) + 1 / 3 * np.log2(1 / 3))
    assert first_step(Gain.CLASS, rows).information == pytest.approx([1.0, 1.0 - left])


def test_class_gain_on_thresholds() -> None:
    """A threshold tells the class apart as far as the rows on its sides do."""
    rows = TupleCounts(np.array([[0], [1], [2]], np.int32), np.array([2, 1, 1]), target=np.array([0, 0, 1], np.int32))
    whole = -(0.75 * np.log2(0.75) + 0.25 * np.log2(0.25))
    scale = Scale(np.array([0.0, 4.0, 10.0]))
    assert first_step(Gain.CLASS, rows, (scale,)).information == pytest.approx([whole - 0.5 * 1.0, whole])
