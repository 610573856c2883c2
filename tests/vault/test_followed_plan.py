"""The vault follows a frozen plan, and what choosing on the way would do."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import log_ndtr
from scipy.stats import norm

from cloister.encode import Encoding, Grid
from cloister.errors import BudgetExceeded, PlanError
from cloister.kernels import Rows
from cloister.privacy.accounting import gaussian_delta, gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.events import Event, GaussianEvent, LaplaceEvent, SampledEvent, within
from cloister.privacy.mechanisms import Mechanism, Precision, Spend, calibrate, event_of
from cloister.privacy.plan import Branch, Plan, PlannedStep, Stop
from cloister.privacy.round_parts import halving_parts
from cloister.schema import Neighbours
from cloister.vault import Vault

AR = Neighbours.ADD_REMOVE
ENCODING = Encoding((Grid("x0", 0.0, 1.0, 10),))
APPROX = ApproxDP(4, 1e-6)
WHOLE = gaussian_precision(APPROX.epsilon, APPROX.delta)


def open_vault(budget: Budget = APPROX) -> Vault:
    return Vault.open(np.zeros((5, 1)), ENCODING, budget=budget, neighbours=AR, purpose="test")


def buying(spend: Spend) -> Mechanism:
    return calibrate(Rows().sensitivity(AR), spend)


def plan_of(*steps: PlannedStep, budget: Budget = APPROX) -> Plan:
    return Plan(budget, AR, steps)


def profile(epsilon: np.ndarray, mu: float) -> np.ndarray:
    """Delta of a Gaussian step at each epsilon."""
    upper, lower = log_ndtr(mu / 2 - epsilon / mu), epsilon + log_ndtr(-mu / 2 - epsilon / mu)
    return np.asarray(-np.expm1(np.minimum(0, lower - upper)) * np.exp(upper))


def pure_profile(epsilon: np.ndarray, pure: float) -> np.ndarray:
    """Delta of the worst step of a pure epsilon, randomized response, at each epsilon."""
    inside = (np.exp(pure) - np.exp(np.clip(epsilon, -pure, pure))) / (np.exp(pure) + 1)
    return np.where(epsilon < -pure, -np.expm1(np.minimum(epsilon, 0)), np.where(epsilon > pure, 0, inside))


def test_a_kind_chosen_by_a_gaussian_step_would_pass_delta() -> None:
    """Why a plan is frozen: at epsilon 4, delta 1e-6 the choice of the second step's kind reaches 1.97 delta.

    A Gaussian step with a fiftieth of the precision comes first. Then either a Gaussian step with the other 98%, or a pure step
    of epsilon 3.524: both plans keep (4, 1e-6) by the accounting, with 1.00 and 0.97 of delta. Whoever looks at the first step's
    output and takes the kind whose profile is the higher one there gets the expectation of the larger of the two.
    """
    epsilon, delta = 4.0, 1e-6
    first = float(WHOLE / 50) ** 0.5
    second = float(WHOLE * 49 / 50) ** 0.5
    pure = float(brentq(lambda e: gaussian_delta(epsilon - e, first) - delta, 0, epsilon - 1e-9))
    assert within([GaussianEvent("a", Fraction(first) ** 2), LaplaceEvent("b", Fraction(pure - 1e-8))], APPROX)
    x = np.linspace(-14, 14 + first, 60_001)
    weights = norm.pdf(x - first) * (x[1] - x[0])
    left = epsilon - (first * x - first**2 / 2)
    gaussian, laplace = profile(left, second), pure_profile(left, pure)
    ratios = [float(weights @ part) / delta for part in (gaussian, laplace, np.maximum(gaussian, laplace))]
    assert ratios == pytest.approx([1.0, 0.971, 1.971], abs=1e-3)


def test_the_kind_of_a_step_cannot_be_chosen_on_the_way() -> None:
    """That choice is refused, although the pure step alone would keep the budget; nothing is read for it."""
    with open_vault() as vault:
        vault.follow(plan_of(GaussianEvent("one", WHOLE / 50), GaussianEvent("two", WHOLE * 49 / 50)))
        vault.measure(Rows(), buying(Precision(WHOLE / 50)), "one")
        with pytest.raises(PlanError, match="nothing is read"):
            vault.measure(Rows(), buying(Fraction(7, 2)), "two")


def test_a_gaussian_step_needs_a_plan() -> None:
    """To forget the plan is impossible: the first step that is not pure is refused, and so is a secret sample."""
    with open_vault() as vault:
        vault.measure(Rows(), buying(Fraction(1, 10)), "size")  # a pure step may come before
        with pytest.raises(PlanError):
            vault.measure(Rows(), buying(Precision(WHOLE / 50)), "sums")
        with pytest.raises(PlanError), vault.sample("sample", Fraction(1, 2)):
            pass


def test_a_release_needs_a_plan_followed_to_its_end() -> None:
    """No certificate without a plan, nor before its last step."""
    tenth = LaplaceEvent("one", Fraction(1, 10))
    for steps in ([], [tenth, LaplaceEvent("two", Fraction(1, 10))]):
        with open_vault() as vault:
            if steps:
                vault.follow(plan_of(*steps))
            vault.measure(Rows(), buying(Fraction(1, 10)), "one")
            with pytest.raises(PlanError):
                vault.release("test", {}, {})


def test_the_certificate_has_the_events_of_the_plan() -> None:
    """Noise is rounded up and costs a little less; what is charged is what was planned."""
    plan = plan_of(LaplaceEvent("size", Fraction(1, 10)), GaussianEvent("sums", Fraction(1, 7)))
    with open_vault() as vault:
        vault.measure(Rows(), buying(Fraction(1, 10)), "size")
        vault.follow(plan)
        mechanism = buying(Precision(Fraction(1, 7)))
        assert mechanism.event("sums", Rows().sensitivity(AR)) != plan.events[1]
        vault.measure(Rows(), mechanism, "sums")
        assert vault.release("test", {}, {}).events == plan.events


def refused(*steps: PlannedStep, then: Callable[[Vault], object], budget: Budget = APPROX) -> bool:
    with open_vault(budget) as vault:
        vault.follow(plan_of(*steps, budget=budget))
        try:
            then(vault)
        except PlanError:
            return True
    return False


ONE, TWO = LaplaceEvent("one", Fraction(1, 10)), LaplaceEvent("two", Fraction(1, 5))


@pytest.mark.parametrize(
    ("name", "spend"),
    [("two", Fraction(1, 5)), ("one", Fraction(1, 5)), ("one", Precision(Fraction(1, 10**6))), ("other", Fraction(1, 10))],
    ids=["out of order", "dearer", "of another kind", "of another name"],
)
def test_anything_but_the_next_step_is_refused(name: str, spend: Spend) -> None:
    """A step out of order, a dearer one, one of another kind however cheap, one of another name."""
    assert refused(ONE, TWO, then=lambda vault: vault.measure(Rows(), buying(spend), name))
    assert not refused(ONE, TWO, then=lambda vault: vault.measure(Rows(), buying(Fraction(1, 10)), "one"))


def test_a_step_comes_once() -> None:
    """The same step a second time is refused, and any step after the last."""

    def twice(vault: Vault) -> None:
        for _ in range(2):
            vault.measure(Rows(), buying(Fraction(1, 10)), "one")

    assert refused(ONE, then=twice)


def test_a_plan_is_followed_once() -> None:
    """A second plan is refused, whatever is in it."""
    assert refused(ONE, then=lambda vault: vault.follow(plan_of(ONE)))


def test_a_plan_begins_with_what_was_measured() -> None:
    """A plan that leaves out a step that was taken before it is refused."""
    with open_vault() as vault:
        vault.measure(Rows(), buying(Fraction(1, 10)), "size")
        with pytest.raises(PlanError):
            vault.follow(plan_of(ONE))


def test_a_plan_beyond_the_budget_is_not_followed() -> None:
    """It is refused before its first step."""
    with open_vault() as vault, pytest.raises(BudgetExceeded):
        vault.follow(plan_of(GaussianEvent("sums", WHOLE * Fraction(101, 100))))


SAMPLED = SampledEvent("seeding", Fraction(1, 4), (ONE, TWO))


@pytest.mark.parametrize(
    ("step", "rate", "inner"),
    [("seeding", Fraction(1, 8), "one"), ("other", Fraction(1, 4), "one"), ("seeding", Fraction(1, 4), "two")],
    ids=["rate", "name", "order inside"],
)
def test_a_secret_sample_is_a_step_of_the_plan(step: str, rate: Fraction, inner: str) -> None:
    """Its rate, its name and what is measured on it are the plan's."""

    def sample(vault: Vault) -> None:
        with vault.sample(step, rate) as sampled:
            sampled.measure(Rows(), buying(Fraction(1, 10)), inner)

    assert refused(SAMPLED, then=sample)


@pytest.mark.parametrize("spend", [Fraction(1), Precision(WHOLE)], ids=["pure", "gaussian"])
@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_a_branch_leaves_the_number_of_rounds_open(spend: Spend, rounds: int) -> None:
    """Any number of equal rounds shares the one total that was planned; its events, added up, keep the budget."""
    branch = Branch("round", spend, 3)
    with open_vault() as vault:
        vault.follow(plan_of(branch))
        vault.choose("round", rounds)
        for i in range(rounds):
            each = spend / rounds if isinstance(spend, Fraction) else Precision(spend.value / rounds)
            vault.measure(Rows(), buying(each), f"round {i + 1}")
        events = vault.release("test", {}, {}).events
    assert events == plan_of(branch).choose("round", rounds).events
    assert sum((event.cost().epsilon + event.cost().precision for event in events), Fraction(0)) == (
        spend if isinstance(spend, Fraction) else spend.value
    )
    assert within(events, APPROX)


def test_a_branch_has_no_round_too_many() -> None:
    """Two rounds that each spend half: a third is refused, and so is another number after the first round."""

    def thrice(vault: Vault) -> None:
        for i in range(3):
            vault.measure(Rows(), buying(Fraction(1, 2)), f"round {i + 1}")

    def choose_late(vault: Vault) -> None:
        vault.measure(Rows(), buying(Fraction(1, 2)), "round 1")
        vault.choose("round", 4)

    branch = Branch("round", Fraction(1), 2)
    assert refused(branch, then=thrice, budget=PureDP(10))
    assert refused(branch, then=choose_late, budget=PureDP(10))


EIGHTHS = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 8), Fraction(1, 8)]


def halving(stop: Stop, spend: Spend = Fraction(1)) -> Branch:
    return Branch("round", spend, 4, halving_parts, stop)


def measured(vault: Vault, rounds: int) -> None:
    """So many rounds of `halving` at epsilon 1."""
    for i in range(rounds):
        vault.measure(Rows(), buying(EIGHTHS[i]), f"round {i + 1}")


@pytest.mark.parametrize("after", [1, 2, 3])
def test_skipped_rounds_stay_charged_and_are_named(after: int) -> None:
    """A declared stop ends the rounds; the certificate has every event that was planned, and a note on those not measured."""
    plan = plan_of(halving("skips"), LaplaceEvent("loss", Fraction(1)))
    with open_vault() as vault:
        vault.follow(plan)
        measured(vault, after)
        left = tuple(f"round {i + 1}" for i in range(after, 4))
        assert vault.stop("round") == left
        vault.measure(Rows(), buying(Fraction(1)), "loss")
        release = vault.release("test", {}, {})
    assert release.events == plan.events == plan.stop("round", after).events
    assert release.parameters["skipped"] == list(left)
    assert [note for note in release.notes if "not measured" in note and ", ".join(left) in note]


@pytest.mark.parametrize("after", [1, 2, 3])
def test_one_last_round_takes_what_the_others_leave(after: int) -> None:
    """Its epsilon is what the rounds after the stop would have spent: the total is the same wherever the stop comes."""
    plan = plan_of(halving("one last round"), budget=PureDP(1))
    rest = sum(EIGHTHS[after:], Fraction(0))
    with open_vault(PureDP(1)) as vault:
        vault.follow(plan)
        measured(vault, after)
        vault.stop("round")
        vault.measure(Rows(), buying(rest), "last round")
        release = vault.release("test", {}, {})
    assert release.events == plan.stop("round", after).events
    assert sum(event.cost().epsilon for event in release.events) == 1
    assert "skipped" not in release.parameters
    assert not any("not measured" in note for note in release.notes)


def stop_at_once(vault: Vault) -> None:
    vault.stop("round")


def stop_without_a_round(vault: Vault) -> None:
    with pytest.raises(PlanError):
        vault.measure(Rows(), buying(Fraction(1)), "round 1")  # dearer than planned: refused, and the branch is open
    vault.stop("round")


def stop_early(vault: Vault) -> None:
    measured(vault, 1)
    vault.stop("round")


def stop_another(vault: Vault) -> None:
    measured(vault, 1)
    vault.stop("votes")


def stop_twice(vault: Vault) -> None:
    measured(vault, 1)
    vault.stop("round")
    vault.stop("round")


def stop_at_the_end(vault: Vault) -> None:
    measured(vault, 4)
    vault.stop("round")


def measure_after_the_stop(vault: Vault) -> None:
    measured(vault, 2)
    vault.stop("round")
    vault.measure(Rows(), buying(EIGHTHS[2]), "round 3")


def a_last_round_too_dear(vault: Vault) -> None:
    measured(vault, 2)
    vault.stop("round")
    vault.measure(Rows(), buying(Fraction(1, 4) + Fraction(1, 1000)), "last round")


def two_last_rounds(vault: Vault) -> None:
    measured(vault, 2)
    vault.stop("round")
    for _ in range(2):
        vault.measure(Rows(), buying(Fraction(1, 4)), "last round")


MISUSES = [stop_at_once, stop_without_a_round, stop_another, stop_twice, stop_at_the_end, measure_after_the_stop]
OF_LAST = [a_last_round_too_dear, two_last_rounds]


@pytest.mark.parametrize("stop", ["skips", "one last round"])
@pytest.mark.parametrize("misuse", [*MISUSES, *OF_LAST], ids=lambda misuse: misuse.__name__)
def test_a_stop_gives_nothing_beyond_what_was_declared(misuse: Callable[[Vault], None], stop: Stop) -> None:
    """Before the first round or after the last, twice, of another branch, a round more, a dearer last round: all refused."""
    assert refused(halving(stop), then=misuse, budget=PureDP(10))


def test_a_stop_that_no_plan_declares_is_refused() -> None:
    """Rounds without a declared stop come to their end."""
    assert refused(halving("never"), then=stop_early, budget=PureDP(10))


def test_gaussian_rounds_leave_nothing_to_a_last_one() -> None:
    """Under delta no step's cost follows from a stop: such a branch cannot be made."""
    with pytest.raises(PlanError, match="only pure rounds"):
        halving("one last round", Precision(WHOLE))


@pytest.mark.parametrize("after", [0, 4, 5])
def test_a_plan_stops_between_its_rounds(after: int) -> None:
    """Not before the first, and not after the last."""
    with pytest.raises(PlanError):
        plan_of(halving("skips")).stop("round", after)


@pytest.mark.parametrize(
    "parts",
    [lambda n: (Fraction(1),) * n, lambda n: (Fraction(1),), lambda n: (Fraction(2), *(Fraction(-1, n - 1),) * (n - 1))],
    ids=["more than all", "too few", "negative"],
)
def test_parts_that_are_not_shares_of_one_spend_are_refused(parts: Callable[[int], tuple[Fraction, ...]]) -> None:
    """A schedule with a mistake in it is not followed, however large the budget is."""
    with open_vault(PureDP(100)) as vault, pytest.raises(PlanError, match="share one spend"):
        vault.follow(plan_of(Branch("round", Fraction(1), 3, parts), budget=PureDP(100)))


def test_more_draws_than_the_accounting_counts_are_refused() -> None:
    """The sampler's error is added to delta for 2**40 draws of a release; a step with more is refused before a row is read."""

    class Wide(Rows):
        """A summary that no memory holds."""

        @property
        def parts(self) -> dict[str, tuple[int, ...]]:
            return {"counts": (2**20, 2**20 + 1)}

    assert refused(ONE, then=lambda vault: vault.measure(Wide(), buying(Fraction(1, 10)), "one"))


def test_pure_steps_may_be_chosen_on_the_way_before_the_plan() -> None:
    """Pure epsilons add whatever chose them."""
    events: list[Event] = [event_of("a", Fraction(1, 2)), event_of("b", Fraction(1, 2))]
    with open_vault(PureDP(1)) as vault:
        for name in "ab":
            vault.measure(Rows(), buying(Fraction(1, 2)), name)
        vault.follow(plan_of(*events, budget=PureDP(1)))
        assert vault.release("test", {}, {}).events == tuple(events)
