"""Both forms of linkage against hand computed ones, and what a control shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cloister.risks.rows.closest_records import look_up
from cloister.risks.rows.row_linkage import RowLinkage, beside_control, mutual_chances, row_linkage
from tests.risks.rows.laid_out import laid_out


def linkage(original: dict[str, Any], released: dict[str, Any], *, is_made_up: bool = False) -> RowLinkage:
    """Linkage over all rows."""
    before, after = laid_out(original, released)
    return row_linkage(before, before, look_up(before, after), after, is_made_up=is_made_up)


def test_the_table_itself() -> None:
    """Who is alone is linked, two equal rows share the chance: (1 + 1 + 1/2 + 1/2) / 4, both ways."""
    table = {"x": [1, 2, 9, 9]}
    linked = linkage(table, table)
    assert linked.group == linked.nearest == 0.75
    assert linked.by_chance == 0.25


def test_groups_of_two() -> None:
    """Averages stand twice: one of two is right. Of each group one row is nearest to the average, at most."""
    linked = linkage({"x": [0, 3, 7, 10]}, {"x": [1, 1, 9, 9]})
    assert linked.group == 0.5
    assert linked.nearest == pytest.approx((0.5 + 0 + 0 + 0.5) / 4)  # 0 is nearest to 1, 10 to 9


def test_both_rows_of_a_group_as_near() -> None:
    """G has two copies and H two rows: every row is one of two."""
    assert linkage({"x": [0, 2, 8, 10]}, {"x": [1, 1, 9, 9]}).nearest == 0.5


def test_different_records_as_near() -> None:
    """Two records at the same distance, each of which has the row for its nearest: one of two is right, copies or not."""
    assert linkage({"x": [5, 100]}, {"x": [4, 6, 100]}).nearest == pytest.approx((0.5 + 1) / 2)


def test_one_direction_is_not_enough() -> None:
    """Planted: a linkage that only looks from the row to the release counts the far row too."""
    linked = linkage({"x": [0, 1, 50]}, {"x": [0]})
    assert linked.group == 1
    assert linked.nearest == pytest.approx(1 / 3)


def test_made_up_rows_are_nobodys() -> None:
    """There is no group linkage to tell."""
    linked = linkage({"x": [1, 2]}, {"x": [1, 2, 3]}, is_made_up=True)
    assert linked.group is None
    assert linked.group_error is None
    assert linked.nearest == 1


def test_many_nearest_records_are_one_of_them_each() -> None:
    """Twenty records as near as each other, only some of them listed: 1/20, as if all were."""
    before, after = laid_out({"x": ["a"], "y": ["b"]}, {"x": ["a"] * 20, "y": [f"c{i}" for i in range(20)]})
    assert mutual_chances(before, before, look_up(before, after), after).tolist() == pytest.approx([1 / 20])


@pytest.mark.parametrize(("copied", "is_leak"), [(False, False), (True, True)])
def test_the_excess_over_a_control(copied: bool, is_leak: bool) -> None:
    """Independent rows are linked as often as the control (within 5 standard errors, passed with 6e-7); copies far more often."""
    random = np.random.default_rng(11)
    rows = {name: random.normal(size=(600, 3)) for name in ("original", "released", "control")}
    if copied:
        rows["released"] = rows["original"]
    tables = [{f"x{j}": rows[name][:, j] for j in range(3)} for name in ("original", "released", "control")]
    before, after, others = laid_out(*tables)
    beside = beside_control(before, others, after, None)
    assert beside.rows == 600
    assert beside.control > 0.1  # by chance alone
    assert (abs(beside.excess) > 5 * beside.excess_error) == is_leak


def test_a_control_of_another_size() -> None:
    """As many original rows are taken as there are control rows: among fewer rows more are linked, which is no leak."""
    random = np.random.default_rng(12)
    original, released, control = (random.normal(size=n) for n in (3_000, 600, 300))
    before, after, others = laid_out({"x": original}, {"x": released}, {"x": control})
    beside = beside_control(before, others, after, None)
    assert beside.rows == 300
    assert abs(beside.excess) < 5 * beside.excess_error
    planted = row_linkage(before, before, look_up(before, after), after, is_made_up=True).nearest
    assert abs(planted - beside.control) > 5 * beside.excess_error


def test_group_linkage_is_about_the_averaged_columns() -> None:
    """Four rows in two groups of two by age: a sensitive column that rides along tells them apart, and is not averaged."""
    facts = {"age": [0, 2, 8, 10], "illness": list("wxyz")}
    before, after = laid_out(facts, {"age": [1, 1, 9, 9], "illness": list("wxyz")})
    averaged = look_up(before.narrowed(["age"]), after.narrowed(["age"]))
    near = look_up(before, after)
    assert row_linkage(before, before, near, after, is_made_up=False).group == 1
    assert row_linkage(before, before, near, after, is_made_up=False, averaged=averaged).group == 0.5
