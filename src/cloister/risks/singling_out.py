"""Which combinations of columns single people out.

Knowing one column more never makes a unique row common again, so a combination is worth listing only when each of its
columns adds something.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks.lone_rows import lone_rows
from cloister.risks.measures import own_classes
from cloister.risks.tuples import Tuples
from cloister.work_done import counted

__all__ = ["Combination", "single_out"]

SEARCH = "comparing combinations of columns"
_WORK = 1_000_000_000  # tuples times combinations that are looked at; beyond, combinations are shorter


@dataclass(frozen=True, slots=True)
class Combination:
    """What somebody knows who knows these columns."""

    columns: tuple[str, ...]
    unique: float  # share of the rows (people) that are alone with their values
    classes: int
    average_risk: float  # mean over rows (people) of 1 / the size of their class


def single_out(tuples: Tuples, most: int = 3, *, least: float = 0.0, top: int = 12) -> tuple[Combination, ...]:
    """The combinations of up to `most` columns that single out the largest shares of the rows, the worst first.

    Parameters
    ----------
    tuples : Tuples
        Over all columns that somebody might know.
    most : int
        Columns of a combination. Fewer when there are too many combinations for the size of the table.
    least : float
        The share of unique rows from which a combination is listed.
    top : int
        How many are listed.

    Notes
    -----
    Of combinations with the same share of unique rows the shorter comes first, and a longer one is listed only when it singles
    out more than every part of it.
    """
    if most < 1:
        raise UsageError("a combination has at least one column.")
    number = len(tuples.names)
    while most > 1 and sum(math.comb(number, size) for size in range(1, most + 1)) * len(tuples.counts) > _WORK:
        most -= 1
    best: list[tuple[int, tuple[int, ...]]] = []  # how many are alone, with which columns: the worst first
    counter, people = lone_rows(tuples), tuples.people
    shorter: dict[tuple[int, ...], NDArray[np.int64]] = {}  # by all columns but the last
    sizes = range(1, min(most, number) + 1)
    works = [math.comb(number, size) for size in sizes]
    for size in counted(sizes, sum(works), lambda size: works[size - 1], name=SEARCH, has_parts=True):
        longer: dict[tuple[int, ...], NDArray[np.int64]] = {}
        for first in counted(combinations(range(number), size - 1), math.comb(number, size - 1)):
            begin = first[-1] + 1 if first else 0
            alone = np.zeros(number, np.int64)
            alone[begin:] = counter.with_last(first, range(begin, number))
            parts = [shorter[first[:i] + first[i + 1 :]] for i in range(len(first))]
            of_parts = np.max([np.full(number, shorter[first[:-1]][first[-1]]), *parts], axis=0) if first else 0
            _keep_worst(best, first, np.where((alone > of_parts) & (alone > least * people), alone, 0), top)
            if size < most:
                longer[first] = alone
        shorter = longer
    return tuple(_combination(tuples, columns) for _, columns in best)


def _keep_worst(best: list[tuple[int, tuple[int, ...]]], first: tuple[int, ...], alone: NDArray[np.int64], top: int) -> None:
    """Put combinations with `first` among the worst `top`; of those with as many lone rows the earlier and shorter stays."""
    bar = best[-1][0] if len(best) == top else 0
    ranked = np.argsort(-alone, kind="stable")[:top]
    best += [(int(alone[j]), (*first, int(j))) for j in ranked if alone[j] > bar]
    best.sort(key=lambda each: -each[0])
    del best[top:]


def _combination(tuples: Tuples, columns: Sequence[int]) -> Combination:
    names = tuple(tuples.names[j] for j in columns)
    labels, classes = tuples.classes(names)
    sizes, members = tuples.sizes(labels, classes), tuples.members(labels)
    own = own_classes(sizes, sizes, members)
    return Combination(names, own.unique, classes, own.average_risk)
