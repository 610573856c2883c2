"""What a release has spent so far, and which step of its plan must come next."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from typing import TypeGuard

from cloister.errors import BudgetExceeded, PlanError
from cloister.privacy.accounting import MOST_DRAWS
from cloister.privacy.budgets import Budget
from cloister.privacy.events import Event, SampledEvent, covers, total_cost, within
from cloister.privacy.plan import Branch, Plan
from cloister.work_done import tell_step

__all__ = ["FollowedPlan"]


class FollowedPlan:
    """The steps of one release: pure ones at first, then those of one frozen plan in its order, and no others.

    Privacy
    -------
    Pure epsilons add whatever chose the later ones, so pure steps may decide what the plan is (the noisy number of rows does).
    From there on the kind and the cost of every step are fixed: under a delta, a kind that follows from what a Gaussian step
    showed would pass it. `Branch` says what may stay open. A step is charged as it was planned, before a row is read for it;
    what then goes wrong stays spent, and the step does not come again.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._taken: list[Event] = []
        self._first: list[Event] = []  # those of them that come before every plan
        self._left: deque[Event | Branch] | None = None  # None: no plan is followed yet
        self._on_sample: deque[Event] | None = None  # what is left on the secret sample that is open
        self._opened: Branch | None = None  # whose rounds come next
        self._rounds = 0  # of the opened branch that were taken
        self._skipped: list[str] = []
        self._draws = 0
        self._is_cut_short = False  # a sample was left before its last step

    @property
    def is_complete(self) -> bool:
        """Whether the plan's last step was taken."""
        return self._left is not None and not self._left and not self._on_sample

    def take_first(self, event: Event) -> None:
        """Charge a pure step that a request buys before its method has a plan; the plan is followed after it."""
        if self._left is not None or len(self._taken) > len(self._first):
            raise PlanError.of_step(event.step, None)
        self.take(event)
        self._first.append(event)

    def follow(self, plan: Plan) -> None:
        """Freeze the plan; what was measured before, other than what comes before every plan, must be its first steps."""
        if self._left is not None:
            raise PlanError("a plan is followed already, and it cannot be changed. This is a bug: please report it.")
        if not within([*self._first, *plan.events], self._budget):
            raise BudgetExceeded.of_release(self._budget)
        steps = (*self._first, *plan.steps)
        left = deque(steps)
        for event in self._taken:
            first = left.popleft() if left else None
            if first is None or isinstance(first, Branch) or not covers(first, event):
                raise PlanError.of_step(event.step, name_of(first))
        self._taken = [step for step in steps[: len(self._taken)] if not isinstance(step, Branch)]
        self._left = left

    def choose(self, branch: str, rounds: int) -> None:
        """Settle how many rounds the branch has that comes next."""
        first = self._left[0] if self._left else None
        if self._left is None or not isinstance(first, Branch) or first.name != branch or rounds < 1:
            raise PlanError.of_step(branch, name_of(first))
        self._left[0] = replace(first, rounds=rounds)

    def stop(self, branch: str) -> tuple[str, ...]:
        """End the rounds of the branch that is under way, as its plan declares; returns the names of those that are left.

        Skipped rounds are charged here. Where one last round takes what they would have spent, it is the next step.
        """
        opened = self._opened
        if self._left is None or opened is None or opened.name != branch or opened.stop == "never" or not self._rounds:
            raise PlanError.of_step(f"the end of {branch}", name_of(self._left[0] if self._left else None))
        rest = [event for event in (self._left.popleft() for _ in range(opened.rounds - self._rounds)) if is_event(event)]
        names = tuple(event.step for event in rest)
        if opened.stop == "one last round":
            self._left.appendleft(replace(opened, stopped_after=self._rounds).events()[-1])
        else:
            self._taken += rest
            self._skipped += names
        self._opened = None
        return names

    @property
    def skipped(self) -> tuple[str, ...]:
        """The steps that were charged and not measured, because a stop of the plan ended its rounds."""
        return tuple(self._skipped)

    def count_draws(self, draws: int) -> None:
        """Refuse more noise than the accounting has added the sampler's error for."""
        self._draws += draws
        if self._draws > MOST_DRAWS:
            raise PlanError(f"this release draws noise more than {MOST_DRAWS:,} times. This is a bug: please report it.")

    def take(self, event: Event) -> None:
        """Charge a step on the table, or refuse it."""
        if self._on_sample is not None:
            raise PlanError.of_step(event.step, name_of(self._on_sample[0] if self._on_sample else None))
        if self._left is None:
            if not within([*self._taken, event], self._budget):
                raise BudgetExceeded.of_step(event.step, self._budget)
            if isinstance(event, SampledEvent) or not total_cost([event]).is_pure:
                raise PlanError.of_unplanned(event.step)
            self._taken.append(event)
            return
        first = self._next()
        if first is None or not covers(first, event):
            raise PlanError.of_step(event.step, name_of(first))
        self._taken.append(first)
        self._left.popleft()
        self._tell_step()
        if self._opened is not None:
            self._rounds += 1
            self._opened = self._opened if self._rounds < self._opened.rounds else None

    def enter_sample(self, step: str, rate: Fraction) -> None:
        """Charge all that the plan measures on one secret sample."""
        if self._left is None:
            raise PlanError.of_unplanned(step)
        first = self._next()
        is_next = isinstance(first, SampledEvent) and (first.step, first.rate) == (step, rate)
        if not isinstance(first, SampledEvent) or not is_next or self._on_sample is not None:
            raise PlanError.of_step(step, name_of(first))
        self._taken.append(first)
        self._left.popleft()
        self._tell_step()
        self._on_sample = deque(first.events)

    def take_on_sample(self, event: Event) -> None:
        """Charge a step on the open sample, or refuse it: the sample's total is charged already."""
        first = self._on_sample[0] if self._on_sample else None
        if self._on_sample is None or first is None or not covers(first, event):
            raise PlanError.of_step(event.step, name_of(first))
        self._on_sample.popleft()

    def leave_sample(self) -> None:
        """Nothing is measured on the sample any more; what the plan still had for it stays charged."""
        left, self._on_sample = self._on_sample, None
        self._is_cut_short = self._is_cut_short or bool(left)

    def events(self) -> tuple[Event, ...]:
        """The events of the certificate: the plan's, all of which were taken or skipped."""
        if self._left is None:
            raise PlanError("this release followed no plan, so nothing is handed out. This is a bug: please report it.")
        if self._left or self._is_cut_short:
            raise PlanError("this release ends before the last step of its plan. This is a bug: please report it.")
        return tuple(self._taken)

    def _tell_step(self) -> None:
        """Tell whoever waits which step of how many was taken."""
        taken = len(self._taken)
        tell_step(taken, taken + sum(step.rounds if isinstance(step, Branch) else 1 for step in self._left or ()))

    def _next(self) -> Event | None:
        """The step that must come next; a branch opens with the number of rounds that it has by now."""
        if self._left and isinstance(self._left[0], Branch):
            branch = self._left.popleft()
            assert isinstance(branch, Branch)
            self._left.extendleft(reversed(branch.events()))
            self._opened, self._rounds = branch, 0
        first = self._left[0] if self._left else None
        assert not isinstance(first, Branch)
        return first


def is_event(step: Event | Branch) -> TypeGuard[Event]:
    """Whether a planned step is no branch."""
    return not isinstance(step, Branch)


def name_of(step: Event | Branch | None) -> str | None:
    """What a message calls a planned step."""
    if step is None:
        return None
    return f"{step.name} 1" if isinstance(step, Branch) else step.step
