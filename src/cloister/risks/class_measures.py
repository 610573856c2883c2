"""Measures of classes: how many rows, people and sensitive values each holds, and how far its values are from all.

Pure functions of labelled tuples: which class each tuple is in, its count, its sensitive value. `class_values` says which of
them count where rows belong to people, and where cells are blank.

References
----------
Sweeney, k-anonymity, 2002. Machanavajjhala et al., l-diversity, 2007. Li et al., t-closeness, 2007.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Memberships",
    "PersonValues",
    "distances",
    "distinct_persons",
    "distinct_values",
    "distribution",
    "effective_values",
    "memberships",
    "person_values",
    "sizes",
]

_CELLS = 1 << 22  # cells of a dense table of classes by values


def sizes(labels: NDArray[np.int64], classes: int, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of each class."""
    return np.bincount(labels, counts, classes).astype(np.int64)  # exact: counts stay below 2**53


@dataclass(frozen=True, slots=True, eq=False)
class Memberships:
    """Which people are in which classes: one entry for each person of each class, in the order of the classes.

    Somebody whose rows differ is in several classes, so the sizes of classes add up to more than there are people.
    """

    labels: NDArray[np.int64]  # the class
    persons: NDArray[np.int64]  # numbered from 0

    @property
    def people(self) -> int:
        """How many different people there are."""
        return len(np.unique(self.persons))

    def sizes(self, classes: int) -> NDArray[np.int64]:
        """The people of each class."""
        return np.bincount(self.labels, minlength=classes)

    def least(self, of_class: NDArray[np.int64]) -> NDArray[np.int64]:
        """Of each person the least number that one of their classes has."""  # (people,)
        everybody, person = np.unique(self.persons, return_inverse=True)
        least = np.full(len(everybody), np.iinfo(np.int64).max)
        np.minimum.at(least, person, of_class[self.labels])
        return least


def memberships(labels: NDArray[np.int64], persons: NDArray[np.int64]) -> Memberships:
    """The people of each class, from tuples in any order."""
    order = np.lexsort([persons, labels])
    class_of, person = labels[order], persons[order]
    is_new = np.ones(len(order), bool)
    is_new[1:] = (class_of[1:] != class_of[:-1]) | (person[1:] != person[:-1])
    return Memberships(class_of[is_new], person[is_new])


def distinct_persons(labels: NDArray[np.int64], classes: int, persons: NDArray[np.int64]) -> NDArray[np.int64]:
    """The different persons of each class."""
    return memberships(labels, persons).sizes(classes)


def distinct_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    """The different values of each class."""
    numbers = np.zeros(classes, np.int64)
    for part, table in _tables(labels, classes, values, counts):
        numbers[part] = (table > 0).sum(axis=1)
    return numbers


def effective_values(
    labels: NDArray[np.int64], classes: int, values: NDArray[np.int32], counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The number of equally frequent values that would have the entropy of each class."""
    numbers = np.ones(classes)
    for part, table in _tables(labels, classes, values, counts):
        share = table / np.maximum(table.sum(axis=1, keepdims=True), 1)
        numbers[part] = np.exp(-(share * np.log(np.where(share > 0, share, 1))).sum(axis=1))
    return numbers


def distances(
    labels: NDArray[np.int64],
    classes: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int64] | NDArray[np.float64],
    reference: NDArray[np.float64],
    *,
    is_ordered: bool,
) -> NDArray[np.float64]:
    """The earth mover's distance between the values of each class and the reference; values that it lacks do not count."""
    moved = np.zeros(classes)
    present = reference > 0
    for part, table in _tables(labels, classes, values, counts, len(reference)):
        table = table[:, : len(reference)][:, present]
        total = table.sum(axis=1, keepdims=True)
        gap = table / np.where(total > 0, total, 1) - reference[present]
        if is_ordered:
            moved[part] = np.abs(np.cumsum(gap, axis=1)).sum(axis=1) / max(int(present.sum()) - 1, 1)
        else:
            moved[part] = np.abs(gap).sum(axis=1) / 2
    return moved


def distribution(values: NDArray[np.int32], counts: NDArray[np.int64] | NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the rows (or of the people, by their weights) that each value has."""
    share: NDArray[np.float64] = np.bincount(values, counts) / (float(counts.sum()) or 1.0)
    return share


@dataclass(frozen=True, slots=True, eq=False)
class PersonValues:
    """The different values of each person in each class, a person in a class after the other.

    Each array has an entry for each different value of a person in a class.
    """

    labels: NDArray[np.int64]  # the class
    values: NDArray[np.int32]
    firsts: NDArray[np.int64]  # where each person of each class begins

    @property
    def weights(self) -> NDArray[np.float64]:
        """A person counts 1 in a class, shared equally by their values."""
        own = np.diff(np.append(self.firsts, len(self.labels)))
        return np.repeat(1 / own, own)

    def usual(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """Of each person in each class the value that most people of the class have: class, value, how many have it."""
        pairs = self.labels << np.int64(32) | self.values
        _, pair_of, people = np.unique(pairs, return_inverse=True, return_counts=True)
        having = people[pair_of]
        most = np.maximum.reduceat(having, self.firsts) if len(self.firsts) else np.zeros(0, np.int64)
        is_most = having == np.repeat(most, np.diff(np.append(self.firsts, len(having))))
        at = np.where(is_most, np.arange(len(having)), len(having))
        at = np.minimum.reduceat(at, self.firsts) if len(self.firsts) else np.zeros(0, np.int64)
        return self.labels[at], self.values[at], most

    def fewest(self, classes: int) -> NDArray[np.int64]:
        """How many values one must name at least to name one of everybody's, in each class.

        A bound from below, and exact where everybody has one value: then it is the number of different values. Give a
        person the weight 1/d, if of their values the most common is had by d people: the people who have any one value
        weigh at most 1 together, so fewer values than all people weigh cannot cover everybody.
        """
        labels, _, most = self.usual()
        weight = np.bincount(labels, 1 / most, classes) if len(labels) else np.zeros(classes)
        return np.ceil(weight - 1e-9).astype(np.int64)

    def effective(self, classes: int) -> NDArray[np.float64]:
        """Effective values of each class, each person with the one of theirs that most people of the class have."""
        labels, values, _ = self.usual()
        return effective_values(labels, classes, values, np.ones(len(labels), np.int64))


def person_values(labels: NDArray[np.int64], persons: NDArray[np.int64], values: NDArray[np.int32]) -> PersonValues:
    """The different values of each person in each class, from tuples in any order."""
    order = np.lexsort((values, persons, labels))
    class_of, person, value = labels[order], persons[order], values[order]
    begins = np.ones(len(order), bool)
    begins[1:] = (class_of[1:] != class_of[:-1]) | (person[1:] != person[:-1])
    is_new = begins.copy()
    is_new[1:] |= value[1:] != value[:-1]
    return PersonValues(class_of[is_new], value[is_new], np.flatnonzero(begins[is_new]))


def _tables(
    labels: NDArray[np.int64],
    classes: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int64] | NDArray[np.float64],
    width: int = 0,
) -> Iterator[tuple[slice, NDArray[np.float64]]]:
    """Counts by class and value, some classes at a time."""
    width = max(width, int(values.max(initial=0)) + 1)
    step = max(1, _CELLS // width)
    order = np.argsort(labels, kind="stable") if classes > step else np.arange(len(labels))
    ends = np.searchsorted(labels[order], np.arange(0, classes + step, step)) if classes > step else [0, len(labels)]
    for i, start in enumerate(range(0, classes, step)):
        rows = order[ends[i] : ends[i + 1]]
        height = min(step, classes - start)
        table = np.bincount((labels[rows] - start) * width + values[rows], counts[rows], height * width)
        yield slice(start, start + height), table.astype(np.float64).reshape(height, width)  # exact: below 2**53
