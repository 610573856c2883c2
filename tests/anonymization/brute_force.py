"""Guards counted once more, in plain Python on whole rows: shares nothing with the code under test."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence


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
