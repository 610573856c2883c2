"""Verdicts beside a control: chance is called chance, and a leak a leak."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.risks.rows.closest_records import look_up
from cloister.risks.rows.excess_nearness import Excess, excess_nearness, is_chance
from tests.risks.rows.laid_out import laid_out


def test_shares_by_hand() -> None:
    """Two of four original rows stand in the release and no control row does; the errors are those of two shares."""
    original, released, control = laid_out({"x": [0, 1, 4, 10]}, {"x": [0, 1, 7]}, {"x": [0.5, 2, 3, 5]})
    excess = excess_nearness(look_up(original, released), look_up(control, released))
    assert excess.unchanged == Excess(0.5, 0, pytest.approx(np.sqrt(0.25 / 3)))
    # the nearest of the control is 0.5 from the release: one row of four, beside both unchanged rows of the original
    assert (excess.nearest.original, excess.nearest.control) == (0.5, 0.25)


@pytest.mark.parametrize("copied", [0.0, 0.1])
def test_independent_rows_are_within_chance_and_copies_are_not(copied: float) -> None:
    """Three shares of 2,000 rows are within 5.2 standard errors (missed with 6e-7); a tenth of copies is beyond 2 by far."""
    random = np.random.default_rng(3)
    original, released, control = (random.normal(size=(2_000, 4)) for _ in range(3))
    number = int(copied * len(original))
    released[:number] = original[:number]
    tables = laid_out(*({f"x{j}": each[:, j] for j in range(4)} for each in (original, released, control)))
    before, after, others = tables
    excess = excess_nearness(look_up(before, after), look_up(others, after))
    for each in (excess.unchanged, excess.nearest, excess.ratio):
        if copied:
            assert each.excess > 5 * each.error
            assert not is_chance(each.excess, each.error)
        else:
            assert abs(each.excess) <= 5.2 * each.error
