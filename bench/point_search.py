"""The search for centres of released cells: its loss over the best known one, its time, and evolution beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from bench.measure import keep, show
from bench.panel import Array, adult, magic, s1

EPSILONS = (0.5, 1.0, 3.0)
SHAPES = ("adaptive-grid", "uniform-grid", "tree")
SEEDS = 3  # searches of each synopsis: the worst one counts
RESTARTS = 200  # of k-means++ with Lloyd, for the best known loss
MOST_RESTART_WORK = 2_000_000_000  # products: on large synopses there are fewer restarts
EFFORT = 20  # times its work, for the best known loss


def separate_blobs(sizes: list[int], columns: int, spread: float, gap: float, seed: int) -> Array:
    """Blobs in the unit box whose middles are at least about `gap` apart."""
    random = np.random.default_rng(seed)
    middles: list[Array] = []
    while len(middles) < len(sizes):
        middle = 0.08 + 0.84 * random.random(columns)
        if all(np.linalg.norm(middle - other) > gap for other in middles):
            middles.append(middle)
        gap *= 0.9995
    return np.clip(random.normal(np.repeat(middles, sizes, axis=0), spread), 0, 1)


def curve() -> Array:
    """100 blobs of 1,000 rows along two waves."""
    along = np.linspace(0, 1, 100)
    middles = np.stack([0.05 + 0.9 * along, 0.5 + 0.4 * np.sin(4 * np.pi * along)], axis=1)
    return np.clip(np.random.default_rng(5).normal(np.repeat(middles, 1000, axis=0), 0.004), 0, 1)


def zipf(columns: int) -> Array:
    """20,000 rows in 20 blobs, of sizes 1, 1/2, 1/3, ..."""
    shares = 1 / np.arange(1, 21)
    return separate_blobs([int(size) for size in np.rint(20_000 * shares / shares.sum())], columns, 0.02, 0.1, columns)


TABLES: dict[str, tuple[Callable[[], Array], int]] = {
    "3 of 2,000, 5 of 100": (lambda: separate_blobs([2000] * 3 + [100] * 5, 2, 0.02, 0.2, 1), 8),
    "20 of 150": (lambda: separate_blobs([150] * 20, 2, 0.015, 0.09, 20), 20),
    "35 of 150": (lambda: separate_blobs([150] * 35, 2, 0.015, 0.09, 35), 35),
    "50 of 150": (lambda: separate_blobs([150] * 50, 2, 0.015, 0.09, 50), 50),
    "Zipf, 2 columns": (lambda: zipf(2), 20),
    "Zipf, 4 columns": (lambda: zipf(4), 20),
    "Zipf, 8 columns": (lambda: zipf(8), 20),
    "100 on a curve": (curve, 100),
    "S1": (s1, 15),
    "MAGIC": (magic, 8),
    "Adult": (adult, 5),
}


def synopses(name: str) -> Iterator[tuple[dict[str, Any], Array, Array, int]]:
    """What it is of, points, weights and clusters of every synopsis of a table."""
    import cloister as cl

    make, clusters = TABLES[name]
    X = make()
    for shape in SHAPES:
        for epsilon in EPSILONS:
            made = cl.synopsis(X, epsilon, (0, 1), shape)
            weights = made.weights()
            full = weights > 0
            what = {"synopsis": shape, "epsilon": epsilon, "k": clusters, "cells": int(full.sum())}
            yield what, made.cells.points[full], weights[full], clusters


def restarted(points: Array, weights: Array, clusters: int, restarts: int) -> float:
    """The best of so many runs of Lloyd from k-means++; fewer where they would take too long."""
    from cloister.clustering.seeding.points_kmeans import lloyd, plus_plus_seeds

    random = np.random.default_rng(1)
    most = MOST_RESTART_WORK // (30 * points.size * clusters)
    starts = (plus_plus_seeds(points, weights, clusters, random) for _ in range(int(np.clip(most, 10, restarts))))
    return min(lloyd(points, weights, start).loss for start in starts)


def long_search(points: Array, weights: Array, clusters: int) -> float:
    """The loss of a search with many times the work and patience."""
    from cloister.clustering.seeding import point_search

    usual = point_search.MOST_WORK, point_search.PATIENCE, point_search.AGREED, point_search.MEMBERS
    point_search.MOST_WORK, point_search.PATIENCE, point_search.AGREED = EFFORT * usual[0], 5 * usual[1], 5 * usual[2]
    point_search.MEMBERS = 2 * usual[3]
    try:
        return point_search.search_centers(points, weights, clusters, np.random.default_rng(100)).loss
    finally:
        point_search.MOST_WORK, point_search.PATIENCE, point_search.AGREED, point_search.MEMBERS = usual


def searching(name: str) -> list[dict[str, Any]]:
    """The search on every synopsis of a table: the worst of a few, beside ten restarts, which it replaced."""
    from cloister.clustering.seeding.point_search import search_centers

    rows = []
    for what, points, weights, clusters in synopses(name):
        start, used = time.perf_counter(), time.process_time()
        losses = [search_centers(points, weights, clusters, np.random.default_rng(seed)).loss for seed in range(SEEDS)]
        taken, used = (time.perf_counter() - start) / SEEDS, (time.process_time() - used) / SEEDS
        ten = restarted(points, weights, clusters, 10)
        known = [*losses, ten, restarted(points, weights, clusters, RESTARTS), long_search(points, weights, clusters)]
        best = min(known)
        row = {"worst / best known": max(losses) / best, "ten restarts / best known": ten / best}
        rows.append({**what, **row, "seconds": taken, "processor seconds": used, "bar": 1.005,
                     "met": max(losses) <= 1.005 * best})  # fmt: skip
    return rows


def timing() -> list[dict[str, Any]]:
    """Points of overlapping blobs: the shortest of three searches."""
    from cloister.clustering.seeding.point_search import search_centers

    rows = []
    sizes: list[tuple[int, int, int, float | None]] = [
        (100, 8, 2, None), (1000, 20, 2, None), (5000, 100, 2, 1.0), (5000, 100, 8, 1.0), (20_000, 4096, 2, None),
    ]  # fmt: skip
    for count, clusters, columns, bar in sizes:
        random = np.random.default_rng(0)
        points = random.normal(random.random((clusters, columns))[random.integers(clusters, size=count)], 0.05)
        weights = random.random(count)
        taken, used = np.inf, np.inf
        for seed in range(3):
            start, begun = time.perf_counter(), time.process_time()
            search_centers(points, weights, clusters, np.random.default_rng(seed))
            taken, used = min(taken, time.perf_counter() - start), min(used, time.process_time() - begun)
        rows.append({"points": count, "k": clusters, "columns": columns, "seconds": taken, "processor seconds": used,
                     "bar": bar or "", "met": taken < bar if bar else ""})  # fmt: skip
    return rows


def evolving() -> list[dict[str, Any]]:
    """Loss on the rows over the search's, and time, of every seeding: evolution's printed form beside ours."""
    import cloister as cl
    from bench.panel import loss

    ways: list[tuple[str, dict[str, Any] | None]] = [
        ("kmeans++", None), ("kmeans||", None), ("canopy", None), ("evolution", None), ("evolution", {"start": "random"}),
    ]  # fmt: skip
    rows = []
    for name in ("3 of 2,000, 5 of 100", "100 on a curve", "S1"):
        make, clusters = TABLES[name]
        X = make()
        made = cl.synopsis(X, 1.0, (0, 1), "adaptive-grid")
        made.cluster(2, "evolution", 0, {"generations": 1})  # compiled before the clock starts
        first: tuple[float, float] | None = None
        for seeding, options in ways:
            start, used = time.perf_counter(), time.process_time()
            found = made.cluster(clusters, seeding, 0, options)
            taken, used = time.perf_counter() - start, time.process_time() - used
            assert found.loss_ is not None
            released, on_rows = found.loss_, loss(X, found.cluster_centers_)
            first = first or (released, on_rows)
            rows.append({"table": name, "k": clusters, "seeding": f"{seeding}, start random" if options else seeding,
                         "loss on cells / kmeans++": released / first[0], "loss on rows / kmeans++": on_rows / first[1],
                         "seconds": taken, "processor seconds": used})  # fmt: skip
    return rows


def main() -> None:
    rows = timing()
    show("point search: timing", rows)
    keep("point-search-timing", rows)
    rows = evolving()
    show("point search: evolution", rows)
    keep("point-search-evolution", rows)
    every = []
    for name in TABLES:
        rows = searching(name)
        show(f"point search: {name}", rows)
        every += [{"table": name, **row} for row in rows]
    keep("point-search-searching", every)


if __name__ == "__main__":
    main()
