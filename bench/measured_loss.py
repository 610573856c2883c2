"""The loss that a fit buys beside the true one: what it leaves out, and whether what it says it is at most holds."""

from __future__ import annotations

from typing import Any

import numpy as np

import cloister as cl
from bench.measure import keep, show
from bench.panel import loss
from bench.tail_tables import tail_table

FITS = 20
EPSILONS = (0.5, 1, 3)
CASES = (  # a table and a number of clusters; fewer than it has leave rows without a centre
    ("unbalanced", 3),
    ("unbalanced", 4),
    ("unbalanced", 8),
    ("S1", 15),
    ("log-normal x 2, tight", 6),
    ("log-normal x 2, 50 x wide", 6),
    ("MAGIC", 8),
)


def compare(name: str, clusters: int, epsilon: float) -> dict[str, Any]:
    """Some fits: the measured loss over the true one, how often it is within two errors, and what it is at most."""
    X, _, _ = tail_table(name)
    models = [cl.KMeans(clusters, epsilon, (0, 1), random_state=seed).fit(X) for seed in range(FITS)]
    true = np.array([loss(X, model.cluster_centers_) for model in models])
    figures = [model.release_.result["loss"] for model in models]
    told, errors, most = (
        np.array([figure[what] for figure in figures]) for what in ("mean_squared_distance", "standard_error", "at_most")
    )
    return {
        "table": name, "k": clusters, "epsilon": epsilon,
        "measured": float(np.median(told / true)), "within two errors": float((np.abs(told - true) <= 2 * errors).mean()),
        "at most": float(np.median(most / true)), "holds": float((most >= true).mean()),
    }  # fmt: skip


def main() -> None:
    rows = [compare(name, clusters, epsilon) for name, clusters in CASES for epsilon in EPSILONS]
    show(f"measured_loss: the loss that is bought over the true one, {FITS} fits", rows)
    keep("measured_loss", rows)


if __name__ == "__main__":
    main()
