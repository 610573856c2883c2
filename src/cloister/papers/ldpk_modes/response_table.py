"""Table 1 of the paper: what becomes of two binary answers at epsilon 1; recomputed, sampled, beside independent answers."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb, log, sqrt

import numpy as np
from numpy.typing import NDArray

from cloister.collect.protocols import RandomizedResponse
from cloister.collect.protocols.channel import channel_for
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.ldpk_modes.printed import answer_law, distance_law, perturb_rows
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.testing import seeded_noise

__all__ = ["TABLE_1"]

SETTINGS = ("both answers are sent as they are", "one of two differs, a given one", "both differ")
PRINTED = (0.53445, 0.19661, 0.07233)  # e^2, e and 1 over (e + 1)^2
MEASURE, SAMPLED = "probability of a report", "share of reports, sampled"
SAME_LAW = "largest gap between algorithm 1 and independent answers"
SHAPES = ((2, 2), (3, 4), (8, 2), (6, 3))  # m attributes of k values


def _formula_rows() -> list[ReproducedRow]:
    law = distance_law(2, 2, 1.0) / [comb(2, z) for z in range(3)]  # of one report at each distance
    channel = channel_for(Fraction(1), 2)
    sound = [float(channel.truth ** (2 - z) * channel.lie**z) for z in range(3)]
    rows = []
    for z, setting in enumerate(SETTINGS):
        rows += [
            ReproducedRow(setting, "printed", MEASURE, PRINTED[z], "table 1", claimed=1.0),
            ReproducedRow(setting, "as printed", MEASURE, float(law[z]), "table 1", claimed=1.0, epsilon=2.0),
            ReproducedRow(setting, "sound", MEASURE, sound[z], "table 1", epsilon=2.0),
        ]
    return rows


def _sampled_rows(people: int) -> list[ReproducedRow]:
    """Everybody answers (1, 1): how many reports differ in none, in the second, in both."""
    truth = holder_numbers({"a": np.zeros(people), "b": np.zeros(people)})
    printed = perturb_rows(truth, 2, 1.0, seed=0).value
    protocol = RandomizedResponse.of(("1", "2"), Fraction(1))
    with seeded_noise(0):
        sound = np.column_stack([protocol.perturb_codes(np.zeros(people, np.int64)) for _ in range(2)])
    forms: tuple[tuple[Form, NDArray[np.int64]], ...] = (("as printed", printed), ("sound", sound))
    rows = []
    for setting, report in zip(SETTINGS, ((0, 0), (0, 1), (1, 1)), strict=True):
        for form, sent in forms:
            share = float((sent == report).all(axis=1).mean())
            error = 1.96 * sqrt(share * (1 - share) / people)
            rows.append(
                ReproducedRow(setting, form, SAMPLED, share, "algorithm 1", low=share - error, high=share + error,
                              epsilon=2.0, seed=0, note=f"{people:,} reports")
            )  # fmt: skip
    return rows


def _law_rows() -> list[ReproducedRow]:
    """The law of algorithm 1 over all reports of one cell, beside that of independent answers."""
    rows = []
    for attributes, values in SHAPES:
        by_distance = distance_law(attributes, values, 1.0)
        lies = np.array([sum(code > 0 for code in cell) for cell in product(range(values), repeat=attributes)])
        ways = np.array([comb(attributes, z) * (values - 1) ** z for z in range(attributes + 1)])
        gap = float(np.abs((by_distance / ways)[lies] - answer_law((values,) * attributes, 1.0)[0]).max())
        setting = f"m {attributes}, k {values}"
        rows.append(
            ReproducedRow(setting, "as printed", SAME_LAW, gap, "equation 4", epsilon=float(attributes), claimed=1.0)
        )
    return rows


def _tasks(effort: RunEffort) -> list[ItemTask]:
    people = effort.pick(2_000_000, 200_000)
    return [
        ItemTask("formula", _formula_rows),
        ItemTask("sampled", lambda: _sampled_rows(people)),
        ItemTask("law", _law_rows),
    ]


def table_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """Whether the printed numbers come out, and whether the law is that of independent answers."""
    values = {(row.setting, row.form): row.value for row in rows if row.measure == MEASURE}
    gaps = [
        abs(float(values[setting, "as printed"] or 0) - printed) for setting, printed in zip(SETTINGS, PRINTED, strict=True)
    ]
    sampled = {(row.setting, row.form): row for row in rows if row.measure == SAMPLED}
    inside = sum(
        (row.low or 0) <= PRINTED[SETTINGS.index(setting)] <= (row.high or 0) for (setting, _), row in sampled.items()
    )
    largest = max(float(row.value or 0) for row in rows if row.measure == SAME_LAW)
    same = "is exactly" if largest < 1e-12 else "is not"
    same_one, one_off, both_off = (float(values[setting, "as printed"] or 1) for setting in SETTINGS)
    return [
        f"The formula gives the printed numbers, off by at most {max(gaps):.1g}.",
        f"Of {len(sampled)} sampled shares {inside} have the printed number in their 95% interval.",
        f"Algorithm 1 {same} randomized response of each answer by itself (largest gap {largest:.1g}).",
        f"The most that a report says of two people who differ in one attribute is epsilon {log(same_one / one_off):.3f}, of two "
        f"who differ in both {log(same_one / both_off):.3f}.",
    ]


TABLE_1 = Item(
    "table-1",
    "Table 1: what becomes of two answers",
    "A person with two yes-or-no answers sends a perturbed pair, at epsilon 1. The paper prints the probability of each pair; "
    "here it is computed, sampled by its algorithm 1, and compared with the program's own randomized response.",
    _tasks,
    table_finds,
)
