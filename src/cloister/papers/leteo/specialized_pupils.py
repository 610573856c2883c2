"""The report's first experiment on a stand-in of its table: what pupils are published as with k = 10, and which columns stay."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from cloister.papers.form_columns import FormCell, form_cells, number_text
from cloister.papers.leteo.printed_specialization import INFORMATION, Information, specialize_as_printed
from cloister.papers.leteo.pupil_tables import QUASI, K, cached_pupils, published, pupil_trees
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import MeasuredBars, Picture

__all__ = ["SPECIALIZED_PUPILS", "kept_columns"]

SOURCE = "section 3.3"
WHOLE = "loss of the table"
RARE = "share of rows whom fewer than 10 look like"
FEW = 0.05  # a column that loses less is still published as its values, but for a few rows
SYNTACTIC = "k = 10 is a property of the table: no finite epsilon"
REMOVED = {"all rows": (1, 0.0), "unique rows left out": (2, 0.01), "tuples below 10 left out": (10, 0.02)}
"""What is left out: tuples that occur less often than so, as printed; up to so many rows, in the sound form."""


def _setting(information: str, left_out: str) -> str:
    return f"{information}, {left_out}"


def _rows(setting: str, form: Form, losses: dict[str, float], whole: float, note: str) -> list[ReproducedRow]:
    measures = {WHOLE: whole, **{f"loss of {name}": loss for name, loss in losses.items()}}
    return [
        ReproducedRow(setting, form, measure, value, SOURCE, epsilon=math.inf, note=note if measure == WHOLE else "")
        for measure, value in measures.items()
    ]


def _as_printed(rows: int, information: Information, left_out: str) -> list[ReproducedRow]:
    fewest = REMOVED[left_out][0]
    table = specialize_as_printed(cached_pupils(rows), pupil_trees(), K, information, "as meant", fewest).value
    note = f"{table.removed} rows left out, {table.classes} classes, the smallest of {table.smallest}"
    return _rows(_setting(information, left_out), "as printed", table.losses, table.loss, note)


def _sound(rows: int, information: str, left_out: str) -> list[ReproducedRow]:
    share = REMOVED[left_out][1]
    gain = {"scope": "local"} if information == "loss, local" else {"gain": information, "scope": "global"}
    model = published(cached_pupils(rows), suppression=share, **gain)
    summary = model.summary_
    note = f"{summary.suppressed} rows suppressed, {summary.classes} classes, the smallest of {summary.smallest}"
    return _rows(_setting(information, left_out), "sound", model.outcome_.losses, summary.loss, f"{note}; {SYNTACTIC}")


def _before(rows: int) -> list[ReproducedRow]:
    """The report found unique rows and rare combinations in its table; so has the stand-in."""
    table = cached_pupils(rows).group_by(list(QUASI)).aggregate([([], "count_all")])
    counts = table["count_all"].to_numpy()
    rare = float(counts[counts < K].sum() / counts.sum())
    said = "several"
    return [
        ReproducedRow("the table itself", "printed", RARE, None, SOURCE, note=said),
        ReproducedRow("the table itself", "plain", RARE, rare, SOURCE, note=f"{int((counts == 1).sum())} unique rows"),
    ]


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    rows = 60_000
    said = "coarser; all others keep their values"
    claim = ReproducedRow(_setting("entropy", "unique rows left out"), "printed", "loss of level", None, SOURCE, note=said)
    tasks = [ItemTask("the table itself", partial(_before, rows)), ItemTask("printed", lambda: [claim])]
    for left_out in effort.pick(tuple(REMOVED), tuple(REMOVED)[:2]):
        for information in INFORMATION:
            tasks.append(
                ItemTask(f"{information}, {left_out}, as printed", partial(_as_printed, rows, information, left_out))
            )
            tasks.append(ItemTask(f"{information}, {left_out}, sound", partial(_sound, rows, information, left_out)))
    return [*tasks, ItemTask("local, sound", partial(_sound, rows, "loss, local", "all rows"))]


def kept_columns(cells: dict[tuple[str, str], dict[Form, FormCell]], setting: str, form: Form) -> tuple[str, ...] | None:
    """Which columns are published as their values, but for a few rows; None where the form was not run."""
    losses = {
        name: cells.get((setting, f"loss of {name}"), {}).get(form, FormCell(None, None, None, 0, None, None, ())).value
        for name in QUASI
    }
    if any(loss is None for loss in losses.values()):
        return None
    return tuple(name for name, loss in losses.items() if loss is not None and loss <= FEW)


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    finds, alone = [], 0
    for setting in dict.fromkeys(setting for setting, measure in cells if measure == WHOLE):
        for form in ("as printed", "sound"):
            kept = kept_columns(cells, setting, form)
            if kept is None:
                continue
            coarse = [name for name in QUASI if name not in kept]
            alone += coarse == ["level"]
            loss = cells[setting, WHOLE][form].value
            assert loss is not None
            what = f"all but {', '.join(coarse)} keep their values" if coarse else "all columns keep their values"
            finds.append(f"{setting}, {form}: {what} (loss {number_text(loss)}).")
    if alone:
        finds.append(
            f"The report's outcome, the course level alone is coarser, comes about in {alone} of these {len(finds)}."
        )
    else:
        finds.append(
            "The report's outcome, the course level alone is coarser, comes about in none of these: which column is given up "
            "hangs on the table and on which rows are left out, and the report shows neither."
        )
    return finds


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    cells = form_cells(rows)
    panels = []
    for setting in (_setting("entropy", "all rows"), _setting("entropy", "unique rows left out")):
        for form in ("as printed", "sound"):
            values = [cells[setting, f"loss of {name}"][form].value or 0.0 for name in QUASI]
            title = f"{setting.partition(', ')[2]}, {form}"
            panels.append(MeasuredBars(title, QUASI, tuple(values), label="loss", least_end=1.0))
    caption = "0: every row has its value, 1: nothing is left of the column. Gain entropy, k = 10."
    return [Picture("What each column of pupils loses", tuple(panels), caption)]


SPECIALIZED_PUPILS = Item(
    "pupils",
    "Pupils with k = 10",
    "The report published a table of pupils so that at least ten look alike in sex, school system, course level, state and "
    "region, and found that all of these but the course level could keep their values once outliers were left out. Its table "
    "is not public; here made-up pupils with the same columns stand in, with both gains as they are meant (their printed signs "
    "are the next item), with and without rows left out.",
    _tasks,
    _finds,
    _draws,
)
