"""The histogram of quasi-identifier tuples: all that a specialization ever sees of a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError

__all__ = ["TupleCounts"]


@dataclass(frozen=True, slots=True, eq=False)
class TupleCounts:
    """How many rows hold each tuple of quasi-identifiers (and sensitive values, class, person where they matter).

    Parameters
    ----------
    codes : array of int32, (t, q)
        The leaf of each quasi-identifier. A tuple occurs again with another sensitive value, class or person.
    counts : array of int64, (t,)
        Rows with this tuple. 0 for tuples that only the population holds.
    sensitive : array of int32, (t, s), optional
        Codes of the sensitive columns; for an ordered distance in their order.
    meanings : tuple of tuples of int
        What the schema takes each code of each sensitive column for; the last code is that of a blank. None: each is taken for
        itself, and no code is that of a blank.
    target : array of int32, (t,), optional
        Code of the class that the table should predict.
    persons : array of int64, (t,), optional
        Whose rows they are, when a person may have several.
    population : array of int64, (t,), optional
        How many rows of a population table hold this tuple.
    population_persons : array of int64, (t,), optional
        Whose rows of the population those are, where it says so; numbered by themselves.

    Privacy
    -------
    Exact counts, for the holder; not a private release.
    """

    codes: NDArray[np.int32]
    counts: NDArray[np.int64]
    sensitive: NDArray[np.int32] | None = None
    target: NDArray[np.int32] | None = None
    persons: NDArray[np.int64] | None = None
    population: NDArray[np.int64] | None = None
    meanings: tuple[tuple[int, ...], ...] = ()
    population_persons: NDArray[np.int64] | None = None

    def __post_init__(self) -> None:
        if self.codes.ndim != 2 or self.codes.shape[1] == 0:
            raise UsageError("name at least one quasi-identifier.")
        parts = (self.counts, self.sensitive, self.target, self.persons, self.population, self.population_persons)
        for part in parts:
            if part is not None and len(part) != len(self.codes):
                raise UsageError("every part of a histogram needs one entry a tuple.")

    @property
    def total(self) -> int:
        """The number of rows."""
        return int(self.counts.sum())

    def order(self) -> NDArray[np.int64]:
        """The tuples in the order of their codes, so that the order in which an engine counted them does not matter."""
        parts = (self.population_persons, self.population, self.persons, self.target)
        keys = [part for part in parts if part is not None]
        if self.sensitive is not None:
            keys += list(self.sensitive.T[::-1])
        return np.lexsort([self.counts, *keys, *self.codes.T[::-1]])

    def take(self, rows: NDArray[np.int64]) -> TupleCounts:
        """Some of the tuples."""
        return TupleCounts(
            np.ascontiguousarray(self.codes[rows]),
            self.counts[rows],
            None if self.sensitive is None else self.sensitive[rows],
            None if self.target is None else self.target[rows],
            None if self.persons is None else self.persons[rows],
            None if self.population is None else self.population[rows],
            self.meanings,
            None if self.population_persons is None else self.population_persons[rows],
        )
