"""Attacks on what the paper claims: the central baseline on two tables that differ by a row, and one report of two people.

The two tables have one cluster, so that the start does not matter, and eight attributes of two values, each held by ten rows. One
table has one row more, with the second value everywhere: it moves eight counts by 1, in every round.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import count

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.kmodes import KModes
from cloister.collect.protocols import RandomizedResponse
from cloister.papers.claim_attacks import FOUND, attack_claim, attack_outputs, claim_row
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.ldpk_modes.cut_tables import HeldCells, held_cells
from cloister.papers.ldpk_modes.modes_lloyd import modes_lloyd, spent
from cloister.papers.ldpk_modes.printed import perturb_rows
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.schema import Category, Column, Schema
from cloister.testing import replay, seeded_noise

__all__ = ["ATTACKS", "attack_centres", "attack_counts", "neighbouring_cells"]

ATTRIBUTES, ROUNDS, CLAIMED, SOUND = 8, 5, 0.1, 1.0
HALF = 10  # rows with each value
RUNS_AT_ONCE, SOUND_RUNS = 20_000, 250
NAMES = [f"q{j}" for j in range(ATTRIBUTES)]
COUNTS = f"DP-modes-Lloyd, m {ATTRIBUTES}, T {ROUNDS}: the noisy counts"
CENTRES = f"DP-modes-Lloyd, m {ATTRIBUTES}, T {ROUNDS}: the centres alone"
REPORT = "one report, two people who differ in 2 attributes, epsilon 1"
NEEDED = "epsilon that these two tables need, exactly"
SOURCE = "section 3.3"

Pair = tuple[NDArray[np.float64], NDArray[np.float64]]


def _codes(with_row: bool) -> NDArray[np.int64]:
    """The rows of a table, all attributes alike, (n,)."""
    return np.array([0] * HALF + [1] * HALF + [1] * with_row, dtype=np.int64)


def neighbouring_cells() -> tuple[HeldCells, HeldCells]:
    """The two tables as their holder has them."""
    tables = [{name: _codes(with_row) for name in NAMES} for with_row in (False, True)]
    without, with_one = (held_cells(table, (2,) * ATTRIBUTES) for table in tables)
    return without, with_one


def _text_tables() -> tuple[pa.Table, pa.Table]:
    """The same as a user of the program has them."""
    without, with_one = (
        pa.table({name: ["ab"[code] for code in _codes(with_row)] for name in NAMES}) for with_row in (False, True)
    )
    return without, with_one


def _lloyd_outputs(held: HeldCells, runs: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Of many runs: noisy counts added up over the rounds, (runs, values), and centres, (runs, attributes)."""
    counts, centres = [], []
    for part, first in enumerate(range(0, runs, RUNS_AT_ONCE)):
        some = min(RUNS_AT_ONCE, runs - first)
        found = modes_lloyd(held, 1, ROUNDS, CLAIMED, 1000 * seed + part, some).value
        counts.append(found.noisy_counts.sum(axis=(1, 2)))
        centres.append(found.centres[:, 0].astype(np.float64))
    return np.concatenate(counts), np.concatenate(centres)


def attack_counts(runs: int) -> ReproducedRow:
    """What the noisy counts of all rounds, which the noise is to protect, say about the row."""
    outputs = tuple(_lloyd_outputs(held, runs, seed)[0] for seed, held in enumerate(neighbouring_cells()))
    cost = spent(ATTRIBUTES, ROUNDS, CLAIMED)
    return attack_outputs(COUNTS, "as printed", (outputs[0], outputs[1]), claimed=CLAIMED, epsilon=cost, source=SOURCE)


def attack_centres(runs: int) -> ReproducedRow:
    """The same of the centres at the end, all that the algorithm returns."""
    outputs = tuple(_lloyd_outputs(held, runs, 10 + seed)[1] for seed, held in enumerate(neighbouring_cells()))
    cost = spent(ATTRIBUTES, ROUNDS, CLAIMED)
    return attack_outputs(CENTRES, "as printed", (outputs[0], outputs[1]), claimed=CLAIMED, epsilon=cost, source=SOURCE)


def _sound_model(random_state: int) -> KModes:
    schema = Schema(tuple(Column(name, Category(domain=("a", "b"))) for name in NAMES))
    return KModes(1, budget=SOUND, schema=schema, method="lloyd", max_iter=ROUNDS, neighbours="add-remove",
                  random_state=random_state)  # fmt: skip


def _attack_sound(runs: int) -> ReproducedRow:
    """The same attack on `cloister.KModes`: its modes and its noisy sizes."""
    seeds = count()

    def mechanism(rows: pa.Table) -> list[float]:
        with seeded_noise(next(seeds)):
            model = _sound_model(0).fit(rows)
        modes = [float(value == "b") for value in model.cluster_centers_[0]]
        return [*modes, *model.cluster_sizes_.tolist()]

    return attack_claim(CENTRES, "sound", mechanism, _text_tables(), claimed=SOUND, epsilon=SOUND, source=SOURCE, runs=runs)


def _needed_rows() -> list[ReproducedRow]:
    """Without sampling: of the printed noise by its scale, of the sound form by an exact audit of all that it releases."""
    found = replay(lambda rows: _sound_model(0).fit(rows), _text_tables())
    cost = spent(ATTRIBUTES, ROUNDS, CLAIMED)
    return [
        ReproducedRow(COUNTS, "printed", NEEDED, CLAIMED, SOURCE, claimed=CLAIMED),
        ReproducedRow(
            COUNTS, "as printed", NEEDED, cost, SOURCE, claimed=CLAIMED, epsilon=cost, note="if all rounds are run"
        ),
        ReproducedRow(COUNTS, "sound", NEEDED, found.largest_loss, SOURCE, claimed=SOUND, epsilon=SOUND),
    ]


def _report_rows(runs: int) -> list[ReproducedRow]:
    """One report of each of two people, who differ in both attributes."""
    epsilon = 2.0
    truths = [np.full((runs, 2), answer, dtype=np.int64) for answer in (0, 1)]
    printed = [
        perturb_rows(holder_numbers({"a": truth[:, 0], "b": truth[:, 1]}), 2, 1.0, seed).value.astype(np.float64)
        for seed, truth in enumerate(truths)
    ]
    protocol = RandomizedResponse.of(("no", "yes"), Fraction(1))
    with seeded_noise(0):
        sound = [np.column_stack([protocol.perturb_codes(column) for column in truth.T]).astype(float) for truth in truths]
    source = "definition 2"
    return [
        claim_row(REPORT, epsilon, source, note="epsilon times the attributes that differ"),
        attack_outputs(REPORT, "as printed", (printed[0], printed[1]), claimed=epsilon, epsilon=epsilon, source=source),
        attack_outputs(REPORT, "sound", (sound[0], sound[1]), claimed=epsilon, epsilon=epsilon, source=source),
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    counts, centres = effort.pick(200_000, 20_000), effort.pick(600_000, 60_000)
    return [
        ItemTask("noisy counts", lambda: [claim_row(COUNTS, CLAIMED, SOURCE), attack_counts(counts)]),
        ItemTask("exactly", _needed_rows),
        ItemTask("centres", lambda: [claim_row(CENTRES, CLAIMED, SOURCE), attack_centres(centres)]),
        *effort.pick(
            [ItemTask("sound centres", lambda: [_attack_sound(SOUND_RUNS)])], []
        ),  # the exact audit says more in less time
        ItemTask("one report", lambda: _report_rows(effort.pick(1_000_000, 100_000))),
    ]


def attack_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """Whether each claim stood."""
    sentences = []
    for row in rows:
        if row.measure != FOUND or row.form == "printed":
            continue
        value, claimed = float(row.value or 0), float(row.claimed or 0)
        verdict = "refutes" if value > claimed else "does not refute"
        whose = "as printed" if row.form == "as printed" else "the sound form"
        sentences.append(f"{row.setting}, {whose}: at least {value:.2f} was found, which {verdict} epsilon {claimed:g}.")
    needed = {row.form: float(row.value or 0) for row in rows if row.measure == NEEDED}
    return [
        *sentences,
        f"By the law of the noise, these two tables need epsilon {needed['as printed']:.1f} as printed, and "
        f"{needed['sound']:.4f} of {SOUND:g} in the sound form. What an attack finds is bounded by its number of runs.",
    ]


ATTACKS = Item(
    "attacks",
    "Attacks on the claims",
    "Each form is run many times on two tables that differ by one row (or, for a report, for two people), and a lower bound on "
    "its epsilon follows from how differently they come out. A bound above the claim refutes it.",
    _tasks,
    attack_finds,
)
