"""Private k-prototypes and k-modes on public tables, every bar beside what it gives: ``python -m bench mixed [part ...]``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

import cloister as cl
from bench.measure import keep, run_peer, seconds, show
from bench.mixed_tables import MixedTable, adult, heart, nursery
from cloister.clustering.prototype_request import steps_of_gamma
from cloister.clustering.seeding.points_prototypes import best_prototypes, lloyd_prototypes
from cloister.kernels import Modes
from cloister.kernels.centers import find_nearest

FITS, PLAIN_RUNS, STARTS = 20, 20, 20


def private(table: MixedTable, clusters: int, epsilon: Any, gamma: float, **settings: Any) -> Any:
    """A fitted estimator: of numbers and categories, or of categories alone."""
    if table.number_names:
        names = [*table.number_names, *table.category_names]
        settings = {**settings, "bounds": (0, 1), "gamma": gamma, "columns": names}
        return cl.KPrototypes(clusters, epsilon, categories=table.domains, **settings).fit(table.arrow)
    return cl.KModes(clusters, epsilon, categories=table.domains, **settings).fit(table.arrow)


def cost_of(table: MixedTable, model: Any, gamma: float) -> float:
    """The cost E of the prototypes on the rows: squared moves plus gamma a differing category."""
    d = table.numbers.shape[1]
    numbers, texts = model.cluster_centers_[:, :d].astype(float), model.cluster_centers_[:, d:]
    codes = np.array([[int(text[1:]) if text.startswith("v") else -1 for text in mode] for mode in texts])
    distances = ((table.numbers[:, None] - numbers) ** 2).sum(axis=2) + gamma * (table.codes[:, None] != codes).sum(axis=2)
    return float(distances.min(axis=1).sum())


def plain_cost(table: MixedTable, clusters: int, gamma: float) -> float:
    """The least cost of so many runs of the core without noise."""
    steps = steps_of_gamma(gamma, table.domain)
    found = best_prototypes(table.tuples, clusters, steps, np.random.default_rng(0), restarts=PLAIN_RUNS)
    return found.loss * table.domain.unit**2


def f_measure(labels: NDArray[Any], classes: NDArray[Any]) -> float:
    """Paper 000, eq. 17: of each class the best cluster's F, weighed by the class."""
    total = 0.0
    for one in np.unique(classes):
        inside = classes == one
        shared = [(int((inside & (labels == label)).sum()), int((labels == label).sum())) for label in np.unique(labels)]
        total += float(inside.mean()) * max(2 * both / (inside.sum() + size) for both, size in shared)
    return total


def heart_part() -> list[dict[str, Any]]:
    """Heart, k 2, gamma 0.12, replace-one, epsilon 7.11: F over 50 fits; the same with columns mirrored and codes permuted."""
    table = heart()
    classes = table.classes
    assert classes is not None

    def median(rows: MixedTable, fits: int, **settings: Any) -> dict[str, float]:
        found = []
        for _ in range(fits):
            model = private(rows, 2, 7.11, 0.12, neighbours="replace-one", **settings)
            found.append(f_measure(model.predict(rows.arrow), classes))
        return {"median F": float(np.median(found)), "10%": float(np.quantile(found, 0.1)), "worst": min(found)}

    plain = best_prototypes(
        table.tuples, 2, steps_of_gamma(0.12, table.domain), np.random.default_rng(0), restarts=PLAIN_RUNS
    )
    labels = find_nearest(table.tuples.rows, plain.centers, plain.modes)[0]
    rows: list[dict[str, Any]] = [
        {
            "what": "without noise",
            "median F": f_measure(labels, classes),
            "10%": None,
            "worst": None,
            "moved": None,
            "bar": None,
        }
    ]
    rows += [{"what": "one cluster", "median F": f_measure(np.zeros(270), classes), "bar": None}]
    votes = median(table, 50)
    rows += [{"what": "votes", **votes, "bar": ">= 0.76"}]
    for seed in range(3):
        other = median(table.changed(seed), 50)
        moved = abs(other["median F"] - votes["median F"])
        rows += [{"what": f"mirrored and permuted {seed + 1}", **other, "moved": moved, "bar": "<= 0.02"}]
    rows += [{"what": "lloyd, halving", **median(table, 20, method="lloyd", schedule="halving", max_iter=4), "bar": None}]
    return rows


def quality(name: str, table: MixedTable, gamma: float, bars: dict[float, float], reference: float) -> list[dict[str, Any]]:
    """Cost of private fits over the least cost without noise."""
    rows = []
    for epsilon, bar in bars.items():
        times, ratios = [], []
        for _ in range(FITS):
            start = time.perf_counter()
            model = private(table, 5, epsilon, gamma)
            times.append(time.perf_counter() - start)
            ratios.append(cost_of(table, model, gamma) / reference)
        row = {"table": name, "epsilon": epsilon, "median": float(np.median(ratios)), "90%": float(np.quantile(ratios, 0.9))}
        rows.append({**row, "worst": max(ratios), "bar": bar, "seconds": float(np.median(times)), "slowest": max(times)})
    return rows


def prototypes_part() -> list[dict[str, Any]]:
    """Adult, 6 numbers and 8 categories, k 5, gamma 0.1: within 5% of the best of 20 runs without noise, under 3 s."""
    table = adult()
    return quality("Adult, k-prototypes", table, 0.1, {1.0: 1.05, 0.1: 1.15}, plain_cost(table, 5, 0.1))


def modes_part() -> list[dict[str, Any]]:
    """Categories of Adult and Nursery, k 5: within 5% (at 0.1: 15%) of the best of 20 runs of kmodes."""
    rows = []
    for name, table, bars in (
        ("Nursery, k-modes", nursery(), {1.0: 1.05}),
        ("Adult, k-modes", adult().without_numbers(), {1.0: 1.05, 0.1: 1.15}),
    ):
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/codes.npy", table.codes)
            peer = run_peer("peer_kmodes.py", f"{folder}/codes.npy", "best", "5", str(PLAIN_RUNS))
        own = plain_cost(table, 5, 1.0)
        for row in quality(name, table, 1.0, bars, min(peer["costs"])):
            rows.append({**row, "kmodes' best": min(peer["costs"]), "own best without noise": own})
    return rows


def pass_seconds(table: MixedTable, start: NDArray[np.int32]) -> float:
    """How long one pass of the core takes: labels, new modes, and the labels and the loss after them."""
    modes, none = Modes(start, np.ones(len(start), np.int64)), np.zeros((len(start), 0), np.int32)
    return seconds(lambda: lloyd_prototypes(table.tuples, none, modes, 1))


def core_part() -> list[dict[str, Any]]:
    """The core without noise from the same starts as kmodes, from where kmodes ends, and one pass beside one of kmodes.

    kmodes moves a mode after each row, so that from one start the two may end in different places. At the modes of kmodes the
    core has the same cost, and from there it finds none that is larger.
    """
    rows = []
    for name, table in (("Nursery", nursery()), ("Heart", heart().without_numbers()), ("Adult", adult().without_numbers())):
        starts = np.stack(
            [table.codes[np.random.default_rng(seed).choice(len(table.codes), 5, replace=False)] for seed in range(STARTS)]
        )
        if name == "Adult":
            starts = starts[:3]
        with tempfile.TemporaryDirectory() as folder:
            np.save(f"{folder}/codes.npy", table.codes)
            np.save(f"{folder}/starts.npy", starts)
            peer = run_peer("peer_kmodes.py", f"{folder}/codes.npy", "from", f"{folder}/starts.npy")
        none = np.zeros((5, 0), np.int32)
        own = [lloyd_prototypes(table.tuples, none, Modes(start, np.ones(5, np.int64))).loss for start in starts]
        ends = [Modes(np.array(modes, np.int32), np.ones(5, np.int64)) for modes in peer["modes"]]
        there = [float(find_nearest(table.tuples.rows, none, end)[1].sum()) for end in ends]
        onward = [lloyd_prototypes(table.tuples, none, end).loss for end in ends]
        ratios = np.array(own) / np.array(peer["costs"])
        one_pass = pass_seconds(table, starts[0])
        row = {"table": name, "starts": len(starts), "equal": int((ratios == 1).sum()), "median": float(np.median(ratios))}
        row |= {"least": min(ratios), "most": max(ratios)}
        row |= {"equal at its modes": sum(a == b for a, b in zip(there, peer["costs"], strict=True))}
        row |= {"equal from its end": sum(a == b for a, b in zip(onward, peer["costs"], strict=True))}
        row |= {"larger from its end": sum(a > b for a, b in zip(onward, peer["costs"], strict=True))}
        rows.append({**row, "kmodes' pass over ours": peer["pass"] / one_pass})
    return rows


GROWTH = """
import json, resource, sys, time
import cloister as cl
domains = json.loads(sys.argv[2])
start = time.perf_counter()
model = cl.KPrototypes(5, 1, bounds=(0, 1), gamma=0.1, categories=domains, columns=json.loads(sys.argv[3])).fit(sys.argv[1])
print(json.dumps([time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20]))
"""


def growth_part() -> list[dict[str, Any]]:
    """Adult repeated to half a million and to five million rows, from Parquet: time linear, memory bounded."""
    table = adult()
    rows: list[dict[str, Any]] = []
    columns = [*table.number_names, *table.category_names]
    batch = table.arrow.select(columns)
    for wanted in (500_000, 5_000_000):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            with pq.ParquetWriter(path, batch.schema) as writer:
                for _ in range(wanted // len(batch)):
                    writer.write_table(batch)
            arguments = [str(path), json.dumps(table.domains), json.dumps(columns)]
            done = subprocess.run([sys.executable, "-c", GROWTH, *arguments], check=True, capture_output=True, text=True)
        took, memory = json.loads(done.stdout)
        ratio = took / rows[0]["seconds"] if rows else 1.0
        rows.append({"rows": wanted, "seconds": took, "GB": memory, "times as long": ratio, "bar": "<= 11, GB <= 1.5"})
    return rows


PARTS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "heart": heart_part,
    "prototypes": prototypes_part,
    "modes": modes_part,
    "core": core_part,
    "growth": growth_part,
}


def main() -> None:
    """Every part, or those that are named after the benchmark."""
    wanted = [name for name in sys.argv[2:] if name in PARTS] or list(PARTS)
    for name in wanted:
        rows = PARTS[name]()
        show(PARTS[name].__doc__ or name, rows)
        keep(f"mixed_{name}", rows)
