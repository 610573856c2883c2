"""Figures 4, 5 and 6 of the paper: how good clusters are, over epsilon; and with one epsilon in all for both sides."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import product
from math import inf

from cloister.papers.ldpk_modes.cut_tables import TABLES, cut_table
from cloister.papers.ldpk_modes.kmodes_findings import (
    CENTRAL,
    DEFAULT,
    FROM_ROWS,
    LOCAL,
    agreement_finds,
    equal_finds,
    nivc_finds,
    table_panels,
)
from cloister.papers.ldpk_modes.kmodes_runs import (
    RunScores,
    best_plain,
    central_default,
    central_from_rows,
    central_printed,
    central_sound,
    local_printed,
    local_sound,
)
from cloister.papers.ldpk_modes.modes_lloyd import spent
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow

__all__ = ["EQUAL_TOTAL", "FIGURE_4", "FIGURE_5", "FIGURE_6"]

EPSILONS = ("0.1", "0.2", "0.5", "1", "2")
NO_NUMBERS = "figure without numbers in our text"
SEEDS_A_TASK = 10

Score = Callable[[RunScores], float]


def _settings(effort: RunEffort) -> list[tuple[str, str]]:
    """Tables and epsilons; a quick run leaves two tables out, the largest among them."""
    return list(product(effort.pick(tuple(TABLES), ("D1", "D3")), effort.pick(EPSILONS, ("0.1", "1", "2"))))


def _chunks(effort: RunEffort) -> list[range]:
    runs = effort.pick(50, 3)
    return [range(first, min(first + SEEDS_A_TASK, runs)) for first in range(0, runs, SEEDS_A_TASK)]


def _figure_tasks(
    rounds: int, word: str, score: Score, source: str, beside: tuple[str, ...] = ()
) -> Callable[[RunEffort], list[ItemTask]]:
    """The tasks of a figure: epsilon is that of the paper's axis, for the local side that of each attribute.

    `beside` names further ways on the central side that are run: `FROM_ROWS`, `DEFAULT`.
    """

    def rows_of(effort: RunEffort, alias: str, text: str, seeds: range) -> list[ReproducedRow]:
        table, epsilon, folder = cut_table(alias, effort.data), Fraction(text), effort.data
        setting, claimed = f"{table.name}, epsilon {text}", float(epsilon)
        attributes = len(table.sizes)
        in_all = attributes * claimed
        rows = []

        def add(
            form: Form, side: str, scores: RunScores, proved: float | None = None, seed: int | None = None, note: str = ""
        ) -> None:
            said = claimed if form == "as printed" else None
            rows.append(
                ReproducedRow(setting, form, f"{word}, {side}", score(scores), source, claimed=said, epsilon=proved, seed=seed,
                              note=note)
            )  # fmt: skip

        if seeds.start == 0:
            for side in (CENTRAL, LOCAL):
                rows.append(
                    ReproducedRow(setting, "printed", f"{word}, {side}", None, source, claimed=claimed, note=NO_NUMBERS)
                )
                plain_runs = effort.pick(1000, 60)
                add("plain", side, best_plain(alias, folder, plain_runs), note=f"the best of {plain_runs:,} runs")
        for seed in seeds:
            run = alias, folder, epsilon, seed
            add("as printed", CENTRAL, central_printed(*run)[rounds], spent(attributes, rounds, claimed), seed)
            add("sound", CENTRAL, central_sound(*run, rounds), claimed, seed)
            add("as printed", LOCAL, local_printed(*run)[rounds], in_all, seed)
            add("sound", LOCAL, local_sound(*run), in_all, seed)
            if FROM_ROWS in beside:
                add("as printed", FROM_ROWS, central_from_rows(*run, rounds), inf, seed)
            if DEFAULT in beside:
                add("sound", DEFAULT, central_default(*run), claimed, seed)
        return rows

    def tasks(effort: RunEffort) -> list[ItemTask]:
        return [
            ItemTask(f"{alias}, epsilon {text}, seeds {seeds.start} to {seeds.stop - 1}",
                 lambda alias=alias, text=text, seeds=seeds: rows_of(effort, alias, text, seeds))  # type: ignore[misc]
            for (alias, text), seeds in product(_settings(effort), _chunks(effort))
        ]  # fmt: skip

    return tasks


def _equal_tasks(effort: RunEffort) -> list[ItemTask]:
    """The local side has the epsilon of the axis in all: each attribute an equal part of it."""

    def rows_of(alias: str, text: str, seeds: range) -> list[ReproducedRow]:
        table, epsilon, folder = cut_table(alias, effort.data), Fraction(text), effort.data
        each = epsilon / len(table.sizes)
        setting, measure, source = f"{table.name}, epsilon {text} in all", "NIVC, T 5", "figure 5, definition 2"
        rows = []
        for seed in seeds:
            found: tuple[tuple[Form, str, RunScores], ...] = (
                ("sound", CENTRAL, central_sound(alias, folder, epsilon, seed, 5)),
                ("as printed", LOCAL, local_printed(alias, folder, each, seed)[5]),
                ("sound", LOCAL, local_sound(alias, folder, each, seed)),
            )
            for form, side, scores in found:
                rows.append(
                    ReproducedRow(
                        setting, form, f"{measure}, {side}", scores.nivc, source, epsilon=float(epsilon), seed=seed
                    )
                )
        return rows

    return [
        ItemTask(f"{alias}, epsilon {text} in all, seeds {seeds.start} to {seeds.stop - 1}",
             lambda alias=alias, text=text, seeds=seeds: rows_of(alias, text, seeds))  # type: ignore[misc]
        for (alias, text), seeds in product(_settings(effort), _chunks(effort))
    ]  # fmt: skip


WHAT = (
    "LDPK-modes (each person perturbs) against DP-modes-Lloyd (a trusted holder adds noise), {rounds}, on public tables; {score}."
    " Epsilon is the paper's axis: all that the central side spends, but each attribute's share on the local side."
)
NIVC = "NIVC is the mean number of columns in which a row differs from the nearest centre, small is good"

FIGURE_4 = Item(
    "figure-4",
    "Figure 4: clusters after one round",
    WHAT.format(rounds="one round", score=NIVC),
    _figure_tasks(1, "NIVC, T 1", lambda scores: scores.nivc, "figure 4", (FROM_ROWS,)),
    nivc_finds,
    lambda rows: table_panels(rows, "Figure 4: NIVC over epsilon, T 1", "NIVC"),
)
FIGURE_5 = Item(
    "figure-5",
    "Figure 5: clusters after five rounds",
    WHAT.format(rounds="five rounds", score=NIVC),
    _figure_tasks(5, "NIVC, T 5", lambda scores: scores.nivc, "figure 5", (FROM_ROWS, DEFAULT)),
    nivc_finds,
    lambda rows: table_panels(rows, "Figure 5: NIVC over epsilon, T 5", "NIVC"),
)
FIGURE_6 = Item(
    "figure-6",
    "Figure 6: agreement with known classes",
    WHAT.format(rounds="five rounds", score="the F-measure says how well clusters and known classes agree, 1 is best"),
    _figure_tasks(5, "F-measure, T 5", lambda scores: scores.f_measure, "figure 6"),
    agreement_finds,
    lambda rows: table_panels(rows, "Figure 6: F-measure over epsilon, T 5", "F-measure"),
)
EQUAL_TOTAL = Item(
    "equal-total",
    "Figure 5 again, with one epsilon in all",
    "The paper's epsilon counts for each attribute by itself on the local side. Here both sides have the same epsilon in all: "
    "the local one gives each of m attributes an m-th of it.",
    _equal_tasks,
    equal_finds,
    lambda rows: table_panels(rows, "NIVC over epsilon in all, T 5", "NIVC"),
)
