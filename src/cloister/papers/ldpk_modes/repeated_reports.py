"""Somebody who is asked again: fresh reports of one answer average the noise away, remembered ones do not.

The paper has one collection, and nothing in its algorithm 1 keeps a second one from drawing anew. The sound client remembers what
it sent, by question, value, domain and epsilon, and sends that again (`cloister.collect.memo`); here one draw of its protocol is
repeated, which is the same and can be seeded.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from cloister.collect.protocols import RandomizedResponse
from cloister.papers.claim_attacks import FOUND, attack_outputs, claim_row
from cloister.papers.compared_lines import compared_lines
from cloister.papers.holder_rows import holder_numbers
from cloister.papers.ldpk_modes.printed import perturb_rows
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import MeasuredLines, Picture
from cloister.testing import seeded_noise

__all__ = ["REPEATS", "fresh_yes_share", "remembered_yes_share"]

EPSILON = Fraction(1, 2)
TIMES = (1, 3, 9, 29, 99)  # odd: a majority always decides
GUESSED = "share of people whose answer the majority of their reports gives away"
SOURCE = "algorithm 1"

Shares = NDArray[np.float64]


def fresh_yes_share(people: int, answer: int, times: int, seed: int) -> Shares:
    """The share of yes among the reports of each person, each drawn anew by algorithm 1, (people, 1)."""
    truth = holder_numbers({"answer": np.full(people, answer)})
    reports = [perturb_rows(truth, 2, float(EPSILON), seed * 1000 + again).value for again in range(times)]
    return np.asarray(np.mean(reports, axis=0), dtype=np.float64)


def remembered_yes_share(people: int, answer: int, times: int, seed: int) -> Shares:
    """The same of a client that remembers: one draw of the program's protocol, sent every time."""
    protocol = RandomizedResponse.of(("no", "yes"), EPSILON)
    with seeded_noise(seed):
        first = protocol.perturb_codes(np.full(people, answer, dtype=np.int64))
    return np.asarray(np.mean([first] * times, axis=0), dtype=np.float64)[:, None]


def _rows(times: int, people: int) -> list[ReproducedRow]:
    setting, claimed = f"{times} {'report' if times == 1 else 'reports'}, epsilon {float(EPSILON):g}", float(EPSILON)
    rows = [claim_row(setting, claimed, SOURCE, note="of one report: the paper has no second")]
    forms: tuple[tuple[Form, tuple[Shares, Shares], float], ...] = (
        ("as printed", (fresh_yes_share(people, 0, times, 0), fresh_yes_share(people, 1, times, 1)), times * claimed),
        ("sound", (remembered_yes_share(people, 0, times, 0), remembered_yes_share(people, 1, times, 1)), claimed),
    )
    for form, outputs, proved in forms:
        rows.append(attack_outputs(setting, form, outputs, claimed=claimed, epsilon=proved, source=SOURCE))
        right = float(np.mean(np.concatenate([outputs[0] < 0.5, outputs[1] > 0.5])))
        rows.append(ReproducedRow(setting, form, GUESSED, right, SOURCE, claimed=claimed, epsilon=proved, seed=0))
    return rows


def _tasks(effort: RunEffort) -> list[ItemTask]:
    people = effort.pick(100_000, 20_000)
    times = effort.pick(TIMES, TIMES[:-1])
    return [ItemTask(f"{again} times", lambda again=again: _rows(again, people)) for again in times]  # type: ignore[misc]


def times_of(setting: str) -> float:
    """How many reports a person sent.

    >>> times_of("9 reports, epsilon 0.5")
    9.0
    """
    return float(setting.split()[0])


def repeat_finds(rows: Sequence[ReproducedRow]) -> list[str]:
    """How far averaging gets with each form."""
    guessed = {(row.form, times_of(row.setting)): float(row.value or 0) for row in rows if row.measure == GUESSED}
    found = {(row.form, times_of(row.setting)): float(row.value or 0) for row in rows if row.measure == FOUND}
    most = max(times for _, times in guessed)
    claimed = float(EPSILON)
    passed = [times for form, times in sorted(found) if form == "as printed" and found[form, times] > claimed]
    held = sum(found[form, times] <= claimed for form, times in found if form == "sound")
    total = sum(form == "sound" for form, _ in found)
    first = f"from {passed[0]:.0f} reports on" if passed else "with no number of reports tried"
    return [
        f"Drawn anew each time, the majority of {most:.0f} reports gives {guessed['as printed', most]:.1%} of the answers away, "
        f"of one report {guessed['as printed', 1.0]:.1%}. An attack finds more than epsilon {claimed:g} {first}.",
        f"Remembered and sent again, {most:.0f} reports give {guessed['sound', most]:.1%} away, one {guessed['sound', 1.0]:.1%}; "
        f"epsilon {claimed:g} stands in {held} of {total} attacks.",
    ]


def repeat_pictures(rows: Sequence[ReproducedRow]) -> list[Picture]:
    """What is given away and what an attack finds, over the number of reports."""
    panels = (
        MeasuredLines("Answers given away", compared_lines(rows, GUESSED, times_of), "reports of one person",
                      "share of people", is_x_log=True, level=(0.5, "a blind guess")),
        MeasuredLines("Epsilon found", compared_lines([row for row in rows if row.form != "printed"], FOUND, times_of),
                      "reports of one person", "at least", is_x_log=True, level=(float(EPSILON), "of one report")),
    )  # fmt: skip
    return [Picture("Somebody who is asked again", panels, "One yes-or-no question; reports drawn anew, or remembered.")]


REPEATS = Item(
    "repeats",
    "Somebody who is asked again",
    "A person who answers the same question several times, each time with fresh noise, is found out by averaging. The paper does "
    "not say what a client does then; the program's client remembers its report and sends it again.",
    _tasks,
    repeat_finds,
    repeat_pictures,
)
