"""What a protocol of answers is: the client's half and the collector's half side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Coder
from cloister.schema.arrow_numpy import from_numbers, from_texts

__all__ = ["AnswerProtocol"]


class AnswerProtocol(Protocol):
    """One question's way from a true answer to a report, and from many reports to counts.

    A perturbed answer is a text, so that a report is plain JSON and a column of a file.
    """

    name: ClassVar[str]
    joins: ClassVar[bool]  # whether answers to several such questions give their joint distribution

    # The client's half.

    def perturb(self, codes: NDArray[np.int64]) -> list[str]:
        """What is sent in place of each true answer, a code of the domain."""
        ...

    # The collector's half.

    def is_answer(self, text: str) -> bool:
        """Whether a client could have sent this."""
        ...

    def coders(self, column: str) -> tuple[Coder, ...]:
        """How a column of answers becomes codes; one beyond the sizes means that no client sent this cell."""
        ...

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each coder has."""
        ...

    def value_counts(self, tables: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """How many answers name each value of the domain, from the counts of each coder's codes."""
        ...

    def shares(self, counts: NDArray[np.int64], reports: int) -> NDArray[np.float64]:
        """Unbiased shares of the values, from `value_counts`."""
        ...

    def share_variance(self, share: float) -> float:
        """The variance of a value's unbiased share in the population that people come from, times the number of reports."""
        ...

    def one_report(self) -> float:
        """How far one report moves a share, times the number of reports: what a liar gains."""
        ...


def text_column(values: Sequence[str], codes: NDArray[np.int64]) -> pa.Array:
    """A column of texts that are given by their codes; equal texts are stored once."""
    return pa.DictionaryArray.from_arrays(from_numbers(codes.astype(np.int32)), from_texts(values))
