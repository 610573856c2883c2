"""Which combinations single people out: against a plain count of each combination by itself."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from cloister.risks.measures import own_classes
from cloister.risks.singling_out import Combination, single_out
from cloister.risks.tuples import Tuples, Values


def plain(tuples: Tuples, most: int, least: float, top: int) -> tuple[Combination, ...]:
    """Each combination counted by itself, as the definition says."""
    counted: dict[tuple[str, ...], Combination] = {}
    best = []
    for size in range(1, min(most, len(tuples.names)) + 1):
        for names in combinations(tuples.names, size):
            labels, classes = tuples.classes(names)
            sizes, members = tuples.sizes(labels, classes), tuples.members(labels)
            own = own_classes(sizes, sizes, members)
            counted[names] = Combination(names, own.unique, classes, own.average_risk)
            parts = [counted[part].unique for part in combinations(names, size - 1) if part]
            if own.unique > max([least, *parts]):
                best.append(counted[names])
    best.sort(key=lambda each: (-each.unique, len(each.columns)))
    return tuple(best[:top])


def random_tuples(random: np.random.Generator, has_people: bool) -> Tuples:
    """Up to 40 tuples of up to 6 columns of up to 12 values."""
    widths = random.integers(1, 12, random.integers(1, 7))
    rows = random.integers(1, 40)
    codes = np.unique(np.stack([random.integers(0, width, rows) for width in widths], 1), axis=0)
    pairs = [np.unique(codes[:, j], return_inverse=True) for j in range(len(widths))]
    values, dense = tuple(Values(cells) for cells, _ in pairs), np.stack([places for _, places in pairs], 1)
    persons = random.integers(0, 10, len(codes)) if has_people else None
    names = tuple(f"c{j}" for j in range(len(widths)))
    return Tuples(names, dense.astype(np.int32), values, random.integers(1, 3, len(codes)), persons)


@pytest.mark.parametrize("has_people", [False, True])
def test_combinations_are_those_of_a_plain_count(has_people: bool) -> None:
    """The same combinations in the same order with the same figures, to the last bit."""
    random = np.random.default_rng(5)
    for _ in range(30):
        tuples = random_tuples(random, has_people)
        most, least, top = int(random.integers(1, 5)), float(random.choice([0, 0.1, 0.3])), int(random.choice([1, 3, 12]))
        assert single_out(tuples, most, least=least, top=top) == plain(tuples, most, least, top)
