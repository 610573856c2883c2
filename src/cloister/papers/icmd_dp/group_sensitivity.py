"""What one replaced record moves: one group as printed, all of them in truth; and where ICMD-DP then beats plain noise."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa

from cloister.datasets import load
from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.icmd_dp.adult_release import adult_rows
from cloister.papers.icmd_dp.figure_settings import EACH_RECORD, SHARED, k_of, table_rows, value_of
from cloister.papers.icmd_dp.insensitive_sums import insensitive_steps, insensitive_sums
from cloister.papers.icmd_dp.neighbour_rows import alternating_rows
from cloister.papers.icmd_dp.printed import AS_CLAIMED, AS_IN_FIGURE_3, ends_of, group_centroids, icmd_groups
from cloister.papers.icmd_dp.unit_rows import UnitRows, read_unit_rows
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.privacy.mechanisms import Laplace
from cloister.report.picture import Picture
from cloister.schema import Schema

__all__ = ["SENSITIVITY", "published_means"]

SCALE = "noise at epsilon 1, ranges"
MADE_FOR = "move that noise is made for, ranges"
ATTAINED = "move that is attained, ranges"
LARGEST = "largest move of a number, ranges"
COST = "epsilon that is spent, at least"
ROWS = 30_000
SIZES = (2, 10, 50, 100, 173, 174, 200, 500, 5_000)
QUICK_SIZES = (2, 10, 173, 174, 200, 5_000)
TABLES = ((25, 5), (101, 9), (301, 3))  # groups and their size


def _scales(effort: RunEffort, k: int) -> list[ReproducedRow]:
    """The noise of a group's mean: by the printed sensitivity, and by the plan of the sound form. No row is read."""
    schema = _adult_schema(effort.data)
    _, steps = insensitive_steps(schema, ROWS, k, "1")
    assert isinstance(steps.means, Laplace)
    scale = float(steps.means.scales["sums"]) / k / (2 * steps.sums.halves[0])
    setting = f"{ROWS:,} rows of {len(schema.names)} columns, k {k:,}"
    return [
        ReproducedRow(setting, "printed", SCALE, 1 / k, "section 2.2", claimed=1.0),
        ReproducedRow(setting, "sound", SCALE, scale, "section 2.2", claimed=1.0, epsilon=1.0),
    ]


def _plain_scale(effort: RunEffort) -> list[ReproducedRow]:
    """The noise of the paper's baseline where its epsilon holds."""
    columns = len(_adult_schema(effort.data).names)
    setting = f"{ROWS:,} rows of {columns} columns, {EACH_RECORD}, {SHARED}"
    return [ReproducedRow(setting, "as printed", SCALE, float(columns), "section 2.3", claimed=1.0, epsilon=1.0)]


@cache
def _adult_schema(folder: Path | None) -> Schema:
    return load("adult", folder=folder).schema


def _constructed(groups: int, k: int) -> list[ReproducedRow]:
    """Tables whose groups move all at once."""
    pair = alternating_rows(groups, k)
    one, two = (group_centroids(held.value, icmd_groups(held.value, k)).means for held in pair.held)
    sound = [insensitive_sums(table, pair.schema, k, "1") for table in pair.tables]
    setting = f"made-up table, {groups * k:,} rows, k {k}"
    steps = sound[0].steps
    widths = 2 * sum(steps.sums.halves)
    made_for = steps.sums.sensitivity(sound[0].task.terms.neighbours).l1("sums") / widths
    moves = np.abs(sound[0].means - sound[1].means).sum(axis=0).max()
    return [
        ReproducedRow(setting, "printed", MADE_FOR, 1 / k, "section 2.2", claimed=1.0),
        ReproducedRow(setting, "sound", MADE_FOR, float(made_for) / k, "section 2.2", claimed=1.0, epsilon=1.0),
        ReproducedRow(setting, "printed", ATTAINED, 1 / k, "section 2.2", note="said to be the most"),
        ReproducedRow(
            setting, "as printed", ATTAINED, float(np.abs(one - two).sum(axis=0).max()), "section 2.2", epsilon=math.inf
        ),
        ReproducedRow(setting, "sound", ATTAINED, float(moves), "section 2.2", claimed=1.0, epsilon=1.0),
    ]


def published_means(rows: UnitRows, k: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """What ICMD publishes of the numbers of each record, without noise, (n, d)."""
    groups = icmd_groups(rows, k)
    return group_centroids(rows, groups).means[groups]


def _farthest_replaced(effort: RunEffort, k: int) -> list[ReproducedRow]:
    """Adult, and Adult with its farthest record replaced by a copy of its first row: numbers alone, so at least this much."""
    adult = adult_rows(table_rows(effort), effort.data)
    rows = adult.held.value
    places = np.arange(len(rows))
    places[ends_of(rows)[0]] = 0
    other_table = adult.table.take(pa.array(places))
    other = read_unit_rows(other_table, adult.schema).value
    moves = np.abs(published_means(rows, k) - published_means(other, k))
    one, two = (insensitive_sums(table, adult.schema, k, "1") for table in (adult.table, other_table))
    setting = f"Adult, {len(rows):,} rows, farthest record replaced, k {k}"
    found = [
        ReproducedRow(setting, "printed", LARGEST, 1 / k, "section 2.2", claimed=1.0, note="said to be the most"),
        ReproducedRow(setting, "as printed", LARGEST, float(moves.max()), "section 2.2", claimed=1.0, epsilon=math.inf),
    ]
    for reading, words in ((AS_CLAIMED, "noise of one group"), (AS_IN_FIGURE_3, "noise of all groups")):
        cost, proved = moves.sum() / reading.scale(rows, k, 1.0), reading.proved(rows, k, 1.0)
        named = f"{setting}, {words}"
        found.append(ReproducedRow(named, "printed", COST, 1.0, "section 2.3", claimed=1.0, note="said to be the most"))
        found.append(ReproducedRow(named, "as printed", COST, float(cost), "section 2.3", claimed=1.0, epsilon=proved))
    found.append(
        ReproducedRow(
            f"{setting}, noise of all groups", "sound", COST, one.cost(two), "section 2.3", claimed=1.0, epsilon=1.0
        )
    )
    return found


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    scales = [
        ItemTask(f"scale, k {k}", lambda k=k: _scales(effort, k))  # type: ignore[misc]
        for k in effort.pick(SIZES, QUICK_SIZES)
    ]
    tables = [
        ItemTask(f"made-up table, {groups} groups of {k}", lambda groups=groups, k=k: _constructed(groups, k))  # type: ignore[misc]
        for groups, k in effort.pick(TABLES, TABLES[:2])
    ]
    adult = [
        ItemTask(f"Adult, k {k}", lambda k=k: _farthest_replaced(effort, k))  # type: ignore[misc]
        for k in effort.pick((10, 100, 500), (10, 100))
    ]
    return [*scales, ItemTask("scale, noise on each record", lambda: _plain_scale(effort)), *tables, *adult]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    return [*_crossing(rows), *_attained(rows), *_costs(rows)]


def _crossing(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    sound, printed = value_of(rows, "sound", SCALE), value_of(rows, "printed", SCALE)
    plain = _noise_on_records(rows)
    below = [setting for setting in sound if sound[setting] < plain]
    above = [setting for setting in sound if setting not in below]
    if below and above:
        smallest, largest = (k_of(each) or 0.0 for each in (below[0], above[-1]))
        yield (
            f"Of the k that were tried, sound noise is below noise on each record from k = {smallest:,.0f} on and not up to k = "
            f"{largest:,.0f}; the root of n is {math.sqrt(ROWS):.1f}. The paper says: for every k above 1."
        )
    else:
        yield f"Sound noise is below noise on each record at {len(below)} of the {len(sound)} k that were tried."
    worst = max(sound, key=lambda setting: sound[setting] / printed[setting])
    at = next((setting for setting in sound if k_of(setting) == 200), worst)
    yield (
        f"At k = {k_of(at):,.0f} and epsilon 1 a mean needs noise of {sound[at]:.3g} ranges, {sound[at] / printed[at]:,.0f} "
        "times the printed one."
    )


def _noise_on_records(rows: Sequence[ReproducedRow]) -> float:
    return next(iter(value_of(rows, "as printed", SCALE).values()))


def _attained(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    claimed, bound = value_of(rows, "printed", MADE_FOR), value_of(rows, "sound", MADE_FOR)
    words = [
        f"{move / claimed[setting]:,.0f} times ({move / bound[setting]:.0%} of what is possible)"
        for setting, move in value_of(rows, "as printed", ATTAINED).items()
    ]
    yield f"In made-up tables one replaced record moves the means of a column by {', '.join(words)} what is printed."


def _costs(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    moves, limits = value_of(rows, "as printed", LARGEST), value_of(rows, "printed", LARGEST)
    passed = sum(moves[setting] > limits[setting] for setting in moves)
    costs, sound = value_of(rows, "as printed", COST), value_of(rows, "sound", COST)
    yield (
        f"In Adult itself, replacing the farthest record moves a published number by up to {max(moves.values()):.2f} ranges, "
        f"more than range / k at {passed} of {len(moves)} sizes, and costs an epsilon of {min(costs.values()):,.0f} to "
        f"{max(costs.values()):,.0f} where 1 is claimed; in the sound form {min(sound.values()):.3g} to "
        f"{max(sound.values()):.3g}."
    )


def _is_scale(setting: str) -> float | None:
    k = k_of(setting) if re.match(rf"{ROWS:,} rows of", setting) else None
    return None if k in (174, 200) else k  # next to 173: their ticks would lie on each other


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    lines = compared_lines(rows, SCALE, _is_scale)
    level = (_noise_on_records(rows), EACH_RECORD)
    return [
        lines_picture(
            "Noise of a published number at epsilon 1", lines, "Scale of the noise; all columns share the epsilon but in print.",
            x_label="k", label="ranges", is_x_log=True, is_log=True, level=level,
        )
    ]  # fmt: skip


SENSITIVITY = Item(
    "sensitivity",
    "What one record moves",
    "The paper makes noise for one group, whose mean one record moves by range / k, and says that less noise is needed than on "
    "single records for every k above 1. But a record that moves through an order moves every group it passes: the noise must "
    "cover floor(n / k) times as much. Moves are those of all means of a column, added up.",
    _tasks,
    _finds,
    _draws,
)
