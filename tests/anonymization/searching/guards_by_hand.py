"""Guards counted once more, in plain Python on whole rows: their counts share nothing with the code under test.

A new guard has its plain count here, and a line in `BY_HAND`, `GUARD_SETS` and `BOUNDS`; a test fails while it has none.
"""

from __future__ import annotations

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
