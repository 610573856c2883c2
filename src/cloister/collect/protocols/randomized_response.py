"""k-ary randomized response: an answer is sent as it is, or another value in its place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cloister.collect.protocols.channel import Channel, channel_for
from cloister.encode import Coder, Codes
from cloister.privacy import noise

__all__ = ["RandomizedResponse"]

CHUNK = 2**18  # draws at a time: they stay in the cache
NO_ANSWER = "\0"  # behind the domain: what no client sends


@lru_cache(maxsize=256)
def set_of(values: tuple[str, ...]) -> frozenset[str]:
    """The values of a domain, to look one up."""
    return frozenset(values)


@dataclass(frozen=True, slots=True)
class RandomizedResponse:
    """Sends the true value with probability p, each other one with probability q: `Channel` has them and the proof.

    Answers to several questions are perturbed independently, so that their joint distribution can be recovered.
    """

    name: ClassVar[str] = "randomized-response"
    joins: ClassVar[bool] = True
    values: tuple[str, ...]
    channel: Channel

    @classmethod
    def of(cls, values: tuple[str, ...], epsilon: Fraction) -> RandomizedResponse:
        """The protocol of a question with these values."""
        return cls(values, channel_for(epsilon, len(values)))

    def perturb_codes(self, codes: NDArray[np.int64]) -> NDArray[np.int64]:
        """What is sent in place of each true code.

        Privacy
        -------
        A uniform integer u below 2**64 decides alone: below (k - 1) Q the answer is a lie, and u // Q says which of the k - 1
        other values it is, each for exactly Q of the integers.
        """
        lie = np.uint64(self.channel.lie_units)
        bound = np.uint64((self.channel.size - 1) * self.channel.lie_units)
        sent = np.array(codes, dtype=np.int64)  # (n,)
        for start in range(0, len(sent), CHUNK):
            part = sent[start : start + CHUNK]
            drawn = noise.words(len(part))
            is_lie = drawn < bound
            other = (drawn[is_lie] // lie).astype(np.int64)
            part[is_lie] = other + (other >= part[is_lie])
        return sent

    def perturb(self, codes: NDArray[np.int64]) -> list[str]:
        return [self.values[code] for code in self.perturb_codes(codes).tolist()]

    def is_answer(self, text: str) -> bool:
        return text in set_of(self.values)

    def coders(self, column: str) -> tuple[Coder, ...]:
        return (Codes(column, (*self.values, NO_ANSWER), default=len(self.values)),)

    @property
    def sizes(self) -> tuple[int, ...]:
        return (len(self.values),)

    def value_counts(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        return tables[0]

    def shares(self, counts: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        return (counts / max(1, reports) - float(self.channel.lie)) / self.channel.contrast

    def share_variance(self, share: float) -> float:
        seen = float(self.channel.lie) + share * self.channel.contrast
        return seen * (1 - seen) / self.channel.contrast**2

    def one_report(self) -> float:
        return 1 / self.channel.contrast
