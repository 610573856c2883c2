"""How rounds share a spend."""

from __future__ import annotations

from fractions import Fraction

import pytest

from cloister.clustering.schedules import SCHEDULES, find_schedule, parts_of
from cloister.errors import UsageError


@pytest.mark.parametrize("rounds", [1, 2, 3, 7, 20])
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_parts_are_positive_and_add_up_to_one(schedule: str, rounds: int) -> None:
    """A part for each round, all above 0, exactly 1 together."""
    parts = parts_of(schedule, rounds)
    assert len(parts) == rounds
    assert all(part > 0 for part in parts)
    assert sum(parts) == Fraction(1)


def test_halving_gives_the_last_round_what_is_left() -> None:
    """epsilon / 2^i in round i, and no part stays unspent."""
    assert parts_of("halving", 4) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8))
    assert parts_of("halving", 1) == (Fraction(1),)


@pytest.mark.parametrize("name", ["thirds", "", None, ["equal"]])
def test_an_unknown_schedule_is_refused(name: object) -> None:
    """One sentence lists those that there are."""
    with pytest.raises(UsageError, match="schedule"):
        find_schedule(name)  # type: ignore[arg-type]
