"""How the rounds of Lloyd share what they may spend: a registry of schedules, each a pure function of the number of rounds.

Privacy
-------
The parts of a schedule are positive and add up to exactly 1, whatever the number of rounds, so that a plan's total does not
depend on which schedule it has or on how many rounds were chosen from what was released.

References
----------
D. Su et al., "Differentially private k-means clustering", CODASPY 2016 ("equal", "balanced").
T. Shang et al., "Differential identifiability clustering algorithms for big data analysis", 2021, section 6 ("halving").
C. Dwork, "A firm foundation for private data analysis", CACM 2011 ("dwork-equal", "dwork-halving", "one scale").
A. Blum et al., "Practical privacy: the SuLQ framework", PODS 2005 ("blum", "two queries").
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from cloister.errors import UsageError, by_door
from cloister.parameters import unknown_choice
from cloister.privacy.round_parts import Parts, equal_parts, halving_parts

__all__ = ["SCHEDULES", "Schedule", "Split", "check_parts", "find_schedule", "parts_of"]

LEAST_PART = Fraction(1, 1_000_000)  # of what all rounds spend: a round with less is nothing but noise

Split = Literal["balanced", "one scale", "two queries"]
"""How counts and sums share a round: balanced for the least error of a centre (Su et al. 2016, eq. 7); the same noise for a count
as for the sum of a column (Dwork 2011); half of the round for the counts and half for the sums, two queries that cost the same
(Blum et al. 2005)."""


@dataclass(frozen=True, slots=True)
class Schedule:
    """The parts of the rounds, and how counts and sums share each of them."""

    parts: Parts
    split: Split


SCHEDULES: Mapping[str, Schedule] = {
    "equal": Schedule(equal_parts, "balanced"),
    "halving": Schedule(halving_parts, "balanced"),
    "dwork-equal": Schedule(equal_parts, "one scale"),
    "dwork-halving": Schedule(halving_parts, "one scale"),
    "blum": Schedule(equal_parts, "two queries"),
}


def find_schedule(name: str) -> Schedule:
    """The schedule of this name."""
    if not isinstance(name, str) or name not in SCHEDULES:
        raise unknown_choice("schedule", name, SCHEDULES)
    return SCHEDULES[name]


def check_parts(schedule: str | None, rounds: int) -> None:
    """Refuse so many rounds that the last would be nothing but noise."""
    if min(parts_of(schedule or "equal", rounds)) < LEAST_PART:
        raise UsageError(
            f'with schedule "{schedule}" the last of {rounds:,} rounds would have less than a millionth of the budget. '
            f"Give {by_door('max_iter', '--max-iter')} a smaller number, or leave it out."
        )


def parts_of(schedule: str, rounds: int) -> tuple[Fraction, ...]:
    """The part of each round: positive, and together exactly 1.

    >>> sum(parts_of("halving", 7))
    Fraction(1, 1)
    """
    return find_schedule(schedule).parts(rounds)
