"""What a budget means, in numbers: how sure somebody can become, what the best attacker finds, and what several releases cost.

All of it follows from the budget alone: no table is looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal, localcontext
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.attacker import FALSE_ALARMS, true_positive_rate
from cloister.privacy.budgets import Budget, Identifiability, MixedIdentifiability
from cloister.privacy.identifiability import DIGITS, epsilon_from_rho, printed_composition, rho_from_epsilon
from cloister.schema import Neighbours
from cloister.schema.numerals import decimal_context

__all__ = ["WORLDS", "Posterior", "attacks", "epsilons_of_rho", "parts_of", "posteriors", "read_releases"]

WORLDS = (2, 10, 100, 1_000, 10_001, 1_000_000)  # numbers of equally likely values that are shown
MOST_RELEASES = 10_000
LARGEST_SHOWN = 10**300
NOTHING_HIDDEN = 50  # an epsilon at which (1 + e^epsilon) delta is above 1 for the smallest delta


@dataclass(frozen=True, slots=True)
class Posterior:
    """How sure somebody can become of one of so many equally likely worlds.

    Attributes
    ----------
    worlds, before
        How many there are, and the probability of a blind guess.
    epsilon
        Of one release.
    after
        The largest posterior after one release.
    composed
        The largest posterior after all releases: odds multiply.
    printed
        The bound that Shang et al. 2021 print for them, m^(n-1) rho^n, as a decimal in text; it may be above 1.
    """

    worlds: int
    before: float
    epsilon: Fraction
    after: float
    composed: float
    printed: str

    @classmethod
    def of(cls, epsilon: Fraction, worlds: int, neighbours: Neighbours, releases: int = 1) -> Posterior:
        """After so many releases of this epsilon each."""
        after = rho_from_epsilon(epsilon, worlds, neighbours)
        composed = rho_from_epsilon(releases * epsilon, worlds, neighbours)
        return cls(worlds, 1 / worlds, epsilon, after, composed, _written(printed_composition([after] * releases, worlds)))

    def as_dict(self, releases: int = 1) -> dict[str, Any]:
        """For programs."""
        facts = {"worlds": self.worlds, "before": self.before, "epsilon": float(self.epsilon), "after": self.after}
        return facts if releases == 1 else {**facts, "composed": self.composed, "printed": self.printed}


def read_releases(releases: int) -> int:
    """How many releases there are: at least 1, and no more than anybody makes."""
    if not 1 <= releases <= MOST_RELEASES:
        raise UsageError(f"the number of releases must lie between 1 and {MOST_RELEASES:,}.")
    return releases


def posteriors(budget: Budget, neighbours: Neighbours, releases: int = 1) -> list[Posterior] | None:
    """For several numbers of equally likely worlds; None with a delta, which bounds no posterior."""
    if budget.delta:
        return None
    epsilon = budget.epsilon
    stated = {int(part.worlds) for part in parts_of(budget).values()}
    return [Posterior.of(epsilon, worlds, neighbours, releases) for worlds in sorted({*WORLDS, *stated})]


def epsilons_of_rho(rho: Fraction, releases: int = 1) -> list[Posterior]:
    """What one rho means among several numbers of worlds, those among which it is more than a blind guess."""
    return [
        Posterior.of(epsilon_from_rho(rho, worlds), worlds, Neighbours.REPLACE_ONE, releases)
        for worlds in WORLDS
        if rho * worlds > 1
    ]


def parts_of(budget: Budget) -> dict[str, Identifiability]:
    """The rhos that a budget was stated as; none of another one."""
    if isinstance(budget, MixedIdentifiability):
        return budget.parts()
    return {"rho": budget} if isinstance(budget, Identifiability) else {}


def attacks(budget: Budget, neighbours: Neighbours, releases: int = 1) -> list[dict[str, Any]]:
    """The true-positive rate of the best attacker, for each question that a neighbour relation is about.

    Under add-remove one more question is which of two values a row has: to replace it is to remove a row and to add one, which
    costs (2 epsilon, (1 + e^epsilon) delta).
    """
    epsilon, delta = releases * budget.epsilon, min(Fraction(1), releases * budget.delta)
    if neighbours is Neighbours.REPLACE_ONE:
        return [_attack("which of two values the row has", epsilon, delta)]
    return [
        _attack("whether the row is in the table", epsilon, delta),
        _attack("which of two values the row has", 2 * epsilon, _replaced(epsilon, delta)),
    ]


def _written(bound: Decimal) -> str:
    """Four digits, of a number that may be beyond all floats."""
    return f"{float(bound):.4g}" if bound < LARGEST_SHOWN else f"{bound:.3e}"


def _attack(question: str, epsilon: Fraction, delta: Fraction) -> dict[str, Any]:
    found = true_positive_rate(epsilon, delta)
    return {"question": question, "false_alarms": float(FALSE_ALARMS), "true_positives": found}


def _replaced(epsilon: Fraction, delta: Fraction) -> Fraction:
    """What an add-remove delta is worth under replace-one, rounded up; at most 1."""
    if not delta or epsilon >= NOTHING_HIDDEN:
        return Fraction(bool(delta))
    with localcontext(decimal_context(DIGITS, ROUND_CEILING)):
        factor = 1 + (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp()
        return min(Fraction(1), delta * Fraction(factor))
