"""Synopses: two folds against a group-by, noise of a million cells, evolution's time, and quality on real data sets."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bench.measure import keep, seconds, show

DATA = Path(os.environ.get("CLOISTER_DATA", Path(__file__).parent.parent / "../shared/data"))
ROWS = 10_000_000
RUNS = 10
Rows = NDArray[np.float64]


def grouping() -> list[dict[str, Any]]:
    """10 million x 2 rows to an adaptive grid, beside one group-by count of the same cells in Polars, in one run."""
    import polars as pl

    import cloister as cl

    random = np.random.default_rng(0)
    X = np.clip(random.normal(random.random((20, 2))[random.integers(20, size=ROWS)], 0.05), 0, 1)
    frame = pl.DataFrame({"x0": X[:, 0].copy(), "x1": X[:, 1].copy()})
    made = cl.synopsis(frame, 1.0, (0, 1))
    side = round(len(made) ** 0.5)  # a grid with as many cells

    def group_by() -> None:
        cut = [(pl.col(name) * side).floor().clip(0, side - 1).cast(pl.Int32).alias(name) for name in ("x0", "x1")]
        frame.select(cut).group_by("x0", "x1").len()

    peer = seconds(group_by)
    taken = seconds(lambda: cl.synopsis(frame, 1.0, (0, 1)))
    return [
        {"what": "Polars group-by count", "seconds": peer, "times the group-by": 1.0, "cells": side**2, "bar": "", "met": ""},
        {"what": "adaptive grid, epsilon 1", "seconds": taken, "times the group-by": taken / peer, "cells": len(made),
         "bar": "6 x", "met": taken <= 6 * peer},
    ]  # fmt: skip


def noising() -> list[dict[str, Any]]:
    """Noise of a million cells."""
    from fractions import Fraction

    from cloister.kernels import Summary
    from cloister.privacy.mechanisms import Gaussian, Laplace, add_noise

    cells = Summary({"counts": np.zeros(1_000_000, dtype=np.int64)})
    rows = []
    mechanisms: list[tuple[str, Laplace | Gaussian]] = [
        ("Laplace, scale 2", Laplace({"counts": Fraction(2)})),
        ("Gaussian, sigma 5", Gaussian({"counts": Fraction(5)})),
    ]
    for what, mechanism in mechanisms:
        add_noise(mechanism, cells)
        taken = seconds(lambda mechanism=mechanism: add_noise(mechanism, cells))
        rows.append({"what": what, "seconds": taken, "bar": "1 s", "met": taken < 1})
    return rows


def evolving() -> list[dict[str, Any]]:
    """Evolution on 10,000 points, k 15, d 10, 200 generations."""
    from cloister.clustering.seeding.evolution import evolve
    from cloister.clustering.seeding.evolution_options import EvolutionOptions

    random = np.random.default_rng(0)
    points = random.normal(2 * random.normal(size=(15, 10))[random.integers(15, size=10_000)], 1.0)
    weights = random.random(len(points))
    evolve(points[:500], weights[:500], 3, random, EvolutionOptions(generations=2))
    start, used = time.perf_counter(), time.process_time()
    found = evolve(points, weights, 15, random)
    taken, used = time.perf_counter() - start, time.process_time() - used
    # Seconds of processor time beside those of the clock: on a shared machine only the first say what it takes.
    row = {"generations": found.generations, "evaluations": found.evaluations, "seconds": taken, "processor seconds": used}
    return [{**row, "bar": "5 s", "met": taken < 5}]


def s1() -> Rows:
    return np.loadtxt(DATA / "s1.txt") / 1_000_000


def adult() -> Rows:
    """Age, weight, years of education, capital gain and loss, hours, scaled by public bounds."""
    low, high = np.array([0, 0, 1, 0, 0, 0]), np.array([100, 1_500_000, 16, 100_000, 5000, 100])
    return (np.genfromtxt(DATA / "adult.data", delimiter=",", usecols=(0, 2, 4, 10, 11, 12)) - low) / (high - low)


def magic() -> Rows:
    """The ten attributes, scaled by their range: bounds that a user would have to know."""
    X = np.genfromtxt(DATA / "magic04.data", delimiter=",", usecols=range(10))
    return (X - X.min(axis=0)) / (X.max(axis=0) - X.min(axis=0))


def loss(X: Rows, centers: Rows) -> float:
    """Squared error of rows."""
    from cloister.kernels.loops.fitness import weighted_loss

    return weighted_loss(X, np.ones(len(X)), centers)


def quality() -> list[dict[str, Any]]:
    """Loss over the non-private one, median of ten releases."""
    from sklearn.cluster import KMeans

    import cloister as cl

    rows = []
    panel: list[tuple[str, Rows, int, str, float | None]] = [
        ("S1", s1(), 15, "adaptive-grid", 1.05),
        ("Adult, six numbers", adult(), 5, "tree", 1.15),
    ]
    panel += [
        ("S1", panel[0][1], 15, "uniform-grid", None),
        ("S1", panel[0][1], 15, "tree", None),
        ("MAGIC", magic(), 8, "tree", None),
    ]
    for name, X, k, method, bar in panel:
        plain = KMeans(k, n_init=20, random_state=0).fit(X).inertia_
        ratios = [loss(X, cl.synopsis(X, 1.0, (0, 1), method).cluster(k).cluster_centers_) / plain for _ in range(RUNS)]
        middle = float(np.median(ratios))
        rows.append({"data": name, "k": k, "method": method, "epsilon": 1, "loss / non-private": middle,
                     "worst": max(ratios), "bar": bar or "", "met": middle <= bar if bar else ""})  # fmt: skip
    return rows


def restarts(points: Rows, weights: Rows, k: int, evaluations: int, seed: int) -> float:
    """The best loss of k-means++ with Lloyd to its end, started again until as many looks at the points are used up."""
    from sklearn.cluster import KMeans

    used, best, run = 0, np.inf, 0
    while used < evaluations:
        model = KMeans(k, n_init=1, tol=0.0, random_state=seed * 100_000 + run).fit(points, sample_weight=weights)
        used, best, run = used + 1 + model.n_iter_, min(best, float(model.inertia_)), run + 1
    return best


def against_restarts() -> list[dict[str, Any]]:
    """Evolution against repeated k-means++ at the same number of looks at the synopsis' points: wins or ties of ten."""
    import cloister as cl
    from cloister.clustering.seeding.evolution import evolve
    from cloister.clustering.seeding.points_kmeans import lloyd

    rows = []
    for name, X, k, method in [("S1", s1(), 15, "adaptive-grid"), ("MAGIC", magic(), 8, "tree")]:
        wins, evaluations, worst = 0, [], 0.0
        for run in range(RUNS):
            made = cl.synopsis(X, 1.0, (0, 1), method)
            weights = made.weights()
            points, weights = made.cells.points[weights > 0], weights[weights > 0]
            found = evolve(points, weights, k, np.random.default_rng(run))
            ours = lloyd(points, weights, found.centers).loss
            peer = restarts(points, weights, k, found.evaluations, run)
            wins += ours <= peer * (1 + 1e-9)  # both may end in the same optimum, told apart by rounding
            worst = max(worst, ours / peer)
            evaluations.append(found.evaluations)
        rows.append({"data": name, "method": method, "k": k, "evaluations": int(np.median(evaluations)),
                     "at most restarts' loss": f"{wins} of {RUNS}", "worst ratio": worst, "bar": "8 of 10",
                     "met": wins >= 8})  # fmt: skip
    return rows


def main() -> None:
    work = {
        "grouping": grouping,
        "noising": noising,
        "evolving": evolving,
        "quality": quality,
        "evolution": against_restarts,
    }
    for name, measure in work.items():
        rows = measure()
        show(f"synopsis: {name}", rows)
        keep(f"synopsis-{name}", rows)


if __name__ == "__main__":
    main()
