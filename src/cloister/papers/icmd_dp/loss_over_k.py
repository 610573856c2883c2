"""Figures 1 and 3: how much of the table is lost, over k and epsilon."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from cloister.papers.compared_lines import compared_lines
from cloister.papers.icmd_dp.figure_settings import EACH_RECORD, SHARED, figure_tasks, k_of, root_of_rows, value_of
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import MeasuredLine, MeasuredLines, Picture

__all__ = ["LOSS", "bare_panel", "epsilons_of", "is_icmd_dp", "level_lines", "without_noise"]

OWN = "SSE a row"
NEAREST = "SSE a row, nearest"


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    return figure_tasks(
        effort, lambda found: {OWN: (found.own_error, 0.0), NEAREST: (found.nearest_error, 0.0)}, "figures 1 and 3"
    )


def epsilons_of(rows: Sequence[ReproducedRow]) -> list[str]:
    """The epsilons of some rows as they stand in their settings, in their order."""
    words = (row.setting.split(", ")[0] for row in rows)
    return list(dict.fromkeys(word.removeprefix("epsilon ") for word in words if word.startswith("epsilon ")))


def without_noise(rows: Sequence[ReproducedRow], measure: str) -> tuple[dict[str, float], dict[str, float]]:
    """A measure of CMD and of ICMD by setting."""
    return value_of(rows, "plain", measure), {
        setting: value for setting, value in value_of(rows, "as printed", measure).items() if "no noise" in setting
    }


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    return [*_ordered_groups(rows), *_overtaking(rows), *_sound_forms(rows)]


def _ordered_groups(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    cmd, icmd = without_noise(rows, OWN)
    worse = [setting for setting in cmd if icmd[setting] > cmd[setting]]
    ratios = [icmd[setting] / cmd[setting] for setting in cmd]
    yield (
        f"Without noise ICMD loses more than CMD at {len(worse)} of {len(cmd)} sizes ({min(ratios):.2f} to {max(ratios):.2f} "
        f"times as much), {'as the paper says of figure 1' if len(worse) == len(cmd) else 'where the paper says: always'}."
    )


def _overtaking(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    printed, root = value_of(rows, "as printed", OWN), root_of_rows(rows)
    words = []
    for epsilon in epsilons_of(rows):
        plain = printed[f"epsilon {epsilon}, {EACH_RECORD}"]
        at = {k_of(setting): value for setting, value in printed.items() if is_icmd_dp(setting, epsilon)}
        below = sorted(k for k, value in at.items() if k is not None and value < plain)
        words.append(f"{epsilon}: {f'from k = {below[0]:,.0f} on' if below else 'at no k'}")
    yield (
        "With noise for all groups ICMD-DP loses less than noise on each record, of the k that were run, at epsilon "
        f"{'; '.join(words)}. The root of n is {root:,.0f}, near which, as we read a damaged formula, figure 3 has it."
    )
    one = {setting: value for setting, value in printed.items() if "noise of one group" in setting}
    if one:
        epsilon = epsilons_of([row for row in rows if row.setting in one])[0]
        plain = printed[f"epsilon {epsilon}, {EACH_RECORD}"]
        below = sorted(k for setting, value in one.items() if value < plain and (k := k_of(setting)) is not None)
        is_near = bool(below) and root / 2 <= below[0] <= 2 * root
        yield (
            f"With noise for one group, the sensitivity that is printed, it does so at epsilon {epsilon} "
            f"{f'from k = {below[0]:,.0f} on' if below else 'at no k'}: that {'fits' if is_near else 'does not fit'} figure 3."
        )


def is_icmd_dp(setting: str, epsilon: str) -> bool:
    """Whether a setting is ICMD-DP at an epsilon, with noise for all groups."""
    words = setting.split(", ")
    return words[0] == f"epsilon {epsilon}" and k_of(setting) is not None and "noise of one group" not in setting


def _sound_forms(rows: Sequence[ReproducedRow]) -> Iterator[str]:
    sound, printed = value_of(rows, "sound", NEAREST), value_of(rows, "as printed", NEAREST)
    words = []
    for epsilon in epsilons_of(rows):
        best = min(value for setting, value in sound.items() if is_icmd_dp(setting, epsilon))
        claimed = min(value for setting, value in printed.items() if is_icmd_dp(setting, epsilon))
        clusters, shared = (
            sound[f"epsilon {epsilon}, clusters"],
            printed[f"epsilon {epsilon}, {EACH_RECORD}, {SHARED}"],
        )
        words.append(f"{epsilon}: {best:.2f}, {clusters:.2f}, {shared:.2f} and {claimed:.2f}")
    yield (
        "To the nearest published row, the sound form of ICMD-DP at its best k, private clusters, noise on each record at the "
        f"same proved epsilon, and ICMD-DP as printed at its best k are off by, at epsilon {'; '.join(words)}."
    )


def level_lines(rows: Sequence[ReproducedRow], measure: str, epsilon: str, ends: tuple[float, float]) -> list[MeasuredLine]:
    """What has no k, as level lines: noise on each record and private clusters."""
    named = {
        "noise on each record": value_of(rows, "as printed", measure).get(f"epsilon {epsilon}, {EACH_RECORD}"),
        "sound, clusters": value_of(rows, "sound", measure).get(f"epsilon {epsilon}, clusters"),
    }
    return [MeasuredLine(name, ends, (value, value)) for name, value in named.items() if value is not None]


def bare_panel(rows: Sequence[ReproducedRow], measure: str, label: str) -> MeasuredLines:
    """CMD and ICMD over k, without noise."""
    bare = [row for row in rows if "no noise" in row.setting]
    lines = compared_lines(bare, measure, k_of, lambda setting: "")
    named = [replace(line, name="CMD" if "privacy" in line.name else "ICMD, as printed") for line in lines]
    return MeasuredLines("without noise", tuple(named), x_label="k", label=label, is_x_log=True)


def _panel(rows: Sequence[ReproducedRow], measure: str, epsilon: str) -> MeasuredLines:
    mine = [row for row in rows if is_icmd_dp(row.setting, epsilon)]
    lines = compared_lines(mine, measure, k_of, lambda setting: "ICMD-DP")
    ends = min(lines[0].x), max(lines[0].x)
    return MeasuredLines(
        f"epsilon {epsilon}",
        (*lines, *level_lines(rows, measure, epsilon, ends)),
        x_label="k",
        label="SSE a row",
        is_x_log=True,
        is_log=measure == OWN,
    )


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    return [
        Picture(
            title,
            (bare_panel(rows, measure, "SSE a row"), *(_panel(rows, measure, epsilon) for epsilon in epsilons_of(rows))),
            caption,
        )
        for title, measure, caption in (
            (
                "Loss record by record, as in figures 1 and 3",
                OWN,
                "Printed forms alone: no row of the sound ones is anybody's.",
            ),
            ("Loss to the nearest published row", NEAREST, "Numbers clipped into their bounds; lower is better."),
        )
    ]


LOSS = Item(
    "loss-over-k",
    "Information loss over k and epsilon",
    "SSE adds up squared differences between each record of Adult and what is published in its place; where rows are nobody's, "
    "as those of sound methods, the nearest one is taken. The paper says that its groups in an order (ICMD) lose more than plain "
    "groups (CMD), and with noise less than noise on each record once k passes about the root of n.",
    _tasks,
    _finds,
    _draws,
)
