"""The law of what each mechanism releases: how much likelier one exact value makes it than another.

Written from the definitions of the distributions, without the mechanisms' own accounting, which it is to check. A new
mechanism that the vault releases through has a law here and a line in `LAWS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels import Summary
from cloister.privacy.mechanisms import Gaussian, Laplace
from cloister.privacy.mechanisms.block_modes import BlockModes
from cloister.privacy.mechanisms.exponential import Exponential
from cloister.privacy.mechanisms.farthest_marginal import FarthestMarginal
from cloister.privacy.mechanisms.split_tree import SplitTree
from cloister.privacy.mechanisms.survivors import Survivors
from cloister.testing.block_choice_law import BlockChoiceLaw
from cloister.testing.choice_law import ChoiceLaw, FarthestLaw
from cloister.testing.tree_law import TreeLaw, log_tail

__all__ = ["GaussianLaw", "LaplaceLaw", "Law", "SurvivorsLaw", "law_of"]

Worst = tuple[float, float]
KeyedCounts = tuple[NDArray[np.int64], NDArray[np.int64]]


class Law(Protocol):
    """The distribution of a released value for each exact one.

    Two steps with equal laws add noise in the same way: laws compare with ``==``.
    """

    def loss(self, released: Any, exact: Any, other: Any) -> float:
        """The log of how much likelier `released` is where the exact value is `exact` than where it is `other`."""

    def worst(self, exact: Any, other: Any) -> Worst:
        """The largest loss of anything that could be released, and the same with the two exact values exchanged.

        Infinite for Gaussian noise, which `precision` speaks for.
        """

    def precision(self, exact: Any, other: Any) -> Fraction:
        """For Gaussian noise the squared distance of the exact values over the variance; 0 for everything pure."""

    def form(self, exact: Any) -> object:
        """What of an exact value is public, such as how many numbers it has; neighbours must agree in it."""


class Moved(NamedTuple):
    """The entries of one part in which two summaries differ."""

    part: str
    exact: NDArray[np.int64]
    other: NDArray[np.int64]
    released: NDArray[np.int64]

    def distances(self, power: int) -> int:
        """The sum of the distances, or of their squares, as an exact integer."""
        return sum(abs(int(a) - int(b)) ** power for a, b in zip(self.exact, self.other, strict=True))


def moved(exact: Summary, other: Summary, released: Summary | None = None) -> list[Moved]:
    """Part by part, where two summaries differ."""
    parts = []
    for name, values in exact.parts.items():
        differs = values != other[name]
        parts.append(Moved(name, values[differs], other[name][differs], (released or exact)[name][differs]))
    return parts


@dataclass(frozen=True)
class LaplaceLaw:
    """Discrete Laplace noise on every entry: P(x) is proportional to exp(-|x| / scale)."""

    scales: Mapping[str, Fraction]

    def loss(self, released: Summary, exact: Summary, other: Summary) -> float:
        total = Fraction(0)
        for entries in moved(exact, other, released):
            nearer = sum(
                abs(int(r) - int(b)) - abs(int(r) - int(a))
                for a, b, r in zip(entries.exact, entries.other, entries.released, strict=True)
            )
            total += nearer / self.scales[entries.part]
        return float(total)

    def worst(self, exact: Summary, other: Summary) -> Worst:
        total = sum((entries.distances(1) / self.scales[entries.part] for entries in moved(exact, other)), Fraction(0))
        return float(total), float(total)

    def precision(self, exact: Summary, other: Summary) -> Fraction:
        return Fraction(0)

    def form(self, exact: Summary) -> object:
        return shapes_of(exact)


@dataclass(frozen=True)
class GaussianLaw:
    """round(sigma Z) on every entry, Z standard normal."""

    sigmas: Mapping[str, Fraction]

    def loss(self, released: Summary, exact: Summary, other: Summary) -> float:
        total = 0.0
        for entries in moved(exact, other, released):
            sigma = float(self.sigmas[entries.part])
            away = [(entries.released - values).astype(np.float64) / sigma for values in (entries.exact, entries.other)]
            half = 0.5 / sigma
            total += float(np.sum(log_interval(away[0], half) - log_interval(away[1], half)))
        return total

    def worst(self, exact: Summary, other: Summary) -> Worst:
        most = np.inf if any(len(entries.exact) for entries in moved(exact, other)) else 0.0
        return most, most

    def precision(self, exact: Summary, other: Summary) -> Fraction:
        return sum((entries.distances(2) / self.sigmas[entries.part] ** 2 for entries in moved(exact, other)), Fraction(0))

    def form(self, exact: Summary) -> object:
        return shapes_of(exact)


@dataclass(frozen=True)
class SurvivorsLaw:
    """Discrete Laplace noise on every cell of a grid, of which the counts below a threshold are not shown."""

    scale: Fraction
    threshold: int
    cells: int

    def loss(self, released: Any, exact: KeyedCounts, other: KeyedCounts) -> float:
        shown = dict(zip(released.cells.tolist(), released.counts.tolist(), strict=True))
        total = 0.0
        for cell, one, two in moved_keys(exact, other):
            total += self.shown(shown[cell], one, two) if cell in shown else self.hidden(one, two)
        return total

    def shown(self, value: int, one: int, two: int) -> float:
        """The loss of a cell that is shown with this count."""
        return float((abs(value - two) - abs(value - one)) / self.scale)

    def hidden(self, one: int, two: int) -> float:
        """The loss of a cell that is not shown: its noise is below threshold - count."""
        scale = float(self.scale)
        return log_tail(1 - (self.threshold - one), scale) - log_tail(1 - (self.threshold - two), scale)

    def worst(self, exact: KeyedCounts, other: KeyedCounts) -> Worst:
        cells = moved_keys(exact, other)
        return sum(self.most(a, b) for _, a, b in cells), sum(self.most(b, a) for _, a, b in cells)

    def most(self, one: int, two: int) -> float:
        """The largest loss of one cell. A count that is shown loses most at the ends: at the threshold, or beyond both counts."""
        far = max(self.threshold, one, two)
        return max(self.hidden(one, two), self.shown(self.threshold, one, two), self.shown(far, one, two))

    def precision(self, exact: KeyedCounts, other: KeyedCounts) -> Fraction:
        return Fraction(0)

    def form(self, exact: KeyedCounts) -> object:
        return None  # which cells have rows is not public


def moved_keys(exact: KeyedCounts, other: KeyedCounts) -> list[tuple[int, int, int]]:
    """The keys whose counts differ, with both counts, in rising order."""
    one, two = (dict(zip(keys.tolist(), counts.tolist(), strict=True)) for keys, counts in (exact, other))
    return [(key, one.get(key, 0), two.get(key, 0)) for key in sorted({*one, *two}) if one.get(key, 0) != two.get(key, 0)]


def shapes_of(summary: Summary) -> dict[str, tuple[int, ...]]:
    """The shape of each part, which is public."""
    return {name: part.shape for name, part in summary.parts.items()}


def log_interval(middle: NDArray[np.float64], half: float) -> NDArray[np.float64]:
    """The log of the probability of a standard normal within `half` of the middle, also far out."""
    from scipy.special import log_ndtr

    middle = -np.abs(middle)  # the lower tail, where logs keep their digits
    upper, lower = log_ndtr(middle + half), log_ndtr(middle - half)
    return np.asarray(upper + np.log(-np.expm1(np.minimum(lower - upper, -1e-300))))


LAWS: dict[type, Callable[[Any], Law]] = {
    Laplace: lambda mechanism: LaplaceLaw(dict(mechanism.scales)),
    Gaussian: lambda mechanism: GaussianLaw(dict(mechanism.sigmas)),
    Survivors: lambda mechanism: SurvivorsLaw(mechanism.scale, mechanism.threshold, mechanism.cells),
    Exponential: lambda mechanism: ChoiceLaw(mechanism.scoring, mechanism.scale),
    BlockModes: lambda mechanism: BlockChoiceLaw(mechanism.scale),
    FarthestMarginal: lambda mechanism: FarthestLaw(mechanism.distances, mechanism.scale),
    SplitTree: lambda mechanism: TreeLaw(mechanism.scale, mechanism.decay, mechanism.levels, mechanism.most),
}


def law_of(mechanism: Any) -> Law:
    """The law of a mechanism of Cloister; a law stands for itself, so that adapters can bring their own."""
    if type(mechanism) in LAWS:
        return LAWS[type(mechanism)](mechanism)
    if not hasattr(mechanism, "precision") or not hasattr(mechanism, "loss"):
        raise UsageError(f"the law of {type(mechanism).__name__} is not known here: add it to cloister.testing.noise_laws.")
    law: Law = mechanism
    return law
