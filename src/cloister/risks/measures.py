"""How likely somebody is to be recognised, from the sizes of classes alone.

Let a table have n rows in J classes of equal quasi-identifiers, f_j rows in class j, and let the population hold F_j people
with the values of class j. Who looks for

- a certain person known to be in the table (the *prosecutor*) is right with probability 1/f_j;
- anybody at all, knowing only the population (the *journalist*) with 1/F_j;
- as many as possible (the *marketer*) hits sum_j f_j / F_j rows in expectation, or J when the table is all there is.

Where rows belong to people who may have several, people are counted instead of rows.

References
----------
El Emam, Guide to the De-Identification of Personal Health Information, 2013, chapters 16 to 19. Dankar and El Emam, A method
for evaluating marketer re-identification risk, 2010. Sweeney, k-anonymity, 2002 (k-map).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks import class_measures

__all__ = ["FORMULAS", "Reidentification", "SensitiveRisk", "check_threshold", "reidentification", "sensitive_risk"]

BINS = (1, 2, 3, 5, 10, 20, 50, 100, 1000)  # where the ranges of class sizes begin

FORMULAS = {
    "k": "min f_j",
    "average_size": "n / J",
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
"""What each measure is: n rows, J classes, f_j rows of the table and F_j people of the population in class j."""


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
    sizes: tuple[tuple[int, int, int], ...]  # (smallest size, classes, rows) of each range of sizes


def reidentification(
    sizes: NDArray[np.int64],
    *,
    threshold: float = 0.2,
    population: NDArray[np.int64] | None = None,
    people: int | None = None,
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

    Examples
    --------
    >>> risk = reidentification(np.array([1, 4, 5]))
    >>> risk.k, risk.prosecutor_average, risk.prosecutor_at_risk
    (1, 0.3, 0.5)
    """
    check_threshold(threshold)
    n, number = int(sizes.sum()), len(sizes)
    assert n > 0
    assert sizes.min() > 0
    # the population contains the table: each class has at least as many people there
    in_population = sizes if population is None else np.maximum(population, sizes)
    outside = 0 if population is None else int(sizes[population < sizes].sum())
    hits = float((sizes / in_population).sum())
    start = np.array(BINS)
    place = np.searchsorted(start, sizes, side="right") - 1
    by_size = [(int(start[b]), int((place == b).sum()), int(sizes[place == b].sum())) for b in range(len(start))]
    return Reidentification(
        rows=n,
        classes=number,
        k=int(sizes.min()),
        average_size=n / number,
        largest=int(sizes.max()),
        unique=int((sizes == 1).sum()) / n,
        threshold=threshold,
        prosecutor_highest=1 / int(sizes.min()),
        prosecutor_average=number / n,
        prosecutor_at_risk=_at_risk(sizes, sizes, threshold),
        journalist_highest=1 / int(in_population.min()),
        journalist_average=max(number / int(in_population.sum()), hits / n),
        journalist_at_risk=_at_risk(sizes, in_population, threshold),
        marketer=hits / n,
        k_map=None if population is None else int(in_population.min()),
        population=people,
        outside=outside,
        sizes=tuple(entry for entry in by_size if entry[1]),
    )


def check_threshold(threshold: float) -> None:
    """Refuse what is no probability."""
    if not 0 < threshold <= 1:
        raise UsageError("the threshold is a probability above 0 and up to 1: 0.2 means one in five.")


def _at_risk(sizes: NDArray[np.int64], wide: NDArray[np.int64], threshold: float) -> float:
    """The share of the rows with a risk above the threshold; a class of five is not above one in five."""
    return int(sizes[wide * threshold < 1 - 1e-12].sum()) / int(sizes.sum())


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """What the classes give away about a sensitive column.

    `l` is the fewest different values in a class, `entropy_l` the fewest equally frequent values with the entropy of a
    class, `t` the largest distance between the values of a class and those of the table: all values equally far, and for
    numbers also in their order. `certain` is the share of rows in classes with one value alone: whoever finds the class
    knows it.
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
    values: NDArray[np.int32],
    counts: NDArray[np.int64],
    order: NDArray[np.int64] | None = None,
) -> SensitiveRisk:
    """l and t of a sensitive column; `order` is the rank of each value, where the values are numbers."""
    different = class_measures.distinct_values(labels, number, values, counts)
    reference = class_measures.distribution(values, counts)
    distance = class_measures.distances(labels, number, values, counts, reference, is_ordered=False)
    ordered = None
    if order is not None:
        ranked = order[values].astype(np.int32)
        ordered_reference = class_measures.distribution(ranked, counts)
        ordered = float(class_measures.distances(labels, number, ranked, counts, ordered_reference, is_ordered=True).max())
    sizes = class_measures.sizes(labels, number, counts)
    return SensitiveRisk(
        column,
        int((reference > 0).sum()),
        int(different.min()),
        float(class_measures.effective_values(labels, number, values, counts).min()),
        float(distance.max()),
        ordered,
        int(sizes[different == 1].sum()) / int(sizes.sum()),
    )
