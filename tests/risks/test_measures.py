"""Risk worked out by hand, and laws that hold for any classes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.errors import UsageError
from cloister.risks.class_values import ClassValues
from cloister.risks.measures import FORMULAS, Reidentification, reidentification, sensitive_risk

SIZES = st.lists(st.integers(1, 50), min_size=1, max_size=40).map(lambda sizes: np.array(sizes, np.int64))


def test_prosecutor_by_hand() -> None:
    """Classes of 1, 4 and 5 rows: three hits in ten, and half of the rows have a risk above one in five."""
    found = reidentification(np.array([1, 4, 5]), threshold=0.2)
    assert (found.rows, found.classes, found.k, found.largest) == (10, 3, 1, 5)
    assert (found.prosecutor_highest, found.prosecutor_average, found.prosecutor_at_risk) == (1.0, 0.3, 0.5)
    assert found.unique == 0.1


def test_journalist_by_hand() -> None:
    """Classes of 1 and 4 rows, shared by 10 and 8 of 30 people: 1/8 at most, (1/10 + 4/8) / 5 on average."""
    found = reidentification(np.array([1, 4]), threshold=0.1, population=np.array([10, 8]), people=30)
    assert found.journalist_highest == 1 / 8
    assert found.journalist_average == pytest.approx((1 / 10 + 4 / 8) / 5)
    assert found.marketer == pytest.approx((1 / 10 + 4 / 8) / 5)
    assert found.journalist_at_risk == 4 / 5
    assert found.k_map == 8
    assert found.outside == 0


def test_a_population_that_lacks_people_is_told() -> None:
    """Rows that the population lacks are counted, and never make the risk smaller than the table's own."""
    found = reidentification(np.array([2, 3]), population=np.array([0, 9]))
    assert found.outside == 2
    assert found.journalist_highest == 1 / 2


@given(SIZES, st.floats(0.01, 1.0))
def test_without_a_population_the_journalist_is_the_prosecutor(sizes: np.ndarray, threshold: float) -> None:
    """The table is taken for everybody there is."""
    found = reidentification(sizes, threshold=threshold)
    assert found.journalist_highest == found.prosecutor_highest
    assert found.journalist_average == pytest.approx(found.prosecutor_average)
    assert found.journalist_at_risk == found.prosecutor_at_risk
    assert found.marketer == pytest.approx(found.prosecutor_average)


@given(SIZES)
def test_ranges_of_sizes_hold_every_row(sizes: np.ndarray) -> None:
    """Each class and each row is in one range."""
    found = reidentification(sizes)
    assert sum(classes for _, classes, _ in found.sizes) == len(sizes)
    assert sum(rows for _, _, rows in found.sizes) == sizes.sum()


@given(SIZES)
def test_a_plain_count_agrees(sizes: np.ndarray) -> None:
    """Risk counted row by row is the same."""
    risks = [1 / size for size in sizes.tolist() for _ in range(size)]
    found = reidentification(sizes, threshold=0.25)
    assert found.prosecutor_highest == max(risks)
    assert found.prosecutor_average == pytest.approx(sum(risks) / len(risks))
    assert found.prosecutor_at_risk == sum(risk > 0.25 for risk in risks) / len(risks)
    assert found.unique == risks.count(1.0) / len(risks)


def test_every_measure_has_its_formula() -> None:
    """What is printed is what is defined."""
    assert set(FORMULAS) <= set(Reidentification.__dataclass_fields__)


@pytest.mark.parametrize("threshold", [0.0, -1.0, 1.5, float("nan")])
def test_a_threshold_is_a_probability(threshold: float) -> None:
    """Anything else is refused in words."""
    with pytest.raises(UsageError, match="threshold"):
        reidentification(np.array([1]), threshold=threshold)


def test_sensitive_values_by_hand() -> None:
    """A class with one value of two gives it away; the other is like the table's opposite."""
    labels = np.array([0, 1, 1])
    values = np.array([0, 0, 1], np.int32)
    found = sensitive_risk("illness", labels, 2, ClassValues(values, np.array([2, 1, 1])))
    assert (found.values, found.l, found.entropy_l) == (2, 1, 1.0)
    assert found.t == pytest.approx(0.25)
    assert found.certain == 0.5
    assert found.ordered_t is None
