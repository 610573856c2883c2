"""Figures 10 and 11 of paper 003: the F-measure of clusters against known classes, over epsilon from 0.05 to 6."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.scores.agreement import f_measure
from cloister.clustering.seeding.points_kmeans import nearest
from cloister.papers.compared_lines import BANDS, lines_picture
from cloister.papers.dedp_kmeans.printed import dedp_kmeans, dp_kmeans
from cloister.papers.dedp_kmeans.two_sets import (
    DEDP,
    DP,
    METHODS,
    SETS,
    ClusteredSet,
    epsilon_of,
    epsilon_setting,
    kmeans_from_rows,
    method_lines,
    printed_start,
    read_set,
    sound_centers,
)
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["F_FIGURES"]

Floats = NDArray[np.float64]
MEASURE = "F-measure"
SOURCES = {"Wine": "figure 10", "MAGIC": "figure 11"}
NO_NUMBERS = "figure without numbers in our text"
ONE = "everything in one cluster"
PLAIN = "k-means"
EPSILONS: tuple[float, ...] = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 6.0)
QUICK_EPSILONS: dict[str, tuple[float, ...]] = {"Wine": (0.05, 6.0), "MAGIC": (6.0,)}


def _f_of(found: ClusteredSet, centers: Floats) -> float:
    """F of rows with their nearest centres, in distances that are normalised as the paper's are."""
    exact = found.rows.value
    low, widths = exact.min(axis=0), np.ptp(exact, axis=0)
    labels, _ = nearest((exact - low) / widths, (centers - low) / widths)
    return f_measure(labels, found.classes)


def _floors(name: str, effort: RunEffort) -> list[ReproducedRow]:
    """K-means without privacy, and no clustering at all."""
    found = read_set(name, effort.data)
    points, source = found.normalised().value, SOURCES[name]
    runs = [nearest(points, kmeans_from_rows(points, found.clusters, seed))[0] for seed in range(effort.pick(10, 2))]
    one = f_measure(np.zeros(len(points), dtype=int), found.classes)
    return [
        ReproducedRow(f"{name}, {ONE}", "plain", MEASURE, one, source),
        *(
            ReproducedRow(f"{name}, {PLAIN}", "plain", MEASURE, f_measure(labels, found.classes), source, seed=seed)
            for seed, labels in enumerate(runs)
        ),
    ]


def _at_epsilon(name: str, method: str, epsilon: float, effort: RunEffort) -> list[ReproducedRow]:
    """The printed method and what stands in its place, several runs of each."""
    found, setting, source = read_set(name, effort.data), epsilon_setting(name, method, epsilon), SOURCES[name]
    rows = [ReproducedRow(setting, "printed", MEASURE, None, source, claimed=epsilon, note=NO_NUMBERS)]
    for seed in range(effort.pick(10, 2)):
        if method == DP:
            printed = dp_kmeans(found.rows, found.clusters, epsilon, seed).value.centers
        else:
            printed = dedp_kmeans(found.rows, printed_start(name, effort, seed, is_raw=False), epsilon, seed).value.centers
        sound = sound_centers(found, method, epsilon, seed, is_raw=False)
        rows += [
            ReproducedRow(
                setting, "as printed", MEASURE, _f_of(found, printed), source, claimed=epsilon, epsilon=math.inf, seed=seed
            ),
            ReproducedRow(setting, "sound", MEASURE, _f_of(found, sound), source, epsilon=epsilon, seed=seed),
        ]
    return rows


def _tasks(effort: RunEffort) -> list[ItemTask]:
    floors = [ItemTask(f"{name}, floors", partial(_floors, name, effort)) for name in SETS]
    return floors + [
        ItemTask(epsilon_setting(name, method, epsilon), partial(_at_epsilon, name, method, epsilon, effort))
        for name in SETS
        for method in METHODS
        for epsilon in effort.pick(EPSILONS, QUICK_EPSILONS[name])
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)

    def median(setting: str, form: str) -> float:
        value = cells[setting, MEASURE][form].value  # type: ignore[index]
        assert value is not None
        return value

    sentences = []
    for name in SETS:
        epsilons = sorted({epsilon_of(row.setting) or 0 for row in rows if row.setting.startswith(f"{name}, {DP}, ")})
        better = [
            epsilon
            for epsilon in epsilons
            if median(epsilon_setting(name, DEDP, epsilon), "as printed")
            > median(epsilon_setting(name, DP, epsilon), "as printed")
        ]
        sentences.append(
            f"{name}: the claim is that DEDP k-means has the higher F at every epsilon. Run again as printed, its median "
            f"is higher at {len(better)} of {len(epsilons)} epsilons."
        )
        one, plain = median(f"{name}, {ONE}", "plain"), median(f"{name}, {PLAIN}", "plain")
        last = epsilons[-1]
        sound = {method: median(epsilon_setting(name, method, last), "sound") for method in METHODS}
        judged = "more than k-means: F alone says little here" if one > plain else "less than k-means"
        sentences.append(
            f"{name}: at epsilon {number_text(last)} the sound forms have F {number_text(sound[DP])} (KMeans) and "
            f"{number_text(sound[DEDP])} (evolution on a synopsis), k-means without privacy {number_text(plain)}. "
            f"Everything in one cluster has {number_text(one)}, {judged}."
        )
    return sentences


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    cells = form_cells(rows)
    pictures = []
    for name in SETS:
        one = cells[f"{name}, {ONE}", MEASURE]["plain"].value
        assert one is not None
        lines = method_lines(rows, name, MEASURE)
        title = f"{name}: F-measure over epsilon"
        pictures.append(
            lines_picture(title, lines, BANDS, x_label="epsilon", label=MEASURE, is_x_log=True, level=(one, ONE))
        )
    return pictures


F_FIGURES = Item(
    "f-over-epsilon",
    "Figures 10 and 11: F-measure over epsilon",
    "The paper says that DEDP k-means fits the known classes better than DP k-means at every epsilon from 0.05 to 6. "
    "Both are run again as printed, beside private k-means and evolution on a released synopsis, which are sound.",
    _tasks,
    _finds,
    _draws,
)
