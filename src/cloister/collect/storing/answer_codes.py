"""Perturbed answers as few bytes: what an inbox keeps of a report, and the columns that are counted from many."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.collect.collection import Collection
from cloister.collect.protocols import UnaryEncoding
from cloister.collect.protocols.base import text_column

__all__ = ["AnswerCodes"]


@dataclass(frozen=True, slots=True)
class CodedQuestion:
    """The bytes of one question among those of a report."""

    name: str
    start: int
    width: int
    places: Mapping[str, bytes] | None  # of each value, big-endian; None: the answer is bits in hexadecimal
    values: tuple[str, ...]
    is_answer: Callable[[str], bool]

    def encode(self, answer: Any) -> bytes:
        """The bytes of an answer; ValueError: no client sends it."""
        found = self.places.get(answer) if self.places is not None and isinstance(answer, str) else None
        if found is not None:
            return found
        if self.places is None and isinstance(answer, str) and self.is_answer(answer):
            return bytes.fromhex(answer)
        raise ValueError("what no client sends")

    def column(self, rows: NDArray[np.uint8]) -> pa.Array:
        """The answers of many reports, (n, width of all), as texts."""
        part = np.ascontiguousarray(rows[:, self.start : self.start + self.width])
        if self.places is None:
            return pa.array([row.tobytes().hex() for row in part], pa.string())
        codes = np.zeros(len(part), dtype=np.int64)
        for digit in part.T:
            codes = codes * 256 + digit
        if len(codes) and codes.max() >= len(self.values):
            raise ValueError("a code beyond the values of its question")
        return text_column(self.values, codes)


@dataclass(frozen=True)
class AnswerCodes:
    r"""The perturbed answers to all questions of a collection as bytes, each question's always as many.

    Examples
    --------
    >>> codes = AnswerCodes.of(Collection("lunch", {"eats": ["meat", "fish"], "drinks": ["tea", "water"]}, epsilon=1))
    >>> codes.encode({"eats": "fish", "drinks": "tea"})
    b'\x01\x00'
    """

    questions: tuple[CodedQuestion, ...]
    width: int

    @classmethod
    def of(cls, collection: Collection) -> AnswerCodes:
        """The codes of a collection's answers."""
        coded, start = [], 0
        for question in collection.questions:
            protocol, values = question.answering(), question.values
            if isinstance(protocol, UnaryEncoding):
                width, places = protocol.bytes, None
            else:
                width = max(1, -(-(len(values) - 1).bit_length() // 8))
                places = {value: place.to_bytes(width) for place, value in enumerate(values)}
            coded.append(CodedQuestion(question.name, start, width, places, values, protocol.is_answer))
            start += width
        return cls(tuple(coded), start)

    def encode(self, answers: Mapping[str, Any]) -> bytes:
        """The bytes of a report's answers, one to each question; ValueError: no client sends one of them."""
        try:  # nearly always
            return b"".join([places[answers[name]] for name, places in self._values])
        except (KeyError, TypeError):
            return b"".join([each.encode(answers[each.name]) for each in self.questions])

    @cached_property
    def _values(self) -> list[tuple[str, Mapping[str, bytes]]]:
        """The bytes of each question's values; none of a question whose answers are bits."""
        return [(each.name, each.places or {}) for each in self.questions]

    def columns(self, rows: Sequence[bytes]) -> dict[str, pa.Array]:
        """The answers of many reports, one column a question.

        ValueError: some are not as long as answers to this collection are.
        """
        if any(len(row) != self.width for row in rows):
            raise ValueError("bytes that are no answers of this collection")
        bytes_of_rows = np.frombuffer(b"".join(rows), dtype=np.uint8).reshape(len(rows), self.width)
        return {each.name: each.column(bytes_of_rows) for each in self.questions}
