"""Figures 2 and 3: k-means on MAGIC over rho and over epsilon, F-measure beside the loss and beside one cluster for all."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cloister as cl
from cloister.papers.compared_lines import BANDS, compared_lines, lines_picture
from cloister.papers.di_clustering.magic_and_heart import class_names, f_and_nicv, magic_rows, one_cluster
from cloister.papers.di_clustering.printed import di_kmeans, dp_kmeans
from cloister.papers.di_clustering.printed_formulas import halved_epsilons, printed_epsilon
from cloister.papers.di_clustering.rho_mapping import WORLDS
from cloister.papers.form_columns import form_cells
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture
from cloister.testing import seeded_noise

__all__ = ["MAGIC"]

RHOS = ("0.00015", "0.0002", "0.0005", "0.001", "0.005", "0.01", "0.05", "0.3")
QUICK_RHOS = ("0.0002", "0.001", "0.05")
CLUSTERS, ROUNDS = 2, 5
F, NICV = "F-measure", "NICV"
FLOOR = "everything in one cluster"
DP = ", DP k-means"
NO_NUMBER = "figure without numbers in our text"
SOUND: dict[str, dict[str, Any]] = {
    "": {"method": "lloyd", "schedule": "halving", "max_iter": ROUNDS},
    ", start from released cells": {"method": "lloyd", "schedule": "halving", "max_iter": ROUNDS, "seeding": "canopy"},
    ", default method": {},
}
"""The printed algorithm made sound, from a public start; the same from the Canopy on a released synopsis; and what is run when no
method is asked for."""


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    rhos, seeds = effort.pick(RHOS, QUICK_RHOS), range(effort.pick(50, 3))
    folder = effort.data
    tasks = [ItemTask("without privacy", lambda: _plain_rows(folder))]
    for rho in rhos:
        tasks.append(ItemTask(f"as printed, rho {rho}", _later(_printed_rows, folder, rho, seeds)))
        for words, options in effort.pick(SOUND, {"": SOUND[""]}).items():
            few = range(min(len(seeds), 20)) if options else range(min(len(seeds), 10))
            tasks.append(ItemTask(f"sound{words}, rho {rho}", _later(_sound_rows, folder, rho, few, words, options)))
    return tasks


def _later(work: Callable[..., list[ReproducedRow]], *given: Any) -> Callable[[], list[ReproducedRow]]:
    return lambda: work(*given)


def _plain_rows(folder: Path | None) -> list[ReproducedRow]:
    """The floor, and k-means without noise."""
    from sklearn.cluster import KMeans

    points, classes = magic_rows(folder).value, class_names("magic", folder)
    centers = KMeans(CLUSTERS, n_init=3, random_state=0).fit(points).cluster_centers_
    middle = points.mean(axis=0, keepdims=True)
    return [
        *_both(FLOOR, "plain", (one_cluster(classes), f_and_nicv(points, middle, classes)[1]), source="eq. 17"),
        *_both("k-means", "plain", f_and_nicv(points, centers, classes), source="section 3.2"),
    ]


def _printed_rows(folder: Path | None, rho: str, seeds: Sequence[int]) -> list[ReproducedRow]:
    """DI and DP k-means from the Canopy on the rows, at the same epsilon."""
    rows, classes = magic_rows(folder), class_names("magic", folder)
    epsilon = printed_epsilon(float(rho), WORLDS)
    each = halved_epsilons(epsilon, ROUNDS)
    found = []
    for words, source, algorithm in (("", "figure 3", di_kmeans), (DP, "figure 2", dp_kmeans)):
        setting = f"rho {rho}{words}"
        found.append(ReproducedRow(setting, "printed", F, None, source, claimed=epsilon, note=NO_NUMBER))
        for seed in seeds:
            centers = algorithm(rows, CLUSTERS, each, seed=seed).value[0]
            scores = f_and_nicv(rows.value, centers, classes)
            found += _both(setting, "as printed", scores, source, claimed=epsilon, epsilon=math.inf, seed=seed)
    return found


def _sound_rows(
    folder: Path | None, rho: str, seeds: Sequence[int], words: str, options: dict[str, Any]
) -> list[ReproducedRow]:
    rows, classes = magic_rows(folder).value, class_names("magic", folder)
    budget = cl.Identifiability(rho=rho, worlds=WORLDS)
    found = []
    for seed in seeds:
        with seeded_noise(seed):
            model = cl.KMeans(CLUSTERS, budget, (0, 1), random_state=seed, **options).fit(rows)
        scores = f_and_nicv(rows, np.asarray(model.cluster_centers_), classes)
        found += _both(f"rho {rho}{words}", "sound", scores, "figure 3", epsilon=float(budget.epsilon), seed=seed)
    return found


def _both(setting: str, form: Form, scores: tuple[float, float], source: str, **facts: Any) -> list[ReproducedRow]:
    return [
        ReproducedRow(setting, form, measure, score, source, **facts)
        for measure, score in zip((F, NICV), scores, strict=True)
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    floor, plain = (cells[name, F]["plain"].value or math.nan for name in (FLOOR, "k-means"))
    spread, plain_nicv = (cells[name, NICV]["plain"].value or math.nan for name in (FLOOR, "k-means"))
    settings = [s for s, m in cells if m == F and s.startswith("rho ") and "," not in s]
    gaps, apart = [], []
    for setting in settings:
        one, other = cells[setting, F]["as printed"], cells[setting + DP, F]["as printed"]
        assert one.value is not None
        assert other.value is not None
        gaps.append(abs(one.value - other.value))
        overlaps = (one.low or 0) <= (other.high or 1) and (other.low or 0) <= (one.high or 1)
        apart += [] if overlaps else [setting]
    similar = "their intervals overlap everywhere" if not apart else f"their intervals lie apart at {', '.join(apart)}"
    most = max(cells[setting, F]["as printed"].value or 0 for setting in settings)
    sound = [cells[setting, NICV]["sound"].value or math.nan for setting in settings]
    printed = [cells[setting, NICV]["as printed"].value or math.nan for setting in settings]
    better = [s for s, mine, theirs in zip(settings, sound, printed, strict=True) if mine <= theirs]
    lost = [setting for setting, loss in zip(settings, printed, strict=True) if loss >= spread]
    return [
        f"At the same epsilon DI and DP k-means differ by {max(gaps):.3f} in F at most, and {similar}: as the paper says, rho is "
        "another name for epsilon.",
        f"F says little here: everything in one cluster scores {floor:.3f}, k-means without privacy {plain:.3f}, and the best "
        f"setting as printed {most:.3f}.",
        f"The loss tells more (one cluster {spread:.3f}, k-means {plain_nicv:.3f}): as printed it is "
        f"{printed[0]:.3f} at {settings[0]} and {printed[-1]:.3f} at {settings[-1]}"
        + (f", and worse than one cluster at {', '.join(lost)}." if lost else ", and nowhere worse than one cluster."),
        "The sound rounds pay for the sizes and start from public centres; they clip centres into the bounds, and give the last "
        f"round what is left. Their median loss is {sound[0]:.3f} and {sound[-1]:.3f} there"
        + (
            f", and no larger than as printed at {', '.join(better)}."
            if better
            else ", and larger than as printed everywhere."
        ),
    ]


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    def place(setting: str) -> float | None:
        return float(setting.split(",")[0].removeprefix("rho ")) if setting.startswith("rho ") else None

    def line(setting: str) -> str:
        return setting.partition(", ")[2]

    levels = {(row.setting, row.measure): row.value or 0.0 for row in rows if row.form == "plain"}
    shown = [row for row in rows if row.form != "plain"]
    return [
        lines_picture(
            f"MAGIC, two clusters: {measure} over rho",
            compared_lines(shown, measure, place, line),
            f"{BANDS} 10,001 worlds.",
            x_label="rho",
            label=measure,
            is_x_log=True,
            is_log=measure == NICV and _is_wide(shown),
            level=(levels[FLOOR, measure], "one cluster"),
        )
        for measure in (F, NICV)
    ]


def _is_wide(rows: Sequence[ReproducedRow]) -> bool:
    """Whether losses differ so much that a linear axis would hide the small ones."""
    losses = [row.value for row in rows if row.measure == NICV and row.value]
    return max(losses) > 30 * min(losses)


MAGIC = Item(
    "magic",
    "MAGIC: k-means over rho",
    "Figures 2 and 3 show the F-measure of DP k-means over epsilon and of DI k-means over rho, and say that equal epsilons give "
    "similar results. F is shown here beside the mean squared distance to the nearest centre (NICV), and both beside everything "
    "in one cluster.",
    _tasks,
    _finds,
    _draws,
)
