"""Draws docs/images/votes.png: the released rounds of one private k-means on made-up rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

import cloister as cl
from cloister.clustering.votes.fit import Search
from cloister.clustering.votes.look import Ballot

OUT = Path(__file__).parents[1] / "images" / "votes.png"


def main() -> None:
    X, _ = make_blobs(5000, n_features=2, centers=7, cluster_std=0.9, random_state=11)
    seen: list[Ballot] = []
    vote = Search.vote

    def watched(*arguments: Any) -> Ballot:
        seen.append(vote(*arguments))
        return seen[-1]

    Search.vote = watched  # type: ignore[method-assign, assignment]
    model = cl.KMeans(7, 1.0, bounds=(-15, 15), random_state=3).fit(X)
    Search.vote = vote  # type: ignore[method-assign]
    step = (model.release_.parameters["bounds"][0][1] - model.release_.parameters["bounds"][0][0]) / 2**20
    figure, panels = plt.subplots(1, 3, figsize=(12, 4.2), sharex=True, sharey=True)
    titles = ["votes, round 1", "votes, round 2", "centres with 2 standard errors"]
    for panel, title in zip(panels, titles, strict=True):
        panel.scatter(*X.T, s=1, c="0.85", linewidths=0)
        panel.set(title=title, xlim=(-15, 15), ylim=(-15, 15), aspect="equal")
    for panel, ballot in zip(panels, seen, strict=False):
        places = ballot.candidates * step
        panel.scatter(*places.T, s=np.maximum(ballot.counts, 0), facecolors="none", edgecolors="tab:blue")
        panel.scatter(*places.T, s=3, c="tab:blue")
        panel.text(-14.3, -14.3, f"noise of a vote: +-{ballot.variance**0.5:.0f} rows", fontsize=9)
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
