"""The scores that users can name: what each needs, and how near to the best a choice by it is, in words.

A new score is a class here with a line in `SCORES`; what it computes and how far a row moves it is a class of
`kernels.scores`, and its definition for the auditor stands in `testing.choice_law`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

from cloister.choosing.column_places import CategoryPlaces, NumberPlaces, PublicValues
from cloister.errors import UsageError, by_door
from cloister.kernels.scores import Counts, PlaceScore, RankDistance, TotalDistance

__all__ = ["SCORES", "Asked", "NamedScore"]

FINEST_QUANTILE = 10**6  # the largest denominator: ranks times this are far below 2**63


@dataclass(frozen=True, slots=True)
class Asked:
    """What a choice is asked for, as far as a score needs it."""

    values: PublicValues
    options: tuple[int, ...] | None
    quantile: Fraction | None = None
    clip: Fraction | None = None  # in units of the column


class NamedScore(Protocol):
    """A score under its name."""

    def make(self, asked: Asked) -> PlaceScore:
        """The score; refuses what it cannot score."""

    def nearness(self, asked: Asked, gap: int) -> float:
        """A gap between two scores in the unit of `nearness_words`."""


class CountScore:
    """How many rows have the value: the most common one is the best."""

    def make(self, asked: Asked) -> PlaceScore:
        return Counts()

    def nearness(self, asked: Asked, gap: int) -> float:
        return float(gap)


class RankScore:
    """How near the ranks of a value are to those of a quantile."""

    def make(self, asked: Asked) -> PlaceScore:
        if isinstance(asked.values, CategoryPlaces):
            raise UsageError(
                "a category has no order, and hence no quantiles. Leave the quantile out for its most common value."
            )
        if asked.quantile is None:
            raise UsageError(f"which quantile? Give {by_door('quantile=0.5', '--quantile 0.5')} for the median.")
        return RankDistance(asked.quantile.numerator, asked.quantile.denominator)

    def nearness(self, asked: Asked, gap: int) -> float:
        assert asked.quantile is not None
        return gap / asked.quantile.denominator


class DistanceScore:
    """How far all rows are from an option, added up: the best is the nearest to all."""

    def make(self, asked: Asked) -> PlaceScore:
        if isinstance(asked.values, CategoryPlaces):
            raise UsageError("a category has no distances. Choose among its values by count.")
        if asked.options is None:
            raise UsageError(
                f"distances are of some options. List them in {by_door('options=[...]', '--options A,B')}, or ask for the median."
            )
        farthest = asked.values.size - 1
        clip = farthest if asked.clip is None else min(farthest, int(asked.clip / step_of(asked.values)))
        if clip < 1:
            raise UsageError("clip must be at least one step of the column: a row counts for no more than that.")
        return TotalDistance(clip, max(asked.options) - min(asked.options))

    def nearness(self, asked: Asked, gap: int) -> float:
        return float(gap * step_of(asked.values))


def step_of(values: PublicValues) -> Fraction:
    """How far two places are apart, in units of the column: days are 1 apart."""
    return values.step if isinstance(values, NumberPlaces) else Fraction(1)


SCORES: Mapping[str, NamedScore] = {"count": CountScore(), "rank": RankScore(), "distance": DistanceScore()}
