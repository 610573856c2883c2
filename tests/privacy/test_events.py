"""Events: their JSON, their words, their costs, and what a new kind needs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import inf
from typing import Any, ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister.privacy import events
from cloister.privacy.accounting import amplified_epsilon, gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.events import (
    KINDS,
    Cost,
    Event,
    ExponentialEvent,
    GaussianEvent,
    LaplaceEvent,
    LocalEvent,
    SampledEvent,
    delta_of,
    event_dict,
    event_from,
    keeps,
    within,
)

SPENDS = st.fractions(min_value=0, max_value=20)
PURE = st.builds(LaplaceEvent, st.text(max_size=5), SPENDS) | st.builds(ExponentialEvent, st.text(max_size=5), SPENDS)
GAUSSIAN = st.builds(GaussianEvent, st.text(max_size=5), SPENDS)
RATES = st.integers(1, 2**32).map(lambda n: Fraction(n, 2**32))
SAMPLED = st.builds(SampledEvent, st.text(max_size=5), RATES, st.lists(PURE | GAUSSIAN, max_size=3).map(tuple))


@given(PURE | GAUSSIAN | SAMPLED)
def test_an_event_survives_json(event: Event) -> None:
    """Written as JSON and read again it is the same event, to the last digit."""
    assert event_from(json.loads(json.dumps(event_dict(event)))) == event


def test_the_json_of_every_kind_is_pinned() -> None:
    """Certificates that are out in the world must stay readable: keys, their order, and exact numbers as text."""
    inner = (LaplaceEvent("a", Fraction(1, 3)),)
    assert list(KINDS) == ["laplace", "gaussian", "sample", "exponential", "local"]
    assert event_dict(LocalEvent("a", Fraction(1, 3))) == {"step": "a", "kind": "local", "epsilon": "1/3"}
    assert event_dict(ExponentialEvent("a", Fraction(1, 3))) == {"step": "a", "kind": "exponential", "epsilon": "1/3"}
    assert json.dumps([event_dict(event) for event in (*inner, GaussianEvent("b", Fraction(2)))]) == (
        '[{"step": "a", "kind": "laplace", "epsilon": "1/3"}, {"step": "b", "kind": "gaussian", "precision": "2"}]'
    )
    assert json.dumps(event_dict(SampledEvent("c", Fraction(1, 4), inner))) == (
        '{"step": "c", "kind": "sample", "rate": "1/4", "events": [{"step": "a", "kind": "laplace", "epsilon": "1/3"}]}'
    )


def test_an_unknown_kind_is_refused() -> None:
    """What this version cannot add up it does not read."""
    with pytest.raises(KeyError):
        event_from({"step": "a", "kind": "magic", "epsilon": "1"})


def test_the_words_of_every_kind() -> None:
    """A plan says what a step spends: an epsilon, a part of the precision, or what a sample is made of."""
    budget = ApproxDP(1, 1e-6)
    half = gaussian_precision(budget.epsilon, budget.delta) / 2
    sample = SampledEvent("a", Fraction(1, 40), ())
    assert LaplaceEvent("a", Fraction(1, 4)).words(PureDP(1), "row") == "epsilon 0.25"
    assert GaussianEvent("a", half).words(budget, "row") == "50.0% of the precision"
    assert sample.words(budget, "row") == "on a secret sample of 2.50% of the rows"
    assert sample.words(budget, "person") == "on a secret sample of 2.50% of the people"


@given(st.lists(PURE, max_size=5))
def test_pure_events_add_up_exactly(steps: list[LaplaceEvent]) -> None:
    """Without a delta the sum of the epsilons decides, to the last digit."""
    total = sum((event.epsilon for event in steps), Fraction(0))
    assert keeps(steps, total, Fraction(0))
    assert not keeps([*steps, LaplaceEvent("more", Fraction(1, 10**30))], total, Fraction(0))


@pytest.mark.parametrize(
    "event",
    [
        LaplaceEvent("a", Fraction(-1)),
        GaussianEvent("a", Fraction(-1)),
        SampledEvent("a", Fraction(1, 2), (LaplaceEvent("b", Fraction(-1)), LaplaceEvent("c", Fraction(2)))),
        SampledEvent("a", Fraction(2), (LaplaceEvent("b", Fraction(1)),)),
        SampledEvent("a", Fraction(-1, 2), (LaplaceEvent("b", Fraction(1)),)),
        SampledEvent("a", Fraction(1, 2), (SampledEvent("b", Fraction(1, 2), (GaussianEvent("c", Fraction(1)),)),)),
    ],
)
def test_numbers_that_no_mechanism_has_never_pass(event: Event) -> None:
    """A refund, a rate above 1 or a sample of a sample in a certificate makes it fail, whatever the budget."""
    assert delta_of([event], Fraction(10**6)) == inf
    assert not keeps([event], Fraction(10**6), Fraction(0))
    assert not keeps([event, LaplaceEvent("more", Fraction(5))], Fraction(10**6), Fraction(999, 1000))


def test_a_gaussian_is_never_pure() -> None:
    """However small its precision, a Gaussian step does not keep a budget without delta; a precision of 0 is no step."""
    tiny = GaussianEvent("a", Fraction(1, 10**400))
    assert not within([tiny], PureDP(1))
    assert not within([SampledEvent("s", Fraction(1, 2), (tiny,))], PureDP(1))
    assert within([GaussianEvent("a", Fraction(0))], PureDP(1))


def test_an_epsilon_on_a_sample_is_amplified_once() -> None:
    """All pure steps on one sample are amplified together."""
    steps = (LaplaceEvent("a", Fraction(1)), LaplaceEvent("b", Fraction(1)))
    assert SampledEvent("s", Fraction(1, 10), steps).cost() == Cost(epsilon=amplified_epsilon(Fraction(2), Fraction(1, 10)))
    assert SampledEvent("s", Fraction(1, 10), ()).cost() == Cost()


@dataclass(frozen=True, slots=True)
class ChoiceEvent:
    """A kind of event that another file could add: a choice that costs a pure epsilon."""

    kind: ClassVar[str] = "choice"
    since: ClassVar[int] = 4
    step: str
    epsilon: Fraction
    options: int

    def cost(self) -> Cost:
        return Cost(epsilon=self.epsilon)

    def words(self, budget: Budget, unit: str) -> str:
        return f"a choice among {self.options}"

    def numbers(self) -> dict[str, Any]:
        return {"epsilon": str(self.epsilon), "options": self.options}

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> ChoiceEvent:
        return cls(data["step"], Fraction(data["epsilon"]), int(data["options"]))


def test_a_new_kind_is_a_class_and_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """Registered, an event of a new kind is read, added up and amplified like any other."""
    monkeypatch.setitem(events.KINDS, "choice", ChoiceEvent)
    event = ChoiceEvent("best", Fraction(1, 2), 10)
    assert event_from(event_dict(event)) == event
    assert within([event, LaplaceEvent("a", Fraction(1, 2))], PureDP(1))
    assert not within([event, event, event], PureDP(1))
    assert SampledEvent("s", Fraction(1, 10), (event,)).cost().epsilon == amplified_epsilon(Fraction(1, 2), Fraction(1, 10))
