"""What every class of a published table must hold: k-anonymity, l-diversity, t-closeness, k-map.

All are pure functions of labelled tuples: which class each tuple is in, its count, its sensitive value; the measures behind
them are those of `cloister.risks.classes`. All but the last step of a search and the check of the written output use the same
ones. Each guard holds for the union of two classes that hold it, so a more general table never breaks one (the reference of
t-closeness kept fixed).

References
----------
Sweeney, k-anonymity, 2002. Machanavajjhala et al., l-diversity, 2007. Li et al., t-closeness, 2007.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.histogram import Histogram
from cloister.errors import UsageError
from cloister.risks import classes as measures
from cloister.risks.classes import distances, distinct_values, distribution, effective_values, sizes

__all__ = [
    "Closeness",
    "Diversity",
    "EntropyDiversity",
    "Guard",
    "KAnonymity",
    "KMap",
    "distances",
    "distinct_persons",
    "distinct_values",
    "effective_values",
    "passing",
    "sizes",
]

_SLACK = 1e-9  # of logarithms and distances in floating point


class Guard(Protocol):
    """A condition on every class."""

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]: ...

    def __str__(self) -> str: ...


@dataclass(frozen=True, slots=True)
class KAnonymity:
    """At least k rows in every class; at least k persons when the histogram says whose rows they are."""

    k: int

    def __post_init__(self) -> None:
        _whole("k", self.k)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.persons is None:
            return sizes(labels, classes, rows.counts) >= self.k
        return distinct_persons(labels, classes, rows) >= self.k

    def __str__(self) -> str:
        return f"k-anonymity, k = {self.k}"


@dataclass(frozen=True, slots=True)
class Diversity:
    """At least l different sensitive values in every class."""

    l: int  # noqa: E741
    column: int = 0

    def __post_init__(self) -> None:
        _whole("l", self.l)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        return distinct_values(labels, classes, _sensitive(rows, self.column), rows.counts) >= self.l

    def __str__(self) -> str:
        return f"distinct l-diversity, l = {self.l}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity:
    """The sensitive values of every class are as diverse as l equally frequent ones: entropy of at least log l."""

    l: float  # noqa: E741
    column: int = 0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.l) and self.l >= 1):
            raise UsageError("l must be a number of at least 1.")

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        effective = effective_values(labels, classes, _sensitive(rows, self.column), rows.counts)
        return np.log(np.maximum(effective, 1)) >= math.log(self.l) - _SLACK

    def __str__(self) -> str:
        return f"entropy l-diversity, l = {self.l:g}"


@dataclass(frozen=True, slots=True)
class Closeness:
    """The sensitive values of every class are distributed like those of the whole table, to a distance of at most t.

    The distance is the earth mover's, with equal ground distances, or with those of an order (|i - j| / (values - 1)).
    `reference` is the distribution to compare with; None: that of the tuples at hand.
    """

    t: float
    column: int = 0
    is_ordered: bool = False
    reference: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.t <= 1:
            raise UsageError("t must lie between 0 and 1.")

    def against(self, rows: Histogram) -> Closeness:
        """The same guard with the distribution of these tuples as its reference."""
        values = _sensitive(rows, self.column)
        return Closeness(self.t, self.column, self.is_ordered, tuple(distribution(values, rows.counts).tolist()))

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        values = _sensitive(rows, self.column)
        reference = distribution(values, rows.counts) if self.reference is None else np.array(self.reference)
        far = distances(labels, classes, values, rows.counts, reference, is_ordered=self.is_ordered)
        return far <= self.t + _SLACK

    def __str__(self) -> str:
        return f"t-closeness, t = {self.t:g}, {'ordered' if self.is_ordered else 'equal'} distance"


@dataclass(frozen=True, slots=True)
class KMap:
    """At least k rows of the population table share the published values of every class."""

    k: int

    def __post_init__(self) -> None:
        _whole("k", self.k)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.population is None:
            raise UsageError("k-map needs a population table.")
        return sizes(labels, classes, rows.population) >= self.k

    def __str__(self) -> str:
        return f"k-map, k = {self.k}"


def passing(guards: Sequence[Guard], labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.bool_]:
    """Which classes hold every guard."""
    holds = np.ones(classes, bool)
    for guard in guards:
        holds &= guard.passes(labels, classes, rows)
    return holds


def distinct_persons(labels: NDArray[np.int64], classes: int, rows: Histogram) -> NDArray[np.int64]:
    """The different persons of each class."""
    assert rows.persons is not None
    real = rows.counts > 0
    return measures.distinct_persons(labels[real], classes, rows.persons[real])


def _sensitive(rows: Histogram, column: int) -> NDArray[np.int32]:
    if rows.sensitive is None or column >= rows.sensitive.shape[1]:
        raise UsageError("l-diversity and t-closeness need a sensitive column.")
    return rows.sensitive[:, column]


def _whole(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise UsageError(f"{name} must be a whole number of at least 1.")
