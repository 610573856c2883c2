"""The claims of paper 000 that are attacked: for each two tables that differ in one row, the printed form and the sound one.

All tables have the same number of rows (one row is replaced), since that is what rho is about.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import cloister as cl
from cloister.papers.di_clustering.printed import cluster_sums, di_kmeans
from cloister.papers.di_clustering.printed_formulas import halved_epsilons, printed_epsilon
from cloister.papers.di_clustering.printed_prototypes import CodedRows, RoundEpsilons, di_prototypes
from cloister.papers.di_clustering.rho_mapping import WORLDS
from cloister.vault import Unprotected

__all__ = ["AttackedClaim", "attacked_claims"]

Array = NDArray[np.float64]
Outputs = Callable[[int, int], tuple[Array, Array]]
"""How many runs on each table, and the seed -> what came out, (runs, numbers) on the one and on the other."""

RHO = "0.0003"  # of 10,001 worlds: epsilon 1.099, which few hundred fits of the sound form could refute
NOWHERE = -1e6  # below every number
BINARY = ("a", "b")
CATEGORIES = 7  # as Heart has


@dataclass(frozen=True, slots=True)
class AttackedClaim:
    """A claim, the printed form that is run on two tables, and the sound form on the same two."""

    setting: str
    words: str
    claimed: float
    proved: float  # of what is run of the printed form; infinite: nothing
    source: str
    printed: Outputs
    sound: Callable[[Any], Any]
    tables: tuple[Any, Any]
    sound_epsilon: float


def _numbers(values: Any) -> Unprotected[Array]:
    return Unprotected(np.asarray(values, dtype=np.float64), "a table of an attack")


def _replaced(rows: Array, value: Sequence[float]) -> Array:
    """The rows with another one in place of the last."""
    return np.vstack([rows[:-1], [value]])


def _kmeans_outputs(tables: tuple[Array, Array], epsilons: Sequence[float], start: Any) -> Outputs:
    """Centres of both tables, a run a row."""

    def outputs(runs: int, seed: int) -> tuple[Array, Array]:
        found = [
            di_kmeans(_numbers(table), 2, epsilons, seed=seed + i, start=start, runs=runs).value.reshape(runs, -1)
            for i, table in enumerate(tables)
        ]
        return found[0], found[1]

    return outputs


def _moved_outputs(tables: tuple[Array, Array], epsilon: float) -> Outputs:
    """Noisy sums of two clusters, and whether both lie beyond what the second table has: that tells the tables apart best."""

    def outputs(runs: int, seed: int) -> tuple[Array, Array]:
        centers = np.array([[0.8], [1.0]])
        found = []
        for i, table in enumerate(tables):
            sums = cluster_sums(_numbers(table), centers, epsilon, seed=seed + i, runs=runs).value[:, :, 0]
            both = np.minimum(
                8.0 - sums[:, 0], sums[:, 1] - 11.0
            )  # the first table's sums are 8 and 11, the second's 8.8 and 10
            found.append(np.column_stack([sums, both]))
        return found[0], found[1]

    return outputs


def _mixed_outputs(tables: tuple[CodedRows, CodedRows], epsilons: RoundEpsilons) -> Outputs:
    """The number and the modes of one cluster; how many modes are the second value; and the number where all are."""

    def outputs(runs: int, seed: int) -> tuple[Array, Array]:
        found = []
        for i, table in enumerate(tables):
            rows = Unprotected(table, "a table of an attack")
            numbers, modes = di_prototypes(rows, 1, 0.1, epsilons, seed=seed + i, runs=runs).value
            codes = modes[:, 0].astype(np.float64)  # (runs, c)
            number = numbers[:, 0, 0] if numbers.shape[2] else np.zeros(runs)
            where = np.where(codes.all(axis=1), number, NOWHERE)
            found.append(np.column_stack([number, codes.sum(axis=1), where]))
        return found[0], found[1]

    return outputs


def _coded(rows: int, ones: int, columns: int, *, has_number: bool) -> CodedRows:
    """One cluster of binary categories: so many rows have the second value (and 1 as their number) in every column."""
    codes = np.repeat((np.arange(rows) < ones).astype(np.int64)[:, None], columns, axis=1)
    numbers = (np.arange(rows) < ones).astype(np.float64)[:, None] if has_number else np.zeros((rows, 0))
    return CodedRows(numbers, codes, (2,) * columns)


def _as_table(table: CodedRows) -> pa.Table:
    names = [BINARY[code] for code in table.codes[:, 0]]
    numbers = {"x": table.numbers[:, 0]} if table.numbers.shape[1] else {}
    return pa.table({**numbers, **{f"c{j}": names for j in range(len(table.values))}})


def _sound_kmeans(epsilon: Any, **options: Any) -> Callable[[Any], Any]:
    """Rounds of Lloyd of two clusters, made sound: centres from a table."""
    chosen = {"method": "lloyd", "schedule": "halving", "max_iter": 2, "random_state": 0, **options}

    def fit(rows: Any) -> Any:
        return cl.KMeans(2, epsilon, (0, 1), **chosen).fit(rows)

    return fit


def _sound_mixed(epsilon: Any, table: CodedRows) -> Callable[[Any], Any]:
    domains = {f"c{j}": list(BINARY) for j in range(len(table.values))}
    options: dict[str, Any] = {"categories": domains, "method": "lloyd", "max_iter": 1, "random_state": 0}

    def modes(rows: Any) -> Any:
        return cl.KModes(1, epsilon, **options).fit(rows)

    def prototypes(rows: Any) -> Any:
        return cl.KPrototypes(1, epsilon, bounds=(0, 1), gamma=0.1, columns=["x", *domains], **options).fit(rows)

    return prototypes if table.numbers.shape[1] else modes


def attacked_claims() -> tuple[AttackedClaim, ...]:
    """Every claim that is attacked."""
    small, paper = printed_epsilon(float(RHO), WORLDS), printed_epsilon(0.05, WORLDS)
    budget = cl.Identifiability(rho=RHO, worlds=WORLDS)
    crowd = np.array([[0.1]] * 20 + [[0.9]])
    empty = crowd, _replaced(crowd, [0.1])
    pair = np.array([[0.1]] * 19 + [[0.9]] * 2)
    one_or_two = _replaced(pair, [0.1]), pair
    apart = np.array([[0.25], [0.75]])
    blobs = [[x, y] for x in (0.3, 0.7) for y in (0.3, 0.7) for _ in range(50)]
    square = np.array([[0.0, 0.0], *blobs, [0.2, 1.0]])
    turned = square, _replaced(square, [1.0, 0.2])
    near = np.array([[0.8]] * 10 + [[1.0]] * 11)
    moved = near, _replaced(near, [0.8])
    lines = _coded(21, 11, CATEGORIES, has_number=False), _coded(21, 10, CATEGORIES, has_number=False)
    mixed = _coded(21, 9, 1, has_number=True), _coded(21, 8, 1, has_number=True)
    category, three_quarters = printed_epsilon(0.7, 2), printed_epsilon(0.75, 2)
    every = RoundEpsilons((small,), (category,))
    both = RoundEpsilons((small,), (three_quarters,))
    plain, canopy = _sound_kmeans(budget), _sound_kmeans(budget, seeding="canopy")
    rounds = halved_epsilons(small, 2)
    of_size, of_start, none = "algorithm 2", "algorithm 1", math.inf
    strict = cl.Identifiability(rho="0.05", worlds=WORLDS)
    far = _sound_kmeans(strict), _sound_kmeans(strict, seeding="canopy")
    of_lines, of_mixed = _sound_mixed(cl.Identifiability(rho="0.7", worlds=2), lines[0]), _sound_mixed(budget, mixed[0])

    def claim(
        setting: str,
        words: str,
        amounts: tuple[float, float],
        source: str,
        printed: Outputs,
        sound: Callable[[Any], Any],
        tables: tuple[Any, Any],
    ) -> AttackedClaim:
        """Of a claimed and a proved epsilon; the sound form has the claimed one."""
        return AttackedClaim(setting, words, amounts[0], amounts[1], source, printed, sound, tables, amounts[0])

    return (
        claim(
            "size one or none",
            "Exact sizes, a cluster of one row or of none",
            (small, none),
            of_size,
            _kmeans_outputs(empty, rounds, apart),
            plain,
            empty,
        ),
        claim(
            "the same, rho 0.05",
            "The same at rho 0.05",
            (paper, none),
            of_size,
            _kmeans_outputs(empty, halved_epsilons(paper, 2), apart),
            far[0],
            empty,
        ),
        claim(
            "size one or two",
            "Exact sizes, a cluster of one row or of two, whose noise is half as wide",
            (small, none),
            of_size,
            _kmeans_outputs(one_or_two, (small,), apart),
            plain,
            one_or_two,
        ),
        claim(
            "Canopy's start",
            "The optimized Canopy, where one outlier decides how a square of four groups is cut",
            (small, none),
            of_start,
            _kmeans_outputs(turned, rounds, None),
            canopy,
            turned,
        ),
        claim(
            "Canopy, rho 0.05",
            "The optimized Canopy at rho 0.05",
            (paper, none),
            of_start,
            _kmeans_outputs(turned, halved_epsilons(paper, 2), None),
            far[1],
            turned,
        ),
        claim(
            "a row moves cluster",
            "Noisy sums of two clusters, a row changes its cluster",
            (small, 2 * small),
            "section 6.1",
            _moved_outputs(moved, small),
            plain,
            moved,
        ),
        claim(
            "7 category columns",
            f"The exponential mechanism in {CATEGORIES} columns of one row, as many as Heart has",
            (category, CATEGORIES * category),
            "algorithm 5",
            _mixed_outputs(lines, every),
            of_lines,
            (_as_table(lines[0]), _as_table(lines[1])),
        ),
        claim(
            "number and category",
            "A number and a category of one row",
            (both.claimed, small + three_quarters),
            "section 7.2",
            _mixed_outputs(mixed, both),
            of_mixed,
            (_as_table(mixed[0]), _as_table(mixed[1])),
        ),
    )
