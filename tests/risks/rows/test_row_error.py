"""SSE and SST against hand computed ones."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.risks.rows.closest_records import draw_rows, look_up
from cloister.risks.rows.row_error import squared_error, total_squares
from tests.risks.rows.laid_out import laid_out


def test_sse_of_a_microaggregated_table() -> None:
    """Ages 0, 2, 8, 10 averaged in twos to 1 and 9, of a range of 10: four times 0.1 squared; a town that differs adds 1."""
    original, released = laid_out(
        {"age": [0, 2, 8, 10], "town": ["a", "a", "b", "c"]}, {"age": [1, 1, 9, 9], "town": ["a", "a", "b", "b"]}
    )
    error = squared_error(original, look_up(original, released))
    assert error.sse == pytest.approx(4 * 0.01 + 1)
    assert error.sse_error == 0
    assert error.sst == pytest.approx(0.25 + 0.09 + 0.09 + 0.25 + 2)  # the mean is 5, the mode "a"
    assert error.ratio == pytest.approx(1.04 / 2.68)


def test_blanks_are_far() -> None:
    """A blank number is 1 from the mean, and 1 from what the release says instead."""
    original, released = laid_out({"x": [0, 10, None]}, {"x": [0, 10, 5]})
    error = squared_error(original, look_up(original, released))
    assert error.sse == 1
    assert error.sst == pytest.approx(0.25 + 0.25 + 1)


def test_nothing_varies() -> None:
    """All rows are the same: there is no ratio."""
    original, released = laid_out({"x": ["a", "a"]}, {"x": ["a"]})
    error = squared_error(original, look_up(original, released))
    assert (error.sse, error.sst, error.ratio) == (0, 0, None)
    assert total_squares(laid_out({"x": [None, None]})[0]) == 0


def test_a_draw_estimates_the_sse_of_all_rows() -> None:
    """Within 5 standard errors, which a correct draw leaves with a probability of 6e-7; a sum that is not scaled up is caught."""
    random = np.random.default_rng(3)
    original, released = laid_out({"x": random.normal(size=4_000)}, {"x": random.normal(size=40)})
    whole = squared_error(original, look_up(original, released))
    drawn = squared_error(original, look_up(draw_rows(original, 1_000), released))
    assert abs(drawn.sse - whole.sse) < 5 * drawn.sse_error
    assert abs(drawn.sse / 4 - whole.sse) > 5 * drawn.sse_error
