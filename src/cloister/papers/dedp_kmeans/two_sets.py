"""Wine and MAGIC, the two data sets of paper 003, with what several of its items share: starts, best errors, sound runs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

import cloister as cl
from cloister.clustering.scores.distances import sse
from cloister.clustering.seeding.points_kmeans import lloyd
from cloister.datasets import Dataset, load
from cloister.errors import LostClusters
from cloister.papers.compared_lines import compared_lines
from cloister.papers.dedp_kmeans.printed import evolved_start
from cloister.papers.dedp_kmeans.printed_evolution import PSEUDO_CODE, EvolutionReading, PrintedStart
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.paper_items import RunEffort
from cloister.papers.printed_result import PrintedResult
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredLine
from cloister.testing import seeded_noise
from cloister.vault import Unprotected

__all__ = [
    "DEDP",
    "DP",
    "METHODS",
    "QUICK_MEMBERS",
    "SETS",
    "ClusteredSet",
    "best_error",
    "epsilon_of",
    "epsilon_setting",
    "kmeans_from_rows",
    "method_lines",
    "printed_start",
    "read_set",
    "sound_centers",
]

Floats = NDArray[np.float64]
SETS = ("Wine", "MAGIC")
DP, DEDP = "DP k-means", "DEDP k-means"
METHODS = (DP, DEDP)
CLUSTERS = {"Wine": 3, "MAGIC": 2}
GENERATIONS = {"Wine": (200, 30), "MAGIC": (50, 5)}  # of a whole and of a quick run
QUICK_MEMBERS = 20  # of a quick run, in place of five a number
STARTS = {"Wine": 60, "MAGIC": 4}  # of k-means, for the best known error
SOUND_NAMES = {f"sound, {DP}": "sound: KMeans", f"sound, {DEDP}": "sound: evolution on a synopsis"}


@dataclass(frozen=True, slots=True, eq=False)
class ClusteredSet:
    """A data set with its rows as an array, and how many clusters the paper makes of it."""

    name: str
    dataset: Dataset
    rows: Unprotected[Floats]
    clusters: int

    @property
    def classes(self) -> pa.Array:
        """The true class of each row."""
        assert self.dataset.target is not None
        return self.dataset.target

    def normalised(self) -> Unprotected[Floats]:
        """Rows in [0, 1]^d by their own range, as the paper has it."""
        exact = self.rows.value
        low, high = exact.min(axis=0), exact.max(axis=0)
        return Unprotected((exact - low) / np.where(high > low, high - low, 1.0), self.rows.purpose)


@cache
def read_set(name: str, folder: Path | None) -> ClusteredSet:
    """A set by the name that the paper has for it."""
    dataset = load(name.lower(), folder=folder)
    return ClusteredSet(name, dataset, holder_numbers(dataset.data), CLUSTERS[name])


def printed_start(name: str, effort: RunEffort, seed: int, *, is_raw: bool) -> PrintedResult[PrintedStart]:
    """The start that the printed evolution finds on the exact rows; it is the same for every epsilon, so it is kept."""
    reading = replace(PSEUDO_CODE, generations=effort.pick(*GENERATIONS[name]), population=effort.pick(None, QUICK_MEMBERS))
    return _kept_start(name, effort.data, seed, is_raw, reading)


@cache
def _kept_start(
    name: str, folder: Path | None, seed: int, is_raw: bool, reading: EvolutionReading
) -> PrintedResult[PrintedStart]:
    found = read_set(name, folder)
    return evolved_start(found.rows, found.clusters, seed, reading, is_raw=is_raw)


@cache
def best_error(name: str, folder: Path | None, is_raw: bool) -> float:
    """The smallest squared error of several runs of k-means to its end, without privacy."""
    found = read_set(name, folder)
    points = (found.rows if is_raw else found.normalised()).value
    return min(sse(points, kmeans_from_rows(points, found.clusters, 1000 + seed)) for seed in range(STARTS[name]))


def kmeans_from_rows(points: Floats, clusters: int, seed: int) -> Floats:
    """Section 4.1: k-means without privacy, from rows drawn at random to its end, (k, d)."""
    start = points[np.random.default_rng(seed).choice(len(points), clusters, replace=False)]
    return lloyd(points, np.ones(len(points)), start).centers


def sound_centers(found: ClusteredSet, method: str, epsilon: float, seed: int, *, is_raw: bool) -> Floats:
    """What is released in the place of a printed method, at its true epsilon (add-remove), in the units of the rows.

    For DP k-means what `KMeans` chooses by itself; for DEDP k-means evolution over the cells of a released tree. Bounds are
    those of the data set's schema.
    """
    model = cl.KMeans(
        found.clusters,
        cl.PureDP(epsilon),
        method="tree" if method == DEDP else "auto",
        seeding="evolution" if method == DEDP else None,
        schema=found.dataset.schema,
        scale=None if is_raw else "bounds",
        random_state=seed,
    )
    with seeded_noise(seed), warnings.catch_warnings():
        warnings.simplefilter("ignore", LostClusters)  # too small an epsilon is what is shown here
        return np.asarray(model.fit(found.dataset.data).cluster_centers_)


def epsilon_setting(name: str, method: str, epsilon: float) -> str:
    """What a row at one epsilon is called.

    >>> epsilon_setting("Wine", DP, 10_000)
    'Wine, DP k-means, epsilon 10,000'
    """
    return f"{name}, {method}, epsilon {epsilon:,g}"


def epsilon_of(setting: str) -> float | None:
    """The epsilon in a setting, if there is one.

    >>> epsilon_of("Wine, DP k-means, epsilon 10,000"), epsilon_of("Wine, k-means")
    (10000.0, None)
    """
    _, found, number = setting.partition(", epsilon ")
    return float(number.replace(",", "")) if found else None


def method_lines(rows: Sequence[ReproducedRow], name: str, measure: str) -> tuple[MeasuredLine, ...]:
    """Lines over epsilon of one set, one for each method and form; what stands in a method's place is called by its own name."""
    own = [row for row in rows if row.setting.startswith(f"{name}, ")]
    lines = compared_lines(own, measure, epsilon_of, lambda setting: setting.split(", ")[1])
    return tuple(replace(line, name=SOUND_NAMES.get(line.name, line.name)) for line in lines)
