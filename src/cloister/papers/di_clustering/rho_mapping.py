"""From rho to epsilon, and from epsilon to the noise of a round: what the paper prints, its formulas, and what is spent here."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np

import cloister as cl
from cloister.clustering.domain import from_bounds
from cloister.clustering.lloyd import rounds_of
from cloister.clustering.lloyd_start import find_start
from cloister.clustering.task import Task as ClusterTask
from cloister.clustering.terms import Terms
from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.di_clustering.printed import cluster_sums
from cloister.papers.di_clustering.printed_formulas import halved_epsilons, noise_scale, printed_epsilon, rho_of
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.identifiability import epsilon_from_rho, largest_rho, rho_from_epsilon
from cloister.report.picture import Picture
from cloister.schema import Neighbours
from cloister.vault import Unprotected

__all__ = ["MAPPING", "NOISE", "WORLDS"]

WORLDS = 10_001  # a column on a grid of 10^-4 in [0, 1]
PAIRS = (("0.05", WORLDS), ("0.7", 2), ("0.2", 100), ("0.05", 1_000), ("0.1", 32_561))
PRINTED = {("0.05", WORLDS): 6.26}
HEART = "Heart, numbers and categories together"
GUESS = "posterior of one of two worlds at epsilon 6.266"
ADDED = "rho 0.05 spent as an add-remove epsilon"
COLUMNS, CLUSTERS, ROUNDS = 10, 2, 5
RHOS = ("0.0002", "0.001", "0.01", "0.05", "0.3")
SCALE = "noise of a column's sum (scale, in column widths)"


def _mapping(effort: RunEffort) -> Sequence[ItemTask]:
    return [ItemTask("formulas", _mapping_rows)]


def _mapping_rows() -> list[ReproducedRow]:
    rows = []
    for rho, worlds in PAIRS:
        setting = f"rho {rho}, {worlds:,} worlds"
        formula, sound = printed_epsilon(float(rho), worlds), float(epsilon_from_rho(Fraction(rho), worlds))
        if (rho, worlds) in PRINTED:
            claimed = PRINTED[rho, worlds]
            rows.append(ReproducedRow(setting, "printed", "epsilon", claimed, "section 7.2", claimed=claimed))
        rows.append(ReproducedRow(setting, "as printed", "epsilon", formula, "section 4", epsilon=sound))
        rows.append(ReproducedRow(setting, "sound", "epsilon", sound, "section 4", epsilon=sound))
    parts = [epsilon_from_rho(Fraction("0.05"), WORLDS), epsilon_from_rho(Fraction("0.7"), 2)]
    numbers, total = float(parts[0]), float(sum(parts))
    rows += [
        ReproducedRow(HEART, "printed", "epsilon", 6.26, "section 7.2", claimed=6.26),
        ReproducedRow(HEART, "as printed", "epsilon", max(map(float, parts)), "section 7.2", epsilon=math.inf),
        ReproducedRow(HEART, "sound", "epsilon", total, "section 7.2", epsilon=total),
        ReproducedRow(GUESS, "as printed", "posterior", rho_of(numbers, 2), "definition 1", epsilon=numbers),
        ReproducedRow(GUESS, "sound", "posterior", rho_from_epsilon(parts[0], 2), "definition 1", epsilon=numbers),
        ReproducedRow(ADDED, "printed", "posterior", 0.05, "section 3.1", claimed=numbers),
        ReproducedRow(
            ADDED,
            "sound",
            "posterior",
            float(largest_rho(parts[0], WORLDS, Neighbours.ADD_REMOVE)),
            "section 3.1",
            epsilon=2 * numbers,
        ),
    ]
    return rows


def _mapping_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    found = {(row.setting, row.form): row.value for row in rows if row.value is not None}
    worst = max(
        abs(found[f"rho {rho}, {worlds:,} worlds", "as printed"] - found[f"rho {rho}, {worlds:,} worlds", "sound"])
        for rho, worlds in PAIRS
    )
    agree = "agrees with exact arithmetic" if worst < 1e-9 else "differs from exact arithmetic"
    printed, sound = found[HEART, "printed"], found[HEART, "sound"]
    kept = "more than the" if sound > printed else "no more than the"
    return [
        f"The mapping {agree} (largest difference {worst:.1g}).",
        f"For Heart a row pays for its numbers and for its categories: {sound:.2f}, {kept} {printed:.2f} that is printed.",
        f"A rho bounds the belief in one exact world among many. At the epsilon of rho 0.05 a guess between two worlds may "
        f"become {found[GUESS, 'sound']:.1%} sure.",
        f"Rho is about a row that is replaced. Where the same epsilon is spent under add-remove neighbours, the posterior "
        f"may reach {found[ADDED, 'sound']:.3f} in place of {found[ADDED, 'printed']:.2f}.",
    ]


MAPPING = Item(
    "mapping",
    "From rho to epsilon",
    "The paper sets rho, the largest belief that a release may give an adversary in any one of m equally likely tables, and "
    "says which epsilon of differential privacy it is worth. Is the formula right, and is its total for mixed data?",
    _mapping,
    _mapping_finds,
)


def _noise(effort: RunEffort) -> Sequence[ItemTask]:
    return [ItemTask(f"rho {rho}", _noise_work(rho, effort.pick(200_000, 20_000))) for rho in RHOS]


def _noise_work(rho: str, draws: int) -> Callable[[], list[ReproducedRow]]:
    return lambda: _noise_rows(rho, draws)


def _noise_rows(rho: str, draws: int) -> list[ReproducedRow]:
    """The scale of the noise of the first and of the last round, for ten columns of width 1."""
    whole = printed_epsilon(float(rho), WORLDS)
    task = ClusterTask(
        tuple(f"x{j}" for j in range(COLUMNS)),
        from_bounds([f"x{j}" for j in range(COLUMNS)], (0, 1), "bounds"),
        Terms(cl.Identifiability(rho=rho, worlds=WORLDS), Neighbours.REPLACE_ONE),
        CLUSTERS,
        schedule="halving",
    )
    assert task.domain is not None
    steps = rounds_of(task, find_start(task).rest(), ROUNDS)
    rows = []
    for i in (1, ROUNDS):
        setting, each = f"rho {rho}, round {i}", halved_epsilons(whole, ROUNDS)[i - 1]
        scale = noise_scale(COLUMNS, rho_of(each, WORLDS), WORLDS)
        origin = Unprotected(np.zeros((1, COLUMNS)), "a row at the origin, whose sums are noise alone")
        drawn = cluster_sums(
            origin, np.zeros((1, COLUMNS)), each, seed=i + 10 * RHOS.index(rho), runs=draws // COLUMNS
        ).value
        sound = steps[i - 1].mechanism.deviation()["sums"] / math.sqrt(2) / (2 * float(task.domain.halves[0]))
        event = steps[i - 1].event
        assert isinstance(event, LaplaceEvent)
        rows += [
            ReproducedRow(setting, "printed", SCALE, scale, "theorem 1", claimed=each),
            ReproducedRow(setting, "as printed", SCALE, float(np.abs(drawn).mean()), "theorem 1", epsilon=2 * each),
            ReproducedRow(setting, "sound", SCALE, sound, "theorem 1", epsilon=float(event.epsilon)),
        ]
    return rows


def _noise_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    found = {(row.setting, row.form): row.value or math.nan for row in rows}
    settings = dict.fromkeys(row.setting for row in rows)
    drawn = [found[setting, "as printed"] / found[setting, "printed"] for setting in settings]
    first = [found[s, "sound"] / found[s, "printed"] for s in settings if s.endswith("round 1")]
    last = [found[s, "sound"] / found[s, "printed"] for s in settings if not s.endswith("round 1")]
    return [
        f"The mean of what is drawn is {min(drawn):.3f} to {max(drawn):.3f} times the formula.",
        f"The sound rounds draw {min(first):.2f} to {max(first):.2f} times the formula in the first round, since the sizes of "
        f"clusters and the loss are paid for too, and {min(last):.2f} to {max(last):.2f} times in the last, which gets what is "
        "left of the budget: as printed the last part of it is never spent.",
        "Both have the same sensitivity in their formula, d column widths. It is right for sums of centred columns, as the "
        "sound form has them; for sums that count from 0, as printed, a row that changes its cluster moves twice as much.",
    ]


def _noise_draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    def place(setting: str) -> float:
        return float(setting.split(",")[0].removeprefix("rho "))

    lines = compared_lines(rows, SCALE, place, lambda setting: setting.split(", ")[1])
    caption = "Noise of one column's sum in the first and in the last of five rounds, ten columns; logarithmic."
    return [
        lines_picture(
            "Noise over rho", lines, caption, x_label="rho", label="scale, in column widths", is_x_log=True, is_log=True
        )
    ]


NOISE = Item(
    "noise",
    "Noise of a round over rho",
    "Theorem 1 prints the scale of the noise as a formula of rho. Does what is drawn follow it, and how much more does a form "
    "draw that also pays for the sizes of the clusters?",
    _noise,
    _noise_finds,
    _noise_draws,
)
