"""Which combinations of columns single people out.

Knowing one column more never makes a unique row common again, so a combination is worth listing only when each of its
columns adds something. A combination with fewer possible values than unique rows wanted cannot have them, and is not
counted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations

from cloister.errors import UsageError
from cloister.risks.measures import own_classes
from cloister.risks.tuples import Tuples

__all__ = ["Combination", "single_out"]

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
    people = tuples.people
    counted: dict[tuple[str, ...], Combination] = {}
    best: list[Combination] = []
    for size in range(1, min(most, number) + 1):
        for columns in combinations(range(number), size):
            names = tuple(tuples.names[j] for j in columns)
            possible = math.prod(len(tuples.values[j]) for j in columns)
            if possible < least * people:
                continue
            labels, classes = tuples.classes(names)
            sizes, members = tuples.sizes(labels, classes), tuples.members(labels)
            own = own_classes(sizes, sizes, members)
            combination = Combination(names, own.unique, classes, own.average_risk)
            counted[names] = combination
            parts = [counted[part] for part in combinations(names, size - 1) if part in counted]
            if combination.unique > max([least, *(part.unique for part in parts)]):
                best.append(combination)
    best.sort(key=lambda each: (-each.unique, len(each.columns)))
    return tuple(best[:top])
