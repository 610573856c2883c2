"""The sensitive values of classes, counted by one rule: for the guards of a published table and for the measures of its risk.

Where it is known whose rows they are, people count, not rows: l-diversity asks how many values one must name at least to name
one of everybody's, entropy l-diversity counts everybody with the value of theirs that most people of the class have, and in
t-closeness a person weighs 1, shared equally by their values. A blank is not a diverse value; in t-closeness, which compares
shares, it is a value.

A schema may take several published values for one, or for a blank (`value_codes`). Fewer values are less diverse, so l counts
them as the schema does; t compares them as they are published, since shares of joined values hide how those differ; and the
entropy is the smaller of both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.risks.class_measures import distances, distinct_values, distribution, effective_values, person_values

__all__ = ["ClassValues"]

Weights = NDArray[np.int64] | NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """One sensitive column of counted tuples.

    Parameters
    ----------
    values : array of int32, (m,)
        The code of each tuple's value; where values have an order, in that order.
    counts : array of int64, (m,)
        Rows of each tuple; tuples without rows do not count.
    persons : array of int64, (m,), optional
        Whose rows they are.
    blank : int, optional
        The code of a blank.
    merged : array of int32, (blank + 1,), optional
        What the schema takes each value for, a blank last. Default: each for itself.
    """

    values: NDArray[np.int32]
    counts: NDArray[np.int64]
    persons: NDArray[np.int64] | None = None
    blank: int | None = None
    merged: NDArray[np.int32] | None = None

    @property
    def as_meant(self) -> ClassValues:
        """The same with what the schema takes for one value joined."""
        if self.merged is None or len(np.unique(self.merged)) == len(self.merged):
            return ClassValues(self.values, self.counts, self.persons, self.blank)
        return ClassValues(self.merged[self.values], self.counts, self.persons, int(self.merged[-1]))

    @property
    def different(self) -> int:
        """How many different values there are, as the schema takes them, blanks aside."""
        _, values, _, _ = self.as_meant._filled(np.zeros(len(self.counts), np.int64))
        return len(np.unique(values))

    def diversity(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.int64]:
        """The l of each class: different values, or how many one must name to name one of everybody's."""
        labels, values, counts, persons = self.as_meant._filled(labels)
        if persons is not None:
            return person_values(labels, persons, values).fewest(classes)
        return distinct_values(labels, classes, values, counts)

    def entropy_diversity(self, labels: NDArray[np.int64], classes: int) -> NDArray[np.float64]:
        """The number of equally frequent values with the entropy of each class; at least 1."""
        meant = self.as_meant
        if meant.values is not self.values:
            published = ClassValues(self.values, self.counts, self.persons, self.blank)
            return np.minimum(published.entropy_diversity(labels, classes), meant.entropy_diversity(labels, classes))
        labels, values, counts, persons = self._filled(labels)
        if persons is not None:
            effective = person_values(labels, persons, values).effective(classes)
        else:
            effective = effective_values(labels, classes, values, counts)
        return np.maximum(effective, 1)

    def shares(self) -> NDArray[np.float64]:
        """The share of the rows or people that has each value, in the whole table."""
        _, values, weights = self._weighed(np.zeros(len(self.counts), np.int64))
        return distribution(values, weights)

    def distances(
        self, labels: NDArray[np.int64], classes: int, reference: NDArray[np.float64], *, is_ordered: bool
    ) -> NDArray[np.float64]:
        """The earth mover's distance between the values of each class and the reference shares."""
        labels, values, weights = self._weighed(labels)
        return distances(labels, classes, values, weights, reference, is_ordered=is_ordered)

    def _filled(
        self, labels: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.int64] | None]:
        """Classes, values, rows and persons of the tuples that have rows and a value that is no blank."""
        filled = self.counts > 0
        if self.blank is not None:
            filled &= self.values != self.blank
        persons = None if self.persons is None else self.persons[filled]
        return labels[filled], self.values[filled], self.counts[filled], persons

    def _weighed(self, labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int32], Weights]:
        """Classes, values and what they weigh: rows, or the people who have them."""
        if self.persons is None:
            return labels, self.values, self.counts
        held = self.counts > 0
        people = person_values(labels[held], self.persons[held], self.values[held])
        return people.labels, people.values, people.weights
