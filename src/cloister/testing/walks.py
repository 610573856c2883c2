"""Two walks of one release: the first is recorded, the second is made to release the same values on another table.

Every choice between two steps is a function of what was released before. So the second walk takes the same branches, and
whatever still differs (another number of steps, other noise, another result) came from rows past the noise: a finding.

A secret sample holds all rows in both walks: a sample that can be drawn, in which the row that differs is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cloister.errors import CloisterError
from cloister.privacy.observing import Observer, observed
from cloister.testing.noise_laws import Law, law_of
from cloister.testing.result_contents import Incomparable, contents_of

__all__ = ["ObservedStep", "Walk", "record", "retrace"]

Mechanism = Callable[[Any], Any]


class WalksParted(CloisterError):
    """The second walk cannot release what the first one did; the finding says why."""


@dataclass(frozen=True, slots=True)
class ObservedStep:
    """One release of noise: its law, the exact value, and what was handed out."""

    law: Law
    exact: Any = field(repr=False)
    released: Any = field(repr=False)


@dataclass(slots=True)
class Walk:
    """What was observed of a release on one table, and what it gave: a result, or the error in its place."""

    steps: list[ObservedStep] = field(default_factory=list)
    rates: list[Fraction] = field(default_factory=list)  # of the secret samples
    result: Any = None
    contents: object = None  # of the result, taken when the walk ended: a later one may change what it holds
    incomparable: str | None = None  # the type in the result that cannot be compared
    error: Exception | None = None
    findings: list[str] = field(default_factory=list)

    def sample_rate(self, rate: Fraction) -> Fraction:
        """Keep all rows; the rate is compared between the walks, and the amplification is computed from it."""
        self.rates.append(rate)
        return Fraction(1)


class Recorder(Walk):
    """The observer of the first walk."""

    def release(self, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """Let the step draw, and keep what it handed out."""
        released = draw()
        self.steps.append(ObservedStep(law_of(mechanism), exact, released))
        return released


class Retracer(Walk):
    """The observer of the second walk, which releases what the first one did."""

    def __init__(self, first: Walk) -> None:
        super().__init__()
        self._first = first

    def release(self, mechanism: Any, exact: Any, draw: Callable[[], Any]) -> Any:
        """Hand out what the first walk handed out at this place; end the walk where the two have parted."""
        place, law = len(self.steps), law_of(mechanism)
        if place >= len(self._first.steps):
            self.part(f"one table needs {len(self._first.steps)} steps, the other more")
        before = self._first.steps[place]
        if before.law != law:
            self.part(f"step {place + 1} adds other noise on one table than on the other ({type(law).__name__})")
        if before.law.form(before.exact) != law.form(exact):
            self.part(f"step {place + 1} releases another number of values on one table than on the other")
        self.steps.append(ObservedStep(law, exact, before.released))
        return before.released

    def part(self, finding: str) -> None:
        """Write down why the walks part, and end this one."""
        self.findings.append(finding)
        raise WalksParted(finding)


def record(mechanism: Mechanism, table: Any, seed: int) -> Walk:
    """Run a release on a table and observe it."""
    return run(mechanism, table, Recorder(), seed)


def retrace(mechanism: Mechanism, table: Any, first: Walk, seed: int) -> Walk:
    """Run a release on another table so that it releases what the first walk did; with what differs between the two."""
    walk = run(mechanism, table, Retracer(first), seed)
    if not walk.findings:
        walk.findings += differences(first, walk)
    return walk


def run(mechanism: Mechanism, table: Any, walk: Recorder | Retracer, seed: int) -> Walk:
    """A release under observation. An error is an outcome like any other: it tells the tables apart."""
    observer: Observer = walk
    with observed(observer, seed):
        try:
            walk.result = mechanism(table)
        except Exception as error:
            walk.error = error
    try:
        walk.contents = contents_of(walk.result)
    except Incomparable as error:
        walk.incomparable = str(error)
    return walk


def differences(first: Walk, second: Walk) -> list[str]:
    """What differs between two walks that released the same values."""
    findings = []
    if (first.error is None) != (second.error is None):
        error = first.error or second.error
        findings.append(f"only one of the tables ends in an error ({type(error).__name__})")
    elif first.error is not None and (type(first.error), str(first.error)) != (type(second.error), str(second.error)):
        findings.append("the tables end in different errors")
    if len(first.steps) != len(second.steps):
        findings.append(f"one table takes {len(first.steps)} steps, the other {len(second.steps)}")
    if first.rates != second.rates:
        findings.append("the secret samples have different rates")
    if first.error is None and second.error is None:
        if (kind := first.incomparable or second.incomparable) is not None:
            findings.append(f"the results cannot be compared: they hold a {kind}. Let the mechanism return what is released")
        elif first.contents != second.contents:
            findings.append("the results differ although the same values were released")
    return findings


def certificate_of(result: Any) -> Any:
    """The certificate that a result of Cloister carries; None where there is none."""
    for holder in (result, getattr(result, "release_", None), getattr(result, "release", None)):
        if hasattr(holder, "guarantee") and hasattr(holder, "events"):
            return holder
    return None
