"""What a mechanism is: it adds noise to a summary or chooses from it, and says what that costs. It never sees a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels import Sensitivity, Summary
from cloister.privacy import noise
from cloister.privacy.events import Event
from cloister.privacy.observing import release_observed

__all__ = ["KeyedMechanism", "Mechanism", "Released", "add_noise", "checked_scale"]

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Released(Generic[T]):
    """A value that has been paid for: with its noise it may leave the building.

    `deviation` is the standard deviation of the noise of each part, a public number.
    """

    value: T
    deviation: Mapping[str, float]


class Mechanism(Protocol):
    """Integer noise on every entry of a summary, and what those who plan with it ask of it."""

    def event(self, step: str, sensitivity: Sensitivity) -> Event:
        """What one release costs."""

    def deviation(self) -> dict[str, float]:
        """The standard deviation of each part's noise, a public number."""

    def draw(self, part: str, size: int) -> NDArray[np.int64]:
        """Noise for so many entries of a part."""

    def equivalent_epsilon(self, part: str) -> float:
        """The epsilon whose Laplace noise on counts under add-remove would be as large as the noise of a part."""

    def tail(self, part: str, exponent: float, draws: int = 1) -> float:
        """What the sum of so many draws of a part passes with a probability of at most exp(-exponent) / 2."""

    def interval_width(self) -> float:
        """How many standard deviations lie to either side in a 95% interval."""


class KeyedMechanism(Protocol[T_co]):
    """What the vault asks of a mechanism for summaries with too many keys for an array of all.

    A pure function from the exact sparse histogram (keys in rising order, counts) to a released value, which runs inside the
    vault (`Vault.measure_keyed`); it is decorated as `observable`.
    """

    def event(self, step: str, sensitivity: Sensitivity) -> Event: ...
    def deviation(self) -> Mapping[str, float]: ...
    def apply(self, keys: NDArray[np.int64], counts: NDArray[np.int64]) -> T_co: ...


def checked_scale(scale: Fraction, largest: int = noise.LARGEST_SCALE) -> Fraction:
    """A scale that noise can be drawn at. Plans make their mechanisms before a charge, so that this refuses before it."""
    if scale > largest:
        raise UsageError(
            f"the noise would be larger than can be drawn: about {float(scale):.0e} grid steps, and {largest:.0e} at most. Raise "
            "epsilon, lower max_rows in the schema, or take fewer columns."
        )
    return scale


def add_noise(mechanism: Mechanism, summary: Summary) -> Summary:
    """Every entry of every part gets its own draw, empty cells too."""

    def noisy() -> Summary:
        return Summary(
            {name: part + mechanism.draw(name, part.size).reshape(part.shape) for name, part in summary.parts.items()}
        )

    return release_observed(mechanism, summary, noisy)
