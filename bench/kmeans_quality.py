"""Private k-means against the best published figures (A) and on public data sets (B), with every bar beside what it gives."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import cloister as cl
from bench.measure import keep, run_peer, show
from bench.panel import loss, plain_loss, table, unit_ball_blobs

EPSILONS = [0.25, 0.5, 1, 2, 4]
RUNS = 10

# clusters, columns: best published, Google's, the bar
A = {
    (4, 4): (0.0778, 0.1305, 0.0778),
    (16, 4): (0.0445, 0.0979, 0.0435),
    (64, 4): (0.0379, 0.1289, 0.0368),
    (4, 16): (0.0955, 0.1395, 0.0953),
    (16, 16): (0.0668, 0.1596, 0.0610),
    (64, 16): (0.1183, 0.3872, 0.0850),
    (4, 64): (0.0974, 0.1090, 0.0963),
    (16, 64): (0.1189, 0.2258, 0.0890),
}

# table, epsilon, delta: bar
B = {
    ("1 million x 8", 0.05, 1e-6): 1.01,
    ("S1", 1, 1e-6): 1.02,
    ("MAGIC", 0.1, 1e-6): 1.15,
    ("MAGIC", 1, 1e-6): 1.06,
    ("Adult", 0.1, 1e-6): 1.15,
    ("Adult", 1, 1e-6): 1.05,
    ("life sciences", 0.1, 1e-6): 1.06,
    ("life sciences", 1, 1e-6): 1.03,
    ("S1", 0.1, 0): 4.6,
    ("S1", 0.5, 0): 1.07,
    ("S1", 1, 0): 1.02,
    ("MAGIC", 0.1, 0): 1.37,
    ("MAGIC", 0.5, 0): 1.09,
    ("MAGIC", 1, 0): 1.07,
    ("Adult", 0.1, 0): 1.14,
    ("Adult", 0.5, 0): 1.06,
    ("Adult", 1, 0): 1.05,
    ("life sciences", 0.1, 0): 1.07,
    ("life sciences", 0.5, 0): 1.04,
    ("life sciences", 1, 0): 1.04,
}


def area(runs: int) -> list[dict[str, Any]]:
    """Table A: the area under the loss over epsilon, by the trapezoid rule."""
    rows = []
    for (clusters, columns), (published, google, bar) in A.items():
        X = unit_ball_blobs(clusters, columns)
        delta = len(X) ** -1.1
        losses = np.array(
            [
                [
                    loss(X, cl.KMeans(clusters, cl.ApproxDP(eps, delta), cl.Ball(1.0)).fit(X).cluster_centers_)
                    for eps in EPSILONS
                ]
                for _ in range(runs)
            ]
        )
        areas = np.trapezoid(losses, EPSILONS, axis=1)
        error = float(areas.std(ddof=1) / np.sqrt(runs))
        rows.append(
            {
                "k, d": f"{clusters}, {columns}",
                "non-private": plain_loss(X, clusters) * 3.75,
                "best published": published,
                "Google": google,
                "bar": bar,
                "cloister": float(areas.mean()),
                "standard error": error,
                "met": bool(areas.mean() <= bar + error),
            }
        )
        print("  ", rows[-1], flush=True)
    return rows


def ratios(runs: int) -> list[dict[str, Any]]:
    """Table B: the loss over the best of 20 non-private runs."""
    rows = []
    for (name, epsilon, delta), bar in B.items():
        X, clusters, plain = table(name)
        budget = cl.ApproxDP(epsilon, delta) if delta else cl.PureDP(epsilon)
        losses = [loss(X, cl.KMeans(clusters, budget, (0, 1)).fit(X).cluster_centers_) / plain for _ in range(runs)]
        row: dict[str, Any] = {
            "table": name,
            "k": clusters,
            "epsilon": epsilon,
            "delta": delta,
            "bar": bar,
            "cloister": float(np.median(losses)),
        }
        row["worst"] = max(losses)
        row["diffprivlib"] = peer(X, clusters, epsilon) / plain if delta == 0 else None
        row["met"] = bool(row["cloister"] <= bar)
        rows.append(row)
        print("  ", row, flush=True)
    return rows


def peer(X: np.ndarray, clusters: int, epsilon: float) -> float:
    """The median loss of diffprivlib on the same rows."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.npy"
        np.save(path, X)
        return float(run_peer("peer_kmeans.py", str(path), str(clusters), str(epsilon), "5")["loss"])


def main(runs: int = RUNS) -> None:
    for name, work in [("kmeans_area", area), ("kmeans_ratios", ratios)]:
        rows = work(runs)
        show(f"{name}: {runs} runs", rows)
        keep(name, rows)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
