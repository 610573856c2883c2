"""Twice to ten times the rows: the report's "linear on the size of the dataset", and what copies of rows do to k."""

from __future__ import annotations

import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from cloister.datasets import PUPIL_TREES, PUPILS
from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.leteo.printed_specialization import specialize_as_printed
from cloister.papers.leteo.pupil_tables import K, cached_pupils, copied, published, pupil_trees
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture

__all__ = ["ROWS_SCALING", "growth"]

SOURCE = "section 3.3"
SECONDS = "seconds of the processors"
CLOCK = "seconds by the clock, Spark local[2], its start included"
COPIES, ANEW = "loss of the table, rows copied", "loss of the table, rows drawn anew"
LINEAR = 1.15  # seconds that grow like rows to a power of at most this
ENOUGH_ROWS = 2_000


def _setting(base: int, times: int) -> str:
    return f"x{times}: {base * times:,} rows"


@cache
def _warm() -> None:
    """Load and compile what the timed runs use."""
    small = cached_pupils(ENOUGH_ROWS)
    published(small, gain="entropy", scope="global")
    specialize_as_printed(small, pupil_trees(), K)


def _timed(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def _seconds(base: int, times: int, runs: int) -> list[ReproducedRow]:
    _warm()
    table = copied(cached_pupils(base), times)
    works: dict[Form, Callable[[], object]] = {
        "as printed": lambda: specialize_as_printed(table, pupil_trees(), K, counts_once=False),
        "sound": lambda: published(table, gain="entropy", scope="global"),
    }
    return [
        ReproducedRow(_setting(base, times), form, SECONDS, _timed(work), SOURCE, epsilon=math.inf)
        for form, work in works.items()
        for _ in range(runs)
    ]


def _losses(base: int, times: int) -> list[ReproducedRow]:
    tables = {COPIES: copied(cached_pupils(base), times), ANEW: cached_pupils(base * times)}
    return [
        ReproducedRow(
            _setting(base, times), "as printed", measure, specialize_as_printed(table, pupil_trees(), K).value.loss, SOURCE,
            epsilon=math.inf,
        )
        for measure, table in tables.items()
    ]  # fmt: skip


def _on_spark(base: int, times: int) -> list[ReproducedRow]:
    """The whole command in a process of its own, on Spark; where there is none, a row that says so."""
    row = partial(ReproducedRow, _setting(base, times), "sound", CLOCK, source=SOURCE, epsilon=math.inf)
    if shutil.which("java") is None or find_spec("pyspark") is None:
        return [row(value=None, note="Java or pyspark is missing here")]
    import pyarrow.parquet as pq

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pq.write_table(copied(cached_pupils(base), times), place / "pupils.parquet")
        (place / "pupils.toml").write_text(PUPILS.to_toml(), encoding="utf-8")
        (place / "trees").mkdir()
        for name, text in PUPIL_TREES.items():
            (place / "trees" / name).write_text(text, encoding="utf-8")
        words = [
            sys.executable, "-m", "cloister", "anonymize", str(place / "pupils.parquet"), "--schema", str(place / "pupils.toml"),
            "--hierarchies", str(place / "trees"), "--k", str(K), "--gain", "entropy", "--scope", "global", "--engine", "spark",
            "--master", "local[2]", "--out", str(place / "out.parquet"),
        ]  # fmt: skip
        start = time.perf_counter()
        done = subprocess.run(
            words,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True,
            check=False,
        )
        taken = time.perf_counter() - start
    if done.returncode:
        return [row(value=None, note="Spark does not start here")]
    return [row(value=taken)]


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    base, factors = effort.pick(60_000, 20_000), effort.pick((1, 2, 4, 6, 8, 10), (1, 2, 4))
    said = "no numbers: linear on the size of the dataset"
    tasks = []
    for times in factors:
        claim = ReproducedRow(_setting(base, times), "printed", SECONDS, None, SOURCE, note=said)
        tasks.append(ItemTask(f"x{times}, printed", lambda row=claim: [row]))  # type: ignore[misc]
        tasks.append(ItemTask(f"x{times}, seconds", partial(_seconds, base, times, effort.pick(5, 3))))
    tasks += [ItemTask(f"x{times}, losses", partial(_losses, base, times)) for times in factors]
    spark = effort.pick((2, 10), ())
    return [*tasks, *(ItemTask(f"x{times}, Spark", partial(_on_spark, base, times)) for times in spark)]


def _rows_of(setting: str) -> float:
    return float(setting.split()[1].replace(",", ""))


def growth(rows: Sequence[ReproducedRow], form: Form, measure: str) -> float | None:
    """The power of the number of rows that a measure grows with, by least squares of logarithms; None without two places."""
    points = [
        (_rows_of(setting), forms[form].value)
        for (setting, measured), forms in form_cells(rows).items()
        if measured == measure and form in forms and forms[form].value
    ]
    if len(points) < 2:
        return None
    places, values = np.log(np.array(points, float)).T
    return float(np.polyfit(places, values, 1)[0])


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    finds = []
    for form, measure, what in (
        ("as printed", SECONDS, "The algorithm as printed, which reads all rows at each step"),
        ("sound", SECONDS, "The sound form, which counts tuples once"),
        ("sound", CLOCK, "The sound form on Spark, its start included"),
    ):
        power = growth(rows, form, measure)  # type: ignore[arg-type]
        if power is None:
            if measure == CLOCK:
                finds.append("Spark: not run (a quick run, or none is here).")
            continue
        verdict = "no faster than linear, as the report says" if power <= LINEAR else "faster than linear"
        finds.append(f"{what}: seconds grow like the rows to the power {number_text(power)}, {verdict}.")
    cells = form_cells(rows)
    settings = [setting for setting, measure in cells if measure == COPIES]
    first, last = (cells[setting, COPIES]["as printed"].value for setting in (settings[0], settings[-1]))
    anew = cells[settings[-1], ANEW]["as printed"].value
    assert first is not None and last is not None and anew is not None  # noqa: PT018
    easier = "makes k easier" if last < first else "does not make k easier here"
    finds.append(
        f"To copy rows {easier}: the loss goes from {number_text(first)} to {number_text(last)} at "
        f"{settings[-1].partition(':')[0]}, where rows drawn anew lose {number_text(anew)}. Ten copies make any table "
        "10-anonymous, and protect nobody."
    )
    return finds


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    lines = compared_lines(rows, SECONDS, _rows_of)
    caption = f"Top-down specialization of pupils, k = {K}, gain entropy, on this machine."
    return [lines_picture("Seconds over rows", lines, caption, x_label="rows", label="seconds of the processors")]


ROWS_SCALING = Item(
    "scaling",
    "Two to ten times the rows",
    "The report augmented its table two to ten times and found that the time is linear in the rows. It does not say how it "
    "augmented it; here rows are copied, and for the loss also drawn anew. Times are of this machine, in seconds of "
    "its processors.",
    _tasks,
    _finds,
    _draws,
)
