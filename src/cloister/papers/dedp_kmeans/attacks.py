"""Attacks on the claimed epsilon of paper 003: the evolved start, the scaling by the rows' own range, and the noise's scale."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count

import numpy as np
from numpy.typing import NDArray

import cloister as cl
from cloister.errors import LostClusters
from cloister.papers.claim_attacks import FOUND, attack_claim, attack_outputs, claim_row
from cloister.papers.dedp_kmeans.printed import NoisyRounds, dedp_releases, dp_kmeans
from cloister.papers.dedp_kmeans.printed_evolution import EvolutionReading
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture
from cloister.testing import seeded_noise

__all__ = ["ATTACKS", "outlier_tables", "range_tables", "start_attack"]

Floats = NDArray[np.float64]
Tables = tuple[Floats, Floats]
EPSILONS = (1.0, 0.1)
SEARCH = EvolutionReading(generations=40)
START, RANGE, EACH, BOTH = (
    "start evolved on rows",
    "scaling by the rows' own range",
    "noise for each number by itself",
    "noise for sums and count together",
)
SHORT = {START: "start", RANGE: "scaling", EACH: "noise, each", BOTH: "noise, both"}  # in the picture
COLUMNS = 13  # Wine's
AT_ONCE = 2000  # runs of the printed form


def outlier_tables(epsilon: float) -> Tables:
    """Rows in two places close together, without and with one row at the origin; so many that the noise does not hide it.

    Two centres are best, by the exact error, one on each place; with the far row, one on both places and one on that row alone.
    """
    each = math.ceil(100 / epsilon)
    rows = np.repeat([[0.498, 0.5], [0.502, 0.5]], each, axis=0)
    return rows, np.vstack([rows, [[0.0, 0.0]]])


def range_tables() -> Tables:
    """A hundred rows between 0.4 and 0.6, without and with one row at 1,000."""
    rows = np.linspace(0.4, 0.6, 100)[:, None]
    return rows, np.vstack([rows, [[1000.0]]])


def corner_tables() -> Tables:
    """Fifty rows in one corner and one in the opposite, which fixes the range; without and with a second one there."""
    rows = np.vstack([np.zeros((50, COLUMNS)), np.ones((1, COLUMNS))])
    return rows, np.vstack([rows, np.ones((1, COLUMNS))])


def start_attack(table: Floats, epsilon: float, runs: int, seed: int) -> Floats:
    """How far apart the two released centres are, (runs, 1): nothing else of the release is looked at."""
    rows = holder_numbers({name: table[:, j] for j, name in enumerate("xy")})
    blocks = [
        dedp_releases(rows, 2, epsilon, seed + first, min(AT_ONCE, runs - first), SEARCH).value
        for first in range(0, runs, AT_ONCE)
    ]
    centers = np.concatenate(blocks)
    return np.asarray(np.abs(centers[:, 0] - centers[:, 1]).max(axis=1, keepdims=True))


def _start_setting(epsilon: float) -> str:
    return f"{START}, epsilon {epsilon:g}"


def _printed_start(epsilon: float, effort: RunEffort) -> list[ReproducedRow]:
    runs, setting, source = effort.pick(10_000, 500), _start_setting(epsilon), "section 5.4"
    outputs = tuple(start_attack(table, epsilon, runs, 1_000_000 * i) for i, table in enumerate(outlier_tables(epsilon)))
    return [
        claim_row(setting, epsilon, source),
        attack_outputs(setting, "as printed", (outputs[0], outputs[1]), claimed=epsilon, epsilon=math.inf, source=source),
    ]


def _sound_start(epsilon: float, effort: RunEffort) -> list[ReproducedRow]:
    """The same attack on evolution over a released grid."""
    seeds = count()

    def spread(table: Floats) -> float:
        seed = next(seeds)
        options = {"generations": 10, "population": 8, "start": "random"}
        with seeded_noise(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore", LostClusters)
            model = cl.KMeans(
                2, cl.PureDP(epsilon), (0, 1), "uniform-grid", seeding="evolution", evolution=options, random_state=seed
            )
            centers = np.asarray(model.fit(table).cluster_centers_)
        return float(np.abs(centers[0] - centers[1]).max())

    row = attack_claim(
        _start_setting(epsilon),
        "sound",
        spread,
        outlier_tables(epsilon),
        claimed=epsilon,
        epsilon=epsilon,
        source="section 5.4",
        runs=effort.pick(800, 100),
    )
    return [row]


def _one_round(table: Floats, epsilon: float, runs: int, sensitivity: float | None, first: int) -> Floats:
    """The centre of one cluster after one noisy round of DP k-means, (runs, d)."""
    rows = holder_numbers({f"x{j}": table[:, j] for j in range(table.shape[1])})
    rounds = NoisyRounds(most=1, stops=False, sensitivity=sensitivity)
    return np.array([dp_kmeans(rows, 1, epsilon, seed, rounds).value.centers[0] for seed in range(first, first + runs)])


def _scaling(effort: RunEffort) -> list[ReproducedRow]:
    epsilon, runs, source = 1.0, effort.pick(10_000, 600), "section 5.5"
    outputs = [_one_round(table, epsilon, runs, None, 1_000_000 * i) for i, table in enumerate(range_tables())]
    setting = f"{RANGE}, epsilon {epsilon:g}"
    return [
        claim_row(setting, epsilon, source),
        attack_outputs(setting, "as printed", (outputs[0], outputs[1]), claimed=epsilon, epsilon=math.inf, source=source),
    ]


def _sound_scaling(effort: RunEffort) -> list[ReproducedRow]:
    """The same tables with public bounds."""
    epsilon, seeds = 1.0, count()

    def center(table: Floats) -> float:
        seed = next(seeds)
        with seeded_noise(seed), warnings.catch_warnings():
            warnings.simplefilter("ignore", LostClusters)
            model = cl.KMeans(1, cl.PureDP(epsilon), (0, 1000), "lloyd", max_iter=1, random_state=seed).fit(table)
        return float(model.cluster_centers_[0, 0])

    return [
        attack_claim(
            f"{RANGE}, epsilon {epsilon:g}",
            "sound",
            center,
            range_tables(),
            claimed=epsilon,
            epsilon=epsilon,
            source="section 5.5",
            runs=effort.pick(800, 100),
        )
    ]


def _noise_scale(setting: str, sensitivity: float | None, proved: float, effort: RunEffort) -> list[ReproducedRow]:
    """Laplace noise of one round on sums and count, by one sensitivity or the other; the attacker adds up what is between."""
    epsilon, runs, source = 1.0, effort.pick(20_000, 800), "section 4.2"
    tables = corner_tables()
    numbers = []
    for i, table in enumerate(tables):
        centers = _one_round(table, epsilon, runs, sensitivity, 1_000_000 * i)
        sums = np.clip(centers * len(tables[0]), 1, 2)  # one row in the corner, or two
        numbers.append(sums.sum(axis=1, keepdims=True))
    name = f"{setting}, epsilon {epsilon:g}"
    return [
        claim_row(name, epsilon, source),
        attack_outputs(name, "as printed", (numbers[0], numbers[1]), claimed=epsilon, epsilon=proved, source=source),
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    epsilons = effort.pick(EPSILONS, EPSILONS[:1])
    works: dict[str, Callable[[], list[ReproducedRow]]] = {
        RANGE: partial(_scaling, effort),
        f"{RANGE}, sound": partial(_sound_scaling, effort),
        EACH: partial(_noise_scale, EACH, 1.0, COLUMNS + 1.0, effort),
        BOTH: partial(_noise_scale, BOTH, None, 1.0, effort),
    }
    if effort.is_quick:
        del works[f"{RANGE}, sound"]
    tasks = [ItemTask(_start_setting(epsilon), partial(_printed_start, epsilon, effort)) for epsilon in epsilons]
    tasks += [ItemTask(f"{_start_setting(epsilon)}, sound", partial(_sound_start, epsilon, effort)) for epsilon in epsilons]
    return tasks + [ItemTask(name, work) for name, work in works.items()]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    sentences = []
    for (setting, _), forms in form_cells(rows).items():
        claimed = forms["printed"].value or 0.0
        bound = forms["as printed"].value or 0.0
        words = (
            f"the claim is refuted: epsilon {number_text(claimed)} is claimed, and it is at least {number_text(bound)}"
            if bound > claimed
            else f"not refuted: the attack finds {number_text(bound)}, below the claimed {number_text(claimed)}"
        )
        words += f" ({' '.join(forms['as printed'].notes)})"
        if setting.startswith(START) and bound > claimed:
            words += ". Nothing but the evolved start gives it away: the noisy round is calibrated as it should be"
        if "sound" in forms:
            found, own = forms["sound"].value or 0.0, forms["sound"].epsilon or 0.0
            words += f". The same attack on the sound form finds {number_text(found)}, " + (
                f"within its {number_text(own)}" if found <= own else f"above its {number_text(own)}"
            )
        sentences.append(f"{setting[0].upper()}{setting[1:]}: {words}.")
    return sentences


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    bars = [
        (f"{SHORT[setting.rpartition(', ')[0]]}: {form}", forms[form].value or 0.0)
        for (setting, _), forms in form_cells(rows).items()
        for form in ("as printed", "sound")
        if form in forms and f"epsilon {EPSILONS[0]:g}" in setting
    ]
    panel = MeasuredBars(
        "",
        tuple(word for word, _ in bars),
        tuple(value for _, value in bars),
        label=FOUND,
        line=(EPSILONS[0], "claimed"),
    )
    caption = "Lower bounds that fail once in a thousand attacks. A bar beyond the line refutes the claim of epsilon 1."
    return [Picture("What attacks find", (panel,), caption, across=1)]


ATTACKS = Item(
    "attacks",
    "Attacks on the claimed epsilon",
    "The paper claims epsilon-differential privacy for all of DEDP k-means. Two tables that differ in one row are run "
    "many times, and how well their results can be told apart bounds epsilon from below. Three things are tried one by "
    "one: the start that is evolved on exact rows, the scaling by the rows' own range, and the unsaid scale of the noise "
    "on sums and counts.",
    _tasks,
    _finds,
    _draws,
)
