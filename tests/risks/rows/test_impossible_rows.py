"""Rows with two words that never meet in the original, and strong pairs that no longer go together."""

from __future__ import annotations

import pytest

from cloister.risks.rows.impossible_rows import ImpossibleRows, impossible_rows
from cloister.risks.rows.kept_ties import correlations, cramers_v
from tests.risks.rows.laid_out import laid_out

ORIGINAL = {
    "sex": ["f", "f", "f", "m", "m", "m"],
    "role": ["wife", "wife", "child", "husband", "husband", "child"],
    "town": ["a", "a", "a", "a", "a", "b"],
    "age": [30, 31, 5, 40, 41, 6],
}


def test_impossible_rows_by_hand() -> None:
    """One row of four is a male wife; numbers do not count. The two children, and the one row of b, are alone with a pair."""
    released = {"sex": ["m", "f", "m", "f"], "role": ["wife", "wife", "child", "child"], "town": ["a"] * 4, "age": [99] * 4}
    original, other = laid_out(ORIGINAL, released)
    assert impossible_rows(original, other) == ImpossibleRows(0.25, pytest.approx(2 / 6), ("sex", "role"), 0.25)
    itself = impossible_rows(original, original)
    assert itself is not None
    assert itself.share == 0


def test_words_that_the_original_lacks_are_impossible() -> None:
    """A word of nobody makes its rows impossible with any other word."""
    original, other = laid_out({"a": ["x", "y"], "b": ["u", "u"]}, {"a": ["x", "z"], "b": ["u", "u"]})
    impossible = impossible_rows(original, other)
    assert impossible is not None
    assert impossible.share == 0.5


def test_fewer_than_two_columns_of_words() -> None:
    """No pair, no figure."""
    original, other = laid_out({"a": ["x", "y"], "n": [1, 2]}, {"a": ["x", "y"], "n": [1, 2]})
    assert impossible_rows(original, other) is None


def test_the_strong_pair_that_lost_most() -> None:
    """Sex and role go together and no longer do, though no pair is impossible; a weak pair that changed more is not named."""
    original = {
        "sex": ["f"] * 10 + ["m"] * 10,
        "role": ["wife"] * 9 + ["husband"] * 10 + ["wife"],
        "c": ["p", "q"] * 10,
    }
    released = {"sex": ["f", "f", "m", "m"], "role": ["wife", "husband"] * 2, "c": ["p", "q", "p", "q"]}
    before, after = laid_out(original, released)
    ties = cramers_v(before, after)
    assert ties is not None
    assert ties.worst == ("role", "c")  # it has become stronger, from 0 to 1
    assert ties.lost is not None
    assert ties.lost.columns == ("sex", "role")
    assert (ties.lost.pairs, ties.lost.original, ties.lost.released) == (1, pytest.approx(0.8), 0)


def test_a_correlation_with_another_sign_is_lost() -> None:
    """From 1 to -1 is worse than from 1 to 0."""
    before, after = laid_out(
        {"a": [1, 2, 3], "b": [1, 2, 3], "c": [1, 2, 3]}, {"a": [1, 2, 3], "b": [3, 2, 1], "c": [2, 2, 2]}
    )
    ties = correlations(before, after)
    assert ties is not None
    assert ties.lost is not None
    assert ties.lost.columns == ("a", "b")
