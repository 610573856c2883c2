"""Attacks on what paper 000 claims: many runs on two tables that differ in one row, and a bound on epsilon from below.

Printed forms are run many thousand times at once; the sound forms through their public door, a fit a run, and are also
replayed exactly, which finds the largest loss of one walk without sampling.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

from cloister.papers.claim_attacks import FOUND, attack_claim, attack_outputs, claim_row
from cloister.papers.di_clustering.attacked_claims import AttackedClaim, attacked_claims
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture
from cloister.testing import audit, seeded_noise

__all__ = ["ATTACKS", "printed_rows"]

REPLAYED = "epsilon that an exact replay finds"
FEW = 1.2  # a claim up to this epsilon can be refuted by few hundred fits
QUICKLY = ("size one or none",)


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    runs, fits = effort.pick(400_000, 60_000), effort.pick(300, 100)
    tasks = []
    for attacked in attacked_claims():
        tasks.append(ItemTask(f"as printed, {attacked.setting}", _later(printed_rows, attacked, runs)))
        tasks.append(ItemTask(f"replayed, {attacked.setting}", _later(_replayed_rows, attacked)))
        if attacked.sound_epsilon <= FEW and (not effort.is_quick or attacked.setting in QUICKLY):
            tasks.append(ItemTask(f"sound, {attacked.setting}", _later(_sound_rows, attacked, fits)))
    return tasks


def _later(work: Callable[..., list[ReproducedRow]], *given: Any) -> Callable[[], list[ReproducedRow]]:
    return lambda: work(*given)


def printed_rows(attacked: AttackedClaim, runs: int) -> list[ReproducedRow]:
    """The claim, and what an attack on the printed form finds."""
    found = attack_outputs(
        attacked.setting,
        "as printed",
        attacked.printed(runs, 1),
        claimed=attacked.claimed,
        epsilon=attacked.proved,
        source=attacked.source,
    )
    return [claim_row(attacked.setting, attacked.claimed, attacked.source, attacked.words), found]


def _sound_rows(attacked: AttackedClaim, fits: int) -> list[ReproducedRow]:
    """The same on the sound form; each fit has noise of its own."""
    seeds = count()

    def fit(table: Any) -> Any:
        with seeded_noise(next(seeds)):
            model = attacked.sound(table)
        return [model.cluster_centers_.tolist(), model.cluster_sizes_.tolist()]

    return [
        attack_claim(
            attacked.setting,
            "sound",
            fit,
            attacked.tables,
            claimed=attacked.sound_epsilon,
            epsilon=attacked.sound_epsilon,
            source=attacked.source,
            runs=fits,
        )
    ]


def _replayed_rows(attacked: AttackedClaim) -> list[ReproducedRow]:
    """The largest loss that the second table can have had on the walk of the first."""
    found = audit(attacked.sound, attacked.tables)
    epsilon = attacked.sound_epsilon
    return [
        ReproducedRow(
            attacked.setting, "sound", REPLAYED, float(found.largest_loss), attacked.source, claimed=epsilon, epsilon=epsilon
        )
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    words = {row.setting: row.note for row in rows if row.form == "printed"}
    again = [row for row in rows if row.form == "as printed"]
    refuted = [row for row in again if (row.value or 0) > (row.claimed or 0)]
    kept = [row for row in again if row not in refuted]
    found = [
        f"{words[row.setting]}: at least {row.value:.2f}, where {row.claimed:.2f} is claimed"
        f"{'' if row.epsilon == math.inf else f' and {row.epsilon:.2f} is proved'}."
        for row in refuted
    ]
    if kept:
        found.append(f"Not refuted: {'; '.join(row.setting for row in kept)}.")
    sound = [row for row in rows if row.form == "sound"]
    broken = [row for row in sound if (row.value or 0) > (row.epsilon or 0) * (1 + 1e-6)]
    tried, replayed = (sum(row.measure == measure for row in sound) for measure in (FOUND, REPLAYED))
    if broken:
        found.append(
            f"The sound form fails too at {'; '.join(row.setting for row in broken)}: this is a fault of this program."
        )
    else:
        closest = max((row.value or 0) / (row.epsilon or 1) for row in sound)
        found.append(
            f"On the sound form no attack (of {tried}) and no exact replay (of {replayed}) finds more than its epsilon; the "
            f"largest is {closest:.0%} of it."
        )
    found.append(
        "Where the tables are told apart in every run the bound is that of the number of runs alone: more runs would give more, "
        "and no finite epsilon covers it."
    )
    return found


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    again = [row for row in rows if row.form == "as printed"]
    bars = MeasuredBars(
        "",
        tuple(row.setting for row in again),
        tuple((row.value or 0.0) / (row.claimed or 1.0) for row in again),
        label="bound found, in parts of the claimed epsilon",
        line=(1.0, "claimed"),
    )
    caption = "Lower bounds at 99.9% on the epsilon of the printed forms; above 1 the claim is refuted."
    return [Picture("Attacks on the printed forms", (bars,), caption, across=1)]


ATTACKS = Item(
    "attacks",
    "Attacks on the claims",
    "Each printed form is run many times on two tables that differ in one row. How often its results tell the tables apart "
    "bounds its true epsilon from below; the same is tried on the sound form.",
    _tasks,
    _finds,
    _draws,
)
