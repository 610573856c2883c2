"""One run of each way to cluster a table of the paper: without noise, central and local, as printed and sound.

A run is known by its table, epsilon and seed, and is kept: several figures of the paper show the same runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from cloister.clustering.kmodes import KModes
from cloister.clustering.scores.agreement import f_of_counts
from cloister.clustering.seeding.points_prototypes import lloyd_prototypes, seed_prototypes
from cloister.collect import Collection, LocalKModes, simulate
from cloister.collect.local_kmodes import heaviest_cells
from cloister.kernels import Modes
from cloister.papers.ldpk_modes.cut_tables import CutTable, cut_table
from cloister.papers.ldpk_modes.modes_lloyd import modes_lloyd
from cloister.papers.ldpk_modes.printed import Codes, cluster_cells, estimate_cells
from cloister.testing import seeded_noise

__all__ = [
    "ROUNDS",
    "RunScores",
    "best_plain",
    "central_default",
    "central_from_rows",
    "central_printed",
    "central_sound",
    "local_printed",
    "local_sound",
]

ROUNDS = (1, 5)
"""The paper's T of figures 4, and 5 and 6."""


@dataclass(frozen=True, slots=True)
class RunScores:
    """What a run is worth on the true rows.

    Attributes
    ----------
    nivc
        The mean number of columns in which a row differs from the nearest centre (equation 11).
    f_measure
        Against the known classes, with clusters and classes paired one to one (equations 12 to 14).
    """

    nivc: float
    f_measure: float


def scores_of(table: CutTable, centres: Codes) -> RunScores:
    """For the holder: the scores of some centres, (clusters, columns)."""
    nearest, gaps = table.nearest(centres)
    counts = table.class_cells @ (nearest[:, None] == np.arange(len(centres)))  # (classes, clusters)
    return RunScores(float(gaps @ table.class_cells.sum(axis=0)) / len(table.codes), f_of_counts(counts, "one-to-one"))


@cache
def best_plain(alias: str, folder: Path | None, runs: int) -> RunScores:
    """The run of k-modes without noise that has the smallest NIVC of many: half start from rows, half from spread-out seeds."""
    table = cut_table(alias, folder)
    random, k = np.random.default_rng(0), table.clusters
    tuples, _ = heaviest_cells(table.held.value.astype(np.float64))
    none, odds = np.zeros((k, 0), np.int32), tuples.weights / tuples.weights.sum()
    found = []
    for run in range(runs):
        if run % 2:
            start = seed_prototypes(tuples, k, 1, random)[1]
        else:
            people = random.choice(len(tuples), k, replace=False, p=odds)
            start = Modes(np.ascontiguousarray(tuples.rows.codes[people]), np.ones(k, np.int64))
        found.append(lloyd_prototypes(tuples, none, start))
    return scores_of(table, min(found, key=lambda run: run.loss).modes.codes.astype(np.int64))


@cache
def central_printed(alias: str, folder: Path | None, epsilon: Fraction, seed: int) -> dict[int, RunScores]:
    """DP-modes-Lloyd as printed, by rounds."""
    table = cut_table(alias, folder)
    runs = {
        rounds: modes_lloyd(table.held, table.clusters, rounds, float(epsilon), _seed(epsilon, seed)) for rounds in ROUNDS
    }
    return {rounds: scores_of(table, run.value.centres[0]) for rounds, run in runs.items()}


@cache
def central_from_rows(alias: str, folder: Path | None, epsilon: Fraction, seed: int, rounds: int) -> RunScores:
    """The same from a start of rows, the other reading of its first step."""
    table = cut_table(alias, folder)
    run = modes_lloyd(table.held, table.clusters, rounds, float(epsilon), _seed(epsilon, seed), from_rows=True)
    return scores_of(table, run.value.centres[0])


@cache
def central_sound(alias: str, folder: Path | None, epsilon: Fraction, seed: int, rounds: int) -> RunScores:
    """`cloister.KModes` with method "lloyd" and the paper's rounds: the noise is what epsilon needs."""
    return _central(alias, folder, epsilon, seed, method="lloyd", max_iter=rounds)


@cache
def central_default(alias: str, folder: Path | None, epsilon: Fraction, seed: int) -> RunScores:
    """`cloister.KModes` as it comes: votes, and as many rounds as the budget carries."""
    return _central(alias, folder, epsilon, seed)


def _central(alias: str, folder: Path | None, epsilon: Fraction, seed: int, **options: Any) -> RunScores:
    table = cut_table(alias, folder)
    with seeded_noise(_seed(epsilon, seed)):
        model = KModes(table.clusters, budget=epsilon, schema=table.schema, random_state=seed, **options).fit(table.rows)
    domains = list(table.domains.values())
    codes = [[domains[j].index(value) for j, value in enumerate(mode)] for mode in model.cluster_centers_.tolist()]
    return scores_of(table, np.array(codes, dtype=np.int64))


@cache
def local_printed(alias: str, folder: Path | None, epsilon: Fraction, seed: int) -> dict[int, RunScores]:
    """LDPK-modes as printed (clip and renormalise), by rounds; epsilon is that of each attribute."""
    table = cut_table(alias, folder)
    estimate = estimate_cells(table.held, epsilon, _seed(epsilon, seed)).value
    return {
        rounds: scores_of(table, cluster_cells(estimate, table.clusters, rounds, seed).astype(np.int64)) for rounds in ROUNDS
    }


@cache
def local_sound(alias: str, folder: Path | None, epsilon: Fraction, seed: int) -> RunScores:
    """A `Collection` that every row answers, estimated by expectation maximisation, and `LocalKModes` as it comes."""
    table = cut_table(alias, folder)
    collection = Collection("paper-002", table.domains, epsilon=epsilon)
    with seeded_noise(_seed(epsilon, seed)):
        played = simulate(collection, table.rows)
    model = LocalKModes(table.clusters, random_state=seed).fit(played.estimate)
    return scores_of(table, model.codes_.astype(np.int64))


def _seed(epsilon: Fraction, seed: int) -> int:
    """Another one for each epsilon: curves over it are made of independent runs."""
    return int(epsilon * 10**6) * 1000 + seed
