"""Optimized unary encoding: an answer is sent as one bit for each value of a large domain.

Privacy
-------
What is released: k bits. The bit of the true value is 1 with probability 1/2, every other one with probability
q = 1 / (e**epsilon + 1) **rounded up** to a multiple of 2**-64, all independently. Two answers change two bits, so the ratio of
the probabilities of any report is at most (1/2) / q * (1 - q) / (1/2) = 1/q - 1 <= e**epsilon, exactly.

Marginals only: the bits of two questions are not joined here.

References
----------
T. Wang, J. Blocki, N. Li, S. Jha: Locally differentially private protocols for frequency estimation, 2017.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.collect.protocols.channel import UNIT, lie_units
from cloister.encode import Coder
from cloister.errors import UsageError
from cloister.privacy import noise
from cloister.schema.arrow_numpy import to_numbers
from cloister.schema.cell_values import texts

__all__ = ["UnaryEncoding"]

CHUNK = 2**18  # bits drawn at a time
BYTES = 256
MOST_BITS = 4_096  # of an answer: each is a byte of code a row and eight of them
HEX = re.compile("[0-9a-f]*")


@dataclass(frozen=True, slots=True)
class HexByte:
    """A byte of a text in hexadecimal: its value, or 256 where the text has another length or bits beyond the domain."""

    name: str
    place: int
    digits: int  # that the whole text has
    most: int  # bits above it are beyond the domain

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        cells = texts(values).fill_null("")
        byte = pc.utf8_slice_codeunits(cells, 2 * self.place, 2 * self.place + 2)
        known = pa.array([f"{value:02x}" for value in range(BYTES)], cells.type)
        codes = to_numbers(pc.index_in(byte, value_set=known).fill_null(BYTES)).astype(np.int32)
        is_whole = to_numbers(pc.equal(pc.utf8_length(cells), self.digits).cast(pa.int8())).astype(bool)
        codes[~is_whole | (codes > self.most)] = BYTES
        return codes


@dataclass(frozen=True, slots=True)
class UnaryEncoding:
    """Sends a bit for each value, as text: eight of them a byte in hexadecimal, the first value in the lowest bit."""

    name: ClassVar[str] = "unary"
    joins: ClassVar[bool] = False
    size: int
    lie_units: int

    @classmethod
    def of(cls, values: tuple[str, ...], epsilon: Fraction) -> UnaryEncoding:
        """The protocol of a question with these values."""
        if len(values) > MOST_BITS:
            raise UsageError(f"unary encoding takes at most {MOST_BITS:,} values. Group them, or use randomized-response.")
        return cls(len(values), min(lie_units(epsilon, 1), UNIT // 2))

    @property
    def bytes(self) -> int:
        """How many bytes the bits of an answer take."""
        return -(-self.size // 8)

    def perturb_bits(self, codes: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The bits that are sent for each true code, (n, k)."""
        sent = np.empty((len(codes), self.size), dtype=np.uint8)
        step = max(1, CHUNK // self.size)
        for start in range(0, len(codes), step):
            part = codes[start : start + step]
            drawn = noise.words(len(part) * self.size).reshape(len(part), self.size)
            bits = drawn < np.uint64(self.lie_units)
            rows = np.arange(len(part))
            bits[rows, part] = drawn[rows, part] < np.uint64(UNIT // 2)
            sent[start : start + step] = bits
        return sent

    def perturb(self, codes: NDArray[np.int64]) -> list[str]:
        packed = np.packbits(self.perturb_bits(codes), axis=1, bitorder="little")
        return [row.tobytes().hex() for row in packed]

    def is_answer(self, text: str) -> bool:
        is_hex = len(text) == 2 * self.bytes and HEX.fullmatch(text) is not None
        return is_hex and int(text[-2:], 16) <= self._most(self.bytes - 1)

    def coders(self, column: str) -> tuple[Coder, ...]:
        return tuple(HexByte(column, place, 2 * self.bytes, self._most(place)) for place in range(self.bytes))

    @property
    def sizes(self) -> tuple[int, ...]:
        return (BYTES,) * self.bytes

    def value_counts(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        bits = np.unpackbits(np.arange(BYTES, dtype=np.uint8)[:, None], axis=1, bitorder="little")  # (256, 8)
        counts = [table @ bits.astype(np.int64) for table in tables]
        return np.concatenate(counts)[: self.size]

    def shares(self, counts: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        lie = self.lie_units / UNIT
        return (counts / max(1, reports) - lie) / (0.5 - lie)

    def share_variance(self, share: float) -> float:
        lie = self.lie_units / UNIT
        noise_of_bits = (lie * (1 - lie) * (1 - share) + share / 4) / (0.5 - lie) ** 2
        return noise_of_bits + share * (1 - share)  # and who happened to answer

    def one_report(self) -> float:
        return 1 / (0.5 - self.lie_units / UNIT)

    def _most(self, place: int) -> int:
        """The largest value of a byte whose bits all belong to the domain."""
        return (1 << min(8, self.size - 8 * place)) - 1
