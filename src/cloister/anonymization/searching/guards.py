"""What every class of a published table must hold: k-anonymity, l-diversity, t-closeness, k-map.

All are pure functions of labelled tuples: which class each tuple is in, its count, its sensitive value; the measures behind
them are those of `cloister.risks.class_measures`; what counts where rows belong to people, and what a blank is, says
`cloister.risks.class_values`. The search and the check of the written output use the same ones. Counted
by rows each guard holds for the union of two classes that hold it, so a more general table never breaks one (the reference
of t-closeness kept fixed). Counted by people it may not, where somebody has rows in both; a search checks every step.

References
----------
Sweeney, k-anonymity, 2002. Machanavajjhala et al., l-diversity, 2007. Li et al., t-closeness, 2007.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.errors import UsageError
from cloister.risks import class_measures
from cloister.risks.class_measures import distances, distinct_values, effective_values, sizes
from cloister.risks.class_values import ClassValues

__all__ = [
    "GUARDS",
    "ClassGuard",
    "Closeness",
    "Diversity",
    "EntropyDiversity",
    "Guard",
    "GuardParameter",
    "KAnonymity",
    "KMap",
    "as_class_guard",
    "distances",
    "distinct_persons",
    "distinct_values",
    "effective_values",
    "passing",
    "sensitive_guards",
    "sizes",
]

_SLACK = 1e-9  # of logarithms and distances in floating point


class Guard(Protocol):
    """A condition on every class: what a user's own guard needs at least."""

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]: ...

    def __str__(self) -> str: ...


class ClassGuard(ABC):
    """A condition on every class, and what the other stations ask of it; the defaults are those of a plain guard.

    A new guard is a class that derives from this one, and, where users ask for it by a parameter, an entry in `GUARDS`.
    """

    column: int | None = None  # which of the sensitive columns it looks at; None: at none
    covers_homogeneity: ClassVar[bool] = False  # whether it bounds what a class tells about its sensitive values
    counts_on_output: ClassVar[bool] = True  # whether the published rows show what it counts
    counts_on_table: ClassVar[bool] = False  # whether it counts persons or a population, which only the table shows

    @property
    def note(self) -> str | None:
        """What a reader of the certificate should know of it."""
        return None

    def on_population(self, person: str | None, names: Sequence[str]) -> ClassGuard:
        """The same guard for a population with these columns; `person` is the one that says whose a row of the table is."""
        return self

    def against(self, rows: TupleCounts) -> ClassGuard:
        """The same guard with what it compares with fixed to these tuples."""
        return self

    @abstractmethod
    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""


@dataclass(frozen=True, slots=True)
class _AtLeast(ClassGuard):
    """At least k of something in every class."""

    k: int

    def __post_init__(self) -> None:
        _whole("k", self.k)


class KAnonymity(_AtLeast):
    """At least k rows in every class; at least k persons when the tuples say whose rows they are."""

    counts_on_table = True

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.persons is None:
            return sizes(labels, classes, rows.counts) >= self.k
        return distinct_persons(labels, classes, rows) >= self.k

    def __str__(self) -> str:
        return f"k-anonymity, k = {self.k}"


@dataclass(frozen=True, slots=True)
class KMap(_AtLeast):
    """At least k rows of the population table share the published values of every class; k people where it has their column."""

    person: str | None = None  # the column of the population that says whose a row is
    is_by_rows: bool = False  # although the table is counted by people
    counts_on_output: ClassVar[bool] = False
    counts_on_table: ClassVar[bool] = True

    @property
    def note(self) -> str:
        """What it counted."""
        if self.person is not None:
            return f'k-map counts people of the population table (column "{self.person}"), each of them once in a class.'
        return "k-map counts rows of the population table: it holds for people where each of them has one row."

    def on_population(self, person: str | None, names: Sequence[str]) -> KMap:
        """People are counted where the population has the column that says whose a row is."""
        if person is None:
            return KMap(self.k)
        return KMap(self.k, person) if person in names else KMap(self.k, is_by_rows=True)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        if rows.population is None:
            raise UsageError("k-map needs a population table.")
        if rows.population_persons is None:
            return sizes(labels, classes, rows.population) >= self.k
        theirs = rows.population > 0
        people = class_measures.distinct_persons(labels[theirs], classes, rows.population_persons[theirs])
        return people >= self.k

    def __str__(self) -> str:
        return f"k-map{' by rows' if self.is_by_rows else ''}, k = {self.k}"


@dataclass(frozen=True, slots=True)
class Diversity(ClassGuard):
    """At least l different sensitive values in every class, blanks aside.

    With people: whoever names fewer than l values has not named one of everybody's in the class.
    """

    l: int  # noqa: E741
    column: int = 0
    covers_homogeneity: ClassVar[bool] = True
    counts_on_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _whole("l", self.l)

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        return _sensitive(rows, self.column).diversity(labels, classes) >= self.l

    def __str__(self) -> str:
        return f"distinct l-diversity, l = {self.l}"


@dataclass(frozen=True, slots=True)
class EntropyDiversity(ClassGuard):
    """The sensitive values of every class are as diverse as l equally frequent ones: entropy of at least log l."""

    l: float  # noqa: E741
    column: int = 0
    covers_homogeneity: ClassVar[bool] = True
    counts_on_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "l", _number(self.l))
        if not (math.isfinite(self.l) and self.l >= 1):
            raise UsageError("l must be a number of at least 1.")

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        effective = _sensitive(rows, self.column).entropy_diversity(labels, classes)
        return np.log(effective) >= math.log(self.l) - _SLACK

    def __str__(self) -> str:
        return f"entropy l-diversity, l = {_digits(self.l)}"


@dataclass(frozen=True, slots=True)
class Closeness(ClassGuard):
    """The sensitive values of every class are distributed like those of the whole table, to a distance of at most t.

    The distance is the earth mover's, with equal ground distances, or with those of an order (|i - j| / (values - 1)).
    `reference` is the distribution to compare with; None: that of the tuples at hand.
    """

    t: float
    column: int = 0
    is_ordered: bool = False
    reference: tuple[float, ...] | None = None
    covers_homogeneity: ClassVar[bool] = True
    counts_on_table: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "t", _number(self.t))
        if not 0 <= self.t <= 1:
            raise UsageError("t must be a number between 0 and 1.")

    def against(self, rows: TupleCounts) -> Closeness:
        """The same guard with the distribution of these tuples as its reference, unless it has one."""
        if self.reference is not None:
            return self
        shares = _sensitive(rows, self.column).shares()
        return Closeness(self.t, self.column, self.is_ordered, tuple(shares.tolist()))

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        reference = np.array(self.against(rows).reference)
        distance = _sensitive(rows, self.column).distances(labels, classes, reference, is_ordered=self.is_ordered)
        return distance <= self.t + _SLACK

    def __str__(self) -> str:
        return f"t-closeness, t = {_digits(self.t)}, {'ordered' if self.is_ordered else 'equal'} distance"


def _number(value: Any) -> float:
    """A real number as a float; NaN, which no guard takes, for anything else."""
    try:
        return math.nan if isinstance(value, bool | str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _digits(value: float) -> str:
    """A number with all its digits, in as few as say it.

    >>> _digits(2.0), _digits(1 / 3)
    ('2', '0.3333333333333333')
    """
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


@dataclass(frozen=True, slots=True)
class _PlainGuard(ClassGuard):
    """A guard of a user's own."""

    guard: Guard
    column: int | None = None

    def passes(self, labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
        """Which classes hold it."""
        return self.guard.passes(labels, classes, rows)

    def __str__(self) -> str:
        return str(self.guard)


@dataclass(frozen=True, slots=True)
class GuardParameter:
    """A parameter of a request that asks for a guard: from its value, and, where it has one, the number of a column."""

    idea: str  # the guard's name in messages; guards that measure one idea in two ways share it
    make: Callable[[Any, int, bool], ClassGuard]  # value, column, whether distances are ordered
    is_sensitive: bool = True  # one guard for every sensitive column, else one for the table


# in the order in which a certificate lists them
GUARDS = {
    "l_diversity": GuardParameter("l-diversity", lambda least, column, _: Diversity(least, column)),
    "entropy_l_diversity": GuardParameter("l-diversity", lambda least, column, _: EntropyDiversity(least, column)),
    "t_closeness": GuardParameter("t-closeness", lambda most, column, is_ordered: Closeness(most, column, is_ordered)),
    "k_map": GuardParameter("k-map", lambda least, *_: KMap(least), is_sensitive=False),
}


def sensitive_guards(joined_by: Literal["and", "or"]) -> str:
    """The guards that look at sensitive columns, as messages list them.

    >>> sensitive_guards("or")
    'l-diversity or t-closeness'
    """
    *others, last = dict.fromkeys(parameter.idea for parameter in GUARDS.values() if parameter.is_sensitive)
    return f"{', '.join(others)} {joined_by} {last}" if others else last


def as_class_guard(guard: Guard) -> ClassGuard:
    """A guard of a user's own, with the defaults for all that it does not say."""
    return guard if isinstance(guard, ClassGuard) else _PlainGuard(guard, getattr(guard, "column", None))


def passing(guards: Sequence[Guard], labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.bool_]:
    """Which classes hold every guard."""
    holds = np.ones(classes, bool)
    for guard in guards:
        holds &= guard.passes(labels, classes, rows)
    return holds


def distinct_persons(labels: NDArray[np.int64], classes: int, rows: TupleCounts) -> NDArray[np.int64]:
    """The different persons of each class."""
    assert rows.persons is not None
    in_table = rows.counts > 0
    return class_measures.distinct_persons(labels[in_table], classes, rows.persons[in_table])


def _sensitive(rows: TupleCounts, column: int) -> ClassValues:
    if rows.sensitive is None or column >= rows.sensitive.shape[1]:
        raise UsageError(f"{sensitive_guards('and')} need a sensitive column.")
    if not rows.meanings:
        return ClassValues(rows.sensitive[:, column], rows.counts, rows.persons)
    merged = np.array(rows.meanings[column], np.int32)
    return ClassValues(rows.sensitive[:, column], rows.counts, rows.persons, len(merged) - 1, merged)


def _whole(name: str, number: int) -> None:
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or number < 1:
        raise UsageError(f"{name} must be a whole number of at least 1.")
