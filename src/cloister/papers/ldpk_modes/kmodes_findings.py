"""What figures 4 to 6 are said to show and what they show, in sentences and in pictures made of their rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cloister.papers.compared_lines import BANDS, compared_lines
from cloister.papers.form_columns import form_cells
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import MeasuredLine, MeasuredLines, Picture

__all__ = [
    "CENTRAL",
    "DEFAULT",
    "FROM_ROWS",
    "LOCAL",
    "agreement_finds",
    "equal_finds",
    "nivc_finds",
    "place_of",
    "table_of",
    "table_panels",
]

CENTRAL, LOCAL, DEFAULT, FROM_ROWS = "central", "local", "central, votes", "central, start from rows"
Rows = Sequence[ReproducedRow]


def place_of(setting: str) -> float:
    """The epsilon of a setting.

    >>> place_of("D3 Nursery, epsilon 0.5 in all")
    0.5
    """
    return float(setting.partition(", epsilon ")[2].split()[0])


def table_of(setting: str) -> str:
    """The table of a setting.

    >>> table_of("D3 Nursery, epsilon 0.5 in all")
    'D3 Nursery'
    """
    return setting.partition(", epsilon ")[0]


def _medians(rows: Rows, side: str, form: Form) -> dict[str, dict[float, float]]:
    """By table and epsilon, the median of the runs of one side in one form."""
    found: dict[str, dict[float, float]] = {}
    for (setting, measure), forms in form_cells(rows).items():
        cell = forms.get(form)
        if measure.endswith(f", {side}") and cell is not None and cell.value is not None:
            found.setdefault(table_of(setting), {})[place_of(setting)] = cell.value
    return found


def _listed(tables: Sequence[str]) -> str:
    return ", ".join(tables) if tables else "none"


def nivc_finds(rows: Rows) -> list[str]:
    """What the figure is said to show, and what it shows."""
    printed_central, printed_local = _medians(rows, CENTRAL, "as printed"), _medians(rows, LOCAL, "as printed")
    ends = [(min(curve), max(curve)) for curve in printed_central.values()]
    low, high = ends[0]
    at_low = [name for name in printed_central if printed_central[name][low] < printed_local[name][low]]
    at_high = [name for name in printed_central if printed_local[name][high] < printed_central[name][high]]
    sentences = [
        f"Claimed: the central baseline is better at a small epsilon. Run again at epsilon {low:g}, as printed, it is better on "
        f"{len(at_low)} of {len(ends)} tables ({_listed(at_low)}).",
        f"Claimed: LDPK-modes is better at a large epsilon. Run again at epsilon {high:g}, as printed, it is better on "
        f"{len(at_high)} of {len(ends)} tables ({_listed(at_high)}).",
    ]
    if from_rows := _medians(rows, FROM_ROWS, "as printed"):
        ahead = [name for name in from_rows if printed_local[name][high] < from_rows[name][high]]
        sentences.append(
            "Against a baseline that starts from rows of the table, the other reading of its first step (no epsilon is proved of "
            f"it), LDPK-modes is better at epsilon {high:g} on {len(ahead)} of {len(ends)} tables ({_listed(ahead)})."
        )
    moves = {name: max(curve.values()) / min(curve.values()) - 1 for name, curve in printed_central.items()}
    farthest = max(moves, key=lambda name: moves[name])
    falls = [name for name, curve in printed_central.items() if curve[high] < curve[low]]
    sentences.append(
        "Claimed: more epsilon means less noise for the baseline. As printed its noise has a scale below 1 at every epsilon: "
        f"its median NIVC is never more than {moves[farthest]:.0%} above its smallest ({farthest} moves most), and from epsilon "
        f"{low:g} to {high:g} it falls on {len(falls)} of {len(ends)} tables."
    )
    return [*sentences, *_sound_finds(rows)]


def _sound_finds(rows: Rows) -> list[str]:
    """The sound forms beside the printed ones."""
    sentences = []
    for side, what in (
        (CENTRAL, "Central, with the noise that epsilon needs"),
        (LOCAL, "Local, by expectation maximisation"),
    ):
        printed, sound = _medians(rows, side, "as printed"), _medians(rows, side, "sound")
        pairs = [(printed[name][at], sound[name][at]) for name in printed for at in printed[name]]
        better = sum(ours <= theirs for theirs, ours in pairs)
        sentences.append(
            f"{what}: its median NIVC is no larger than that of the form as printed in {better} of {len(pairs)} settings."
        )
    default = _medians(rows, DEFAULT, "sound")
    if default:
        rounds = _medians(rows, CENTRAL, "sound")
        worse = [name for name in default if default[name][max(default[name])] > rounds[name][max(rounds[name])]]
        sentences.append(
            "KModes as it comes (votes) has at the largest epsilon a larger median NIVC than the paper's rounds made sound on: "
            f"{_listed(worse)}."
        )
    return sentences


def agreement_finds(rows: Rows) -> list[str]:
    """The claims on the F-measure."""
    central, local = _medians(rows, CENTRAL, "as printed"), _medians(rows, LOCAL, "as printed")
    gaps = [abs(central[name][at] - local[name][at]) for name in central for at in central[name]]
    sentences = [
        f"Claimed: both have similar F-measures. Run again as printed, their medians differ by at most {max(gaps):.2f}."
    ]
    for what, curves in (("the central baseline", central), ("LDPK-modes", local)):
        rises = [name for name, curve in curves.items() if curve[max(curve)] > curve[min(curve)]]
        sentences.append(
            f"Claimed: the F-measure rises with epsilon. For {what} as printed its median is higher at the largest epsilon than "
            f"at the smallest on {len(rises)} of {len(curves)} tables ({_listed(rises)})."
        )
    return sentences


def equal_finds(rows: Rows) -> list[str]:
    """Who is ahead where both spend the same."""
    central, local, clipped = (
        _medians(rows, CENTRAL, "sound"),
        _medians(rows, LOCAL, "sound"),
        _medians(rows, LOCAL, "as printed"),
    )
    places = [(name, at) for name in central for at in central[name]]
    behind = sum(local[name][at] > central[name][at] for name, at in places)
    better = sum(local[name][at] <= clipped[name][at] for name, at in places)
    return [
        f"With one epsilon in all for both, the local side has a larger median NIVC than the central one in {behind} of "
        f"{len(places)} settings: what figure 5 draws at one epsilon is m times as much for the local side.",
        f"In the local model, expectation maximisation is no worse than clip-and-renormalise in {better} of {len(places)} "
        "settings.",
    ]


def table_panels(rows: Rows, title: str, label: str) -> list[Picture]:
    """A panel a table: a line for each side and form over epsilon."""
    panels = []
    tables = dict.fromkeys(table_of(row.setting) for row in rows)
    for table in tables:
        own = [row for row in rows if table_of(row.setting) == table]
        lines: list[MeasuredLine] = []
        for measure in dict.fromkeys(row.measure for row in own):
            side = measure.partition("central")[1] + measure.partition("central")[2] or LOCAL
            some = [row for row in own if row.form != "plain"]
            lines += [
                replace(line, name=f"{side}, {line.name.partition(',')[0]}")
                for line in compared_lines(some, measure, place_of)
            ]
        floor = next((row.value for row in own if row.form == "plain"), None)
        level = None if floor is None else (floor, "best without noise")
        panels.append(MeasuredLines(table, tuple(lines), x_label="epsilon", label=label, is_x_log=True, level=level))
    return [Picture(title, tuple(panels), BANDS, across=2)]
