"""Attacks on the epsilon of LETEO's grid, under both readings of "differ in a single data point", and on a tree in its place.

The report does not say whether adjacent tables differ by a row that is there or not (add-remove) or by a row that is changed
(replace-one). Its sensitivity of 1 fits the first, its exact number of rows the second. Neither makes the claim true.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

import cloister as cl
from cloister.papers.claim_attacks import FOUND, attack_outputs, claim_row
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.leteo.printed import adaptive_grid_as_printed, cell_draws
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredBars, Picture
from cloister.testing import audit, seeded_noise

__all__ = ["GRID_ATTACKS", "attack_sizes", "attack_sound_cells", "attack_two_cells", "sound_cell_draws"]

Floats = NDArray[np.float64]
EPSILON, ALPHA = 1.0, 0.5
EXACT = "epsilon of the worst output, computed exactly"
ADD_REMOVE = "a row more or less: 16,000 and 16,001 rows, 2 columns"
REPLACE_ONE = "a row changed: from one cell of 10 rows to another"
SOURCE = "section 4.2"
ROWS = 16_000  # of epsilon 1: one more, and the rule cuts each column into 11 intervals and not into 10
CROWD = 10  # rows of a cell: one more, and its noisy count is as likely as not above the rule's next step
PLACE = 0.29  # of all rows of a cell, in each column: where no cells of the second level meet


def _evenly(rows: int) -> Floats:
    """Rows all over the unit square."""
    return np.random.default_rng(1).random((ROWS + 1, 2))[:rows]


def attack_sizes(runs: int, epsilon: float = EPSILON) -> ReproducedRow:
    """Looks at how many first-level intervals the printed grid has, which follow from the exact number of rows."""
    sides = [
        np.array(
            [[adaptive_grid_as_printed(table, epsilon, alpha=ALPHA, seed=run).value.side] for run in range(runs)], float
        )
        for table in (holder_numbers(_evenly(ROWS)), holder_numbers(_evenly(ROWS + 1)))
    ]
    outputs = sides[0], sides[1]
    return attack_outputs(ADD_REMOVE, "as printed", outputs, claimed=epsilon, epsilon=math.inf, source=SOURCE)


def _attack_sound_sizes(runs: int) -> ReproducedRow:
    sides = []
    for seed, table in enumerate((_evenly(ROWS), _evenly(ROWS + 1))):
        with seeded_noise(seed):
            made = [cl.synopsis(table, 1, (0, 1)) for _ in range(runs)]
        sides.append(np.array([[math.sqrt(each.cells.groups.max() + 1)] for each in made]))
    outputs = sides[0], sides[1]
    return attack_outputs(ADD_REMOVE, "sound", outputs, claimed=EPSILON, epsilon=EPSILON, source=SOURCE)


def llr_of_two_cells(outputs: Floats, one: int, two: int, epsilon: float, alpha: float) -> Floats:
    """How much likelier `one` than `two` rows make what the grid shows of a cell: about the logarithm of the ratio, (runs,).

    The noisy count speaks by its distance to the two; m2 by whether the noisy count of the first level was above 10.
    """
    inner, counts = outputs.T
    lower = (1 - alpha) * epsilon * (np.abs(counts - two) - np.abs(counts - one))
    is_finer = inner >= 2
    upper = alpha * epsilon * (is_finer if one > two else ~is_finer)
    return np.asarray(np.where(inner > 0, lower, 0.0) + upper)


def attack_two_cells(runs: int, seed: int = 0, epsilon: float = EPSILON) -> ReproducedRow:
    """A row moves from one cell of 10 rows to another: both cells change at both levels, and each pays."""
    random = np.random.default_rng(seed)

    def shown(first: int, second: int) -> Floats:
        draws = [cell_draws(rows, epsilon, ALPHA, 2, random, runs).value for rows in (first, second)]
        told = llr_of_two_cells(draws[0], CROWD, CROWD - 1, epsilon, ALPHA)
        told = told + llr_of_two_cells(draws[1], CROWD, CROWD + 1, epsilon, ALPHA)
        return np.round(told, 9)[:, None]

    outputs = shown(CROWD, CROWD), shown(CROWD - 1, CROWD + 1)
    return attack_outputs(REPLACE_ONE, "as printed", outputs, claimed=epsilon, epsilon=2 * epsilon, source=SOURCE)


def sound_cell_draws(rows: NDArray[np.int64], epsilon: float, runs: int, seed: int) -> Floats:
    """What the sound grid shows of its 100 first-level cells, each with so many rows at one place, (runs, 100, 2).

    As `cell_draws` of the printed one: m2, and the noisy count around the place. Noise and consistency of different cells are
    independent, so that a run draws a hundred cells at once.
    """
    corners = np.stack(np.unravel_index(np.arange(100), (10, 10)), axis=1)
    table = np.repeat((corners + PLACE) / 10, rows, axis=0)
    shown = np.empty((runs, 100, 2))
    with seeded_noise(seed):
        for run in range(runs):
            cells = cl.synopsis(table, epsilon, (0, 1), neighbours="replace-one").cells
            sizes = np.bincount(cells.groups, minlength=100)
            inner = np.rint(np.sqrt(sizes)).astype(np.int64)
            within = (inner * PLACE).astype(np.int64)
            at = np.cumsum(sizes) - sizes + within * inner + within
            shown[run] = np.column_stack([inner, cells.counts[at]])
    return shown


def attack_sound_cells(runs: int) -> ReproducedRow:
    """The attack of `attack_two_cells` on the sound grid for replaced rows, fifty pairs of cells a run."""

    def told(first: int, second: int, seed: int) -> Floats:
        draws = sound_cell_draws(np.repeat([first, second], 50), EPSILON, runs, seed)
        one, two = draws[:, :50].reshape(-1, 2), draws[:, 50:].reshape(-1, 2)
        ratio = llr_of_two_cells(one, CROWD, CROWD - 1, EPSILON, ALPHA) + llr_of_two_cells(
            two, CROWD, CROWD + 1, EPSILON, ALPHA
        )
        return np.column_stack([np.round(ratio, 9), one, two])

    outputs = told(CROWD, CROWD, 0), told(CROWD - 1, CROWD + 1, 1)
    return attack_outputs(REPLACE_ONE, "sound", outputs, claimed=EPSILON, epsilon=EPSILON, source=SOURCE)


def _two_cells(first: int, second: int) -> Floats:
    return np.array([[0.05, 0.05]] * first + [[0.95, 0.95]] * second)


def _exactly(setting: str, tables: tuple[Floats, Floats], neighbours: str) -> ReproducedRow:
    """The sound grid under the exact audit, which replays the noise and needs no sampling."""
    found = audit(lambda table: cl.synopsis(table, 1, (0, 1), neighbours=neighbours), tables)
    return ReproducedRow(setting, "sound", EXACT, found.largest_loss, SOURCE, claimed=EPSILON, epsilon=EPSILON)


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    works: dict[str, Callable[[], ReproducedRow]] = {
        "claim, add-remove": partial(claim_row, ADD_REMOVE, EPSILON, "section 4.2, theorem 4.1"),
        "sizes, as printed": partial(attack_sizes, effort.pick(1000, 120)),
        "sizes, sound": partial(_attack_sound_sizes, effort.pick(500, 60)),
        "sizes, exactly": lambda: _exactly(ADD_REMOVE, (_evenly(ROWS), _evenly(ROWS + 1)), "add-remove"),
        "claim, replace-one": partial(claim_row, REPLACE_ONE, EPSILON, "section 4.2, theorem 4.1"),
        "cells, as printed": partial(attack_two_cells, effort.pick(2_000_000, 300_000)),
        # fewer runs could refute nothing, of the printed grid either: a quick run has the exact audit alone
        **effort.pick({"cells, sound": partial(attack_sound_cells, 500)}, {}),
        "cells, exactly": lambda: _exactly(
            REPLACE_ONE, (_two_cells(CROWD, CROWD), _two_cells(CROWD - 1, CROWD + 1)), "replace-one"
        ),
    }
    return [ItemTask(name, lambda work=work: [work()]) for name, work in works.items()]  # type: ignore[misc]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    finds = []
    for setting, of_what in ((ADD_REMOVE, "With add-remove neighbours"), (REPLACE_ONE, "With replace-one neighbours")):
        found, exact = cells[setting, FOUND], cells[setting, EXACT]["sound"].value
        bound, claimed = found["as printed"].value, found["printed"].value
        assert bound is not None
        assert claimed is not None
        assert exact is not None
        outcome = "the claim is refuted" if bound > claimed else "this attack does not refute the claim"
        finds.append(
            f"{of_what} the printed grid loses an epsilon of at least {number_text(bound)} where {number_text(claimed)} is "
            f"claimed: {outcome}."
        )
        held = "keeps to" if exact <= EPSILON + 1e-9 else "PASSES"
        sampled = found["sound"].value if "sound" in found else None
        also = "" if sampled is None else f", and the attack by sampling finds {number_text(sampled)} at least"
        finds.append(
            f"{of_what} the worst output of the sound grid loses {number_text(exact)} on these tables: it {held} its epsilon of "
            f"{EPSILON:g}{also}."
        )
    return finds


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    cells = form_cells(rows)
    words, values = [], []
    for setting, short in ((ADD_REMOVE, "add-remove"), (REPLACE_ONE, "replace-one")):
        for form in ("as printed", "sound"):
            cell = cells[setting, FOUND].get(form)
            if cell is not None and cell.value is not None:
                words.append(f"{form}, {short}")
                values.append(cell.value)
    bars = MeasuredBars("", tuple(words), tuple(values), label="epsilon, at least", line=(EPSILON, "claimed"))
    caption = "What an attack finds at least, at 99.9% confidence. A bar beyond the line refutes the claim."
    return [Picture("Attacks on the grid's epsilon", (bars,), caption, across=1)]


GRID_ATTACKS = Item(
    "grid-attacks",
    "Attacks on the epsilon of the grid",
    "The report claims epsilon for its grid by the Laplace mechanism and parallel composition. The grid's fineness uses the "
    "exact number of rows, and a changed row moves two cells of each level: both are tried on two neighbouring "
    "tables, many times.",
    _tasks,
    _finds,
    _draws,
)
