"""Figure 2 of the paper: how far estimated frequencies are off, LDP-FO against one response for all attributes (GRR).

People have three attributes of two values. The paper draws them "from a Gaussian of standard deviation 12" and does not say how a
number becomes three values: here the axis is cut into eight intervals of 6 around its middle, the outer ones open. Which epsilons
its curves have is lost in our text.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import numpy as np
from numpy.typing import NDArray

from cloister.collect import Collection, simulate
from cloister.papers.compared_lines import BANDS, compared_lines
from cloister.papers.form_columns import form_cells
from cloister.papers.ldpk_modes.cut_tables import held_cells
from cloister.papers.ldpk_modes.printed import estimate_by_one_response, estimate_cells
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredLine, MeasuredLines, Picture
from cloister.testing import seeded_noise

__all__ = ["FIGURE_2", "gaussian_codes"]

SIZES = (2, 2, 2)
ATTRIBUTES = len(SIZES)
DEVIATION, INTERVAL = 12.0, 6.0
OURS, GRR, GRR_IN_ALL = "error, LDP-FO", "error, GRR", "error, GRR at 3 epsilon"
RATIO, RATIO_IN_ALL = "LDP-FO over GRR at the same printed epsilon", "LDP-FO over GRR at the same epsilon in all"
SOURCE = "figure 2"
NO_NUMBERS = "figure without numbers in our text"


def gaussian_codes(people: int, seed: int) -> NDArray[np.int64]:
    """People's attributes, (n, 3): a normal number cut into eight intervals, whose place is written in binary."""
    drawn = np.random.default_rng(seed).normal(0.0, DEVIATION, people)
    cells = np.clip(np.floor(drawn / INTERVAL) + 4, 0, 7).astype(np.int64)
    return np.stack(np.unravel_index(cells, SIZES), axis=1)


def _setting(people: int, epsilon: str) -> str:
    return f"epsilon {epsilon}, {people:,} people"


def _run(people: int, text: str, seed: int) -> list[ReproducedRow]:
    codes, epsilon = gaussian_codes(people, seed), Fraction(text)
    held = held_cells({f"q{j}": column for j, column in enumerate(codes.T)}, SIZES)
    setting, each, in_all = _setting(people, text), float(epsilon), ATTRIBUTES * float(epsilon)

    def error(counts: NDArray[np.float64]) -> float:
        return float(np.abs(counts - held.value).sum()) / people  # the L1 distance over the number of people

    ours = error(estimate_cells(held, epsilon, seed).value)
    grr = error(estimate_by_one_response(held, epsilon, seed).value)
    grr_in_all = error(estimate_by_one_response(held, ATTRIBUTES * epsilon, seed).value)
    collection = Collection("figure-2", {f"q{j}": ["v0", "v1"] for j in range(ATTRIBUTES)}, epsilon=epsilon)
    words = np.array(["v0", "v1"], dtype=object)
    with seeded_noise(seed):
        played = simulate(collection, {f"q{j}": words[column].tolist() for j, column in enumerate(codes.T)})
    sound = error(played.estimate.joint().counts)
    return [
        ReproducedRow(setting, "as printed", OURS, ours, SOURCE, claimed=each, epsilon=in_all, seed=seed),
        ReproducedRow(setting, "sound", OURS, sound, SOURCE, epsilon=in_all, seed=seed),
        ReproducedRow(setting, "as printed", GRR, grr, SOURCE, claimed=each, epsilon=each, seed=seed),
        ReproducedRow(setting, "as printed", GRR_IN_ALL, grr_in_all, SOURCE, claimed=in_all, epsilon=in_all, seed=seed),
        ReproducedRow(setting, "as printed", RATIO, ours / grr, "section 4.2", claimed=each, epsilon=in_all, seed=seed),
        ReproducedRow(
            setting, "as printed", RATIO_IN_ALL, ours / grr_in_all, "section 4.2", claimed=in_all, epsilon=in_all, seed=seed
        ),
    ]


def _tasks(effort: RunEffort) -> list[ItemTask]:
    sizes = effort.pick((1_000, 3_000, 10_000, 30_000, 100_000), (1_000, 10_000))
    epsilons, runs = effort.pick(("0.5", "1", "2"), ("1",)), effort.pick(30, 4)

    def rows(people: int, epsilon: str) -> list[ReproducedRow]:
        setting, each = _setting(people, epsilon), float(epsilon)
        printed = [
            ReproducedRow(setting, "printed", OURS, None, SOURCE, claimed=each, note=NO_NUMBERS),
            ReproducedRow(setting, "printed", RATIO, 0.5, "section 4.2", claimed=each, note="about half"),
        ]
        return [*printed, *(row for seed in range(runs) for row in _run(people, epsilon, seed))]

    return [
        ItemTask(_setting(people, epsilon), lambda people=people, epsilon=epsilon: rows(people, epsilon))  # type: ignore[misc]
        for epsilon, people in product(epsilons, sizes)
    ]


def frequency_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """The paper's claims on the figure, one after the other."""
    medians: dict[str, dict[tuple[str, float], float]] = {}
    for (setting, measure), forms in form_cells(rows).items():
        cell = forms.get("as printed")
        if cell is not None and cell.value is not None:
            epsilon, people = setting.split(", ", 1)
            medians.setdefault(measure, {})[epsilon, people_of(people)] = cell.value
    ours, ratio, in_all = medians[OURS], medians[RATIO], medians[RATIO_IN_ALL]
    epsilons = dict.fromkeys(epsilon for epsilon, _ in ours)
    fewest, most = (choose(people for _, people in ours) for choose in (min, max))
    falls = sum(ours[epsilon, most] < ours[epsilon, fewest] for epsilon in epsilons)
    sound = [cells["sound"].value for (_, measure), cells in form_cells(rows).items() if measure == OURS]
    better = sum(float(one or 0) <= other for one, other in zip(sound, ours.values(), strict=True))
    return [
        f"Claimed: the error falls with the number of people. From {fewest:,.0f} to {most:,.0f} it falls at {falls} of "
        f"{len(epsilons)} epsilons.",
        f"Claimed: about half the error of GRR. At the same printed epsilon the ratio is {min(ratio.values()):.2f} to "
        f"{max(ratio.values()):.2f}; but three attributes at epsilon are 3 epsilon in all, and GRR had epsilon.",
        f"At the same epsilon in all the ratio is {min(in_all.values()):.2f} to {max(in_all.values()):.2f}: "
        f"LDP-FO has the smaller error in {sum(value < 1 for value in in_all.values())} of {len(in_all)} settings.",
        f"From reports of the same law, expectation maximisation has an error no larger than clip-and-renormalise in {better} of "
        f"{len(sound)} settings.",
    ]


def people_of(setting: str) -> float:
    """The number of people of a setting, or of its last words.

    >>> people_of("epsilon 1, 10,000 people")
    10000.0
    """
    return float(setting.split()[-2].replace(",", ""))


def frequency_pictures(rows: Sequence[ReproducedRow]) -> list[Picture]:
    """A panel an epsilon: errors over the number of people."""
    panels = []
    for epsilon in dict.fromkeys(row.setting.partition(",")[0] for row in rows):
        own = [row for row in rows if row.setting.startswith(f"{epsilon},")]
        lines: list[MeasuredLine] = []
        for measure in (OURS, GRR, GRR_IN_ALL):
            for line in compared_lines(own, measure, people_of):
                name = measure.removeprefix("error, ") + ("" if line.name.startswith("as printed") else ", by EM")
                lines.append(MeasuredLine(name, line.x, line.values, line.low, line.high))
        panels.append(MeasuredLines(epsilon, tuple(lines), "people", "L1 error over people", is_x_log=True))
    return [Picture("Figure 2: error of estimated frequencies", tuple(panels), BANDS, across=2)]


FIGURE_2 = Item(
    "figure-2",
    "Figure 2: how far estimated frequencies are off",
    "Everybody sends three perturbed yes-or-no answers, and the frequencies of all eight combinations are estimated. The paper "
    "compares its LDP-FO with one response for all three (GRR) at one printed epsilon; that is 3 epsilon in all for LDP-FO, so "
    "GRR at 3 epsilon stands beside them.",
    _tasks,
    frequency_finds,
    frequency_pictures,
)
