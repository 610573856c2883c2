"""Figure 12 of paper 003: the speed-up of the parallel rounds, by workers. Here: processes over partitions on one machine."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from functools import partial

import numpy as np

from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.dedp_kmeans.partition_workers import Workers, serial_seconds
from cloister.papers.dedp_kmeans.two_sets import SETS, read_set
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["SPEEDUP"]

SOURCE = "figure 12"
NO_NUMBERS = "figure without numbers in our text"
SPEED = "speed-up of a round over one process without workers"
START = "seconds until the workers are ready"
WORKERS = (1, 2)
ROUNDS = 15
LARGE = "MAGIC, repeated"


def _setting(name: str, workers: int) -> str:
    return f"{name}, {workers} worker{'s' if workers > 1 else ''}"


def _workers_of(setting: str) -> float:
    return float(setting.rsplit(", ", 1)[1].split()[0])


def _name_of(setting: str) -> str:
    return setting.rsplit(", ", 1)[0]


def _measured(name: str, repeats: int, workers: int, effort: RunEffort) -> list[ReproducedRow]:
    found = read_set("MAGIC" if name.startswith(LARGE) else name, effort.data)
    rows = np.tile(found.normalised().value, (repeats, 1))
    centers = rows[: found.clusters]
    setting = _setting(name, workers)
    printed = ReproducedRow(setting, "printed", SPEED, None, SOURCE, note=NO_NUMBERS)
    try:
        with Workers(rows, workers) as started:
            alone = serial_seconds(rows, centers, ROUNDS)
            taken, start = started.seconds(centers, ROUNDS), started.start_seconds
    except (OSError, EOFError) as error:
        note = f"worker processes cannot be started here ({type(error).__name__})"
        return [printed, ReproducedRow(setting, "as printed", SPEED, None, SOURCE, epsilon=math.inf, note=note)]
    note = f"{len(rows):,} rows on {os.cpu_count()} cores; a round alone takes {alone * 1000:.3g} ms"
    return [
        printed,
        ReproducedRow(setting, "as printed", SPEED, alone / taken, SOURCE, epsilon=math.inf, note=note),
        ReproducedRow(setting, "as printed", START, start, SOURCE, epsilon=math.inf, note=note),
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    large = effort.pick(50, 5)
    sizes = {**dict.fromkeys(SETS, 1), f"{LARGE} {large} times": large}
    workers = effort.pick(WORKERS, WORKERS[-1:])
    return [
        ItemTask(_setting(name, count), partial(_measured, name, repeats, count, effort))
        for name, repeats in sizes.items()
        for count in workers
    ]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    sentences = [
        f"Measured on {os.cpu_count()} cores with worker processes, not on a Spark cluster of several machines: more "
        "workers than cores cannot be tried here, and where the paper's speed-up stops growing cannot be seen."
    ]
    for (setting, measure), forms in form_cells(rows).items():
        cell = forms.get("as printed")
        if measure != SPEED or cell is None:
            continue
        if cell.value is None:
            sentences.append(f"{setting}: {' '.join(cell.notes)}.")
            continue
        gain = "gains" if cell.value > 1.1 else "gains nothing" if cell.value >= 0.9 else "is slower"
        sentences.append(f"{setting}: {number_text(cell.value)} times as fast, so it {gain} ({cell.notes[0]}).")
    return sentences


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    lines = compared_lines(rows, SPEED, _workers_of, _name_of)
    if not lines:
        return []
    caption = (
        "The fastest of 15 rounds without workers over the fastest of 15 with them; starting the workers is not counted."
    )
    return [
        lines_picture(
            "Speed-up over workers",
            lines,
            caption,
            x_label="worker processes",
            label="speed-up",
            level=(1.0, "no workers at all"),
        )
    ]


SPEEDUP = Item(
    "worker-speedup",
    "Figure 12: speed-up by workers",
    "The paper runs the noisy rounds on Spark and says that more nodes are faster, on large sets nearly in proportion. "
    "Its two sets have 178 and 19,020 rows. The same map and reduce is timed here with worker processes over partitions, "
    "on both sets and on MAGIC repeated until it is large.",
    _tasks,
    _finds,
    _draws,
)
