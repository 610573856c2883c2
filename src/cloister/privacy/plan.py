"""Plans as data: named steps, each with its mechanism and its event, whose sum is the budget. No row is needed.

The vault follows a plan step by step and refuses any other (`Vault.follow`). Only how many rounds share a fixed spend may
be left open, and whether the last of them are needed: a `Branch`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Literal

from cloister.errors import PlanError
from cloister.kernels import Sensitivity
from cloister.privacy.budgets import Budget, Number
from cloister.privacy.events import Event, event_dict, within
from cloister.privacy.mechanisms import Mechanism, Norm, Spend, calibrate, event_of, norm_of, part_of
from cloister.privacy.round_parts import Parts, equal_parts
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, TextTable
from cloister.schema import Neighbours

__all__ = ["STOP_FOR", "Branch", "Plan", "PlannedStep", "Step", "Stop", "make_step"]


@dataclass(frozen=True, slots=True)
class Step:
    """One release of a plan: its mechanism, what that costs, and what to expect of it."""

    name: str
    mechanism: Mechanism
    event: Event
    expect: str = ""


def make_step(
    name: str, sensitivity: Sensitivity, spend: Spend, weights: Mapping[str, Number] | None = None, expect: str = ""
) -> Step:
    """A step that buys the least noise its spend allows."""
    mechanism = calibrate(sensitivity, spend, weights)
    return Step(name, mechanism, mechanism.event(name, sensitivity), expect)


Stop = Literal["never", "skips", "one last round"]
"""What becomes of the rounds that are left when released values show that they are not needed: there is no such stop; they are
skipped and stay charged; or one last round takes what they would have spent."""

STOP_FOR: Mapping[Norm, Stop] = {"L1": "one last round", "L2": "skips"}  # by the norm of the noise that a spend buys


@dataclass(frozen=True, slots=True)
class Branch:
    """Rounds of one kind that share a fixed spend; how many there are may follow from what was released.

    Privacy
    -------
    Pure epsilons add whatever chose them. Gaussian releases chosen one after the other are one Gaussian while the sum of their
    precisions is fixed in advance. The *kind* of a step or a total that follows from a Gaussian release would pass delta.

    A stop may follow from released values alone. Skipped rounds stay charged, so that the total is the same whether or not they
    were measured. "one last round" is declared for a pure spend only: wherever the stop comes, the epsilons that were spent and
    the one that is left add up to the same spend.

    References
    ----------
    A. Smith and A. Thakurta, "Fully adaptive composition for Gaussian differential privacy", 2022.
    """

    name: str  # round 2 is the step "name 2"
    spend: Spend  # of all rounds together
    rounds: int  # the number to expect
    parts: Parts = equal_parts  # how so many rounds share the spend
    stop: Stop = "never"
    stopped_after: int | None = None  # rounds; None: there was no stop

    def __post_init__(self) -> None:
        if self.stop == "one last round" and norm_of(self.spend) != "L1":
            raise PlanError("only pure rounds may leave their epsilon to a last one. This is a bug: please report it.")
        if self.stopped_after is not None and (self.stop == "never" or not 0 < self.stopped_after < self.rounds):
            raise PlanError(f'the rounds of "{self.name}" cannot stop here. This is a bug: please report it.')

    def events(self) -> tuple[Event, ...]:
        """Every round's charge, as it was planned or as a stop left it."""
        parts = self.parts(self.rounds)
        if len(parts) != self.rounds or min(parts) <= 0 or sum(parts) != 1:
            raise PlanError(f'the rounds of "{self.name}" do not share one spend. This is a bug: please report it.')
        events = tuple(event_of(f"{self.name} {i + 1}", part_of(self.spend, part)) for i, part in enumerate(parts))
        if self.stop != "one last round" or self.stopped_after is None:
            return events
        rest = sum(parts[self.stopped_after :], Fraction(0))
        return (*events[: self.stopped_after], event_of(f"last {self.name}", part_of(self.spend, rest)))


PlannedStep = Event | Branch


@dataclass(frozen=True, slots=True)
class Plan:
    """A budget, a neighbour relation, and the steps that spend it. Print it before any row is read."""

    budget: Budget
    neighbours: Neighbours
    steps: tuple[PlannedStep, ...]
    expect: Mapping[str, str] = field(default_factory=dict)  # step name -> what to expect of it
    facts: Mapping[str, Any] = field(default_factory=dict)  # what the plan was made for: rows, columns, clusters
    choices: Mapping[str, str] = field(default_factory=dict)  # what was chosen, with the reason
    unit: str = "row"  # whom the guarantee protects, as in a certificate

    @property
    def events(self) -> tuple[Event, ...]:
        """What every step spends, branches with the number of rounds to expect."""
        return tuple(event for step in self.steps for event in (step.events() if isinstance(step, Branch) else (step,)))

    def choose(self, branch: str, rounds: int) -> Plan:
        """The plan with another number of rounds in this branch; the total is the same."""
        return self._with_branch(branch, lambda step: replace(step, rounds=rounds))

    def stop(self, branch: str, after: int) -> Plan:
        """The plan whose branch stopped after so many rounds; the total is the same."""
        return self._with_branch(branch, lambda step: replace(step, stopped_after=after))

    def _with_branch(self, name: str, change: Callable[[Branch], Branch]) -> Plan:
        steps = (change(step) if isinstance(step, Branch) and step.name == name else step for step in self.steps)
        return replace(self, steps=tuple(steps))

    def keeps_budget(self) -> bool:
        """Whether the events, added up again, stay within the budget."""
        return within(self.events, self.budget)

    def rows(self) -> list[dict[str, str]]:
        """One row a step: name, spend in words, what to expect."""
        return [
            {
                "step": event.step,
                "spend": event.words(self.budget, self.unit),
                "expect": self.expect.get(event.step, ""),
            }
            for event in self.events
        ]

    def as_dict(self) -> dict[str, Any]:
        """The plan for programs."""
        return {
            "budget": str(self.budget),
            "neighbours": self.neighbours.value,
            "unit": self.unit,
            "facts": dict(self.facts),
            "choices": dict(self.choices),
            "steps": [{**row, **event_dict(event)} for row, event in zip(self.rows(), self.events, strict=True)],
        }

    def __str__(self) -> str:
        rows = self.rows()
        widths = {key: max([len(key), *(len(row[key]) for row in rows)]) for key in ("step", "spend")}
        head = f"Plan for {self.budget}, {self.neighbours.value}, per {self.unit}"
        facts = ", ".join(f"{name} {value}" for name, value in self.facts.items())
        lines = [head + (f": {facts}" if facts else "")]
        lines += [f"  {name}: {reason}" for name, reason in self.choices.items()]
        lines += [f"  {r['step']:<{widths['step']}}  {r['spend']:<{widths['spend']}}  {r['expect']}".rstrip() for r in rows]
        return "\n".join(lines)

    def describe(self) -> Document:
        """The plan as a document: what was chosen and why, then a row a step."""
        facts = [Fact(name, str(value)) for name, value in {**self.facts, **self.choices}.items()]
        steps = TextTable.of(["step", "spend", "expect"], [list(row.values()) for row in self.rows()], align="left")
        title = f"Plan for {self.budget}, {self.neighbours.value}, per {self.unit}"
        return Document((Section((*facts, steps)),), title=title)

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())
