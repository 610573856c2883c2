"""Events: what each step of a release spends. Their JSON, their words, and what they cost together.

An event says what it costs as a `Cost`; costs add, and `delta_of` tells what the sum is worth. A new kind of event is a
class that keeps the `Event` protocol and a line in `KINDS`; nothing else asks for the kind of an event.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, sqrt
from typing import Any, ClassVar, Protocol, Self

from cloister.privacy.accounting import (
    LARGEST_EPSILON,
    SAMPLED_SLACK,
    SLACK,
    amplified_epsilon,
    gaussian_delta,
    gaussian_precision,
    sampled_gaussian_delta,
    sampler_delta,
)
from cloister.privacy.budgets import ApproxDP, Budget
from cloister.schema.numerals import amount_text, read_exact_text

__all__ = [
    "Cost",
    "Event",
    "ExponentialEvent",
    "GaussianEvent",
    "LaplaceEvent",
    "LocalEvent",
    "SampledEvent",
    "covers",
    "delta_of",
    "event_dict",
    "event_from",
    "keeps",
    "within",
    "written_since",
]


@dataclass(frozen=True, slots=True)
class Cost:
    """What events cost together, under basic composition of what is pure and Gaussian composition of the rest.

    Attributes
    ----------
    epsilon
        The sum of the pure epsilons.
    precision
        The sum of the Gaussian precisions, squared sensitivity over variance.
    samples
        Of each secret sample with Gaussian releases: its rate, and the sum of their precisions.
    is_proved
        False where nothing has been proved about the combination, or where a number makes no sense.
    """

    epsilon: Fraction = Fraction(0)
    precision: Fraction = Fraction(0)
    samples: tuple[tuple[Fraction, Fraction], ...] = ()
    is_proved: bool = True

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.epsilon + other.epsilon,
            self.precision + other.precision,
            self.samples + other.samples,
            self.is_proved and other.is_proved,
        )

    @property
    def is_pure(self) -> bool:
        """Whether no Gaussian is in it."""
        return not self.precision and not self.samples


UNPROVED = Cost(is_proved=False)


class Event(Protocol):
    """What one step spent, as plain data."""

    kind: ClassVar[str]  # its name in JSON
    since: ClassVar[int]  # the first version of certificates that has it: an older Cloister asks to be updated

    @property
    def step(self) -> str: ...

    def cost(self) -> Cost:
        """What it costs; `UNPROVED` for numbers that no mechanism could have."""

    def words(self, budget: Budget, unit: str) -> str:
        """What it spends of a budget, for a person."""

    def numbers(self) -> dict[str, Any]:
        """Its numbers for JSON, exact ones as text."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Self:
        """The event whose step and numbers these are."""


@dataclass(frozen=True, slots=True)
class LaplaceEvent:
    """A pure release: `epsilon` is exact."""

    kind: ClassVar[str] = "laplace"
    since: ClassVar[int] = 1
    step: str
    epsilon: Fraction

    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon) if self.epsilon >= 0 else UNPROVED

    def words(self, budget: Budget, unit: str) -> str:
        return f"epsilon {amount_text(self.epsilon)}"

    def numbers(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> LaplaceEvent:
        return cls(data["step"], read_exact_text(data["epsilon"]))


@dataclass(frozen=True, slots=True)
class ExponentialEvent:
    """A choice by the exponential mechanism, which is pure: `epsilon` is exact, the reach of the scores over the scale."""

    kind: ClassVar[str] = "exponential"
    since: ClassVar[int] = 3
    step: str
    epsilon: Fraction

    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon) if self.epsilon >= 0 else UNPROVED

    def words(self, budget: Budget, unit: str) -> str:
        return f"epsilon {amount_text(self.epsilon)}"

    def numbers(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ExponentialEvent:
        return cls(data["step"], read_exact_text(data["epsilon"]))


@dataclass(frozen=True, slots=True)
class GaussianEvent:
    """A Gaussian release: `precision` is the squared sensitivity over the variance, the mu^2 of Gaussian privacy."""

    kind: ClassVar[str] = "gaussian"
    since: ClassVar[int] = 1
    step: str
    precision: Fraction

    def cost(self) -> Cost:
        return Cost(precision=self.precision) if self.precision >= 0 else UNPROVED

    def words(self, budget: Budget, unit: str) -> str:
        whole = gaussian_precision(budget.epsilon, budget.delta) if isinstance(budget, ApproxDP) else self.precision
        return f"{float(self.precision / whole):.1%} of the precision"

    def numbers(self) -> dict[str, Any]:
        return {"precision": str(self.precision)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> GaussianEvent:
        return cls(data["step"], read_exact_text(data["precision"]))


@dataclass(frozen=True, slots=True)
class SampledEvent:
    """Everything that ran on one secret Poisson sample of the rows at this rate: all of it pure, or all of it Gaussian."""

    kind: ClassVar[str] = "sample"
    since: ClassVar[int] = 1
    step: str
    rate: Fraction
    events: tuple[Event, ...]

    def cost(self) -> Cost:
        """A pure epsilon is amplified; a Gaussian on a sample is accounted for with those on the table."""
        on_sample = total_cost(self.events)
        if not 0 < self.rate <= 1 or not on_sample.is_proved or on_sample.samples:
            return UNPROVED
        if on_sample.epsilon and on_sample.precision:
            return UNPROVED  # one sample is all pure or all Gaussian
        if on_sample.precision:
            return Cost(samples=((self.rate, on_sample.precision),))
        return Cost(epsilon=amplified_epsilon(on_sample.epsilon, self.rate)) if on_sample.epsilon else Cost()

    def words(self, budget: Budget, unit: str) -> str:
        return f"on a secret sample of {float(self.rate):.2%} of the {'rows' if unit == 'row' else 'people'}"

    def numbers(self) -> dict[str, Any]:
        return {"rate": str(self.rate), "events": [event_dict(event) for event in self.events]}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> SampledEvent:
        return cls(data["step"], read_exact_text(data["rate"]), tuple(event_from(event) for event in data["events"]))


@dataclass(frozen=True, slots=True)
class LocalEvent:
    """An answer to one question, perturbed by whoever gave it before it left: `epsilon` is exact."""

    kind: ClassVar[str] = "local"
    since: ClassVar[int] = 4
    step: str
    epsilon: Fraction

    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon) if self.epsilon > 0 else UNPROVED

    def words(self, budget: Budget, unit: str) -> str:
        return f"epsilon {amount_text(self.epsilon)} where the answer differs"

    def numbers(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon)}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> LocalEvent:
        return cls(data["step"], read_exact_text(data["epsilon"]))


EVENTS: tuple[type[Event], ...] = (LaplaceEvent, GaussianEvent, SampledEvent, ExponentialEvent, LocalEvent)
KINDS: dict[str, type[Event]] = {event.kind: event for event in EVENTS}
"""Every kind of event that a certificate can hold, by its name in JSON."""


def event_dict(event: Event) -> dict[str, Any]:
    """An event as plain data."""
    return {"step": event.step, "kind": event.kind, **event.numbers()}


def event_from(data: Mapping[str, Any]) -> Event:
    """The event that `event_dict` wrote."""
    return KINDS[data["kind"]].read(data)


def written_since(events: Sequence[Event]) -> int:
    """The first version of certificates in which all these events can stand, those on samples too."""
    return max((max(event.since, written_since(getattr(event, "events", ()))) for event in events), default=1)


def total_cost(events: Sequence[Event]) -> Cost:
    """What these events cost together."""
    return sum((event.cost() for event in events), Cost())


def covers(planned: Event, event: Event) -> bool:
    """Whether an event is the planned one: its step, its kind, and no more than its cost.

    Noise is rounded up, so that an event may cost a little less than was planned; the plan's cost is what is charged.
    """
    most, cost = planned.cost(), event.cost()
    return (
        (planned.step, planned.kind) == (event.step, event.kind)
        and cost.is_proved
        and cost.epsilon <= most.epsilon
        and cost.precision <= most.precision
        and cost.samples == most.samples
    )


def delta_of(events: Sequence[Event], epsilon: Fraction) -> float:
    """The delta at which all these events together are (epsilon, delta)-private; infinite when epsilon cannot be met.

    Pure events are taken off epsilon first: whatever steps their outcomes lead to, those stay within what is left.

    >>> delta_of([LaplaceEvent("votes", Fraction(1, 2)), LaplaceEvent("sums", Fraction(1, 2))], Fraction(1))
    0.0
    """
    cost = total_cost(events)
    left = epsilon - cost.epsilon
    if left < 0 or not cost.is_proved or len(cost.samples) > 1:  # one Gaussian sample a release
        return inf
    if cost.is_pure:
        return 0.0
    goal = min(float(left), LARGEST_EPSILON)  # delta falls as epsilon grows, and the error of the sampler grows with it
    if not cost.samples:
        return gaussian_delta(goal, sqrt(cost.precision)) * (1 + SLACK / 2) + sampler_delta(goal)
    ((rate, on_sample),) = cost.samples
    delta = sampled_gaussian_delta(goal, float(rate), sqrt(on_sample), sqrt(cost.precision))
    return delta * (1 + SAMPLED_SLACK / 2) + sampler_delta(goal)  # the integral's own error stays below that


def keeps(events: Sequence[Event], epsilon: Fraction, delta: Fraction) -> bool:
    """Whether these events together are (epsilon, delta)-private. Without a delta every one of them must be pure."""
    if delta == 0:  # not left to floating point, in which a small delta may become 0
        cost = total_cost(events)
        return cost.is_proved and cost.is_pure and cost.epsilon <= epsilon
    return delta_of(events, epsilon) <= float(delta)


def within(events: Sequence[Event], budget: Budget) -> bool:
    """Whether all these events together keep the budget."""
    return keeps(events, budget.epsilon, budget.delta)
