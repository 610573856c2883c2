"""Guards counted once more, in plain Python on whole rows: their counts share nothing with the code under test.

A new guard has its plain count here, and a line in `BY_HAND`, `GUARD_SETS` and `BOUNDS`; a test fails while it has none.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from hypothesis import strategies as st

from cloister.anonymization.searching.guards import Closeness, Diversity, EntropyDiversity, Guard


def classes(published: Sequence[Hashable]) -> dict[Hashable, list[int]]:
    """The rows of each published tuple."""
    found: dict[Hashable, list[int]] = defaultdict(list)
    for row, key in enumerate(published):
        found[key].append(row)
    return found


def smallest(published: Sequence[Hashable]) -> int:
    """The rows of the smallest class."""
    return min(len(rows) for rows in classes(published).values())


def fewest_persons(published: Sequence[Hashable], persons: Sequence[int]) -> int:
    """The persons of the class with the fewest."""
    return min(len({persons[row] for row in rows}) for rows in classes(published).values())


def fewest_values(published: Sequence[Hashable], sensitive: Sequence[int]) -> int:
    """The different sensitive values of the least diverse class."""
    return min(len({sensitive[row] for row in rows}) for rows in classes(published).values())


def lowest_entropy(published: Sequence[Hashable], sensitive: Sequence[int]) -> float:
    """The entropy of the sensitive values of the least diverse class, in nats."""

    def entropy(rows: list[int]) -> float:
        counts = Counter(sensitive[row] for row in rows).values()
        return -sum(count / len(rows) * math.log(count / len(rows)) for count in counts)

    return min(entropy(rows) for rows in classes(published).values())


def farthest(published: Sequence[Hashable], sensitive: Sequence[int], *, is_ordered: bool) -> float:
    """The largest earth mover's distance of a class to all published rows."""
    values = sorted(set(sensitive))
    whole = Counter(sensitive)

    def distance(rows: list[int]) -> float:
        counts = Counter(sensitive[row] for row in rows)
        gaps = [counts[value] / len(rows) - whole[value] / len(sensitive) for value in values]
        if not is_ordered:
            return sum(abs(gap) for gap in gaps) / 2
        carried = [abs(math.fsum(gaps[: i + 1])) for i in range(len(gaps))]
        return sum(carried) / max(len(values) - 1, 1)

    return max(distance(rows) for rows in classes(published).values())


def sets_of_people(rows: list[int], sensitive: Sequence[int], persons: Sequence[int]) -> list[set[int]]:
    """The different values of each person among some rows."""
    found: dict[int, set[int]] = defaultdict(set)
    for row in rows:
        found[persons[row]].add(sensitive[row])
    return list(found.values())


def fewest_to_name(published: Sequence[Hashable], sensitive: Sequence[int], persons: Sequence[int]) -> int:
    """The fewest values that name one of everybody's in some class, by trying all sets of values."""

    def fewest(rows: list[int]) -> int:
        people = sets_of_people(rows, sensitive, persons)
        values = sorted(set().union(*people))
        return next(
            size
            for size in range(1, len(values) + 1)
            for named in itertools.combinations(values, size)
            if all(own & set(named) for own in people)
        )

    return min(fewest(rows) for rows in classes(published).values())


def lowest_entropy_of_people(published: Sequence[Hashable], sensitive: Sequence[int], persons: Sequence[int]) -> float:
    """The lowest entropy of a class where everybody counts with the commonest of their values, the first of equals."""

    def entropy(rows: list[int]) -> float:
        people = sets_of_people(rows, sensitive, persons)
        common = Counter(value for own in people for value in own)
        counted = Counter(min(own, key=lambda value: (-common[value], value)) for own in people)
        return -sum(count / len(people) * math.log(count / len(people)) for count in counted.values())

    return min(entropy(rows) for rows in classes(published).values())


def farthest_of_people(
    published: Sequence[Hashable], sensitive: Sequence[int], persons: Sequence[int], *, is_ordered: bool
) -> float:
    """The largest distance of a class to all, each person weighing 1 shared by their values."""

    def shares(rows: list[int]) -> Counter[int]:
        people = sets_of_people(rows, sensitive, persons)
        weights: Counter[int] = Counter()
        for own in people:
            for value in own:
                weights[value] += 1 / len(own) / len(people)  # type: ignore[assignment]
        return weights

    values, whole = sorted(set(sensitive)), shares(list(range(len(sensitive))))

    def distance(rows: list[int]) -> float:
        own = shares(rows)
        gaps = [own[value] - whole[value] for value in values]
        if not is_ordered:
            return sum(abs(gap) for gap in gaps) / 2
        return sum(abs(math.fsum(gaps[: i + 1])) for i in range(len(gaps))) / max(len(values) - 1, 1)

    return max(distance(rows) for rows in classes(published).values())


# whether published rows with these sensitive values hold a guard, with so much slack for floating point
BY_HAND: dict[type, Callable[[Any, Sequence[Hashable], Sequence[int], float], bool]] = {
    Diversity: lambda guard, published, sensitive, _: fewest_values(published, sensitive) >= guard.l,
    EntropyDiversity: lambda guard, published, sensitive, slack: (
        lowest_entropy(published, sensitive) >= math.log(guard.l) - slack
    ),
    Closeness: lambda guard, published, sensitive, slack: (
        farthest(published, sensitive, is_ordered=guard.is_ordered) <= guard.t + slack
    ),
}

# what random tables are searched with
GUARD_SETS = st.sampled_from(
    [
        (),
        (Diversity(2),),
        (EntropyDiversity(1.5),),
        (Closeness(0.3),),
        (Closeness(0.2, is_ordered=True),),
        (Diversity(2), Closeness(0.4)),
    ]
)

# what random tables are published with, by the estimator's parameter
BOUNDS: dict[str, Any] = {"l_diversity": 2, "entropy_l_diversity": 1.5, "t_closeness": 0.4}


def guards_hold(
    published: Sequence[Hashable], sensitive: Sequence[int], k: int, guards: Sequence[Guard], slack: float = 1e-7
) -> bool:
    """An independent count of k and of every guard."""
    if smallest(published) < k:
        return False
    return all(BY_HAND[type(guard)](guard, published, sensitive, slack) for guard in guards)
