"""The audit from outside: run anything many times on two neighbouring tables and bound its epsilon from below.

An event that tells the tables apart is chosen on one half of the runs and counted on the other, so the bound holds at its
stated confidence whatever was tried in choosing. It can refute a claim and never prove one: a bound below the claim says
only that this attack found no more.

References
----------
C. Clopper and E. Pearson 1934; M. Jagielski, J. Ullman and A. Oprea, "Auditing differentially private machine learning", 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.privacy.budgets import Budget

__all__ = ["BlackBoxAudit", "attack", "compare_outputs"]

FEWEST_RUNS = 100
THRESHOLDS = 200  # tried for each number of the output
MISSING = 1e100  # stands for what is no number
Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class BlackBoxAudit:
    """A lower bound on the epsilon of a mechanism, beside what is claimed."""

    epsilon: float
    delta: float
    lower_bound: float  # the true epsilon, at the claimed delta, is at least this
    confidence: float
    runs: int  # on each table
    event: str  # what tells the tables apart

    @property
    def largest_loss(self) -> float:
        """The bound, under the name that every audit has."""
        return self.lower_bound

    @property
    def findings(self) -> tuple[str, ...]:
        """The refuted claim, if it is refuted."""
        if self.lower_bound <= self.epsilon:
            return ()
        return (f"epsilon is at least {self.lower_bound:.4g}, and {self.epsilon:.4g} is claimed: {self.event}",)

    @property
    def holds(self) -> bool:
        """Whether the claim was not refuted."""
        return not self.findings

    def __str__(self) -> str:
        delta = f" with delta {self.delta:.3g}" if self.delta else ""
        sure = f"at confidence 1 - {1 - self.confidence:.1g}, {self.runs} runs a table"
        verdict = "refuted" if self.findings else "not refuted"
        return (
            f"epsilon {self.epsilon:.6g}{delta} claimed, at least {self.lower_bound:.4g} ({sure}; {self.event}): {verdict}"
        )


@dataclass(frozen=True, slots=True)
class DistinguishingEvent:
    """Outputs that lie, along a direction, at or beyond a threshold: above it, below it, or exactly on it."""

    direction: Array
    threshold: float
    side: str
    words: str

    def happens(self, outputs: Array) -> int:
        """In how many of the outputs."""
        values = outputs @ self.direction
        if self.side == "at":
            return int(np.sum(values == self.threshold))
        return int(np.sum(values >= self.threshold if self.side == "above" else values <= self.threshold))


def attack(
    mechanism: Callable[[Any], Any],
    neighbours: tuple[Any, Any],
    claimed: Budget,
    runs: int = 2000,
    confidence: float = 1 - 1e-6,
) -> BlackBoxAudit:
    """Bound the epsilon of anything callable from below, by many runs on two neighbouring tables.

    Parameters
    ----------
    mechanism : callable
        From a table to a number, an array, nested lists or dicts of numbers, or an estimator with `cluster_centers_`. An
        error is an output too.
    neighbours : pair of tables
    claimed : budget
    runs : int, default 2000
        On each table: half of them choose the event, half test it. A bound of epsilon needs at least e^epsilon of them.
    confidence : float
        With which the bound holds.
    """
    if runs < FEWEST_RUNS:
        raise UsageError(f"a black-box audit needs at least {FEWEST_RUNS} runs a table: few runs show nothing.")
    outputs = [[numbers_of(outcome(mechanism, table)) for _ in range(runs)] for table in neighbours]
    return compare_outputs(*as_arrays(*outputs), claimed, confidence)


def compare_outputs(one: Array, two: Array, claimed: Budget, confidence: float = 1 - 1e-6) -> BlackBoxAudit:
    """The same of outputs that were drawn elsewhere: a run a row, as many on each table, all of them independent."""
    runs = len(one)
    half, epsilon, delta = runs // 2, float(claimed.epsilon), float(claimed.delta)
    chosen = choose_event(one[:half], two[:half], delta)
    if chosen is None:
        return BlackBoxAudit(epsilon, delta, 0.0, confidence, runs, "every run gave the same")
    event, likelier = chosen
    counts = event.happens(one[half:]), event.happens(two[half:])
    if likelier == "second":
        counts = counts[1], counts[0]
    bound = epsilon_bound(np.array([counts[0]]), np.array([counts[1]]), runs - half, delta, 1 - confidence)
    words = f"{event.words} on the {likelier} table"
    return BlackBoxAudit(epsilon, delta, max(0.0, float(bound[0])), confidence, runs, words)


def outcome(mechanism: Callable[[Any], Any], table: Any) -> Any:
    """What one run gives; an error is told by its type and text."""
    try:
        return mechanism(table)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def numbers_of(output: Any) -> tuple[float, ...]:
    """An output as a row of numbers; text becomes a number that stands for it."""
    return tuple(flatten(output))


def flatten(output: Any) -> Iterator[float]:
    """Every number in an output, in order."""
    if hasattr(output, "cluster_centers_"):
        output = output.cluster_centers_
    if output is None:
        yield float("nan")
    elif isinstance(output, Real):
        yield float(output)
    elif isinstance(output, str | bytes):
        yield float(crc32(output.encode() if isinstance(output, str) else output))
    elif isinstance(output, dict):
        for key in sorted(output, key=str):
            yield from flatten(output[key])
    else:
        try:
            items = list(output)
        except TypeError:
            items = [repr(output)]
        for item in items:
            yield from flatten(item)


def as_arrays(one: list[tuple[float, ...]], two: list[tuple[float, ...]]) -> tuple[Array, Array]:
    """Outputs side by side: rows of one width, with how many numbers each output had as one more column."""
    width = max(len(row) for row in [*one, *two])

    def padded(rows: list[tuple[float, ...]]) -> Array:
        array = np.full((len(rows), width + 1), -MISSING)
        for i, row in enumerate(rows):
            array[i, : len(row)] = row
            array[i, width] = len(row)
        return np.asarray(np.clip(np.nan_to_num(array, nan=-2 * MISSING), -2 * MISSING, MISSING))

    return padded(one), padded(two)


def choose_event(one: Array, two: Array, delta: float) -> tuple[DistinguishingEvent, str] | None:
    """The event that bounds epsilon best on these runs, and on which of the tables it is likelier; None where none differ."""
    best: tuple[float, DistinguishingEvent, str] | None = None
    for direction, words in directions(one, two):
        values, others = np.sort(one @ direction), np.sort(two @ direction)
        levels = np.unique(np.concatenate([values, others]))
        if len(levels) > THRESHOLDS:
            levels = levels[np.unique(np.linspace(0, len(levels) - 1, THRESHOLDS).astype(int))]
        for side, (first, second) in counts_at(levels, values, others).items():
            for likelier, (k, j) in {"first": (first, second), "second": (second, first)}.items():
                bounds = epsilon_bound(k, j, len(one), delta, 1e-3)
                i = int(bounds.argmax())
                if best is None or bounds[i] > best[0]:
                    event = DistinguishingEvent(direction, float(levels[i]), side, f"{words} {side} {levels[i]:.6g}")
                    best = float(bounds[i]), event, likelier
    return None if best is None else (best[1], best[2])


def directions(one: Array, two: Array) -> Iterator[tuple[Array, str]]:
    """Along which outputs are compared: each number by itself, and where the means of the two tables lie apart."""
    for j in range(one.shape[1]):
        if (np.ptp(one[:, j]) or np.ptp(two[:, j]) or one[0, j] != two[0, j]) and j < 256:
            direction = np.zeros(one.shape[1])
            direction[j] = 1.0
            yield direction, f"number {j + 1}"
    spread = (one.var(axis=0) + two.var(axis=0)) / 2
    usable = (spread > 0) & (spread < MISSING)
    apart = np.where(usable, (one.mean(axis=0) - two.mean(axis=0)) / np.where(usable, spread, 1.0), 0.0)
    if np.count_nonzero(apart) > 1:
        yield apart, "a weighted sum"


def counts_at(levels: Array, values: Array, others: Array) -> dict[str, tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """How often each side of each level is seen on the two tables, whose values are sorted."""

    def below(sorted_values: Array, side: Any) -> NDArray[np.int64]:
        return np.searchsorted(sorted_values, levels, side=side).astype(np.int64)

    sides: dict[str, list[NDArray[np.int64]]] = {"above": [], "below": [], "at": []}
    for each in (values, others):
        less, at_most = below(each, "left"), below(each, "right")
        sides["above"].append(len(each) - less)
        sides["below"].append(at_most)
        sides["at"].append(at_most - less)
    return {side: (pair[0], pair[1]) for side, pair in sides.items()}


def epsilon_bound(
    happens: NDArray[np.int64], rarer: NDArray[np.int64], runs: int, delta: float, error: float
) -> NDArray[np.float64]:
    """A lower bound on ln((p - delta) / q) that fails with this probability: Clopper-Pearson on both, half the error each.

    >>> bool(epsilon_bound(np.array([500]), np.array([5]), 1000, 0.0, 1e-6)[0] > 2)
    True
    """
    from scipy.special import betaincinv

    at_least = np.where(happens > 0, betaincinv(np.maximum(happens, 1), runs - happens + 1, error / 2), 0.0)
    # the upper end from the other side: older versions of scipy are far off at a probability near 1
    at_most = np.where(rarer < runs, 1 - betaincinv(np.maximum(runs - rarer, 1), rarer + 1, error / 2), 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.maximum(at_least - delta, 0.0)) - np.log(at_most))
