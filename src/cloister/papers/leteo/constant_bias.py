"""A tree in the grid's place: what PrivTree's growing bias is for, and what a bias that stays constant loses.

The report has grids alone, whose cells multiply with every column; this program offers a tree beside them. The short cut that
suggests itself, to compare count - bias + noise with 0 at every depth alike, is in no paper of these five; it is tried here
because whoever carries the report's two levels on to many would take it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cloister.papers.claim_attacks import FOUND, attack_outputs, claim_row
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.printed_result import PrintedResult, stamp
from cloister.papers.reproduced_row import ReproducedRow
from cloister.privacy.guarantees import Claimed
from cloister.testing.tree_law import TreeLaw, log_tail

__all__ = ["CONSTANT_BIAS", "constant_bias_depths", "worst_constant_loss", "worst_growing_loss"]

EPSILON = 1.0
SCALE = Fraction(3)  # PrivTree's noise of epsilon 1 with two children: (2b - 1) / (b - 1)
DECAY = 3  # the least whole number from lambda ln 2 on
LEVELS = 40
MEASURE = "epsilon of the worst shape, computed exactly"
SETTING = f"{LEVELS} levels, noise as for epsilon 1"
SOURCE = "not in the report"
NOTE = "not printed in the report: its two levels carried on to many"


def constant_bias_depths(rows: int, bias: int, levels: int, runs: int, seed: int) -> PrintedResult[NDArray[np.float64]]:
    """How deep the path of a crowd of rows is split, many times over, (runs,): while rows - bias + noise is above 0."""
    random = np.random.default_rng(seed)
    a = math.exp(-1 / float(SCALE))
    depth = np.zeros(runs)
    alive = np.ones(runs, bool)
    for _ in range(levels):
        draws = random.geometric(1 - a, runs) - random.geometric(1 - a, runs)  # discrete Laplace
        alive &= rows - bias + draws > 0
        depth += alive
        if not alive.any():
            break
    claimed = Claimed("001", "epsilon 1 (in no paper; noise as PrivTree's)", "the levels' epsilons added up")
    return stamp(depth, claimed, rows=rows, bias=bias, levels=levels)


def worst_constant_loss(levels: int) -> float:
    """All nodes of a path split: each is likelier by the same factor, e^(1/lambda), when the path has one row more."""
    scale = float(SCALE)
    return levels * (log_tail(1 - 1, scale) - log_tail(1 - 0, scale))


def worst_growing_loss(levels: int, crowds: Sequence[int]) -> float:
    """The worst shape of the tree with a growing bias, over crowds of rows at one place and one row more, either way."""
    law = TreeLaw(SCALE, DECAY, levels, 2**22)
    place = np.array([0])
    return max(
        max(law.worst((place, np.array([rows + 1])), (place, np.array([rows])))) for rows in crowds
    )  # both directions


def _sound() -> ReproducedRow:
    value = worst_growing_loss(LEVELS, range(60))
    return ReproducedRow(SETTING, "sound", MEASURE, value, SOURCE, claimed=EPSILON, epsilon=EPSILON)


def _constant() -> ReproducedRow:
    value = worst_constant_loss(LEVELS)
    proved = LEVELS / float(SCALE)
    return ReproducedRow(SETTING, "as printed", MEASURE, value, SOURCE, claimed=EPSILON, epsilon=proved, note=NOTE)


def _attacked(runs: int) -> ReproducedRow:
    outputs = constant_bias_depths(1, 0, LEVELS, runs, 0).value, constant_bias_depths(0, 0, LEVELS, runs, 1).value
    pair = outputs[0][:, None], outputs[1][:, None]
    proved = LEVELS / float(SCALE)
    return attack_outputs(SETTING, "as printed", pair, claimed=EPSILON, epsilon=proved, source=SOURCE)


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    works: dict[str, Callable[[], ReproducedRow]] = {
        "claim": partial(claim_row, SETTING, EPSILON, SOURCE, NOTE),
        "attack": partial(_attacked, effort.pick(4_000_000, 150_000)),
        "constant, exactly": _constant,
        "growing, exactly": _sound,
    }
    return [ItemTask(name, lambda work=work: [work()]) for name, work in works.items()]  # type: ignore[misc]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    found = cells[SETTING, FOUND]["as printed"].value
    constant, growing = (cells[SETTING, MEASURE][form].value for form in ("as printed", "sound"))
    assert found is not None and constant is not None and growing is not None  # noqa: PT018
    more = "more than" if constant > EPSILON else "no more than"
    held = "keeps to" if growing <= EPSILON + 1e-9 else "PASSES"
    return [
        f"With a constant bias the worst shape of {LEVELS} levels loses {number_text(constant)}, {more} its epsilon of "
        f"{EPSILON:g}, and an attack by sampling alone finds at least {number_text(found)}. With a bias that grows by "
        f"{DECAY} a level the worst shape loses {number_text(growing)}: it {held} epsilon, however deep it is."
    ]


CONSTANT_BIAS = Item(
    "tree-bias",
    "A tree in the grid's place",
    "Grids of many columns have too many cells; a tree splits only where rows are. The report has none. Tried here: noise as "
    "PrivTree's, once with a bias that stays the same at every depth and once with one that grows, as in this program.",
    _tasks,
    _finds,
)
