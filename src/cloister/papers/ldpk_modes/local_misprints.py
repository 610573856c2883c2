"""The misprints of the paper, each computed as it stands and as it must read: algorithms 2, 3 and 4, the index, equation 3."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import ceil, floor

import numpy as np
from numpy.typing import NDArray

from cloister.collect import Collection, simulate
from cloister.papers.ldpk_modes.cut_tables import cut_table
from cloister.papers.ldpk_modes.printed import estimate_cells
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.testing import seeded_noise

__all__ = ["MISPRINTS", "cell_index", "frequent_values", "written_rows"]

Codes = NDArray[np.int64]
SHAPES = ((3, 4), (6, 2), (8, 2))  # m attributes of k values: the example of section 4.2, D2 and D3
STARTS = {"D1": (3, 3), "D2": (4, 6), "D3": (5, 8), "D4": (7, 2)}  # K and m of table 2
WRONG, OUTSIDE = "share of cells whose row is written wrongly", "share of cells with a value outside the domain"
INDEX, MADE = "index of the vector (1, 2, 4), k 4", "different starts that can be made"
PEOPLE, TRIANGLE = "people in the estimate, over people there are", "share of triples for which equation 3 holds"


def written_rows(attributes: int, values: int, *, as_printed: bool) -> Codes:
    """Algorithm 3: the row of each cell, with values from 1 to k, (cells, attributes).

    Printed, what is left after a digit g is temp - g + 1; it must be temp - (g - 1) k^(m-z).

    >>> written_rows(3, 4, as_printed=False)[7].tolist(), written_rows(3, 4, as_printed=True)[7].tolist()
    ([1, 2, 4], [1, 2, 7])
    """
    left = np.arange(values**attributes)
    rows = np.empty((len(left), attributes), dtype=np.int64)
    for z in range(1, attributes + 1):
        weight = values ** (attributes - z)
        rows[:, z - 1] = left // weight + 1
        left = left - (rows[:, z - 1] - 1) * (1 if as_printed else weight)
    return rows


def cell_index(row: Sequence[int], values: int, *, as_printed: bool) -> float:
    """The number of the cell of a row: printed with the exponent m - j - 1, it must be m - j.

    >>> cell_index((1, 2, 4), 4, as_printed=False), cell_index((1, 2, 4), 4, as_printed=True)
    (8.0, 2.75)
    """
    highest = len(row) - (1 if as_printed else 0)
    return float(sum(values ** float(highest - j) * (value - 1) for j, value in enumerate(row, 1)) + 1)


def frequent_values(clusters: int, attributes: int, *, as_printed: bool) -> int:
    """f of algorithm 4: how many frequent values of each attribute starts are made of.

    Printed as a root that is rounded down (its degree cannot be read for certain in our text; m is the kindest); it must be
    rounded up.

    >>> [frequent_values(5, 8, as_printed=wrong) for wrong in (True, False)]
    [1, 2]
    """
    root = round(clusters ** (1 / attributes), 9)
    return int(floor(root) if as_printed else ceil(root))


def _both(setting: str, measure: str, source: str, printed: float, right: float) -> list[ReproducedRow]:
    """Arithmetic on public numbers: it costs nothing."""
    values: tuple[tuple[Form, float], ...] = (("as printed", printed), ("sound", right))
    return [ReproducedRow(setting, form, measure, value, source, epsilon=0.0) for form, value in values]


def _arithmetic_rows() -> list[ReproducedRow]:
    rows = []
    for attributes, values in SHAPES:
        true = np.stack(np.unravel_index(np.arange(values**attributes), (values,) * attributes), axis=1) + 1
        forms = [written_rows(attributes, values, as_printed=wrong) for wrong in (True, False)]
        for measure, shares in (
            (WRONG, [float((form != true).any(axis=1).mean()) for form in forms]),
            (OUTSIDE, [float((form > values).any(axis=1).mean()) for form in forms]),
        ):
            rows += _both(f"m {attributes}, k {values}", measure, "algorithm 3", shares[0], shares[1])
    indices = [cell_index((1, 2, 4), 4, as_printed=wrong) for wrong in (True, False)]
    rows.append(ReproducedRow("m 3, k 4", "printed", INDEX, 8.0, "section 4.2", note="the paper's own example"))
    rows += _both("m 3, k 4", INDEX, "section 4.2", indices[0], indices[1])
    for alias, (clusters, attributes) in STARTS.items():
        setting = f"{alias}: K {clusters}, m {attributes}"
        made = [float(frequent_values(clusters, attributes, as_printed=wrong) ** attributes) for wrong in (True, False)]
        rows.append(ReproducedRow(setting, "printed", MADE, float(clusters), "algorithm 4", note="K are asked for"))
        rows += _both(setting, MADE, "algorithm 4", made[0], made[1])
    vectors = list(product((1, 2), repeat=2))
    gaps = [
        (sum(a != b for a, b in zip(x, y, strict=True)), sum(a != b for a, b in zip(x, z, strict=True)),
         sum(a != b for a, b in zip(y, z, strict=True)))
        for x, y, z in product(vectors, repeat=3)
    ]  # fmt: skip
    printed = float(np.mean([one + two <= three for one, two, three in gaps]))
    right = float(np.mean([one + two >= three for one, two, three in gaps]))
    return [*rows, *_both("the four vectors of table 1", TRIANGLE, "equation 3", printed, right)]


def _rounded_rows(effort: RunEffort, alias: str) -> list[ReproducedRow]:
    """Algorithm 2 rounds every cell up: its table has more people than there are."""
    table, epsilon = cut_table(alias, effort.data), Fraction(1)
    in_all, people = float(len(table.sizes)), len(table.codes)
    rows = []
    for seed in range(effort.pick(20, 3)):
        printed = float(estimate_cells(table.held, epsilon, seed).value.sum()) / people
        with seeded_noise(seed):
            played = simulate(Collection("paper-002", table.domains, epsilon=epsilon), table.rows)
        right = float(played.estimate.joint().counts.sum()) / people
        values: tuple[tuple[Form, float], ...] = (("as printed", printed), ("sound", right))
        for form, value in values:
            rows.append(
                ReproducedRow(f"{table.name}, epsilon 1", form, PEOPLE, value, "algorithm 2", epsilon=in_all, seed=seed)
            )
    return rows


def _tasks(effort: RunEffort) -> list[ItemTask]:
    rounding = [
        ItemTask(f"rounding, {alias}", lambda alias=alias: _rounded_rows(effort, alias))  # type: ignore[misc]
        for alias in ("D1", "D2", "D3")
    ]
    return [ItemTask("arithmetic", _arithmetic_rows), *rounding]


def misprint_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """What each misprint does."""

    def values(measure: str, form: Form = "as printed") -> list[float]:
        return [float(row.value or 0) for row in rows if row.measure == measure and row.form == form]

    wrong, outside = values(WRONG), values(OUTSIDE)
    short = sum(made < asked for made, asked in zip(values(MADE), values(MADE, "printed"), strict=True))
    enough = sum(made >= asked for made, asked in zip(values(MADE, "sound"), values(MADE, "printed"), strict=True))
    return [
        f"Algorithm 3 as printed writes {min(wrong):.0%} to {max(wrong):.0%} of the cells as another row, and {min(outside):.0%} "
        f"to {max(outside):.0%} with a value that no attribute has; with the remainder put right, "
        f"{max(values(WRONG, 'sound')):.0%}.",
        f"Algorithm 4 with its root rounded down can make fewer than K different starts on {short} of {len(STARTS)} tables, and "
        f"its loop would not end there; rounded up it can make K on {enough}.",
        f"The index of the paper's own example is {values(INDEX)[0]:g} by its formula and {values(INDEX, 'sound')[0]:g} with the "
        f"exponent m - j; it prints {values(INDEX, 'printed')[0]:g}.",
        f"Algorithm 2 rounds up: its estimate has up to {max(values(PEOPLE)) - 1:.1%} more people than there are.",
        f"Equation 3, the triangle inequality, as printed holds for {values(TRIANGLE)[0]:.0%} of the triples of table 1's "
        f"vectors, and turned round for {values(TRIANGLE, 'sound')[0]:.0%}.",
    ]


MISPRINTS = Item(
    "misprints",
    "Misprints",
    "Some lines of the paper cannot be run as they stand. Each is computed as printed and, under sound, as it must read. No "
    "privacy depends on them, but nobody gets the paper's figures with them.",
    _tasks,
    misprint_finds,
)
