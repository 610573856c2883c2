"""Figures 2 and 4: how many records are found again, over k and epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cloister.papers.compared_lines import compared_lines
from cloister.papers.icmd_dp.figure_settings import EACH_RECORD, figure_tasks, k_of, value_of
from cloister.papers.icmd_dp.loss_over_k import bare_panel, epsilons_of, is_icmd_dp, level_lines, without_noise
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredLines, Picture

__all__ = ["LINKAGE"]

OWN = "RL, percent"
EXCESS = "linked beyond others, points"


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    return figure_tasks(
        effort,
        lambda found: {OWN: (found.own_linkage, 0.0), EXCESS: (found.excess_linkage, found.excess_error)},
        "figures 2 and 4",
        leave_out=("icmd-dp, one group",),
    )


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    return [*_ordered_groups(rows), *_with_noise(rows), *_beyond_others(rows)]


def _ordered_groups(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    cmd, icmd = without_noise(rows, OWN)
    fewer = [setting for setting in cmd if icmd[setting] < cmd[setting]]
    first = next(iter(cmd))
    yield (
        f"Without noise fewer records are linked by ICMD than by CMD at {len(fewer)} of {len(cmd)} sizes ({first.split(',')[0]}: "
        f"{icmd[first]:.2f}% against {cmd[first]:.2f}%); the paper says of figure 2: at all."
    )


def _with_noise(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    printed = value_of(rows, "as printed", OWN)
    words, fewer, all_of_them = [], 0, 0
    for epsilon in epsilons_of(rows):
        plain = printed[f"epsilon {epsilon}, {EACH_RECORD}"]
        mine = [value for setting, value in printed.items() if is_icmd_dp(setting, epsilon)]
        fewer, all_of_them = fewer + sum(value <= plain for value in mine), all_of_them + len(mine)
        words.append(f"{epsilon}: {min(mine):.2f} to {max(mine):.2f}% against {plain:.2f}%")
    yield (
        f"With noise no more records are linked by ICMD-DP than by noise on each record in {fewer} of {all_of_them} settings "
        f"(epsilon {'; '.join(words)}), where figure 4 is said to have fewer throughout. Linking by distance is a weak attack: "
        "see below what a better one finds."
    )


def _beyond_others(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    sound = value_of(rows, "sound", EXCESS)
    printed = {
        setting: value for setting, value in value_of(rows, "as printed", EXCESS).items() if "no noise" not in setting
    }
    largest = max(printed, key=lambda setting: printed[setting])
    error = max((row.high - row.low) / 4 for row in rows if row.high is not None and row.low is not None)
    yield (
        "Beyond rows that were not in the table, which are linked by chance, the sound forms link "
        f"{min(sound.values()):+.2f} to {max(sound.values()):+.2f} points of percent, and the printed forms with noise "
        f"{min(printed.values()):+.2f} to {max(printed.values()):+.2f} (most: {largest}). The standard error of one of these is "
        f"up to {error:.2f}."
    )


def _panel(rows: Sequence[ReproducedRow], epsilon: str) -> MeasuredLines:
    mine = [row for row in rows if is_icmd_dp(row.setting, epsilon)]
    lines = compared_lines(mine, OWN, k_of, lambda setting: "ICMD-DP")
    ends = min(lines[0].x), max(lines[0].x)
    return MeasuredLines(
        f"epsilon {epsilon}",
        (*lines, *level_lines(rows, OWN, epsilon, ends)),
        x_label="k",
        label="RL, percent",
        is_x_log=True,
    )


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    panels = (bare_panel(rows, OWN, "RL, percent"), *(_panel(rows, epsilon) for epsilon in epsilons_of(rows)))
    return [Picture("Records linked with their own row, as in figures 2 and 4", panels, "Printed forms; lower is safer.")]


LINKAGE = Item(
    "linkage-over-k",
    "Record linkage over k and epsilon",
    "The paper counts how often a record of Adult is the nearest one to what is published in its place, and says that groups in "
    "an order are linked less than plain groups, and ICMD-DP less than noise on each record. Made-up rows are nobody's: they are "
    "linked through the nearest row and back, beside rows that were not in the table.",
    _tasks,
    _finds,
    _draws,
)
