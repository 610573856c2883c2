"""Among how many worlds a rho hides a row, where its user leaves that to the columns: counted before the charge.

The worlds are the values of one column that nobody could tell apart before. Which column is uncertain is not known, so the
smallest number over the columns that a release uses is taken: for a given rho it means the smallest epsilon. A column whose
values cannot be counted (no bounds, no step, no domain) has more than any number of them and is passed over, and so is one
with a single value, which tells nothing.

Privacy
-------
Nothing here depends on rows: bounds, steps and domains are public facts, as is which columns are used.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError, by_door
from cloister.privacy.budgets import Budget, Identifiability, MixedIdentifiability, Rho
from cloister.privacy.identifiability import MOST_WORLDS
from cloister.report.one_line import one_line
from cloister.schema import Category, Number
from cloister.schema.kinds import Kind
from cloister.schema.numerals import amount_text, exact_text

__all__ = ["count_values", "identifiability_facts", "identifiability_note", "settle_worlds"]

Bounds = tuple[float, float]


def settle_worlds(budget: Budget, kinds: Mapping[str, Kind | None], bounds: Mapping[str, Bounds] | None = None) -> Budget:
    """The budget of a release with its worlds counted; one that states them, or has none, as it is.

    Parameters
    ----------
    budget
        As the user gave it.
    kinds
        What is publicly known of each column that the release uses; None: nothing.
    bounds
        Of number columns whose bounds the user stated beside the schema.

    Raises
    ------
    UsageError
        No column that is used has values that can be counted, or rho is no more than a blind guess among them.

    Examples
    --------
    >>> settle_worlds(Identifiability(0.5), {"age": Number((0, 99), step=1), "sex": Category(("f", "m", "x"))}).worlds
    3
    """
    if not isinstance(budget, Rho) or not budget.is_open:
        return budget
    counts = {name: count_values(kind, (bounds or {}).get(name)) for name, kind in kinds.items()}
    if isinstance(budget, Identifiability):
        return _settled(budget, counts, "column")
    parts = {
        is_category: {name: counts[name] for name, kind in kinds.items() if isinstance(kind, Category) == is_category}
        for is_category in (False, True)
    }
    return MixedIdentifiability(
        _settled(budget.numbers, parts[False], "number column"), _settled(budget.categories, parts[True], "category")
    )


def count_values(kind: Kind | None, bounds: Bounds | None = None) -> int | None:
    """How many values a column has, as far as is publicly known; None: nobody can count them.

    >>> count_values(Number((0, 100), step=1)), count_values(Number((0, 100), step=1), (17.5, 65)), count_values(Number((0, 1)))
    (101, 48, None)
    """
    if bounds is None or not isinstance(kind, Number):
        return None if kind is None else kind.worlds
    if kind.step is None:
        return None
    origin = 0.0 if kind.bounds is None else kind.bounds[0]
    low, high, start, step = (Fraction(repr(float(number))) for number in (*bounds, origin, kind.step))
    return max(0, math.floor((high - start) / step) - math.ceil((low - start) / step) + 1)


def _settled(budget: Identifiability, counts: Mapping[str, int | None], what: str) -> Identifiability:
    """A rho over the column with the fewest values, the first of them."""
    if not budget.is_open:
        return budget
    counted = {name: count for name, count in counts.items() if count is not None and count > 1}
    if not counted:
        raise UsageError(
            f"a rho needs to know among how many values it hides one, and no {what} that is used says how many it has: by "
            f"bounds and a step, or a domain, in a schema. Describe them so, or give "
            + by_door("Identifiability(rho, worlds=M).", "--worlds M.")
        )
    column = min(counted, key=lambda name: counted[name])
    if budget.rho * counted[column] <= 1:
        raise UsageError(
            f'column "{one_line(column)}" has {counted[column]:,} values, of which a blind guess finds one with probability '
            f"1/{counted[column]}: rho must lie above that. Raise it, leave the column out, or give "
            + by_door("worlds=M.", "--worlds M.")
        )
    return Identifiability(budget.rho, min(counted[column], MOST_WORLDS), column=column)


def identifiability_facts(budget: Budget) -> dict[str, Any]:
    """What a certificate says among its parameters of a budget that was stated as a rho; nothing of another one."""
    if isinstance(budget, Identifiability):
        return {"identifiability": _facts(budget)}
    if isinstance(budget, MixedIdentifiability):
        return {"identifiability": {name: _facts(part) for name, part in budget.parts().items()}}
    return {}


def _facts(budget: Identifiability) -> dict[str, Any]:
    counted = {} if budget.column is None else {"values_of": budget.column}
    return {"rho": exact_text(budget.rho), "worlds": budget.worlds, **counted}


def identifiability_note(budget: Budget) -> tuple[str, ...]:
    """What a rho promises, for the reader of a certificate; nothing of a budget without one."""
    if isinstance(budget, Identifiability):
        return (
            f"Rho: after this release alone, one of {budget.worlds:,} equally likely values of a row is known with a probability "
            f"of at most {amount_text(budget.rho)}. That bounds one exact value, not every statement about a person.",
        )
    if isinstance(budget, MixedIdentifiability):
        posteriors = budget.posteriors()
        return (
            f"Rho: numbers and categories are of the same rows, so their epsilons add up to {amount_text(budget.epsilon)}. After "
            f"this release alone one of {budget.numbers.worlds:,} equally likely numbers is known with a probability of at most "
            f"{_rounded_up(posteriors['numbers'])}, one of {budget.categories.worlds:,} categories with at most "
            f"{_rounded_up(posteriors['categories'])}.",
        )
    return ()


def _rounded_up(probability: float) -> str:
    return amount_text(Fraction(math.ceil(probability * 10_000), 10_000))
