"""How likely somebody is to be recognised, from the sizes of classes alone.

Let a table have n rows in J classes of equal quasi-identifiers, f_j rows in class j, and let the population hold F_j people
with the values of class j. Who looks for

- a certain person known to be in the table (the *prosecutor*) is right with probability 1/f_j;
- anybody at all, knowing only the population (the *journalist*) with 1/F_j;
- as many as possible (the *marketer*) hits sum_j f_j / F_j rows in expectation, or J when the table is all there is.

Where rows belong to people who may have several, people are counted instead of rows: f_j is the number of different people of
class j, and n that of the table. Somebody whose rows differ is in several classes, and counts once: with the class of theirs
that gives them away the most.

References
----------
El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapters 16 to 19. Dankar and El Emam, A method
for evaluating marketer re-identification risk, 2010. Sweeney, k-anonymity, 2002 (k-map).
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks import class_measures
from cloister.risks.class_measures import Memberships
from cloister.risks.class_values import ClassValues

__all__ = [
    "FORMULAS",
    "OwnClasses",
    "Reidentification",
    "SensitiveRisk",
    "check_threshold",
    "own_classes",
    "reidentification",
    "sensitive_risk",
]

BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # where the ranges of class sizes begin

FORMULAS = {
    "k": "min f_j",
    "average_size": "sum_j f_j / J",
    "unique": "rows with f_j = 1, over n",
    "prosecutor_highest": "1 / min f_j",
    "prosecutor_average": "(1/n) sum_j f_j (1/f_j) = J / n",
    "prosecutor_at_risk": "rows with 1/f_j > threshold, over n",
    "journalist_highest": "1 / min F_j",
    "journalist_average": "max(J / sum_j F_j, (1/n) sum_j f_j / F_j)",
    "journalist_at_risk": "rows with 1/F_j > threshold, over n",
    "marketer": "(1/n) sum_j f_j / F_j (J / n without a population)",
    "k_map": "min F_j",
}
"""What each measure is: n rows, J classes, f_j rows of the table and F_j people of the population in class j.

Where people are counted, for rows read people, each with the smallest of their f_j and F_j: shares and means are over people.
"""


@dataclass(frozen=True, slots=True)
class Reidentification:
    """The risk of recognising rows by their quasi-identifiers. `FORMULAS` says what each number is.

    Without a population the journalist's numbers are the prosecutor's: the table is taken for everybody there is, which
    bounds them from above.
    """

    rows: int  # n; people, where the table says whose rows they are
    classes: int
    k: int
    average_size: float
    largest: int
    unique: float
    threshold: float
    prosecutor_highest: float
    prosecutor_average: float
    prosecutor_at_risk: float
    journalist_highest: float
    journalist_average: float
    journalist_at_risk: float
    marketer: float
    k_map: int | None
    population: int | None
    outside: int  # rows of classes with fewer people in the population than in the table, which it then does not contain
    sizes: tuple[tuple[int, int, int], ...]  # (smallest size, classes, rows) of each range; people at their smallest class


def reidentification(
    sizes: NDArray[np.int64],
    *,
    threshold: float = 0.2,
    population: NDArray[np.int64] | None = None,
    people: int | None = None,
    members: Memberships | None = None,
) -> Reidentification:
    """All measures of the classes of a table.

    Parameters
    ----------
    sizes : array of int64, (J,)
        Rows (or people) of each class, none of them empty.
    threshold : float
        From which risk on, exclusive, a row is counted as at risk.
    population : array of int64, (J,), optional
        People of the population with the values of each class.
    people : int, optional
        Everybody in the population.
    members : Memberships, optional
        Who is in which class, where people are counted.

    Examples
    --------
    >>> risk = reidentification(np.array([1, 4, 5]))
    >>> risk.k, risk.prosecutor_average, risk.prosecutor_at_risk
    (1, 0.3, 0.5)
    """
    check_threshold(threshold)
    number = len(sizes)
    assert number > 0
    assert sizes.min() > 0
    # the population contains the table: each class has at least as many people there
    in_population = sizes if population is None else np.maximum(population, sizes)
    is_outside = np.zeros(number, bool) if population is None else population < sizes
    own = own_classes(sizes, sizes, members)
    own_population = own_classes(in_population, sizes, members)
    start = np.array(BINS)
    of_class, of_own = (np.searchsorted(start, each, side="right") - 1 for each in (sizes, own.least))
    by_size = [(int(start[b]), int((of_class == b).sum()), int(own.weights[of_own == b].sum())) for b in range(len(start))]
    return Reidentification(
        rows=own.total,
        classes=number,
        k=int(sizes.min()),
        average_size=int(sizes.sum()) / number,
        largest=int(sizes.max()),
        unique=own.unique,
        threshold=threshold,
        prosecutor_highest=1 / int(sizes.min()),
        prosecutor_average=own.average_risk,
        prosecutor_at_risk=own.at_risk(threshold),
        journalist_highest=1 / int(in_population.min()),
        journalist_average=max(number / int(in_population.sum()), own_population.average_risk),
        journalist_at_risk=own_population.at_risk(threshold),
        marketer=own_population.average_risk,
        k_map=None if population is None else int(in_population.min()),
        population=people,
        outside=own_classes(np.where(is_outside, 0, 1), sizes, members).number_at(0),
        sizes=tuple(entry for entry in by_size if entry[1]),
    )


@dataclass(frozen=True, slots=True, eq=False)
class OwnClasses:
    """How many share the class of each row, or of each person the class of theirs that the fewest share."""

    least: NDArray[np.int64]
    weights: NDArray[np.int64]  # how many rows or people that is so for

    @property
    def total(self) -> int:
        """All rows, or all people."""
        return int(self.weights.sum())

    @property
    def unique(self) -> float:
        """The share that is alone."""
        return self.number_at(1) / self.total

    @property
    def average_risk(self) -> float:
        """The mean of 1 / how many share it."""
        return float((self.weights / self.least).sum()) / self.total

    def at_risk(self, threshold: float) -> float:
        """The share with a risk above the threshold; a class of five is not above one in five."""
        return int(self.weights[self.least * threshold < 1 - 1e-12].sum()) / self.total

    def number_at(self, least: int) -> int:
        """How many rows or people have exactly so many."""
        return int(self.weights[self.least == least].sum())


def own_classes(of_class: NDArray[np.int64], sizes: NDArray[np.int64], members: Memberships | None) -> OwnClasses:
    """A number of each class (how many share it) as a number of each row, or, where people are counted, of each person."""
    if members is None:
        return OwnClasses(of_class, sizes)
    least = members.least(of_class)
    return OwnClasses(least, np.ones(len(least), np.int64))


def check_threshold(threshold: float) -> None:
    """Refuse what is no probability."""
    is_number = isinstance(threshold, Real) and not isinstance(threshold, bool)
    if not is_number or not 0 < threshold <= 1:
        raise UsageError("the threshold is a probability above 0 and up to 1: 0.2 means one in five.")


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """What the classes give away about a sensitive column.

    `values` is how many different values the table has, blanks aside. `l` is the fewest in a class, `entropy_l` the fewest
    equally frequent values with the entropy of a class, `t` the largest distance between the values of a class and those of
    the table: all values equally far, and for numbers and days also in their order. `certain` is the share of rows (people)
    in classes in which everybody has a value in common, blanks aside: whoever finds the class knows it. `class_values` says
    how people count.
    """

    column: str
    values: int
    l: int  # noqa: E741
    entropy_l: float
    t: float
    ordered_t: float | None
    certain: float


def sensitive_risk(
    column: str,
    labels: NDArray[np.int64],
    number: int,
    sensitive: ClassValues,
    members: Memberships | None = None,
    *,
    is_ordered: bool = False,
) -> SensitiveRisk:
    """l and t of a sensitive column; `is_ordered`: its codes are in the order of its numbers or days."""
    diversity = sensitive.diversity(labels, number)
    shares = sensitive.shares()
    farthest = [
        float(sensitive.distances(labels, number, shares, is_ordered=order).max())
        for order in (False, True)[: 1 + is_ordered]
    ]
    sizes = class_measures.sizes(labels, number, sensitive.counts)
    of_own = own_classes(np.where(diversity == 1, 0, 1), sizes, members)
    return SensitiveRisk(
        column,
        sensitive.different,
        int(diversity.min()),
        float(sensitive.entropy_diversity(labels, number).min()),
        farthest[0],
        farthest[1] if is_ordered else None,
        of_own.number_at(0) / of_own.total,
    )
