"""Draws docs/images/s1-synopsis.png: an adaptive grid of S1 at three epsilons, with the centres of its 15 clusters."""

from __future__ import annotations

import os
from pathlib import Path

import matplotlib as mpl
import numpy as np

import cloister as cl

mpl.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.collections import PolyCollection
from matplotlib.colors import LogNorm

HERE = Path(__file__).parent
DATA = Path(os.environ.get("CLOISTER_DATA", HERE.parent.parent / "../shared/data"))
SIDE = 1_000_000  # the public bounds of both columns


def main() -> None:
    rows = np.loadtxt(DATA / "s1.txt")
    figure, axes = plt.subplots(1, 3, figsize=(11, 3.9), constrained_layout=True)
    for axis, epsilon in zip(axes, (0.1, 1.0, 10.0), strict=True):
        made = cl.synopsis(rows, epsilon, (0, SIDE))
        cells = made.frame()
        low = np.column_stack([cells["x0 low"], cells["x1 low"]])
        high = np.column_stack([cells["x0 high"], cells["x1 high"]])
        density = np.maximum(np.asarray(cells["count"]), 0) / ((high - low).prod(axis=1) / (SIDE / 10) ** 2)
        corners = [[(a, b), (c, b), (c, d), (a, d)] for (a, b), (c, d) in zip(low, high, strict=True)]
        drawn = PolyCollection(
            corners, array=np.maximum(density, 1), cmap="Blues", norm=LogNorm(1, 600), edgecolor="#d8dee6", linewidth=0.25
        )
        axis.add_collection(drawn)
        axis.plot(*made.cluster(15, "evolution", random_state=0).cluster_centers_.T, "x", color="#c8102e", ms=6, mew=1.6)
        axis.set(xlim=(0, SIDE), ylim=(0, SIDE), aspect="equal", xticks=[], yticks=[])
        axis.set_title(f"epsilon {epsilon:g}: {len(made):,} cells", fontsize=11)
    figure.colorbar(drawn, ax=axes, label="rows in a square of a tenth of the width", shrink=0.85)
    figure.savefig(HERE.parent / "images" / "s1-synopsis.png", dpi=90)


if __name__ == "__main__":
    main()
