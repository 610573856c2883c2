"""Plans as data: named steps, each with its mechanism and its event, whose sum is the budget. No row is needed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cloister.kernels import Sensitivity
from cloister.privacy.accounting import Event, GaussianEvent, LaplaceEvent, SampledEvent, gaussian_precision, within
from cloister.privacy.budgets import ApproxDP, Budget, Number, show, split
from cloister.privacy.mechanisms import Mechanism, Precision, Spend, calibrate
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, TextTable
from cloister.schema import Neighbours

__all__ = ["Plan", "Step", "make_step", "shares"]


def shares(budget: Budget, weights: Mapping[str, Number]) -> dict[str, Spend]:
    """Cut a budget into named spends.

    A pure budget gives each its part of epsilon; an approximate one gives each its part of the one Gaussian precision
    that the pair (epsilon, delta) is worth.
    """
    if isinstance(budget, ApproxDP):
        whole = gaussian_precision(budget.epsilon, budget.delta)
        return {name: Precision(part) for name, part in split(whole, weights).items()}
    return dict(split(budget.epsilon, weights))


def cut(spend: Spend, weights: Mapping[str, Number]) -> dict[str, Spend]:
    """Cut a spend once more by named weights."""
    if isinstance(spend, Precision):
        return {name: Precision(part) for name, part in split(spend.value, weights).items()}
    return dict(split(spend, weights))


@dataclass(frozen=True, slots=True)
class Step:
    """One release of a plan: its mechanism, what that costs, and what to expect of it."""

    name: str
    mechanism: Mechanism
    event: LaplaceEvent | GaussianEvent
    expect: str = ""


def make_step(
    name: str, sensitivity: Sensitivity, spend: Spend, weights: Mapping[str, Number] | None = None, expect: str = ""
) -> Step:
    """A step that buys the least noise its spend allows."""
    mechanism = calibrate(sensitivity, spend, weights)
    return Step(name, mechanism, mechanism.event(name, sensitivity), expect)


@dataclass(frozen=True, slots=True)
class Plan:
    """A budget, a neighbour relation, and the steps that spend it. Print it before any row is read."""

    budget: Budget
    neighbours: Neighbours
    events: tuple[Event, ...]
    expect: Mapping[str, str] = field(default_factory=dict)  # step name -> what to expect of it
    facts: Mapping[str, Any] = field(default_factory=dict)  # what the plan was made for: rows, columns, clusters
    choices: Mapping[str, str] = field(default_factory=dict)  # what was chosen, with the reason
    unit: str = "row"  # whom the guarantee protects, as in a certificate

    def keeps_budget(self) -> bool:
        """Whether the events, added up again, stay within the budget."""
        return within(self.events, self.budget)

    def rows(self) -> list[dict[str, str]]:
        """One row a step: name, spend in words, what to expect."""
        return [
            {
                "step": event.step,
                "spend": spend_text(event, self.budget, self.unit),
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


def spend_text(event: Event, budget: Budget, unit: str = "row") -> str:
    """What an event spends, in words."""
    if isinstance(event, LaplaceEvent):
        return f"epsilon {show(event.epsilon)}"
    if isinstance(event, SampledEvent):
        return f"on a secret sample of {float(event.rate):.2%} of the {'rows' if unit == 'row' else 'people'}"
    whole = gaussian_precision(budget.epsilon, budget.delta) if isinstance(budget, ApproxDP) else event.precision
    return f"{float(event.precision / whole):.1%} of the precision"


def event_dict(event: Event) -> dict[str, Any]:
    """An event as plain data, exact numbers as text."""
    if isinstance(event, LaplaceEvent):
        return {"step": event.step, "kind": "laplace", "epsilon": str(event.epsilon)}
    if isinstance(event, GaussianEvent):
        return {"step": event.step, "kind": "gaussian", "precision": str(event.precision)}
    return {
        "step": event.step,
        "kind": "sample",
        "rate": str(event.rate),
        "events": [event_dict(inner) for inner in event.events],
    }


def event_from(data: Mapping[str, Any]) -> Event:
    """The event that `event_dict` wrote."""
    if data["kind"] == "laplace":
        return LaplaceEvent(data["step"], Fraction(data["epsilon"]))
    if data["kind"] == "gaussian":
        return GaussianEvent(data["step"], Fraction(data["precision"]))
    inner: Sequence[Any] = [event_from(item) for item in data["events"]]
    return SampledEvent(data["step"], Fraction(data["rate"]), tuple(inner))
