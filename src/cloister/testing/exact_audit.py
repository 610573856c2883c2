"""The exact audit: how far apart two neighbouring tables can be told by one release, without sampling.

The law of the noise is known, so the log-likelihood ratio of what was released can be computed. Besides it, for every step,
the true move of its exact value is known; from it follows the worst that the step could have shown. Every step is compared
with the event that pays for it, and all together with the guarantee.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import inf, isinf
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.budgets import Budget
from cloister.testing.loss_accounting import Losses
from cloister.testing.walks import ObservedStep, Walk, certificate_of, record, retrace

__all__ = ["ExactAudit", "StepLoss", "replay"]

ROUNDING = 1e-9  # of the sums of losses, which are computed in floating point
DELTA_ROUNDING = 1e-4  # of the integrals behind delta


@dataclass(frozen=True, slots=True)
class StepLoss:
    """What one step of a release gives away about which of two tables it was."""

    name: str
    loss: float  # the log-likelihood ratio of what was released
    worst: tuple[float, float]  # the largest it could have been, in both directions; infinite for Gaussian noise
    precision: Fraction  # of Gaussian noise: the squared move over the variance
    on_sample: bool = False

    @property
    def is_pure(self) -> bool:
        """Whether the loss has a bound."""
        return not isinf(max(self.worst))


@dataclass(frozen=True, slots=True)
class ExactAudit:
    """What a release gives away about which of two neighbouring tables it was made from, beside what it promises."""

    epsilon: float
    delta: float
    steps: tuple[StepLoss, ...]
    losses: Losses
    findings: tuple[str, ...]
    parted: bool = False  # the walks differ although they released the same values: rows decided past the noise

    @property
    def largest_loss(self) -> float:
        """The epsilon, at the claimed delta, that these two tables need; the claim holds for them where it is not larger.

        Infinite where the two walks part: no noise stands between the rows and what is seen then.
        """
        return inf if self.parted else self.losses.epsilon(self.delta)

    @property
    def log_likelihood_ratio(self) -> float:
        """That of what was released, given the secret sample where there is one."""
        return sum(step.loss for step in self.steps)

    @property
    def holds(self) -> bool:
        """Whether nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        delta = f" with delta {self.delta:.3g}" if self.delta else ""
        verdict = "holds for these tables" if self.holds else "; ".join(self.findings)
        return f"epsilon {self.epsilon:.6g}{delta} claimed, {self.largest_loss:.6g} found: {verdict}"


def replay(
    mechanism: Callable[[Any], Any], neighbours: tuple[Any, Any], claimed: Budget | None = None, seed: int = 0
) -> ExactAudit:
    """Audit a release of Cloister on two neighbouring tables, exactly.

    Parameters
    ----------
    mechanism : callable
        From a table to a result, such as ``lambda rows: KMeans(3, bounds=(0, 1), random_state=0).fit(rows)``. Its public
        choices must be the same in every call: set `random_state`.
    neighbours : pair of tables
    claimed : budget, optional
        What is promised; by default what the certificate of the result says.
    seed : int
        Of the noise of the first walk.

    Privacy
    -------
    Both walks see the rows, and what they release is NOT PRIVATE. The audit is for the holder of both tables.
    """
    one, other = neighbours
    first = record(mechanism, one, seed)
    if first.error is not None and not first.steps:
        second = record(mechanism, other, seed)  # nothing to retrace: how far does the other table get?
        findings = [] if second.error is not None and not second.steps else ["only one of the tables is refused"]
    else:
        second = retrace(mechanism, other, first, seed)
        findings = list(second.findings)
    if first.error is not None and not findings:
        raise first.error  # the same on both tables: it tells nothing, and nothing was released to be audited
    finished = first if first.error is None else second
    return verdict(claim_of(finished, claimed), first, second, findings)


def claim_of(walk: Walk, claimed: Budget | None) -> tuple[Fraction, Fraction]:
    """The promised epsilon and delta."""
    if claimed is not None:
        return claimed.epsilon, claimed.delta
    certificate = certificate_of(walk.result)
    if certificate is None:
        raise UsageError("what is promised? The result carries no certificate: give claimed=PureDP(...) or ApproxDP(...).")
    return certificate.guarantee.epsilon, certificate.guarantee.delta


def verdict(claim: tuple[Fraction, Fraction], first: Walk, second: Walk, findings: list[str]) -> ExactAudit:
    """Compare what both walks show with what was paid for. `findings`: what differs between them, if anything does."""
    parted = bool(findings)
    certificate = certificate_of(first.result)
    paid = list(paid_for_noise(certificate)) if certificate is not None else None
    pairs = list(zip(first.steps, second.steps, strict=False))
    if paid is not None and len(paid) != len(first.steps):
        findings.append(f"noise was added {len(first.steps)} times, and the certificate pays for {len(paid)}")
        paid = None
    steps = []
    for i, (one, two) in enumerate(pairs):
        event, on_sample = paid[i] if paid is not None else (None, False)
        step = step_loss(one, two, getattr(event, "step", f"step {i + 1}"), on_sample)
        steps.append(step)
        findings += overspent(step, event)
    losses = add_up(steps, float(first.rates[0]) if first.rates else 1.0)
    epsilon, delta = (float(number) for number in claim)
    if len(first.rates) > 1:
        findings.append("several secret samples in one release: nothing has been proved about that")
    if losses.is_pure and losses.pure_total > epsilon * (1 + ROUNDING):
        findings.append(f"the losses add up to {losses.pure_total:.6g}, and epsilon {epsilon:.6g} is claimed")
    elif not losses.is_pure and losses.delta(epsilon) > delta * (1 + DELTA_ROUNDING):
        findings.append(f"at epsilon {epsilon:.6g} delta is {losses.delta(epsilon):.3g}, and {delta:.3g} is claimed")
    return ExactAudit(epsilon, delta, tuple(steps), losses, tuple(findings), parted)


def paid_for_noise(certificate: Any) -> Iterator[tuple[Any, bool]]:
    """Every event that pays for noise, in order: not those of rounds that a stop skipped, which the certificate names."""
    skipped = getattr(certificate, "parameters", {}).get("skipped", ())
    return (paid for paid in paid_steps(certificate.events) if paid[0].step not in skipped)


def paid_steps(events: Any) -> Iterator[tuple[Any, bool]]:
    """Every event that pays for noise, in order, and whether it ran on a secret sample."""
    for event in events:
        inner = getattr(event, "events", None)
        if inner is None:
            yield event, False
        else:
            yield from ((each, True) for each, _ in paid_steps(inner))


def step_loss(one: ObservedStep, two: ObservedStep, name: str, on_sample: bool) -> StepLoss:
    """What a step gives away."""
    law = one.law
    return StepLoss(
        name,
        law.loss(one.released, one.exact, two.exact),
        law.worst(one.exact, two.exact),
        law.precision(one.exact, two.exact),
        on_sample,
    )


def overspent(step: StepLoss, event: Any) -> list[str]:
    """Whether a step can show more than its event pays for."""
    epsilon, precision = getattr(event, "epsilon", None), getattr(event, "precision", None)
    if epsilon is not None and step.precision:
        return [f'step "{step.name}" adds Gaussian noise, and its event is pure']
    if epsilon is not None and max(step.worst) > float(epsilon) * (1 + ROUNDING):
        return [f'step "{step.name}" can lose {max(step.worst):.6g}, and its event pays for {float(epsilon):.6g}']
    if precision is not None and (step.precision > precision or (step.is_pure and max(step.worst) > 0)):
        return [
            f'step "{step.name}" has precision {float(step.precision):.6g}, and its event pays for {float(precision):.6g}'
        ]
    return []


def add_up(steps: list[StepLoss], rate: float) -> Losses:
    """The losses of all steps. Of pure ones the direction counts in which they add up to more."""

    def pure(on_sample: bool) -> float:
        some = [step.worst for step in steps if step.on_sample == on_sample and step.is_pure]
        return max(sum(worst[0] for worst in some), sum(worst[1] for worst in some), 0.0)

    def precision(on_sample: bool) -> float:
        return float(sum((step.precision for step in steps if step.on_sample == on_sample), Fraction(0)))

    return Losses(pure(False), precision(False), rate, pure(True), precision(True))
