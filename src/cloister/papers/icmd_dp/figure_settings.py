"""What of figures 1 to 4 is run, and how a release becomes rows of the table: its setting in words, its form, what is proved."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence

from cloister.papers.form_columns import form_cells
from cloister.papers.icmd_dp.adult_release import AdultRelease, Method, ReleaseFigures, measure_release
from cloister.papers.paper_items import ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow

__all__ = [
    "EACH_RECORD",
    "NO_NUMBERS",
    "SHARED",
    "figure_tasks",
    "k_of",
    "planned_releases",
    "root_of_rows",
    "table_rows",
    "value_of",
]

NO_NUMBERS = "figure without numbers in our text"
EACH_RECORD = "noise on each record"
SHARED = "columns share it"
COLUMNS = 14  # of Adult, which is what noise that every column has whole adds up over
EPSILONS = ("0.01", "0.1", "1", "10")
SIZES = (2, 10, 100, 173, 200, 500)  # 173 is the root of 30,000
BEYOND = (5_000,)  # a size that the paper did not try, where the sound form is nearer to its best
QUICK_EPSILONS = ("1", "10")
QUICK_SIZES = (2, 32, 300)  # 32 is the root of 1,000
FOR_ONE_GROUP = "1"  # the epsilon at which the noise of one group is run: it is one reading of two

Measures = Callable[[ReleaseFigures], dict[str, tuple[float | None, float]]]
"""Names, values, and their standard errors; 0 where none is known."""


def table_rows(effort: RunEffort) -> int:
    """The rows of Adult that are published."""
    return effort.pick(30_000, 1_000)


def planned_releases(effort: RunEffort) -> Iterator[AdultRelease]:
    """All that is run, in the order of the table."""
    rows, sizes, seeds = table_rows(effort), effort.pick(SIZES, QUICK_SIZES), range(effort.pick(2, 1))

    def some(method: Method, epsilon: str, k: int = 0) -> Iterator[AdultRelease]:
        return (AdultRelease(method, rows, epsilon, k, seed) for seed in seeds)

    for k in sizes:
        yield AdultRelease("cmd", rows, k=k)
        yield AdultRelease("icmd", rows, k=k)
    for epsilon in effort.pick(EPSILONS, QUICK_EPSILONS):
        for k in sizes:
            yield from some("icmd-dp", epsilon, k)
            yield from some("insensitive", epsilon, k)
        for k in effort.pick(BEYOND, ()):
            yield from some("insensitive", epsilon, k)
        if epsilon == FOR_ONE_GROUP:
            for k in sizes:
                yield from some("icmd-dp, one group", epsilon, k)
        for method in ("each record", "each record, shared", "clusters"):
            yield from some(method, epsilon)


def figure_tasks(effort: RunEffort, measures: Measures, source: str, leave_out: Sequence[Method] = ()) -> Sequence[ItemTask]:
    """A task a release; the rows have the measures that an item shows, the paper's own first."""

    def rows(what: AdultRelease) -> Iterator[ReproducedRow]:
        found = measure_release(what, effort.data, effort.pick(1_000, 300))
        setting, form, claimed, epsilon = described(what)
        seed = what.seed if what.epsilon else None
        note = f"{what.rows:,} rows of Adult"
        for place, (measure, (value, error)) in enumerate(measures(found).items()):
            if value is None:
                continue
            if place == 0 and what.method in ("icmd-dp", "icmd", "each record") and not what.seed:
                yield ReproducedRow(setting, "printed", measure, None, source, claimed=claimed, note=NO_NUMBERS)
            low, high = (value - 2 * error, value + 2 * error) if error else (None, None)
            yield ReproducedRow(setting, form, measure, value, source, low, high, claimed, epsilon, seed, note)

    def task(what: AdultRelease) -> ItemTask:
        name = f"{what.method}, epsilon {what.epsilon or 'none'}, k {what.k or 'none'}, seed {what.seed}"
        return ItemTask(name, lambda: tuple(rows(what)))

    return [task(what) for what in planned_releases(effort) if what.method not in leave_out]


def described(what: AdultRelease) -> tuple[str, Form, float | None, float | None]:
    """Setting, form, what is claimed, and what is proved.

    Every published cell of ICMD-DP may move by its range, which adds up to k squared epsilon for each column where noise is made
    for all groups, and to n k epsilon where it is made for one.
    """
    claimed = float(what.epsilon) if what.epsilon else None
    epsilon = claimed or math.inf
    groups = max(1, what.rows // what.k) if what.k else 1
    match what.method:
        case "cmd":
            return f"k {what.k:,}, no noise", "plain", None, None
        case "icmd":
            return f"k {what.k:,}, no noise", "as printed", None, math.inf
        case "icmd-dp":
            setting = f"epsilon {what.epsilon}, k {what.k:,}"
            return setting, "as printed", claimed, COLUMNS * what.rows * what.k * epsilon / groups
        case "icmd-dp, one group":
            setting = f"epsilon {what.epsilon}, k {what.k:,}, noise of one group"
            return setting, "as printed", claimed, COLUMNS * what.rows * what.k * epsilon
        case "each record":
            return f"epsilon {what.epsilon}, {EACH_RECORD}", "as printed", claimed, COLUMNS * epsilon
        case "each record, shared":
            return f"epsilon {what.epsilon}, {EACH_RECORD}, {SHARED}", "as printed", claimed, epsilon
        case "insensitive":
            return f"epsilon {what.epsilon}, k {what.k:,}", "sound", None, epsilon
        case "clusters":
            return f"epsilon {what.epsilon}, clusters", "sound", None, epsilon


def k_of(setting: str) -> float | None:
    """The k of a setting, where it has one.

    >>> k_of("epsilon 1, k 5,000"), k_of("epsilon 1, clusters")
    (5000.0, None)
    """
    found = re.search(r"\bk (\d[\d,]*)", setting)
    return float(found[1].strip(",").replace(",", "")) if found else None


def root_of_rows(rows: Sequence[ReproducedRow]) -> float:
    """The root of the number of rows that were published, as the notes say it."""
    counts = (re.match(r"([\d,]+) rows", row.note) for row in rows)
    return math.sqrt(next(int(found[1].replace(",", "")) for found in counts if found))


def value_of(rows: Sequence[ReproducedRow], form: Form, measure: str) -> dict[str, float]:
    """The median of a measure by setting, for one form."""
    cells = {setting: forms.get(form) for (setting, what), forms in form_cells(rows).items() if what == measure}
    return {setting: cell.value for setting, cell in cells.items() if cell is not None and cell.value is not None}
