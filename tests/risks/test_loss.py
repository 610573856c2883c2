"""Information loss worked out by hand, and laws."""

from __future__ import annotations

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.risks.assess import assess
from cloister.risks.loss import InformationLoss
from tests.risks.tables import PEOPLE, PUBLISHED, TOWN

WORDS = st.lists(st.sampled_from("abcd"), min_size=2, max_size=30)


def loss(published: pa.Table, original: pa.Table, quasi: list[str], **options: object) -> InformationLoss:
    """The loss of a table."""
    found = assess(published, quasi, against=original, **options).loss  # type: ignore[arg-type]
    assert found is not None
    return found


def test_by_hand() -> None:
    """Six people in two classes: ages cover 2 and 4 of 6 values, towns 1 and 2 of 3."""
    found = loss(PUBLISHED, PEOPLE, ["age", "town"], hierarchies={"town": TOWN})
    age, town = found.columns
    assert age.lm == pytest.approx((2 * 1 / 5 + 4 * 3 / 5) / 6)
    assert age.ncp == pytest.approx((2 * 3 / 36 + 4 * 24 / 36) / 6)
    assert age.entropy == pytest.approx((2 * 1 + 4 * 2) / 6 / math.log2(6))
    assert town.lm == pytest.approx(4 * (1 / 2) / 6)
    assert town.ncp == pytest.approx(4 * (2 / 3) / 6)
    assert town.entropy == pytest.approx(4 * 1 / 6 / math.log2(3))
    assert found.lm == pytest.approx((age.lm + town.lm) / 2)
    assert found.discernibility == 2**2 + 4**2
    assert found.average_class == pytest.approx(3 / 2)


def test_an_untouched_table_loses_nothing() -> None:
    """Against itself every loss is 0."""
    found = loss(PEOPLE, PEOPLE, ["age", "town"])
    assert (found.lm, found.gcp, found.entropy, found.removed) == (0, 0, 0, 0)


@settings(max_examples=40, deadline=None)
@given(WORDS)
def test_stars_lose_everything(words: list[str]) -> None:
    """A column published as * loses all, unless it has a single value."""
    original = pa.table({"x": words, "y": range(len(words))})
    stars = pa.table({"x": ["*"] * len(words), "y": ["*"] * len(words)})
    found = loss(stars, original, ["x", "y"])
    all_of_it = float(len(set(words)) > 1)
    assert [column.lm for column in found.columns] == [all_of_it, 1]
    assert found.columns[0].ncp == all_of_it
    assert found.columns[0].entropy == pytest.approx(all_of_it)


@settings(max_examples=40, deadline=None)
@given(WORDS, st.integers(1, 5))
def test_a_removed_row_counts_as_a_star(words: list[str], removed: int) -> None:
    """Removing rows loses as much as publishing them as *."""
    table = pa.table({"x": ["a", "b", *words]})
    removed = min(removed, len(words))
    gone = loss(table.slice(removed), table, ["x"])
    starred = pa.table({"x": ["*"] * removed + table["x"].to_pylist()[removed:]})
    kept = loss(starred, table, ["x"])
    assert gone.removed == removed
    assert (gone.lm, gone.gcp, gone.entropy) == pytest.approx((kept.lm, kept.gcp, kept.entropy))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40))
@settings(max_examples=40, deadline=None)
def test_entropy_is_what_a_plain_sum_over_cells_gives(ages: list[int]) -> None:
    """Under global recoding the bits left open are -log2 of each value's share among its label's rows, summed."""
    groups = ["[0, 5)" if age < 5 else "[5, 9]" for age in ages]
    found = loss(pa.table({"x": groups}), pa.table({"x": ages}), ["x"]).entropy
    bits = -sum(np.log2(ages.count(age) / groups.count(group)) for age, group in zip(ages, groups, strict=True))
    most = -sum(np.log2(ages.count(age) / len(ages)) for age in ages)
    assert found == pytest.approx(bits / most if most else 0.0)
