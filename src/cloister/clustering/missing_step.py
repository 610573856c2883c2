"""How many values of each column are made up: a step that any method can be preceded by, for a twentieth of the budget.

Privacy
-------
Released: for each column the noisy number of rows whose value cannot be read, and counts as the column's default. Neighbours:
both relations. Sensitivity: `kernels.MissingCounts`; a row is counted at most once a column. The step is pure and comes first,
whatever the method then does with the rest; it is bought whether or not anything is missing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from cloister.clustering.progress import Progress
from cloister.clustering.task import Task
from cloister.clustering.terms import Terms
from cloister.encode import Codes, Encoding, Grid, MadeUp
from cloister.kernels import MissingCounts
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.notes import missing_counts
from cloister.privacy.plan import Plan, Step, make_step
from cloister.vault import Vault

__all__ = ["MissingStep", "rest_of"]

SHARE = Fraction(1, 20)


def rest_of(budget: Budget) -> Budget:
    """What is left of a budget for the method."""
    rest = budget.epsilon * (1 - SHARE)
    return ApproxDP(rest, budget.delta) if isinstance(budget, ApproxDP) else PureDP(rest)


@dataclass(frozen=True, slots=True)
class MissingStep:
    """The step, for the columns of a task, under the terms of the whole request."""

    task: Task
    terms: Terms

    @property
    def kernel(self) -> MissingCounts:
        """What is counted."""
        return MissingCounts(len(self.columns))

    @property
    def columns(self) -> Sequence[Grid | Codes]:
        """The columns whose values may be made up, numbers first."""
        domain = self.task.domain
        if domain is None:
            return [Grid(name, 0.0, 1.0, 1) for name in self.task.names]
        return (*domain.encoding.numbers, *domain.categories)

    @property
    def step(self) -> Step:
        """The mechanism and its cost."""
        return make_step("missing", self.terms.sensitivity(self.kernel), self.terms.budget.epsilon * SHARE)

    def before(self, plan: Plan) -> Plan:
        """The plan of a method with this step before it."""
        step = self.step
        expect = {**plan.expect, "missing": f"made-up values of each column +-{step.mechanism.deviation()['counts']:.3g}"}
        return replace(plan, budget=self.terms.budget, steps=(step.event, *plan.steps), expect=expect)

    def measure(self, vault: Vault, progress: Progress) -> dict[str, Any]:
        """Buy the counts; afterwards the rows are read as the task has them."""
        progress("missing")
        vault.recode(Encoding(categories=tuple(MadeUp(column) for column in self.columns)))
        released = vault.measure_first(self.kernel, self.step.mechanism, "missing")
        vault.recode(self.task.encoding)
        names = [column.name for column in self.columns]
        return missing_counts(names, released.value["counts"], released.deviation["counts"])
