"""The printed signs of the two gains: what top-down specialization does when it takes the step that tells least."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.leteo.printed_specialization import INFORMATION, READINGS, Information, Reading, specialize_as_printed
from cloister.papers.leteo.pupil_tables import QUASI, SEED, K, cached_pupils, pupil_trees
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture

__all__ = ["REVERSED_GAIN"]

LOSS = "loss of the table"
ALONE = "level alone is coarser (1: yes, 0: no)"
EQUATIONS = {"entropy": "equations 3.3, 3.4", "distance": "equation 3.5"}
FEW = 0.05  # of a column: published as its values, but for a few rows
LEFT_OUT = {1: "all rows", 2: "unique rows left out"}


def _setting(information: str, reading: str, fewest: int) -> str:
    return f"{information} {reading}, {LEFT_OUT[fewest]}"


def _run(rows: int, information: Information, reading: Reading, fewest: int, seed: int) -> list[ReproducedRow]:
    table = specialize_as_printed(cached_pupils(rows, seed), pupil_trees(), K, information, reading, fewest).value
    coarse = [name for name in QUASI if table.losses[name] > FEW]
    measures = {LOSS: table.loss, ALONE: float(coarse == ["level"])}
    return [
        ReproducedRow(
            _setting(information, reading, fewest), "as printed", measure, value, EQUATIONS[information],
            epsilon=math.inf, seed=seed,
        )
        for measure, value in measures.items()
    ]  # fmt: skip


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    seeds, rows = effort.pick(10, 2), 60_000
    return [
        ItemTask(f"{information}, {reading}, {fewest}, {seed}", partial(_run, rows, information, reading, fewest, seed))
        for information in INFORMATION
        for reading in READINGS
        for fewest in LEFT_OUT
        for seed in range(SEED, SEED + seeds)
    ]


def _means(rows: Sequence[ReproducedRow], setting: str, measure: str) -> float:
    values = [row.value for row in rows if row.setting == setting and row.measure == measure and row.value is not None]
    return sum(values) / len(values)


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    finds = []
    for information in INFORMATION:
        for fewest, left_out in LEFT_OUT.items():
            meant, sign, letter = (_means(rows, _setting(information, reading, fewest), LOSS) for reading in READINGS)
            worse = "loses more" if sign > meant + 1e-9 else "loses no more"
            finds.append(
                f"{information}, {left_out}: the printed sign {worse}, {number_text(sign)} on average where the gain as meant "
                f"loses {number_text(meant)}; to the letter, with sums over rows, it is {number_text(letter)}."
            )
    shares = {setting: _means(rows, setting, ALONE) for setting, measure in form_cells(rows) if measure == ALONE}
    often = {setting: share for setting, share in shares.items() if share > 0}
    if often:
        told = ", ".join(f"{setting} ({share:.0%} of the tables)" for setting, share in often.items())
        finds.append(f"The level alone is coarser, as the report found on its table, with: {told}.")
    else:
        finds.append("With none of these the level alone is coarser, as the report found on its table.")
    return finds


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    panels = []
    for information in INFORMATION:
        for fewest, left_out in LEFT_OUT.items():
            means = tuple(_means(rows, _setting(information, reading, fewest), LOSS) for reading in READINGS)
            panels.append(MeasuredBars(f"{information}, {left_out}", READINGS, means, label="loss, mean of tables"))
    return [Picture("Loss by how the gain is read", tuple(panels), "Made-up pupils, k = 10. 0: values as they were.")]


REVERSED_GAIN = Item(
    "gain-sign",
    "The printed signs of the gains",
    "Equation 3.3 prints the entropy before a step minus the one after it, and equation 3.5 the distance that is left instead of "
    "what a step takes away: the search would take the step that tells least. Both, and the printed sums over rows, are run "
    "beside the gains as they are meant, on several made-up tables of pupils.",
    _tasks,
    _finds,
    _draws,
)
