"""Seconds: the paper announces an analysis of time (section 3), of which our text has no figure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.icmd_dp.adult_release import AdultRelease, Method, time_release
from cloister.papers.icmd_dp.figure_settings import described, value_of
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

__all__ = ["TIMES"]

SECONDS = "seconds"
EPSILON, K = "1", 10
METHODS: tuple[Method, ...] = ("cmd", "icmd-dp", "insensitive", "clusters")
NAMES: dict[str, str] = {"cmd": "", "icmd-dp": "", "insensitive": "insensitive groups", "clusters": "clusters"}


def _tasks(effort: RunEffort) -> Sequence[ItemTask]:
    def rows(method: Method, count: int) -> list[ReproducedRow]:
        what = AdultRelease(method, count, "" if method == "cmd" else EPSILON, 0 if method == "clusters" else K)
        _, form, claimed, epsilon = described(what)
        setting = f"{count:,} rows, {NAMES[method] or f'groups of {K}'}"
        seconds = time_release(what, effort.data)
        timed = ReproducedRow(setting, form, SECONDS, seconds, "section 3", claimed=claimed, epsilon=epsilon, seed=0)
        if method != "icmd-dp":
            return [timed]
        return [ReproducedRow(setting, "printed", SECONDS, None, "section 3", note="no times in our text"), timed]

    counts = effort.pick((1_000, 3_000, 10_000, 30_000), (300, 1_000))
    return [
        ItemTask(f"{method}, {count} rows", lambda method=method, count=count: rows(method, count))  # type: ignore[misc]
        for count in counts
        for method in METHODS
    ]


def _rows_of(setting: str) -> float | None:
    found = re.match(r"([\d,]+) rows", setting)
    return float(found[1].replace(",", "")) if found else None


def _method_of(setting: str) -> str:
    name = setting.split(", ")[1]
    return "" if name.startswith("groups of") else name


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    largest = max(found for row in rows if (found := _rows_of(row.setting)) is not None)
    named = []
    for form, title in (("plain", "CMD"), ("as printed", "ICMD-DP as printed"), ("sound", "sound")):
        for setting, seconds in value_of(rows, form, SECONDS).items():  # type: ignore[arg-type]
            if _rows_of(setting) == largest:
                which = _method_of(setting)
                named.append(f"{title}{f', {which}' if which else ''} {seconds:.2g} s")
    return [f"{largest:,.0f} rows of Adult on this machine, the faster of two runs: {'; '.join(named)}."]


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    lines = compared_lines(rows, SECONDS, _rows_of, _method_of)
    caption = f"CMD (without privacy) and ICMD-DP with groups of {K}; epsilon {EPSILON}."
    return [lines_picture("Seconds over rows", lines, caption, x_label="rows", label="seconds", is_x_log=True, is_log=True)]


TIMES = Item(
    "run-times",
    "Time",
    "The paper announces an analysis of time. Its CMD compares all rows with each other, its ICMD sorts them once; both are "
    "timed beside the sound forms, over the number of rows.",
    _tasks,
    _finds,
    _draws,
)
