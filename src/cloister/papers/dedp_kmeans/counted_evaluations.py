"""Figure 9 of paper 003: how fast the search converges, counted in looks at all rows, not in generations.

A generation of evolution looks at all rows twice for each member; a round of k-means looks once. Counting generations hides
a factor of several hundred.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

import cloister as cl
from cloister.clustering.scores.distances import sse
from cloister.clustering.seeding.evolution import evolve, population_size
from cloister.clustering.seeding.evolution_options import EvolutionOptions
from cloister.clustering.seeding.points_kmeans import lloyd
from cloister.papers.compared_lines import BANDS, compared_lines, lines_picture
from cloister.papers.dedp_kmeans.printed import evolved_start
from cloister.papers.dedp_kmeans.printed_evolution import PSEUDO_CODE
from cloister.papers.dedp_kmeans.two_sets import QUICK_MEMBERS, SETS, best_error, printed_start, read_set
from cloister.papers.form_columns import FormCell, form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture
from cloister.testing import seeded_noise

__all__ = ["CONVERGENCE", "error_after", "kmeans_rounds"]

Floats = NDArray[np.float64]
SOURCE = "figure 9"
NO_NUMBERS = "figure without numbers in our text"
ERROR = "squared error over the best known"
ROUNDS = "rounds of k-means to its end"
LOOKS = "looks at all rows in total"
EPSILON = 6.0  # of the synopsis
GENERATIONS = {"Wine": (300, 15), "MAGIC": (100, 4)}  # of a whole and of a quick run
KMEANS_LOOKS = {"Wine": (3000, 300), "MAGIC": (300, 100)}
STEPS = (100, 300, 1000, 3000, 10_000, 30_000, 100_000)


def _setting(name: str, looks: int) -> str:
    return f"{name}, after {looks:,} evaluations"


def _looks_of(setting: str) -> float | None:
    """The number of evaluations in a setting, if there is one."""
    _, found, words = setting.partition(", after ")
    return float(words.split()[0].replace(",", "")) if found else None


def error_after(evaluations: Sequence[int] | NDArray[np.int64], best: Sequence[float] | Floats, looks: int) -> float | None:
    """The best error so far after so many looks; None: not even the first was done, or the run was over long before.

    >>> [error_after([10, 30, 50], [5.0, 4.0, 3.0], looks) for looks in (9, 40, 99)]
    [None, 4.0, None]
    """
    done = int(np.searchsorted(evaluations, looks, side="right")) - 1
    if done < 0 or looks > evaluations[-1] * 1.2:
        return None
    return float(best[done])


def _rows_of(
    name: str, form: Form, trace: tuple[Sequence[int], Sequence[float]], best: float, seed: int, epsilon: float | None
) -> list[ReproducedRow]:
    reached = [(looks, error_after(*trace, looks)) for looks in STEPS]
    return [
        ReproducedRow(_setting(name, looks), form, ERROR, error / best, SOURCE, epsilon=epsilon, seed=seed)
        for looks, error in reached
        if error is not None
    ]


def _printed(name: str, seed: int, effort: RunEffort) -> list[ReproducedRow]:
    """The evolution as printed on exact rows, normalised as the text says."""
    found, best = read_set(name, effort.data), best_error(name, effort.data, False)
    members = effort.pick(None, QUICK_MEMBERS)
    reading = replace(PSEUDO_CODE, generations=effort.pick(*GENERATIONS[name]), population=members)
    start = evolved_start(found.rows, found.clusters, seed, reading).value
    rows = _rows_of(name, "as printed", (start.evaluations.tolist(), start.best[:, 0].tolist()), best, seed, math.inf)
    printed = [ReproducedRow(row.setting, "printed", ERROR, None, SOURCE, note=NO_NUMBERS) for row in rows]
    return (printed if seed == 0 else []) + rows


def kmeans_rounds(points: Floats, start: Floats) -> list[float]:
    """The squared error before each round of k-means (section 4.1) until no row moves; a look at all rows each."""
    errors: list[float] = []
    centers, before = start, None
    while True:
        gaps = ((points[:, None] - centers[None]) ** 2).sum(axis=2)
        labels = gaps.argmin(axis=1)
        errors.append(float(gaps.min(axis=1).sum()))
        if before is not None and np.array_equal(labels, before):
            return errors
        before = labels
        chosen = (labels[:, None] == np.arange(len(start))).astype(np.float64)
        counts = chosen.sum(axis=0)
        centers = np.where(counts[:, None] > 0, chosen.T @ points / np.maximum(counts, 1)[:, None], centers)


def _plain(name: str, seed: int, effort: RunEffort) -> list[ReproducedRow]:
    """K-means from random rows, started again until its looks are used up."""
    found, best = read_set(name, effort.data), best_error(name, effort.data, False)
    points, random = found.normalised().value, np.random.default_rng(seed)
    errors: list[float] = []
    while len(errors) < effort.pick(*KMEANS_LOOKS[name]):
        errors += kmeans_rounds(points, points[random.choice(len(points), found.clusters, replace=False)])
    trace = list(range(1, len(errors) + 1)), np.minimum.accumulate(errors).tolist()
    return _rows_of(name, "plain", trace, best, seed, None)


def _sound(name: str, seed: int, effort: RunEffort) -> list[ReproducedRow]:
    """Evolution over the cells of a released tree, judged on the rows; it ends by itself when nothing gains."""
    found, best = read_set(name, effort.data), best_error(name, effort.data, False)
    exact = found.rows.value
    low, widths = exact.min(axis=0), np.ptp(exact, axis=0)
    with seeded_noise(seed):
        made = cl.synopsis(found.dataset.data, EPSILON, schema=found.dataset.schema, method="tree")
    weights = made.weights()
    points, mass = made.cells.points[weights > 0], weights[weights > 0]
    size = population_size(found.clusters, points.shape[1], len(points))
    rows = []
    for looks in STEPS:
        generations = (looks // size - 1) // 3  # a generation takes three looks a member at most
        if generations < 1 or looks > effort.pick(30_000, 3000):
            continue
        evolved = evolve(
            points,
            mass,
            found.clusters,
            np.random.default_rng(seed),
            EvolutionOptions(generations=generations, start="random"),
        )
        centers = made.domain.decode(made.domain.put(lloyd(points, mass, evolved.centers, 1).centers))
        error = sse((exact - low) / widths, (centers - low) / widths)
        rows.append(ReproducedRow(_setting(name, looks), "sound", ERROR, error / best, SOURCE, epsilon=EPSILON, seed=seed))
    return rows


def _rounds(name: str, seed: int, effort: RunEffort) -> list[ReproducedRow]:
    """How many rounds k-means takes from rows at random and from the evolved start, and how many looks that is in all."""
    found = read_set(name, effort.data)
    exact, points = found.rows.value, found.normalised().value
    start = printed_start(name, effort, seed, is_raw=False).value
    begin = (start.centers[0] - exact.min(axis=0)) / np.ptp(exact, axis=0)
    drawn = points[np.random.default_rng(seed).choice(len(points), found.clusters, replace=False)]
    plain, evolved = len(kmeans_rounds(points, drawn)), len(kmeans_rounds(points, begin))
    setting = f"{name}, to the end"
    printed = [ReproducedRow(setting, "printed", measure, None, SOURCE, note=NO_NUMBERS) for measure in (ROUNDS, LOOKS)]
    return [
        *(printed if seed == 0 else []),
        ReproducedRow(setting, "as printed", ROUNDS, evolved, SOURCE, epsilon=math.inf, seed=seed),
        ReproducedRow(setting, "plain", ROUNDS, plain, SOURCE, seed=seed),
        ReproducedRow(
            setting, "as printed", LOOKS, float(start.evaluations[-1] + evolved), SOURCE, epsilon=math.inf, seed=seed
        ),
        ReproducedRow(setting, "plain", LOOKS, plain, SOURCE, seed=seed),
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    works = {"evolution as printed": _printed, "k-means": _plain, "evolution on a synopsis": _sound, "rounds": _rounds}
    return [
        ItemTask(f"{name}, {what}, seed {seed}", partial(work, name, seed, effort))
        for name in SETS
        for what, work in works.items()
        for seed in range(effort.pick(5 if name == "Wine" else 3, 1))
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    sentences = []
    for name in SETS:
        ends = cells[f"{name}, to the end", ROUNDS], cells[f"{name}, to the end", LOOKS]
        evolved, plain = (_median(ends[0][form]) for form in ("as printed", "plain"))
        all_evolved, all_plain = (_median(ends[1][form]) for form in ("as printed", "plain"))
        fewer = (
            "fewer iterations, if these alone are counted" if evolved < plain else "no fewer iterations, even of these alone"
        )
        sentences.append(
            f"{name}: from the evolved start k-means takes {number_text(evolved)} rounds to its end, from rows at random "
            f"{number_text(plain)}: {fewer}. With the evaluations of the search it is {number_text(all_evolved)} looks at "
            f"all rows against {number_text(all_plain)}."
        )
        shared = [
            (key[0], forms)
            for key, forms in cells.items()
            if key[0].startswith(f"{name}, after") and {"as printed", "plain"} <= set(forms)
        ]
        if shared:
            setting, forms = shared[-1]
            sentences.append(
                f"{setting}: evolution as printed stands at {number_text(_median(forms['as printed']))} times the best "
                f"known error, k-means started again and again at {number_text(_median(forms['plain']))} times."
            )
    return sentences


def _median(cell: FormCell) -> float:
    assert cell.value is not None
    return cell.value


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    look = {"x_label": "evaluations: looks at all rows (or all cells)", "label": ERROR, "is_x_log": True}
    return [
        lines_picture(
            f"{name}: error over evaluations",
            compared_lines([row for row in rows if row.setting.startswith(f"{name}, ")], ERROR, _looks_of),
            f"{BANDS} The sound line is evolution on a synopsis of epsilon {EPSILON:g}, judged on the rows: its noise is "
            "in it.",
            **look,
        )
        for name in SETS
    ]


CONVERGENCE = Item(
    "counted-evaluations",
    "Figure 9: convergence, with evaluations counted",
    "The paper says that DEDP k-means converges faster and in fewer iterations than k-means. Here every look at all rows "
    "is counted: two for each member and generation of evolution, one for each round of k-means.",
    _tasks,
    _finds,
    _draws,
)
