"""Public tables of numbers and categories, as integers and as Arrow tables; their bounds and domains are taken for public."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bench.panel import DATA, lines, scaled
from cloister.clustering.domain import Domain, from_bounds, with_categories
from cloister.clustering.seeding.points_prototypes import WeightedTuples
from cloister.encode import Codes

HEART_NUMBERS, HEART_CATEGORIES = [0, 3, 4, 7, 9, 11], [1, 2, 5, 6, 8, 10, 12]  # as in table 4 of paper 000
ADULT_NUMBERS, ADULT_CATEGORIES = [0, 2, 4, 10, 11, 12], [1, 3, 5, 6, 7, 8, 9, 13]


@dataclass(frozen=True)
class MixedTable:
    """Numbers in the unit box and category codes, with classes where the table has them."""

    numbers: NDArray[np.float64]  # (n, d)
    codes: NDArray[np.int32]  # (n, c)
    sizes: tuple[int, ...]
    classes: NDArray[np.int64] | None = None

    @property
    def number_names(self) -> list[str]:
        return [f"n{j}" for j in range(self.numbers.shape[1])]

    @property
    def category_names(self) -> list[str]:
        return [f"c{j}" for j in range(len(self.sizes))]

    @property
    def domains(self) -> dict[str, list[str]]:
        return {name: [f"v{i}" for i in range(size)] for name, size in zip(self.category_names, self.sizes, strict=True)}

    @cached_property
    def arrow(self) -> pa.Table:
        """The table that is handed to Cloister."""
        texts = [[f"v{code}" for code in column] for column in self.codes.T]
        numbers = dict(zip(self.number_names, self.numbers.T, strict=True))
        return pa.table({**numbers, **dict(zip(self.category_names, texts, strict=True))})

    @cached_property
    def domain(self) -> Domain:
        numbers = from_bounds(self.number_names, (0, 1), "bounds") if self.number_names else None
        categories = [Codes(name, tuple(values)) for name, values in self.domains.items()]
        return with_categories(numbers, categories, [*self.number_names, *self.category_names])

    @cached_property
    def tuples(self) -> WeightedTuples:
        """The rows on the grid, each with weight 1: for runs without noise."""
        rows = self.domain.encoding.encode(self.arrow.combine_chunks().to_batches()[0])
        return WeightedTuples(rows, np.ones(len(self.codes)), self.sizes)

    def without_numbers(self) -> MixedTable:
        return MixedTable(self.numbers[:, :0], self.codes, self.sizes, self.classes)

    def changed(self, seed: int) -> MixedTable:
        """The same rows with number columns mirrored and category codes permuted, at random."""
        random = np.random.default_rng(seed)
        flips = random.random(self.numbers.shape[1]) < 0.5
        codes = np.stack(
            [random.permutation(size)[column] for size, column in zip(self.sizes, self.codes.T, strict=True)], 1
        )
        return MixedTable(np.where(flips, 1 - self.numbers, self.numbers), codes.astype(np.int32), self.sizes, self.classes)


def coded(columns: list[list[str]]) -> tuple[NDArray[np.int32], tuple[int, ...]]:
    """Codes of texts, and how many there are of each column."""
    found = [np.unique(column, return_inverse=True) for column in columns]
    return np.stack([codes for _, codes in found], axis=1).astype(np.int32), tuple(len(values) for values, _ in found)


def heart() -> MixedTable:
    """Statlog (Heart): 270 rows, 6 numbers, 7 categories, two classes."""
    rows = np.loadtxt(DATA / "heart.dat")
    codes, sizes = coded([[f"{value:g}" for value in rows[:, j]] for j in HEART_CATEGORIES])
    return MixedTable(scaled(rows[:, HEART_NUMBERS]), codes, sizes, rows[:, -1].astype(np.int64))


def adult() -> MixedTable:
    """Adult, training and test part: 48,842 rows, 6 numbers, 8 categories."""
    rows = [row for name in ("adult.data", "adult.test") for row in lines(name) if len(row) == 15]
    codes, sizes = coded([[row[j].strip() for row in rows] for j in ADULT_CATEGORIES])
    return MixedTable(scaled(np.array([[row[j] for j in ADULT_NUMBERS] for row in rows], dtype=np.float64)), codes, sizes)


def nursery() -> MixedTable:
    """Nursery: 12,960 rows, 8 categories."""
    rows = lines("nursery.data")
    codes, sizes = coded([[row[j] for row in rows] for j in range(8)])
    return MixedTable(np.zeros((len(rows), 0)), codes, sizes)
