"""How the budget is split between the levels of the grid: the report's "little impact" of alpha, and its cells that vanish."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import cloister as cl
from cloister.clustering.seeding.weighted import cluster_points
from cloister.datasets import load
from cloister.kernels.loops.fitness import weighted_loss
from cloister.papers.compared_lines import BANDS, compared_lines, lines_picture
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.leteo.printed import adaptive_grid_as_printed, cluster_as_printed
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture
from cloister.testing import seeded_noise

__all__ = ["ALPHA_GRID", "VANISHED_CELLS", "blobs", "setting_of", "spread_over_alpha"]

Floats = NDArray[np.float64]
LOSS = "loss of k-means / loss without privacy"
LOST = "share of the rows in cells that vanish"
ALPHAS = ("0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9")
SOURCE = "section 4.2"
FORMS: tuple[Form, ...] = ("as printed", "sound")
LITTLE = 1.1  # medians over alpha that lie within 10% of each other


def blobs(rows: int, columns: int, clusters: int, seed: int) -> Floats:
    """A made-up table: clusters of rows in the unit cube."""
    random = np.random.default_rng(seed)
    middles = random.uniform(0.1, 0.9, (clusters, columns))
    return np.clip(random.normal(middles[random.integers(clusters, size=rows)], 0.04), 0, 1)


TABLES: dict[str, int] = {"S1": 15, "made-up, 2 columns": 8, "made-up, 3 columns": 8}
"""Each table with its number of clusters."""


@cache
def _table(name: str, folder: Path | None) -> Floats:
    if name == "S1":
        columns = load("s1", folder=folder).data.columns
        return np.column_stack([column.to_numpy() for column in columns]) / 1_000_000
    return blobs(20_000, 2 if "2" in name else 3, TABLES[name], 5)


@cache
def _floor(name: str, folder: Path | None) -> float:
    """The loss of k-means on the rows themselves."""
    rows = _table(name, folder)
    return cluster_points(rows, np.ones(len(rows)), TABLES[name], "kmeans++", np.random.default_rng(0)).loss


def setting_of(table: str, epsilon: str, alpha: str) -> str:
    """How a row says what was run.

    >>> setting_of("S1", "0.1", "0.5")
    'S1, epsilon 0.1, alpha 0.5'
    """
    return f"{table}, epsilon {epsilon}, alpha {alpha}"


def _runs(table: str, epsilon: str, alpha: str, seeds: int, folder: Path | None) -> list[ReproducedRow]:
    rows, clusters, floor = _table(table, folder), TABLES[table], _floor(table, folder)
    ones = np.ones(len(rows))
    found = []
    for seed in range(seeds):
        cells = adaptive_grid_as_printed(rows, float(epsilon), alpha=float(alpha), seed=seed).value
        with seeded_noise(seed):
            made = cl.synopsis(rows, epsilon, (0, 1), alpha=alpha)
        centers = {
            "as printed": cluster_as_printed(cells, clusters, seed).value,
            "sound": made.cluster(clusters, "kmeans||", random_state=seed).cluster_centers_,
        }
        for form in FORMS:
            proved = float(epsilon) if form == "sound" else math.inf
            claimed = float(epsilon) if form == "as printed" else None
            value = weighted_loss(rows, ones, np.asarray(centers[form])) / floor
            found.append(
                ReproducedRow(
                    setting_of(table, epsilon, alpha), form, LOSS, value, SOURCE,
                    claimed=claimed, epsilon=proved, seed=seed,
                )
            )  # fmt: skip
    return found


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    pairs = [(table, epsilon) for table in TABLES for epsilon in ("0.1", "1")]
    alphas, seeds = effort.pick(ALPHAS, ("0.1", "0.5", "0.9")), effort.pick(10, 2)
    tasks = []
    for table, epsilon in effort.pick(pairs, pairs[:2]):
        note = "a sentence without numbers: alpha has little impact"
        printed = ReproducedRow(setting_of(table, epsilon, "0.5"), "printed", LOSS, None, SOURCE, note=note)
        tasks += [
            ItemTask(f"{table}, {epsilon}, {alpha}", partial(_runs, table, epsilon, alpha, seeds, effort.data))
            for alpha in alphas
        ]
        tasks.append(ItemTask(f"{table}, {epsilon}, printed", lambda row=printed: [row]))  # type: ignore[misc]
    return tasks


def spread_over_alpha(rows: Sequence[ReproducedRow], measure: str = LOSS) -> dict[tuple[str, Form], tuple[float, float]]:
    """The least and the largest median over alpha, by table with epsilon and by form."""
    ends: dict[tuple[str, Form], list[float]] = {}
    for (setting, measured), forms in form_cells(rows).items():
        for form, cell in forms.items():
            if measured == measure and cell.value is not None:
                ends.setdefault((setting.rpartition(", ")[0], form), []).append(cell.value)
    return {key: (min(values), max(values)) for key, values in ends.items()}


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    finds = []
    for (table, form), (low, high) in spread_over_alpha(rows).items():
        verdict = "little impact, as the report says" if high <= LITTLE * low else "no little impact"
        finds.append(
            f"{table}, {form}: over alpha the loss is {number_text(low)} to {number_text(high)} times the one without "
            f"privacy; {verdict}."
        )
    return finds


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    pictures = []
    for table in dict.fromkeys(table for table, _ in spread_over_alpha(rows)):

        def place(setting: str, table: str = table) -> float | None:
            return float(setting.rpartition(" ")[2]) if setting.startswith(f"{table}, alpha") else None

        lines = compared_lines(rows, LOSS, place)
        caption = f"{table}. {BANDS}"
        look = {"x_label": "alpha", "label": "loss / loss without privacy"}
        pictures.append(lines_picture(f"{table}: loss over alpha", lines, caption, **look))
    return pictures


ALPHA_GRID = Item(
    "alpha",
    "How much alpha matters",
    "The grid spends alpha of its epsilon on the first level and the rest on the second; the report takes 0.5 and says that "
    "alpha has little impact. Its constants c1 and c2 are not printed: 10 and 5 are taken, of those from whom the rules come. "
    "Compared: the loss of k-means on the cells, measured on the rows.",
    _tasks,
    _finds,
    _draws,
)


def _vanished(table: str, epsilon: str, seeds: int, folder: Path | None) -> list[ReproducedRow]:
    rows, setting = _table(table, folder), f"{table}, epsilon {epsilon}"
    found = []
    for seed in range(seeds):
        cells = adaptive_grid_as_printed(rows, float(epsilon), seed=seed).value
        with seeded_noise(seed):
            made = cl.synopsis(rows, epsilon, (0, 1))
        # every first-level cell of the sound grid has a second level: its groups are counted
        groups = len(np.unique(made.cells.groups)) / (int(made.cells.groups.max()) + 1)
        shares = {"as printed": cells.lost / len(rows), "sound": 1 - groups}
        no_cells = {"as printed": float(np.mean(cells.inner == 0)), "sound": 1 - groups}
        for form in FORMS:
            proved = float(epsilon) if form == "sound" else math.inf
            claimed = float(epsilon) if form == "as printed" else None
            for measure, values in ((LOST, shares), ("share of first-level cells that vanish", no_cells)):
                found.append(
                    ReproducedRow(setting, form, measure, values[form], SOURCE, claimed=claimed, epsilon=proved, seed=seed)
                )
    return found


def _vanished_tasks(effort: RunEffort) -> Sequence[ItemTask]:
    tables, seeds = effort.pick(tuple(TABLES), ("S1",)), effort.pick(20, 3)
    works: dict[str, Callable[[], list[ReproducedRow]]] = {
        f"{table}, {epsilon}": partial(_vanished, table, epsilon, seeds, effort.data)
        for table in tables
        for epsilon in effort.pick(("0.05", "0.1", "0.5", "1"), ("0.1", "1"))
    }
    return [ItemTask(name, work) for name, work in works.items()]


def _vanished_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    finds = []
    for (setting, measure), forms in form_cells(rows).items():
        if measure == LOST:
            printed, sound = forms["as printed"].value, forms["sound"].value
            assert printed is not None and sound is not None  # noqa: PT018
            finds.append(f"{setting}: {printed:.1%} of the rows vanish as printed, {sound:.1%} in the sound form.")
    return finds


VANISHED_CELLS = Item(
    "vanished-cells",
    "Cells that vanish",
    "A first-level cell whose noisy count is below 0 counts as 0 in the report, and its rule then cuts it into 0 intervals: no "
    "cell of it is left. Counted: the rows in such cells. In the sound form every cell is cut into at least one.",
    _vanished_tasks,
    _vanished_finds,
)
