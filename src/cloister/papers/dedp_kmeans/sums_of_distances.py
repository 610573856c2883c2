"""Tables 3 and 4 of paper 003: the sum of distances to the nearest centre, smallest, largest and mean of ten runs.

The text says that rows are normalised; the numbers are sums of distances in the rows' own units, so rows are assigned in these.
The tables do not say their epsilon. The largest that the paper uses anywhere is 6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.scores.distances import sum_of_distances
from cloister.papers.compared_lines import lines_picture
from cloister.papers.dedp_kmeans.printed import NoisyRounds, dedp_kmeans, dp_kmeans
from cloister.papers.dedp_kmeans.two_sets import (
    DEDP,
    DP,
    METHODS,
    SETS,
    epsilon_of,
    epsilon_setting,
    kmeans_from_rows,
    method_lines,
    printed_start,
    read_set,
    sound_centers,
)
from cloister.papers.form_columns import number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture

__all__ = ["TABLES", "geometric_medians"]

Floats = NDArray[np.float64]
Triple = tuple[float, float, float]
MEASURES = ("smallest sum of distances", "largest sum of distances", "mean sum of distances")
PLAIN = "k-means"
PRINTED: dict[str, dict[str, Triple]] = {  # smallest, largest, mean
    "Wine": {
        PLAIN: (16555.67, 18437.00, 18103.71),
        DP: (16555.70, 18523.12, 18284.62),
        DEDP: (16545.31, 17603.00, 16615.84),
    },
    "MAGIC": {
        PLAIN: (1.6697e6, 1.9184e6, 1.8054e6),
        DP: (1.7032e6, 1.9978e6, 1.9015e6),
        DEDP: (1.6912e6, 1.8476e6, 1.7910e6),
    },
}
SOURCES = {"Wine": "table 3", "MAGIC": "table 4"}
NEAR = 1e-3  # two sums that differ by less are the same
BESIDE = 6.0  # the printed numbers stand beside this epsilon
RAW = NoisyRounds(is_raw=True)
STEPS = 40  # of Weiszfeld and of assigning again


def _rows(
    name: str, setting: str, form: Form, values: Sequence[float], epsilon: float | None, **more: float
) -> list[ReproducedRow]:
    triple = (min(values), max(values), float(np.mean(values)))
    return [
        ReproducedRow(setting, form, measure, value, SOURCES[name], epsilon=epsilon, **more)  # type: ignore[arg-type]
        for measure, value in zip(MEASURES, triple, strict=True)
    ]


def _plain(name: str, effort: RunEffort) -> list[ReproducedRow]:
    """K-means as often as the paper, and far more often: what any k-means reaches; and what any centres reach."""
    found = read_set(name, effort.data)
    points, runs = found.rows.value, effort.pick(10, 4)
    starts = effort.pick(200, 20) if name == "Wine" else effort.pick(60, 4)
    results = [kmeans_from_rows(points, found.clusters, seed) for seed in range(starts)]
    sums = [sum_of_distances(points, centers) for centers in results]
    medians = sum_of_distances(points, geometric_medians(points, results[int(np.argmin(sums))]))
    printed = zip(MEASURES, PRINTED[name][PLAIN], strict=True)
    return [
        *(ReproducedRow(f"{name}, {PLAIN}", "printed", measure, value, SOURCES[name]) for measure, value in printed),
        *_rows(name, f"{name}, {PLAIN}", "plain", sums[:runs], None),
        *(
            ReproducedRow(f"{name}, {PLAIN}, many starts", "plain", measure, end, SOURCES[name], note=f"{starts} starts")
            for measure, end in zip(MEASURES[:2], (min(sums), max(sums)), strict=True)
        ),
        ReproducedRow(f"{name}, medians in place of means", "plain", MEASURES[0], medians, SOURCES[name]),
    ]


def geometric_medians(points: Floats, start: Floats) -> Floats:
    """Centres (k, d) that make the sum of distances small, not of squared ones: Weiszfeld steps between assignments."""
    centers = start.copy()
    for _ in range(STEPS):
        gaps = np.sqrt(((points[:, None] - centers[None]) ** 2).sum(axis=2))  # (n, k)
        pull = np.where(gaps.argmin(axis=1)[:, None] == np.arange(len(centers)), 1 / np.maximum(gaps, 1e-9), 0.0)
        centers = np.where(
            pull.sum(axis=0)[:, None] > 0, pull.T @ points / np.maximum(pull.sum(axis=0), 1e-300)[:, None], centers
        )
    return centers


def _printed_method(name: str, method: str, epsilon: float, effort: RunEffort) -> list[ReproducedRow]:
    found = read_set(name, effort.data)
    setting = epsilon_setting(name, method, epsilon)

    def centers(seed: int) -> Floats:
        if method == DP:
            return dp_kmeans(found.rows, found.clusters, epsilon, seed, RAW).value.centers
        start = printed_start(name, effort, seed, is_raw=True)
        return dedp_kmeans(found.rows, start, epsilon, seed, RAW).value.centers

    sums = [sum_of_distances(found.rows.value, centers(seed)) for seed in range(effort.pick(10, 2))]
    printed = zip(MEASURES, PRINTED[name][method], strict=True) if epsilon == BESIDE else ()
    return [
        *(ReproducedRow(setting, "printed", measure, value, SOURCES[name]) for measure, value in printed),
        *_rows(name, setting, "as printed", sums, math.inf, claimed=epsilon),
    ]


def _sound_method(name: str, method: str, epsilon: float, effort: RunEffort) -> list[ReproducedRow]:
    found = read_set(name, effort.data)
    centers = (sound_centers(found, method, epsilon, seed, is_raw=True) for seed in range(effort.pick(10, 2)))
    sums = [sum_of_distances(found.rows.value, one) for one in centers]
    return _rows(name, epsilon_setting(name, method, epsilon), "sound", sums, epsilon)


def _tasks(effort: RunEffort) -> list[ItemTask]:
    epsilons = effort.pick((0.5, 1.0, BESIDE, 30.0, 100.0, 10_000.0), (BESIDE,))
    tasks = [ItemTask(f"{name}, plain", partial(_plain, name, effort)) for name in SETS]
    works: dict[str, Callable[[str, str, float, RunEffort], list[ReproducedRow]]] = {
        "as printed": _printed_method,
        "sound": _sound_method,
    }
    for name in SETS:
        for method in METHODS:
            for epsilon in epsilons:
                setting = epsilon_setting(name, method, epsilon)
                tasks += [
                    ItemTask(f"{setting}, {form}", partial(work, name, method, epsilon, effort))
                    for form, work in works.items()
                ]
    return tasks


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    return [
        sentence
        for name in SETS
        for sentence in (*_best_sentences(rows, name), *_noise_sentences(rows, name), *_reached_sentences(rows, name))
    ]


def _value(rows: Sequence[ReproducedRow], setting: str, form: Form, measure: str) -> float:
    return next(
        row.value
        for row in rows
        if (row.setting, row.form, row.measure) == (setting, form, measure) and row.value is not None
    )


def _best_sentences(rows: Sequence[ReproducedRow], name: str) -> list[str]:
    """The printed ends of k-means beside what k-means and any centres reach."""
    many = f"{name}, {PLAIN}, many starts"
    low, high = (_value(rows, many, "plain", measure) for measure in MEASURES[:2])
    medians = _value(rows, f"{name}, medians in place of means", "plain", MEASURES[0])
    printed_low, printed_high, _ = PRINTED[name][PLAIN]
    starts = next(row.note for row in rows if row.setting == many)
    sentences = [
        f"{name}: k-means without privacy ends between {low:,.2f} and {high:,.2f} ({starts}); {printed_low:,.2f} and "
        f"{printed_high:,.2f} are printed. "
        + f"The printed smallest is {_found(low, printed_low)}, the printed largest {_found(high, printed_high)}."
    ]
    best = PRINTED[name][DEDP][0]
    sentences.append(
        f"{name}: the printed best of DEDP k-means, {best:,.2f}, is below every end of k-means that was found. Other "
        "centres can have such a sum: k-means makes squared distances small, and medians in place of means reach "
        f"{medians:,.2f}."
        if best < low
        else f"{name}: the printed best of DEDP k-means, {best:,.2f}, is not below what k-means reaches without privacy; "
        f"medians in place of means reach {medians:,.2f}."
    )
    return sentences


def _found(end: float, printed: float) -> str:
    return "found here too" if abs(end - printed) <= NEAR * printed else "not found here"


def _noise_sentences(rows: Sequence[ReproducedRow], name: str) -> list[str]:
    """How much the noise of DP k-means costs, in print and run again."""
    plain, private = PRINTED[name][PLAIN][2], PRINTED[name][DP][2]
    setting = epsilon_setting(name, DP, BESIDE)
    again = _value(rows, setting, "as printed", MEASURES[2]) / _value(rows, f"{name}, {PLAIN}", "plain", MEASURES[2])
    return [
        f"{name}: in print the noise of DP k-means raises the mean by {private / plain - 1:.1%}. Run again at epsilon "
        f"{BESIDE:g}, with the whole epsilon in every round, it changes the mean by {again - 1:+.1%}."
    ]


def _reached_sentences(rows: Sequence[ReproducedRow], name: str) -> list[str]:
    """From which epsilon on each printed mean is reached."""
    sentences = []
    for method in METHODS:
        for i, word in ((0, "smallest"), (2, "mean")):
            printed = PRINTED[name][method][i]
            texts = []
            for form, what in (("as printed", "the algorithm as printed"), ("sound", "the sound form")):
                own = [
                    row
                    for row in rows
                    if row.form == form and row.measure == MEASURES[i] and row.setting.startswith(f"{name}, {method}, ")
                ]
                reached = sorted(
                    epsilon_of(row.setting) or 0 for row in own if row.value is not None and row.value <= printed
                )
                tried = sorted(epsilon_of(row.setting) or 0 for row in own)
                texts.append(
                    f"{what} reaches it first at epsilon {number_text(reached[0])} of those tried"
                    if reached
                    else f"{what} does not reach it at any epsilon that was tried (up to {number_text(tried[-1])})"
                )
            sentences.append(f"{name}, {method}, printed {word} {number_text(printed)}: {texts[0]}, {texts[1]}.")
    return sentences


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    caption = "The mean of all runs at each epsilon. Dashed: the printed mean of DEDP k-means, whose epsilon is not said."
    pictures = []
    for name in SETS:
        lines = method_lines([row for row in rows if row.form != "printed"], name, MEASURES[2])
        pictures.append(
            lines_picture(
                f"{name}: mean sum of distances over epsilon",
                lines,
                caption,
                x_label="epsilon",
                label="mean sum of distances",
                is_x_log=True,
                level=(PRINTED[name][DEDP][2], "printed, DEDP k-means"),
            )
        )
    return pictures


TABLES = Item(
    "sums-of-distances",
    "Tables 3 and 4: sums of distances",
    "The paper prints the sum of distances of all rows to their nearest centre, for k-means, DP k-means and DEDP "
    "k-means, on Wine and MAGIC in their own units. It does not say at which epsilon: its numbers stand beside epsilon "
    "6, the largest that it uses, and the algorithms are run from small to very large epsilon to see where such numbers "
    "can be had.",
    _tasks,
    _finds,
    _draws,
)
