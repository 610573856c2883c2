"""Survivors of a threshold and the splits of a tree: their laws, by exact enumeration and by counting draws."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log1p

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.kernels import Histogram
from cloister.privacy.mechanisms.split_tree import SplitTree, least_decay
from cloister.privacy.mechanisms.survivors import SurvivingCells, Survivors
from cloister.schema import Neighbours
from tests.chisquare import chi_square_ok

SENSITIVITY = {relation: Histogram().sensitivity(relation) for relation in Neighbours}
SCALE = Fraction(2)
THRESHOLD = 2
CELLS = 9
KEYS, COUNTS = np.array([1, 2, 6]), np.array([1, 5, 2])
TIMES = 20_000


def noisy_law(count: int, scale: Fraction, top: int) -> np.ndarray:
    """P(absent), P(count t), P(t+1), ..., P(top or more) of a cell in the dense way."""
    a = exp(-1 / float(scale))

    def at_least(value: int) -> float:
        gap = value - count
        return a**gap / (1 + a) if gap > 0 else 1 - a ** (1 - gap) / (1 + a)

    tails = [at_least(value) for value in range(THRESHOLD, top + 1)]
    return np.array([1 - tails[0], *(-np.diff(tails)), tails[-1]])


def histogram_of(found: list[SurvivingCells], cell: int, top: int) -> np.ndarray:
    """How often a cell was absent or had each count."""
    seen = np.zeros(top - THRESHOLD + 2)
    for release in found:
        place = np.flatnonzero(release.cells == cell)
        seen[0 if not len(place) else min(top, int(release.counts[place[0]])) - THRESHOLD + 1] += 1
    return seen


def sparse_like_dense(mechanism: Survivors) -> bool:
    """Whether every cell has the dense law, and the number of empty survivors is binomial; level 1e-6 in all."""
    found = [mechanism.apply(KEYS, COUNTS) for _ in range(TIMES)]
    top = 12
    exact = dict(zip(KEYS.tolist(), COUNTS.tolist(), strict=True))
    cells = all(
        chi_square_ok(histogram_of(found, cell, top), noisy_law(exact.get(cell, 0), SCALE, top), 1e-6 / (CELLS + 1))
        for cell in range(CELLS)
    )
    from scipy.stats import binom

    empty = CELLS - len(KEYS)
    a = exp(-1 / float(SCALE))
    alive = [int((~np.isin(release.cells, KEYS)).sum()) for release in found]
    together = binom.pmf(np.arange(empty + 1), empty, a**THRESHOLD / (1 + a))
    return cells and chi_square_ok(np.bincount(alive, minlength=empty + 1), together, 1e-6 / (CELLS + 1))


@pytest.mark.slow
def test_the_sparse_way_has_the_distribution_of_the_dense_way() -> None:
    """On a small grid each cell's survival and count, and how many empty cells survive together, follow the dense law."""
    assert sparse_like_dense(Survivors(SCALE, THRESHOLD, CELLS))


class Eager(Survivors):
    """A planted bug: empty cells survive as if the threshold were one lower, and are lifted to it."""

    def empty_survivors(self, empty: int):  # type: ignore[no-untyped-def]
        ranks, values = Survivors(self.scale, self.threshold - 1, self.cells).empty_survivors(empty)
        return ranks, np.maximum(values, self.threshold)


@pytest.mark.slow
def test_survivors_drawn_with_the_wrong_chance_are_caught() -> None:
    """The check fails for a sparse release whose empty cells survive too often."""
    assert not sparse_like_dense(Eager(SCALE, THRESHOLD, CELLS))


def test_a_high_threshold_over_many_cells_takes_no_time() -> None:
    """2**52 cells and a threshold of 80 scales: nearly nobody survives, in rising order and above the threshold."""
    release = Survivors(Fraction(1), 80, 2**52).apply(np.array([5, 2**51]), np.array([1000, 2000]))
    assert release.cells.tolist() == [5, 2**51]
    many = Survivors(Fraction(2), 50, 2**50).apply(np.array([7]), np.array([0]))
    assert (np.diff(many.cells) > 0).all()
    assert (many.counts >= 50).all()
    assert 2000 < len(many.cells) < 20_000  # 2**50 exp(-25) / (1 + exp(-1/2)) is about 9,700


def test_a_full_grid_has_no_empty_survivors() -> None:
    """Where every cell holds rows, only those are written."""
    release = Survivors(Fraction(1, 10), 1, 3).apply(np.arange(3), np.array([50, 60, 70]))
    assert release.cells.tolist() == [0, 1, 2]


def test_a_sparse_grid_costs_what_the_dense_one_costs() -> None:
    """The event is sensitivity over scale, under both relations."""
    events = [Survivors(Fraction(2), 3, 10).event("cells", SENSITIVITY[r]).epsilon for r in Neighbours]
    assert dict(zip(Neighbours, events, strict=True)) == {
        Neighbours.ADD_REMOVE: Fraction(1, 2),
        Neighbours.REPLACE_ONE: Fraction(1),
    }


def test_a_threshold_of_none_is_refused() -> None:
    """A threshold below 1 would write down empty cells without end."""
    with pytest.raises(UsageError, match="at least 1"):
        Survivors(Fraction(1), 0, 10)


# The tree, exactly.

LEVELS = 4
Shape = tuple  # (): a leaf; (left, right): a split node


def split_chances(x: int, scale: Fraction) -> tuple[float, float]:
    """The logarithms of P(x + L > 0) and P(x + L <= 0) for discrete Laplace L; both stay exact where one is tiny."""
    step = 1 / float(scale)
    a = exp(-step)
    if x <= 0:
        return (x - 1) * step - log1p(a), log1p(-exp((x - 1) * step) / (1 + a))
    return log1p(-exp(-x * step) / (1 + a)), -x * step - log1p(a)


def shapes(tree: SplitTree, counts: np.ndarray, depth: int = 0) -> dict[Shape, float]:
    """Every tree there can be, with the logarithm of its probability."""
    if depth == tree.levels:
        return {(): 0.0}
    splits, ends = split_chances(int(tree.biased(np.array([counts.sum()]), depth)[0]), tree.scale)
    found: dict[Shape, float] = {(): ends}
    half = len(counts) // 2
    left, right = shapes(tree, counts[:half], depth + 1), shapes(tree, counts[half:], depth + 1)
    for one, p in left.items():
        for other, q in right.items():
            found[(one, other)] = splits + p + q
    return found


def worst_loss(tree: SplitTree, one: np.ndarray, other: np.ndarray) -> float:
    """The largest |log ratio| of a tree's probabilities under two tables."""
    first, second = shapes(tree, one), shapes(tree, other)
    return max(abs(first[shape] - second[shape]) for shape in first)


def tables() -> list[np.ndarray]:
    """Counts of 16 keys: empty, all in one place near the bias, spread, and mixed."""
    random = np.random.default_rng(1)
    piles = [np.eye(16, dtype=np.int64)[key] * size for key in (0, 5, 15) for size in (0, 1, 3, 5, 7, 8, 10, 14, 20, 40)]
    return [*piles, *(random.integers(0, 6, 16) for _ in range(6)), np.full(16, 3)]


def keeps_epsilon(tree: SplitTree, relation: Neighbours, epsilon: float) -> bool:
    """Whether no pair of neighbours among the small tables can be told apart by more than epsilon."""
    unit = np.eye(16, dtype=np.int64)
    for counts in tables():
        for key in (0, 5, 10, 15):
            if relation is Neighbours.ADD_REMOVE:
                pairs = [(counts, counts + unit[key])]
            else:
                pairs = [(counts + unit[0], counts + unit[key]), (counts + unit[5], counts + unit[key])]
            if any(worst_loss(tree, one, other) > epsilon * (1 + 1e-9) for one, other in pairs):
                return False
    return True


@pytest.mark.slow
@pytest.mark.parametrize("relation", list(Neighbours))
@pytest.mark.parametrize("epsilon", [Fraction(1), Fraction(3)])
def test_a_tree_is_private_by_exact_enumeration(relation: Neighbours, epsilon: Fraction) -> None:
    """All 677 trees of four levels over 16 keys: no neighbours' probabilities differ by more than the event says."""
    tree = SplitTree.spending(epsilon, SENSITIVITY[relation], LEVELS)
    assert tree.event("tree", SENSITIVITY[relation]).epsilon == epsilon
    assert keeps_epsilon(tree, relation, float(epsilon))


@dataclass(frozen=True)
class ConstantBias(SplitTree):
    """A planted bug: the bias does not grow with the depth."""

    def biased(self, counts: np.ndarray, depth: int) -> np.ndarray:
        return np.maximum(-self.decay, counts - self.decay)


@pytest.mark.slow
def test_a_constant_bias_is_caught() -> None:
    """The enumeration fails for a tree that takes the same off every count at every depth."""
    honest = SplitTree.spending(Fraction(1), SENSITIVITY[Neighbours.ADD_REMOVE], LEVELS)
    assert not keeps_epsilon(ConstantBias(honest.scale, honest.decay, LEVELS), Neighbours.ADD_REMOVE, 1.0)


def test_a_bias_below_the_least_is_refused() -> None:
    """The decay must be at least scale ln 2."""
    assert least_decay(Fraction(10)) == 7
    with pytest.raises(UsageError, match="not private"):
        SplitTree(Fraction(10), 6, 10)


def shape_of(starts: list[tuple[int, int]], levels: int, start: int = 0, depth: int = 0) -> Shape:
    """A released tree as nested pairs."""
    if (start, depth) in starts:
        return ()
    half = 1 << (levels - depth - 1)
    return (shape_of(starts, levels, start, depth + 1), shape_of(starts, levels, start + half, depth + 1))


@pytest.mark.slow
def test_grown_trees_follow_the_enumerated_law() -> None:
    """20,000 trees over a small table have the enumerated probabilities; right draws fail one time in a million."""
    counts = np.array([9, 0, 0, 0, 1, 0, 0, 0])
    tree = SplitTree.spending(Fraction(2), SENSITIVITY[Neighbours.ADD_REMOVE], 3)
    law = shapes(tree, counts)
    keys = np.flatnonzero(counts)
    seen: Counter[Shape] = Counter()
    for _ in range(TIMES):
        leaves = tree.apply(keys, counts[keys])
        seen[shape_of(list(zip(leaves.starts.tolist(), leaves.depths.tolist(), strict=True)), 3)] += 1
    assert set(seen) <= set(law)
    assert chi_square_ok([seen[shape] for shape in law], np.exp(list(law.values())))


def test_leaves_cover_every_key_once() -> None:
    """The leaves of a tree follow each other without gap or overlap."""
    random = np.random.default_rng(0)
    keys, counts = np.unique((random.random(5000) ** 4 * 2**20).astype(np.int64), return_counts=True)
    leaves = SplitTree.spending(Fraction(1), SENSITIVITY[Neighbours.ADD_REMOVE], 20).apply(keys, counts)
    ends = leaves.starts + (1 << (20 - leaves.depths))
    assert leaves.starts[0] == 0
    assert ends[-1] == 2**20
    assert np.array_equal(leaves.starts[1:], ends[:-1])


def test_a_tree_stops_at_its_cap() -> None:
    """With a cap on leaves the tree ends early, and still covers everything."""
    tree = SplitTree.spending(Fraction(100), SENSITIVITY[Neighbours.ADD_REMOVE], 20, most=50)
    leaves = tree.apply(np.arange(0, 2**20, 16), np.full(2**16, 1000))
    assert len(leaves.starts) <= 50
    assert (1 << (20 - leaves.depths)).sum() == 2**20
