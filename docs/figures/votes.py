"""Draws docs/images/votes.png: the released rounds of one private k-means on made-up rows."""

from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import cloister as cl
from cloister.clustering.domain import Domain
from cloister.clustering.votes.sketch import Round, Sketch

OUT = Path(__file__).parents[1] / "images" / "votes.png"


def main() -> None:
    X, _ = make_blobs(5000, n_features=2, centers=7, cluster_std=0.9, random_state=11)
    seen: list[Round] = []
    update = Sketch.update

    def watched(self: Sketch, round: Round, rows: float, clusters: int, domain: Domain, mark: float | None) -> Sketch:
        seen.append(round)
        return update(self, round, rows, clusters, domain, mark)

    Sketch.update = watched  # type: ignore[method-assign, assignment]
    model = cl.KMeans(7, 1.0, bounds=(-15, 15), random_state=3).fit(X)
    Sketch.update = update  # type: ignore[method-assign]
    step = (model.release_.parameters["bounds"][0][1] - model.release_.parameters["bounds"][0][0]) / 2**20
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
    titles = ["votes, round 1", "votes, round 2", "centres with 2 standard errors"]
    for panel, title in zip(panels, titles, strict=True):
        panel.scatter(*X.T, s=1, c="0.85", linewidths=0)
        panel.set(title=title, xlim=(-15, 15), ylim=(-15, 15), aspect="equal")
    for panel, round in zip(panels, seen[:2], strict=False):
        places = round.candidates * step
        votes = np.maximum(round.counts, 0)
        panel.scatter(*places.T, s=votes / 6, facecolors="none", edgecolors="tab:blue")
        panel.scatter(*places.T, s=4, c="tab:blue")
        moves = round.sums * step / np.maximum(round.counts, 2 * round.count_noise)[:, None]
        panel.quiver(*places.T, *moves.T, angles="xy", scale_units="xy", scale=1, width=0.004, color="tab:orange")
        panel.text(-14.3, -14.3, f"noise of a vote: +-{round.count_noise:.0f} rows", fontsize=9)
    assert model.standard_errors_ is not None
    panels[2].errorbar(
        *model.cluster_centers_.T,
        xerr=2 * model.standard_errors_[:, 0],
        yerr=2 * model.standard_errors_[:, 1],
        fmt="o",
        ms=4,
        color="tab:red",
    )
    for (x, y), size in zip(model.cluster_centers_, model.cluster_sizes_, strict=True):
        panels[2].annotate(f"{size:.0f}", (x, y), xytext=(6, 6), textcoords="offset points", fontsize=8)
    figure.tight_layout()
    OUT.parent.mkdir(exist_ok=True)
    figure.savefig(OUT, dpi=90)


if __name__ == "__main__":
    main()
