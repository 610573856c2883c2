"""What may be spent, under which relation, and whom it protects; with the one rule by which the number of rows is bought.

The number of rows is private under add-remove neighbours. Every method buys it first, for a fiftieth of its budget, because
rounds, grids and samples follow from it; under replace-one it is public and costs nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from cloister.clustering.progress import Progress
from cloister.kernels import Histogram, Kernel, Rows, Sensitivity
from cloister.kernels.per_unit import for_unit
from cloister.privacy.budgets import Budget, Number, exact
from cloister.privacy.mechanisms import Spend, shares
from cloister.privacy.plan import Step, make_step
from cloister.schema import Neighbours
from cloister.schema.unit import Unit, rows_each
from cloister.vault import Vault

__all__ = ["SIZE_SHARE", "Terms", "buy_size"]

SIZE_SHARE = Fraction(1, 50)


@dataclass(frozen=True, slots=True)
class Terms:
    """What is spent, under which relation, and whom it protects."""

    budget: Budget
    neighbours: Neighbours
    unit: Unit | None = None
    rest: Fraction = Fraction(0)  # the part of the budget that a synopsis leaves for the rounds after it

    @property
    def buys_size(self) -> bool:
        """Whether the number of rows is private and has to be bought."""
        return self.neighbours is Neighbours.ADD_REMOVE

    @property
    def protected(self) -> str:
        """Whom the guarantee protects, as a plan and a certificate name them."""
        return str(self.unit or "row")

    @property
    def rows_each(self) -> int:
        """How many rows of one person may count; 1 where each row is protected by itself."""
        return rows_each(self.unit)

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """How far one row, or one person, moves the kernel's summary."""
        return for_unit(kernel, self.unit).sensitivity(self.neighbours)

    def counting(self) -> Sensitivity:
        """The sensitivity of counts in which every row is counted once."""
        return self.sensitivity(Histogram())

    def shares(self, weights: Mapping[str, Number]) -> dict[str, Spend]:
        """The budget cut by weights: "size" is cut off first where the number of rows is bought, then "rest"."""
        whole = sum((exact(weight, "a weight") for weight in weights.values()), Fraction(0))
        size = {"size": whole * SIZE_SHARE / (1 - SIZE_SHARE)} if self.buys_size else {}
        rest = {"rest": (whole + size.get("size", Fraction(0))) * self.rest_weight} if self.rest else {}
        return shares(self.budget, {**size, **weights, **rest})

    @property
    def rest_weight(self) -> Fraction:
        """The weight of the rest, when the synopsis has 1."""
        return self.rest / (1 - self.rest)

    @property
    def size_epsilon(self) -> Fraction | None:
        """What the number of rows costs in pure epsilon, for plans whose later steps depend on it; None: it is public."""
        return self.budget.epsilon * SIZE_SHARE if self.buys_size else None

    def size_step(self, spend: Spend | None) -> Step | None:
        """The step that buys the number of rows; None where it is public."""
        return None if spend is None else make_step("size", self.sensitivity(Rows()), spend)


def buy_size(vault: Vault, step: Step | None, progress: Progress) -> float:
    """The number of rows, at least 1: noisy where a step buys it, exact where it is public."""
    progress("size")
    return vault.size(step.mechanism if step else None)
