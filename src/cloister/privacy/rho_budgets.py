"""Budgets that are stated as a probability of being identified: a rho among m worlds, or one for each part of a mixed table."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from cloister.errors import UsageError, by_door
from cloister.privacy.amounts import SMALLEST_EPSILON, WithoutDelta, check_digits, exact
from cloister.privacy.identifiability import check_worlds, epsilon_from_rho, rho_from_epsilon
from cloister.report.one_line import one_line
from cloister.schema.numerals import Number, amount_text, exact_number

__all__ = ["Identifiability", "MixedIdentifiability", "Rho", "RhoPart"]


@dataclass(frozen=True, slots=True, init=False)
class Identifiability(WithoutDelta):
    """The largest probability rho with which one of m equally likely worlds may be identified after the release.

    It is the replace-one guarantee with epsilon = ln((m-1) rho / (1-rho)) and delta = 0 (Lee and Clifton 2012).

    Parameters
    ----------
    rho : number
        Above 1/m, a blind guess, and below 1.
    worlds : int or "auto", default "auto"
        m, the number of values that nobody could tell apart before. "auto": counted before the charge, from public facts of the
        columns that a release uses (bounds and step, domain); the smallest number counts, which is the safest for a given rho.
        Until then there is no epsilon.

    Examples
    --------
    >>> round(float(Identifiability(rho=0.05, worlds=10_001).epsilon), 4)
    6.2659
    >>> Identifiability(rho=0.05)
    Identifiability(rho=0.05, worlds='auto')
    """

    rho: Fraction
    worlds: int | Literal["auto"]
    column: str | None = field(compare=False)  # whose values the worlds are, where they were counted
    _epsilon: Fraction | None = field(compare=False)  # None: the worlds are not counted yet

    def __init__(self, rho: Number, worlds: int | Literal["auto"] = "auto", *, column: str | None = None) -> None:
        object.__setattr__(self, "rho", exact(rho, "rho"))
        check_digits(self.rho, "rho")
        is_open = isinstance(worlds, str) and worlds == "auto"
        object.__setattr__(self, "worlds", worlds if is_open else check_worlds(worlds))
        object.__setattr__(self, "column", column)
        object.__setattr__(self, "_epsilon", None if is_open else epsilon_from_rho(self.rho, check_worlds(worlds)))
        if self.rho >= 1:
            raise UsageError("rho is a probability and must lie below 1. Lower it, to 0.05 for example.")
        if self._epsilon is not None and self._epsilon < SMALLEST_EPSILON:
            raise UsageError(
                f"rho is so close to 1/{self.worlds}, a blind guess, that its epsilon is below 0.0001: nothing is left but "
                "noise. Raise --rho, or the number of worlds."
            )

    @staticmethod
    def mixed(numbers: RhoPart, categories: RhoPart) -> MixedIdentifiability:
        """The budget of a mixed table, from one (rho, m) for its numbers and one for its categories: their epsilons add.

        A rho alone leaves its m to the columns, as "auto" does.

        >>> heart = Identifiability.mixed(numbers=(0.05, 10_001), categories=(0.7, 2))
        >>> round(float(heart.epsilon), 2)
        7.11
        """
        return MixedIdentifiability(_read_part(numbers, "numbers"), _read_part(categories, "categories"))

    @property
    def is_open(self) -> bool:
        """Whether the worlds are still to be counted (`worlds.settle_worlds`)."""
        return self._epsilon is None

    @property
    def epsilon(self) -> Fraction:
        """The replace-one epsilon that the rho means."""
        if self._epsilon is None:
            raise UsageError(
                "this rho does not say among how many worlds, and there are no columns to count them on. Give "
                + by_door("Identifiability(rho, worlds=M).", "--worlds M.")
            )
        return self._epsilon

    def __str__(self) -> str:
        if self._epsilon is None:
            return f"rho {amount_text(self.rho)} among as many worlds as the columns have values"
        among = f"{self.worlds} worlds" if self.column is None else f'the {self.worlds} values of "{one_line(self.column)}"'
        return f"rho {amount_text(self.rho)} among {among} (epsilon {amount_text(self._epsilon)})"

    def __repr__(self) -> str:
        return f"Identifiability(rho={amount_text(self.rho)}, worlds={self.worlds!r})"


RhoPart = Number | tuple[Number, int | Literal["auto"]]


def _read_part(part: RhoPart, name: str) -> Identifiability:
    """The rho of one part of a table, with its worlds where they are given."""
    if isinstance(part, tuple | list) and len(part) == 2:
        return Identifiability(*part)
    if isinstance(part, tuple | list):
        raise UsageError(f"{name} takes a rho and a number of worlds, such as (0.05, 10_001), or a rho alone.")
    return Identifiability(part)


@dataclass(frozen=True, slots=True)
class MixedIdentifiability(WithoutDelta):
    """The rhos of the numbers and of the categories of one table; made by `Identifiability.mixed`.

    Both parts are of the same rows, so their epsilons add, and neither rho holds by itself: whoever sees both parts may become
    as sure of a number, or of a category, as the sum allows. `rho` is the largest posterior of one value of any column: the
    sum over the smaller of the two numbers of worlds.

    >>> heart = Identifiability.mixed(numbers=(0.05, 10_001), categories=(0.7, 2))
    >>> heart.worlds, round(float(heart.rho), 4), [round(rho, 4) for rho in heart.posteriors().values()]
    (2, 0.9992, [0.1094, 0.9992])
    """

    numbers: Identifiability
    categories: Identifiability

    @property
    def is_open(self) -> bool:
        """Whether worlds are still to be counted."""
        return self.numbers.is_open or self.categories.is_open

    @property
    def epsilon(self) -> Fraction:
        """The epsilons of both parts together."""
        return self.numbers.epsilon + self.categories.epsilon

    @property
    def worlds(self) -> int:
        """The smaller number of worlds, which is the safer one."""
        _ = self.epsilon  # refuses worlds that are not counted yet
        return min(int(part.worlds) for part in self.parts().values())

    @property
    def rho(self) -> Fraction:
        """The largest posterior of one value of any column after both parts, rounded up."""
        return exact_number(rho_from_epsilon(self.epsilon, self.worlds))

    def posteriors(self) -> dict[str, float]:
        """What holds after both parts, of one value among the worlds of each."""
        return {name: rho_from_epsilon(self.epsilon, int(part.worlds)) for name, part in self.parts().items()}

    def __str__(self) -> str:
        return f"{self.numbers} for numbers + {self.categories} for categories" + (
            "" if self.is_open else f", epsilon {amount_text(self.epsilon)} together"
        )

    def __repr__(self) -> str:
        parts = [f"{name}=({amount_text(part.rho)}, {part.worlds!r})" for name, part in self.parts().items()]
        return f"Identifiability.mixed({', '.join(parts)})"

    def parts(self) -> dict[str, Identifiability]:
        """The two parts by name."""
        return {"numbers": self.numbers, "categories": self.categories}


Rho = Identifiability | MixedIdentifiability
