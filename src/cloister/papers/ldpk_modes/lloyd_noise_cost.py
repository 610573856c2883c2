"""What the noise of DP-modes-Lloyd, as printed, costs: exactly, from its scale and how many counts a row moves."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.ldpk_modes.modes_lloyd import needed_scale, printed_scale, spent
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["NOISE_COST"]

SHAPES = ((2, 5), (3, 5), (6, 5), (8, 5), (8, 1))  # m and T: those of the paper's tables
EPSILONS = (0.1, 1.0, 2.0)
SCALE, COST = "scale of the noise", "epsilon of all rounds"
SOURCE = "section 3.3"


def _rows() -> list[ReproducedRow]:
    rows = []
    for attributes, rounds in SHAPES:
        for epsilon in EPSILONS:
            setting, run = f"m {attributes}, T {rounds}, epsilon {epsilon:g}", (attributes, rounds, epsilon)
            cost = spent(*run)
            rows += [
                ReproducedRow(setting, "as printed", SCALE, printed_scale(*run), SOURCE, claimed=epsilon, epsilon=cost),
                ReproducedRow(setting, "sound", SCALE, needed_scale(*run), SOURCE, epsilon=epsilon),
                ReproducedRow(setting, "printed", COST, epsilon, SOURCE, claimed=epsilon),
                ReproducedRow(setting, "as printed", COST, cost, SOURCE, claimed=epsilon, epsilon=cost),
            ]
    return rows


def cost_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """How large the scale gets, and how far the cost is from what is claimed."""
    scales = [row for row in rows if row.measure == SCALE and row.form == "as printed"]
    costs = [row for row in rows if row.measure == COST and row.form == "as printed"]
    worst = max(costs, key=lambda row: float(row.value or 0) / float(row.claimed or 1))
    cost, claimed = float(worst.value or 0), float(worst.claimed or 1)
    largest = max(float(row.value or 0) for row in scales)
    holds = sum(float(row.value or 0) <= float(row.claimed or 0) for row in costs)
    return [
        f"The largest printed scale is {largest:.4f}; e^(-epsilon/(m+T)) is below 1 for every epsilon above 0, so that a round "
        "costs more than m however small epsilon is.",
        f"The claimed epsilon covers the rounds in {holds} of {len(costs)} settings. Farthest off: {worst.setting}, where all "
        f"rounds cost {cost:.1f}, {cost / claimed:,.0f} times what is claimed.",
    ]


def cost_pictures(rows: Sequence[ReproducedRow]) -> list[Picture]:
    """The cost over what is claimed, a line an m and T."""
    lines = compared_lines(
        [row for row in rows if row.form == "as printed"],
        COST,
        lambda setting: float(setting.split()[-1]),
        lambda setting: setting.partition(", epsilon")[0],
    )
    claimed = compared_lines(
        [row for row in rows if row.setting.startswith("m 8, T 5")], COST, lambda setting: float(setting.split()[-1])
    )
    shown = [line for line in claimed if line.name == "printed"] + list(lines)
    caption = "The lowest line is what the paper claims; the others are what the printed noise costs."
    title = "What the printed noise costs"
    return [lines_picture(title, shown, caption, x_label="claimed epsilon", label="epsilon", is_log=True, is_x_log=True)]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    return [ItemTask("scales", _rows)]


NOISE_COST = Item(
    "noise-cost",
    "The noise of the central baseline",
    "DP-modes-Lloyd adds Laplace noise of scale e^(-epsilon/(m+T)) to how often each value of m attributes occurs, in T rounds. "
    "One row more or less moves m of these counts by 1 in each round; from that follows what the noise costs, and what it should "
    "be.",
    _tasks,
    cost_finds,
    cost_pictures,
)
