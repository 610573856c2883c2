"""The complexity that section 6.2 prints, beside passes over the rows that are counted and times that are measured."""

from __future__ import annotations

import math
import time
import tracemalloc
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import cloister as cl
from cloister.papers.di_clustering.magic_and_heart import magic_rows
from cloister.papers.di_clustering.printed import di_kmeans, nearest
from cloister.papers.di_clustering.printed_formulas import halved_epsilons, printed_epsilon, printed_operations
from cloister.papers.di_clustering.rho_mapping import WORLDS
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.testing import seeded_noise
from cloister.vault import Unprotected

__all__ = ["PASSES"]

BASE = {"rows": 20_000, "clusters": 8, "rounds": 4, "columns": 8}
PASS = "passes over all rows"
TIMES = "times as long"
ON_MAGIC = "MAGIC, 2 clusters, 5 rounds"
SPEED = "times as fast as one machine, by the formula"
CHUNKS = (2, 4, 1_000)
EPSILON = printed_epsilon(0.05, WORLDS)


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    folder, repeats = effort.data, effort.pick(5, 1)
    return [
        ItemTask("passes", lambda: _pass_rows(folder)),
        *(ItemTask(f"twice the {what}", _later(_twice_rows, what, repeats)) for what in BASE),
        ItemTask("time and memory", lambda: _context_rows(folder)),
    ]


def _later(work: Callable[..., list[ReproducedRow]], *given: Any) -> Callable[[], list[ReproducedRow]]:
    return lambda: work(*given)


def _fits(rows: Unprotected[Any], clusters: int, rounds: int, start: Any = None) -> dict[Form, Callable[[], int]]:
    """A fit of each form, which gives the number of its passes; from a public start unless none is given."""

    def printed() -> int:
        found = di_kmeans(rows, clusters, halved_epsilons(EPSILON, rounds), seed=0, start=start)
        return int(found.release_.parameters["passes"])

    def sound() -> int:
        options: dict[str, Any] = {"method": "lloyd", "schedule": "halving", "max_iter": rounds, "random_state": 0}
        with seeded_noise(0):
            model = cl.KMeans(clusters, cl.Identifiability(rho="0.05", worlds=WORLDS), (0, 1), **options).fit(rows.value)
        return len(model.release_.events)  # each step is a pass

    return {"as printed": printed, "sound": sound}


def _pass_rows(folder: Path | None) -> list[ReproducedRow]:
    rows, source = magic_rows(folder), "section 6.2"
    found = [ReproducedRow(ON_MAGIC, "printed", PASS, 5.0, source)]
    for form, fit in _fits(rows, 2, 5).items():
        found.append(ReproducedRow(ON_MAGIC, form, PASS, float(fit()), source, epsilon=_epsilon(form)))
    count, columns = rows.value.shape
    centers = di_kmeans(rows, 2, halved_epsilons(EPSILON, 5), seed=0).value
    largest = int(np.bincount(nearest(rows.value, centers)[0]).max())
    for chunks in CHUNKS:
        speed = count * 2 * 5 * columns / printed_operations(count, 2, 5, columns, chunks, largest)
        setting = f"MAGIC in {chunks:,} chunks, largest cluster {largest / count:.0%} of the rows"
        found.append(ReproducedRow(setting, "printed", SPEED, speed, source))
    return found


def _epsilon(form: Form) -> float:
    return math.inf if form == "as printed" else EPSILON


def _twice_rows(what: str, repeats: int) -> list[ReproducedRow]:
    """Processor time for twice as much of one thing, over that for once."""
    taken: dict[Form, list[float]] = {}
    for sizes in (BASE, {**BASE, what: 2 * BASE[what]}):
        random = np.random.default_rng(0)
        rows = Unprotected(random.random((sizes["rows"], sizes["columns"])), "made-up rows")
        start = random.random((sizes["clusters"], sizes["columns"]))
        for form, fit in _fits(rows, sizes["clusters"], sizes["rounds"], start).items():
            taken.setdefault(form, []).append(_processor_seconds(fit, repeats))
    setting, source, note = f"twice the {what}", "section 6.2", "measured: not the same in every run"
    rows_found = [ReproducedRow(setting, "printed", TIMES, 2.0, source)]
    for form, (once, twice) in taken.items():
        rows_found.append(ReproducedRow(setting, form, TIMES, twice / once, source, epsilon=_epsilon(form), note=note))
    return rows_found


def _processor_seconds(work: Callable[[], Any], repeats: int) -> float:
    """The least of a few runs after one that warms up."""
    work()
    taken = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def _context_rows(folder: Path | None) -> list[ReproducedRow]:
    """For context alone: the paper ran Hadoop on a machine of its day, and reading, starting and waiting count there."""
    rows = magic_rows(folder)
    found = [
        ReproducedRow(ON_MAGIC, "printed", "seconds (context)", 13.57, "section 6.2"),
        ReproducedRow(ON_MAGIC, "printed", "memory in MB (context)", 244.89, "section 6.2"),
        ReproducedRow("Heart", "printed", "seconds (context)", 8.07, "section 7.2"),
        ReproducedRow("Heart", "printed", "memory in MB (context)", 394.07, "section 7.2"),
    ]
    for form, fit in _fits(rows, 2, 5).items():
        seconds = _processor_seconds(fit, 1)
        tracemalloc.start()
        try:
            fit()
            memory = tracemalloc.get_traced_memory()[1] / 2**20
        finally:
            tracemalloc.stop()
        facts: dict[str, Any] = {
            "source": "section 6.2",
            "epsilon": _epsilon(form),
            "note": "measured beside the rows themselves",
        }
        found.append(ReproducedRow(ON_MAGIC, form, "seconds (context)", seconds, **facts))
        found.append(ReproducedRow(ON_MAGIC, form, "memory in MB (context)", memory, **facts))
    return found


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    found = {(row.setting, row.measure, row.form): row.value or math.nan for row in rows}
    claimed, again, sound = (found[ON_MAGIC, PASS, form] for form in ("printed", "as printed", "sound"))
    speeds = [row.value or math.nan for row in rows if row.measure == SPEED]
    times = {
        form: ", ".join(f"{found[f'twice the {what}', TIMES, form]:.2g} for the {what}" for what in BASE)
        for form in ("as printed", "sound")
    }
    counts = "more than the formula has" if again > claimed else "as many as the formula has"
    stops = (
        "no number of machines makes it faster than that" if speeds[-1] <= speeds[-2] * 1.5 else "it grows with the machines"
    )
    return [
        f"As printed the rows are gone through {again:.0f} times, {counts} ({claimed:.0f}, its rounds): the start has one pass a "
        f"centre. The sound form takes {sound:.0f}: its rounds, and one for the loss.",
        f"Twice as much takes, as printed, times {times['as printed']}; sound, {times['sound']}. The formula says 2 for each; "
        "arithmetic on small arrays has costs that do not grow, and times vary.",
        f"By the formula itself the gain of many machines ends at the largest cluster, which one of them adds up: "
        f"{speeds[-1]:.2g} times on MAGIC; {stops}.",
        "Seconds and megabytes are for context: the paper's are of Hadoop with its start-up, those here of arithmetic.",
    ]


PASSES = Item(
    "passes",
    "Passes over the rows, and time",
    "Section 6.2 prints O(T d max(k max n_i, max |U_p|)) for T rounds, d columns, k clusters, chunks of n_i rows and clusters of "
    "|U_p|. How often are all rows gone through, and how does the time grow?",
    _tasks,
    _finds,
)
