"""Total variation, correlations and Cramer's V against hand computed ones."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.risks.rows.kept_shares import MOST_CELLS, kept_shares
from cloister.risks.rows.kept_ties import correlations, cramers_v
from tests.risks.rows.laid_out import laid_out


def test_columns_and_pairs() -> None:
    """Both columns are kept, their pair is not: 1/2 of the rows would have to change. Another number of rows does not matter."""
    original, released = laid_out({"a": ["x", "y"], "b": ["u", "v"]}, {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    shares = kept_shares(original, released)
    assert [each.variation for each in shares.columns] == [0, 0]
    assert shares.worst_pairs[0].columns == ("a", "b")
    assert shares.pair_mean == 0.5
    assert shares.skipped == 0


def test_numbers_are_counted_in_bins() -> None:
    """Ages 1, 2, 3, 4 of which 4 became 3.1: one row in four."""
    original, released = laid_out({"x": [1, 2, 3, 4]}, {"x": [1, 2, 3, 3.1]})
    assert kept_shares(original, released).worst_column.variation == 0.25
    assert kept_shares(original, released).pair_mean is None


def test_the_worst_come_first() -> None:
    """Pairs with the column that was lost are listed before those without it."""
    original, released = laid_out(
        {"a": ["x", "y"], "b": ["u", "v"], "c": ["r", "s"]}, {"a": ["z", "z"], "b": ["u", "v"], "c": ["r", "s"]}
    )
    shares = kept_shares(original, released)
    assert [each.variation for each in shares.pairs] == [1, 1, 0]
    assert shares.worst_column.columns == ("a",)


def test_pairs_with_many_cells_are_skipped_and_counted() -> None:
    """Two columns of 400 texts have more cells than rows could fill; columns alone are still compared."""
    words = [f"w{i}" for i in range(400)]
    assert len(words) ** 2 > MOST_CELLS
    table = laid_out({"a": words, "b": words, "c": ["x"] * 400})[0]
    shares = kept_shares(table, table)
    assert shares.skipped == 1
    assert len(shares.pairs) == 2


def test_correlations_are_pearsons() -> None:
    """As NumPy computes them, copies and blanks counted right."""
    random = np.random.default_rng(1)
    first, second = random.normal(size=(2, 50, 2))
    first[:, 1] += first[:, 0]
    original, released = laid_out(
        {"a": [*first[:, 0], *first[:5, 0], None], "b": [*first[:, 1], *first[:5, 1], 3.0]},
        {"a": second[:, 0], "b": second[:, 1]},
    )
    ties = correlations(original, released)
    assert ties is not None
    expected = [np.corrcoef(np.concatenate([first, first[:5]]).T)[0, 1], np.corrcoef(second.T)[0, 1]]
    assert [ties.original, ties.released] == pytest.approx(expected)
    assert ties.largest == ties.mean == pytest.approx(abs(expected[0] - expected[1]))


def test_a_column_that_became_constant_has_lost_its_correlation() -> None:
    """1 is 0; without two columns of numbers there is nothing to tell."""
    original, released = laid_out({"a": [1, 2, 3], "b": [1, 2, 3]}, {"a": [2, 2, 2], "b": [1, 2, 3]})
    ties = correlations(original, released)
    assert ties is not None
    assert (ties.original, ties.released) == pytest.approx((1, 0))
    assert cramers_v(original, released) is None


def test_cramers_v() -> None:
    """1 for words that follow from each other, 0 for independent ones."""
    original, released = laid_out({"a": ["x", "y"], "b": ["u", "v"]}, {"a": ["x", "x", "y", "y"], "b": ["u", "v", "u", "v"]})
    ties = cramers_v(original, released)
    assert ties is not None
    assert (ties.original, ties.released) == pytest.approx((1, 0))
