"""Attacks on the epsilon that ICMD-DP claims: one for each wrong step of its proof, the others repaired where they can be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.microdata.private.private_microdata import PrivateMicrodata
from cloister.papers.claim_attacks import FOUND, attack_claim, attack_outputs, claim_row
from cloister.papers.icmd_dp.figure_settings import value_of
from cloister.papers.icmd_dp.insensitive_sums import insensitive_sums
from cloister.papers.icmd_dp.neighbour_rows import NeighbourRows, alternating_rows, joined_rows, one_group, turned_rows
from cloister.papers.icmd_dp.printed import (
    AS_CLAIMED,
    ONLY_ORDER_PRINTED,
    ONLY_PARALLEL_PRINTED,
    NoiseReading,
    group_centroids,
    icmd_dp_numbers,
    icmd_groups,
    noise_by_attribute,
)
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture
from cloister.testing import seeded_noise

__all__ = ["ATTACKS", "centroid_slope", "different_rows", "projected"]

Floats = NDArray[np.float64]
Pair = tuple[Floats, Floats]
CLAIMED = 1.0
SEED = 4
DRAWS = "a draw each record"
PARALLEL = "all groups at once"
ORDER = "turned order"
ATTRIBUTES = "attribute by attribute"
SOURCES = {DRAWS: "algorithm 3", PARALLEL: "section 2.3", ORDER: "section 2.2", ATTRIBUTES: "formula 4"}


def projected(outputs: Pair, exact: Pair) -> Pair:
    """Outputs along the line between the two exact ones, which whoever attacks knows: (runs, 1) of (runs, ...)."""
    apart = exact[1] - exact[0]
    first, second = ((each * apart).reshape(len(each), -1).sum(axis=1, keepdims=True) for each in outputs)
    return first, second


def centroid_slope(means: Floats) -> Floats:
    """Of two centroids (runs, 2, 2): how much higher the right one is. It does not need to know which group is which."""
    right = means[:, 0, 0] < means[:, 1, 0]
    rise = means[:, 1, 1] - means[:, 0, 1]
    return np.where(right, rise, -rise)[:, None]


def different_rows(table: pa.Table) -> int:
    """How many different rows a table has.

    >>> different_rows(pa.table({"x": [1, 1, 2], "y": [3, 3, 3]}))
    2
    """
    return len(np.unique(np.column_stack([column.to_numpy() for column in table.columns]), axis=0))


def _printed_numbers(pair: NeighbourRows, reading: NoiseReading, runs: int) -> tuple[Pair, Pair]:
    """The numbers of many releases of both tables, and what they are without noise."""
    outputs, exact = [], []
    for place, held in enumerate(pair.held):
        outputs.append(icmd_dp_numbers(held, pair.k, CLAIMED, SEED + place, runs, reading).value)
        groups = icmd_groups(held.value, pair.k)
        means = group_centroids(held.value, groups).means
        exact.append(means if reading.once_a_group else means[groups])
    return (outputs[0], outputs[1]), (exact[0], exact[1])


def _sound_numbers(pair: NeighbourRows, runs: int) -> tuple[Pair, Pair]:
    """The same of the sound form, its groups in the order along which they were made: more than it hands out."""
    one, two = (insensitive_sums(table, pair.schema, pair.k, str(CLAIMED)) for table in pair.tables)
    return (one.released(runs, SEED), two.released(runs, SEED + 1)), (one.means, two.means)


def _along_the_line(setting: str, pair: NeighbourRows, reading: NoiseReading, effort: RunEffort) -> list[ReproducedRow]:
    """An attack by the distance between the tables: what is published, weighted by how far it should move."""
    source = SOURCES[setting]
    printed = projected(*_printed_numbers(pair, reading, effort.pick(40_000, 4_000)))
    sound = projected(*_sound_numbers(pair, effort.pick(20_000, 2_000)))
    proved = reading.proved(pair.held[0].value, pair.k, CLAIMED)
    return [
        claim_row(setting, CLAIMED, source),
        attack_outputs(setting, "as printed", printed, claimed=CLAIMED, epsilon=proved, source=source),
        attack_outputs(setting, "sound", sound, claimed=CLAIMED, epsilon=CLAIMED, source=source),
    ]


def _turned_order(effort: RunEffort) -> list[ReproducedRow]:
    pair, source = turned_rows(effort.pick(400, 200)), SOURCES[ORDER]
    (one, two), _ = _printed_numbers(pair, ONLY_ORDER_PRINTED, effort.pick(40_000, 4_000))
    (first, second), _ = _sound_numbers(pair, effort.pick(20_000, 2_000))
    printed, sound = (centroid_slope(one), centroid_slope(two)), (centroid_slope(first), centroid_slope(second))
    return [
        claim_row(ORDER, CLAIMED, source),
        attack_outputs(ORDER, "as printed", printed, claimed=CLAIMED, epsilon=math.inf, source=source),
        attack_outputs(ORDER, "sound", sound, claimed=CLAIMED, epsilon=CLAIMED, source=source),
    ]


def _joined_attributes(effort: RunEffort) -> list[ReproducedRow]:
    pair, runs, source = joined_rows(20), effort.pick(4_000, 1_000), SOURCES[ATTRIBUTES]
    counts = []
    for place, held in enumerate(pair.held):
        means, groups = noise_by_attribute(held, pair.k, CLAIMED, SEED + place, runs).value
        rows = np.stack([means[:, j, groups[:, j]] for j in range(groups.shape[1])], axis=2)  # (runs, n, d)
        counts.append(np.array([[float(len(np.unique(table, axis=0)))] for table in rows]))
    model = PrivateMicrodata(
        str(CLAIMED), "insensitive", k=pair.k, schema=pair.schema, neighbours="replace-one", random_state=SEED
    )
    with seeded_noise(SEED):
        sound = attack_claim(
            ATTRIBUTES, "sound", lambda table: different_rows(model.sample(table).table), pair.tables,
            claimed=CLAIMED, epsilon=CLAIMED, source=source, runs=effort.pick(400, 100),
        )  # fmt: skip
    return [
        claim_row(ATTRIBUTES, CLAIMED, source, note="the formula is missing in our text: one reading of it"),
        attack_outputs(ATTRIBUTES, "as printed", (counts[0], counts[1]), claimed=CLAIMED, epsilon=math.inf, source=source),
        sound,
    ]


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    return [
        ItemTask("draws", lambda: _along_the_line(DRAWS, one_group(21), AS_CLAIMED, effort)),
        ItemTask("parallel", lambda: _along_the_line(PARALLEL, alternating_rows(101, 9), ONLY_PARALLEL_PRINTED, effort)),
        ItemTask("order", lambda: _turned_order(effort)),
        ItemTask("attributes", lambda: _joined_attributes(effort)),
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    printed, sound = value_of(rows, "as printed", FOUND), value_of(rows, "sound", FOUND)
    refuted = [setting for setting, value in printed.items() if value > CLAIMED]
    held = [setting for setting, value in sound.items() if value <= CLAIMED]
    words = "; ".join(f"{setting}: {value:.2f}" for setting, value in printed.items())
    found = [
        f"The claim of epsilon {CLAIMED:g} is refuted by {len(refuted)} of {len(printed)} attacks, each at 99.9% confidence "
        f"({words}).",
        f"The same attacks on the sound form find at most {max(sound.values()):.2f}: "
        + ("its epsilon is never passed." if len(held) == len(sound) else "ITS EPSILON IS PASSED, WHICH IS A FAULT."),
    ]
    if ORDER in refuted and PARALLEL in refuted:
        found.append(
            "Repairing one fault does not do: with one draw a group and an epsilon shared by the columns the groups still move "
            "all at once, and with noise for all groups the order still follows from the farthest records."
        )
    return found


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    bars = [
        MeasuredBars(
            title,
            tuple(values),
            tuple(values.values()),
            label="epsilon, at least",
            least_end=1.2 * CLAIMED,
            line=(CLAIMED, "claimed"),
        )
        for title, values in (
            ("as printed", value_of(rows, "as printed", FOUND)),
            ("sound", value_of(rows, "sound", FOUND)),
        )
    ]
    return [
        Picture("What attacks find of a claimed epsilon of 1", tuple(bars), "Lower bounds at 99.9% confidence.", across=1)
    ]


ATTACKS = Item(
    "attacks",
    "Attacks on the claimed epsilon",
    "The paper says that noise for one group is enough: groups are insensitive, and records disjoint (parallel composition). "
    "Each attack runs a printed form many times on two tables that differ in one record, and tells them apart. The first runs it "
    "as it stands, where each record draws noise of its own. The others repair all but one fault: groups that move all at once, "
    "an order that the farthest record turns, an order for each attribute.",
    _tasks,
    _finds,
    _draws,
)
