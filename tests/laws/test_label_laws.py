"""Labels of numbers and days: public places alone, answered for by k rows, without gaps, and no nearer to a row than chance.

``CLOISTER_FUZZ=50000`` runs as many tables; the usual run has a few hundred.
"""

from __future__ import annotations

import functools
import itertools
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.counting import put_on_grid
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.public_grid import word
from cloister.anonymization.counting.scale import CutBins, Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.localize import localize
from cloister.anonymization.searching.specialize import specialize
from cloister.anonymization.writing.apply import apply_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import UsageError

TABLES = int(os.environ.get("CLOISTER_FUZZ", "250"))
FINEST = Fraction(1, 10**17)  # no width is finer
INTERVAL = re.compile(r"([\[(])(.+), (.+)([\])])")


@dataclass(frozen=True)
class Column:
    """A random column: its cells (NaN: a blank), its public facts, and the unit that its cells are written in."""

    cells: np.ndarray
    is_date: bool = False
    unit: float = 1.0
    bounds: tuple[float, float] | None = None
    step: float | None = None

    @property
    def scale(self) -> Scale:
        known = np.unique(self.cells[~np.isnan(self.cells)])
        return Scale(known, bool(np.isnan(self.cells).any()), self.is_date, None, self.bounds, self.step)


@dataclass(frozen=True)
class Published:
    """A random table, and the label of each cell; None where a row was removed."""

    columns: list[Column]
    persons: np.ndarray | None
    k: int
    is_local: bool
    labels: list[list[str | None]]

    def holders(self, mask: np.ndarray) -> int:
        """How many rows (people) a mask of rows holds."""
        return int(mask.sum()) if self.persons is None else len(set(self.persons[mask].tolist()))


def make_column(random: np.random.Generator, n: int) -> Column:
    kind = random.integers(0, 9)
    if kind == 0:
        return Column(random.integers(17, 90, n).astype(float), step=1.0)
    if kind == 1:  # whole numbers between bounds, on a step
        step = float(random.choice([1, 5, 0.5]))
        return Column(20 + step * random.integers(0, 60, n), bounds=(20.0, 20 + 60 * step), step=step)
    if kind == 2:  # bounds alone
        return Column(np.round(random.uniform(3, 97, n), 2), unit=0.01, bounds=(0.0, 100.0))
    if kind == 3:
        return Column(np.round(random.uniform(20_000, 60_000, n), 2), unit=0.01)
    if kind == 4:
        return Column(np.round(random.lognormal(8, 2, n), 2), unit=0.01)
    if kind == 5:  # a few values that many share, and single ones between them
        few = random.integers(0, 200, 4).astype(float)
        step = 1.0 if random.random() < 0.5 else None  # declared as whole numbers, or not
        return Column(np.where(random.random(n) < 0.9, random.choice(few, n), random.integers(-50, 250, n)), step=step)
    if kind == 6:
        return Column(random.normal(0, 10.0 ** random.integers(-6, 7), n), unit=0.0)
    days = random.integers(-10_000, 15_000) + np.floor(random.beta(2, 2, n) * random.choice([60, 4000, 30_000]))
    cells = np.where(random.random(n) < 0.1, np.nan, days) if kind == 8 else days
    return Column(cells, is_date=True)


def publish(random: np.random.Generator) -> Published | None:
    """A random table under random settings; None if it is refused."""
    n, k = int(random.integers(20, 400)), int(random.integers(2, 12))
    columns = [make_column(random, n) for _ in range(random.integers(1, 4))]
    persons = random.integers(0, max(1, n // 2), n) if random.random() < 0.3 else None
    scales = [column.scale for column in columns]
    codes = np.stack(
        [
            np.where(np.isnan(column.cells), len(scale.values), np.searchsorted(scale.values, column.cells))
            for column, scale in zip(columns, scales, strict=True)
        ],
        axis=1,
    )
    rows = TupleCounts(codes.astype(np.int32), np.ones(n, np.int64), persons=persons)
    counted = CountedTable(rows, scales, [f"q{j}" for j in range(len(columns))])
    is_local = bool(random.random() < 0.3)
    try:
        if is_local:
            local = localize(counted, k)
            recoding, labels = local.recoding, local.labels
        else:
            found = specialize(counted, k, gain="loss", suppression=float(random.choice([0, 0.05, 0.3])), beam=1)
            recoding, labels = found.recoding, found.labels
    except UsageError:
        return None
    shown: list[list[str | None]] = []
    for j, column in enumerate(recoding.columns):
        texts = [None if at < 0 else column.labels[recoding.classes[at, j]] for at in labels.tolist()]
        shown.append(texts)
    return Published(columns, persons, k, is_local, shown)


def fuzz(seed: int, tables: int = TABLES) -> Iterator[Published]:
    random = np.random.default_rng(seed)
    for _ in range(tables):
        if (published := publish(random)) is not None:
            yield published


def read_end(text: str, is_date: bool) -> Fraction | None:
    """An end as it reads, days since 1970 for a date; None where it is open."""
    if text in ("-inf", "inf"):
        return None
    return Fraction(int(np.datetime64(text, "D").astype(int))) if is_date else Fraction(text)


@functools.cache
def ladder(step: float | None) -> tuple[tuple[Fraction, int], ...]:
    """1, 2 and 5 times powers of ten (of steps), the widest first, from public facts alone; and each in `FINEST` units."""
    unit = Fraction(1) if step is None else Fraction(repr(step))
    least = 0 if step is not None else -17
    widths = [nice * Fraction(10) ** power for power in range(12, least - 1, -1) for nice in (5, 2, 1)]
    return tuple((width * unit, int(width / FINEST)) for width in widths)


def spans_beside(end: Fraction, column: Column) -> Iterator[tuple[Fraction, Fraction]]:
    """The public intervals of each width that end and begin at a place, the widest first; none if it is no public place."""
    if column.is_date:
        day = np.datetime64(int(end), "D")
        month = day.astype("M8[M]")
        if month.astype("M8[D]") != day:
            return
        months = [12 * years for years in (1000, 500, 200, 100, 50, 20, 10, 5, 2, 1)] + [6, 3, 1]
        for width in months:
            if (month.astype(int) + 1970 * 12) % width == 0:
                yield tuple(Fraction(int((month + by).astype("M8[D]").astype(int))) for by in (-width, width))  # type: ignore[misc]
        return
    origin = Fraction(0)
    if column.step is not None and column.bounds is not None and Fraction(column.bounds[0]) % Fraction(repr(column.step)):
        origin = Fraction(column.bounds[0])
    place = (end - origin) / FINEST / (1 if column.step is None else Fraction(repr(column.step)))
    if place.denominator > 1:
        return
    for width, units in ladder(column.step):
        if place.numerator % units == 0:
            yield end - width, end + width


def is_answered(end: Fraction, column: Column, published: Published) -> bool:
    """Whether k rows on each side answer for a cut at a public place."""
    cells, at, widest = column.cells, float(end), None
    for low, high in spans_beside(end, column):
        widest = high - end if widest is None else widest
        left, right = (cells >= float(low)) & (cells < at), (cells >= at) & (cells < float(high))
        if min(published.holders(left), published.holders(right)) >= published.k:
            return True
    if column.is_date:  # days answer by months
        is_day = np.isfinite(cells)
        months = np.full(len(cells), np.nan)
        months[is_day] = cells[is_day].astype("datetime64[D]").astype("datetime64[M]").astype("datetime64[D]").astype(float)
        cells = months
    shared = [value for value in np.unique(cells) if published.holders(cells == value) >= published.k]
    below, above = [value for value in shared if value < at], [value for value in shared if value >= at]
    if not (below and above and widest):
        return False
    # between two values that k rows hold each: no rounder place would part them
    return not any(
        Fraction(float(above[0])) // width * width > Fraction(float(below[-1]))
        for width, _ in (() if column.is_date or column.step is not None else ladder(None))
        if width > widest
    )


def check_labels(published: Published) -> int:
    """Every law of labels but that of chance; how many labels were looked at."""
    seen = 0
    for column, texts in zip(published.columns, published.labels, strict=True):
        by_label: dict[str, list[int]] = {}
        for row, text in enumerate(texts):
            if text is not None:
                by_label.setdefault(text, []).append(row)
        seen += len(by_label)
        tiles: list[tuple[float, float]] = []
        for text, rows in by_label.items():
            cells = column.cells[rows]
            if text in ("*", ""):
                assert text == "*" or np.isnan(cells).all()
                continue
            match = INTERVAL.fullmatch(text)
            if match is None:  # a value: the interval of one public step that begins at it
                assert column.step is not None, text
                low = Fraction(text)
                high = low + Fraction(repr(column.step))
                if column.bounds is not None:
                    high = min(high, Fraction(column.bounds[1]))
                assert (cells == float(low)).all()
            else:
                low, high = (read_end(match[side], column.is_date) for side in (2, 3))
                is_step = column.step is not None and None not in (low, high) and high - low == Fraction(repr(column.step))
                assert not is_step or match[4] == "]", "one step is written as its value"
            ends = (-np.inf if low is None else float(low), np.inf if high is None else float(high))
            is_closed = match is None or match[4] == "]"
            assert ((cells >= ends[0]) & ((cells < ends[1]) | (cells <= ends[1] if is_closed else False))).all()
            for end in (low, high):
                is_outer = end is not None and column.bounds is not None and float(end) in column.bounds
                assert end is None or is_outer or is_answered(end, column, published), (text, column.step)
            tiles.append(ends)
        if not published.is_local and tiles:
            check_tiles(sorted(tiles), column)
    return seen


def check_tiles(tiles: list[tuple[float, float]], column: Column) -> None:
    """A label begins where the one before it ends (a value ends one step on); the outermost reach to the public ends."""
    low, high = column.bounds or (-np.inf, np.inf)
    assert all(end == start for (_, end), (start, _) in itertools.pairwise(tiles)), "a gap"
    assert (tiles[0][0], tiles[-1][1]) == (low, high)


def nearness(tables: Iterator[Published]) -> tuple[float, float]:
    """How much oftener than by chance an end is a single row's value, or one unit past it; and the bound of that at 1e-6.

    The chance is that of a place of the same unit in the narrowest public intervals beside the end that k rows answer
    for. Tables are independent, so by Hoeffding their sum exceeds the bound with a probability of at most 1e-6.
    """
    excess, squares = 0.0, 0.0
    for published in tables:
        own, ends_seen = 0.0, 0
        for column, texts in zip(published.columns, published.labels, strict=True):
            if not column.unit or (column.unit == 1 and not column.is_date):
                continue  # every whole number is somebody's
            values, counts = np.unique(np.round(column.cells[~np.isnan(column.cells)] / column.unit), return_counts=True)
            single = values[counts < published.k]
            near = np.union1d(single, single + 1)  # a single row's value, or one unit past it
            ends = {match[side] for text in set(texts) if text and (match := INTERVAL.fullmatch(text)) for side in (2, 3)}
            for text in ends:
                end = read_end(text, column.is_date)
                if end is None or (column.bounds is not None and float(end) in column.bounds):
                    continue
                place = round(float(end) / column.unit)
                width = nearest_width(end, column, published)
                first, last, here = np.searchsorted(near, [place - width, place + width, place])
                is_near = here < len(near) and near[here] == place
                own += float(is_near) - (last - first) / (2 * width)
                ends_seen += 1
        excess += own
        squares += ends_seen**2
    return excess, float(np.sqrt(np.log(1e6) / 2 * squares))


def nearest_width(end: Fraction, column: Column, published: Published) -> int:
    """Half of a window around an end, in units: the narrowest public one that k rows on each side answer for."""
    cells, at, width = column.cells, float(end), 50.0
    for low, high in spans_beside(end, column):
        left, right = (cells >= float(low)) & (cells < at), (cells >= at) & (cells < float(high))
        if min(published.holders(left), published.holders(right)) < published.k:
            break
        width = (float(high) - at) / column.unit
    return int(min(max(width, 10), 2000))


def test_labels_are_public_answered_for_and_no_nearer_to_a_row_than_chance() -> None:
    """Labels are of the public family, k rows on each side answer for every end, they tile; ends meet rows as by chance.

    Both laws look at the same tables: a table costs more to publish than to check.
    """
    labels = 0

    def checked() -> Iterator[Published]:
        nonlocal labels
        for published in fuzz(12):
            labels += check_labels(published)
            yield published

    excess, bound = nearness(checked())
    print(f"{TABLES:,} tables, {labels:,} labels")
    assert labels > TABLES
    assert excess <= bound


def cut_beside_cells(values: np.ndarray, *_: object, **__: object) -> np.ndarray:
    """Planted: the rule as it was, a cut beside each cell."""
    return values[1:]


def cut_past_cells(unit: float) -> Callable[..., np.ndarray]:
    """Planted: one unit past a cell."""
    return lambda values, *_, **__: np.minimum(values[:-1] + unit, values[1:])


@pytest.mark.parametrize("rule", [cut_beside_cells, cut_past_cells(0.01)])
def test_cuts_beside_cells_are_caught(rule: Callable[..., np.ndarray], monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: with cuts at cells, or one unit past them, both laws fail."""
    monkeypatch.setattr(put_on_grid, "cuts_of", lambda scale, *_: rule(scale.values))
    excess, bound = nearness(fuzz(7, 60))
    assert excess > bound
    with pytest.raises(AssertionError):
        sum(check_labels(published) for published in fuzz(12, 60))


def test_values_that_rows_decide_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the rule as it was, a value wherever all rows between two cuts hold it."""

    def shared(bins: CutBins, low: int, high: int) -> float | None:
        return float(bins.edges[max(low, 1)]) if bins.held[low:high].sum() == 1 else None

    monkeypatch.setattr(CutBins, "single", shared)
    with pytest.raises(AssertionError):
        sum(check_labels(published) for published in fuzz(12, 60))


def labels_of(cells: np.ndarray, k: int, persons: np.ndarray | None = None, step: float | None = None) -> list[str]:
    """The labels of a column that is cut alone; a row that was removed has none."""
    scale = Column(cells, step=step).scale
    codes = np.searchsorted(scale.values, cells)[:, None].astype(np.int32)
    counted = CountedTable(TupleCounts(codes, np.ones(len(cells), np.int64), persons=persons), [scale], ["q"])
    found = specialize(counted, k, gain="loss", suppression=0.05, beam=1)
    texts = found.recoding.columns[0].labels
    return ["" if at < 0 else texts[found.recoding.classes[at, 0]] for at in found.labels.tolist()]


@pytest.mark.parametrize("extreme", [9_999_999_999_999_999.0, -1e300, 1.7e308, 1e6])
@pytest.mark.parametrize("by_people", [False, True])
def test_one_extreme_row_does_not_decide_the_resolution(extreme: float, by_people: bool) -> None:
    """Forty ages that are published one by one stay so, but for the bin that the extreme row falls into."""
    ages = np.repeat(np.arange(20.0, 60.0), 10)
    persons = np.arange(len(ages)) if by_people else None
    before = labels_of(ages, 5, persons, 1.0)
    assert {"(-inf, 21)", "21", "58", "[59, inf)"} <= set(before)
    assert len(set(before)) == 40
    after = labels_of(np.append(ages, extreme), 5, None if persons is None else np.append(persons, len(ages)), 1.0)
    outer = ages == (ages.max() if extreme > 0 else ages.min())
    assert [a for a, own in zip(after, outer, strict=False) if not own] == [
        b for b, own in zip(before, outer, strict=True) if not own
    ]


def test_an_extreme_row_among_very_many_numbers(tmp_path: Path) -> None:
    """A column that is counted in intervals has the same ones with a row nineteen ranges away, and with one far beyond."""
    cells = np.random.default_rng(3).uniform(0, 2000, 6000).round(6)
    ends = []
    for at, extra in enumerate([[], [38_000.0], [1e12]]):
        table = pa.table({"q": [*cells.tolist(), *extra], "s": ["x"] * (len(cells) + len(extra))})
        out = tmp_path / f"{at}.parquet"
        cl.TopDownSpecialization(k=40, quasi=["q"], identifiers=[], suppression=0.01).publish(table, out)
        shown = set(pq.read_table(out)["q"].cast(pa.string()).to_pylist())
        ends.append({text.split(",")[0] for text in shown})
    assert len(ends[0]) > 50
    assert min(len(ends[0] & other) / len(ends[0]) for other in ends[1:]) >= 0.9


@pytest.mark.parametrize(
    "values",
    [[0.0, 5e-324], [0.0, 1e-310], [-1.7e308, 1.7e308], [1.7e308, 1.79e308], [0.0, 5e-324, 1.7e308], [-1e308, 0.0, 1e-300]],
)
def test_the_ends_of_float64_have_labels(values: list[float]) -> None:
    """The least and the largest numbers that a float holds end in labels."""
    labels = labels_of(np.repeat(values, 20), 5)
    assert len(labels) == 20 * len(values)
    assert all(labels)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("gain", ["loss", "distance"])
def test_the_largest_numbers_have_a_finite_loss(gain: str) -> None:
    """Values from one end of float64 to the other: no warning, and a loss between 0 and 1."""
    values = np.array([-1.7e308, -1e300, 0.0, 1e300, 1.7e308])
    codes = np.repeat(np.arange(5), 20)[:, None].astype(np.int32)
    counted = CountedTable(TupleCounts(codes, np.ones(100, np.int64)), [Scale(values)], ["q"])
    assert 0 <= specialize(counted, 30, gain=gain).loss <= 1


@pytest.mark.parametrize("value", [2.0**53, 2.0**53 + 2, 2.0**60 + 2.0**9, 123456789012345.0, 0.1 + 0.2, 1 / 3, -(2.0**70)])
def test_a_value_reads_back_from_its_label(value: float) -> None:
    """All digits that a number has, however large, and no exponent where it can be helped."""
    assert float(word(value, is_date=False)) == value
    assert "e" not in word(value, is_date=False)


@pytest.mark.parametrize("scope", ["global", "local"])
def test_the_width_of_a_label_does_not_show_a_value_that_fewer_than_k_rows_hold(scope: str, tmp_path: Path) -> None:
    """Nobody is 30, or one person is: the labels are the same."""
    shown = []
    ages = [age for age in range(20, 40) for _ in range(10) if age != 30]
    for at, more in enumerate([[], [30]]):
        out = tmp_path / f"{at}.parquet"
        settings = {"suppression": 0.05} if scope == "global" else {"scope": scope}
        cl.TopDownSpecialization(k=5, quasi=["age"], **settings).publish(pa.table({"age": [*ages, *more]}), out)
        shown.append(set(pq.read_table(out)["age"].to_pylist()))
    assert shown[0] == shown[1]
    assert {"(-inf, 21)", "29", "[30, 32)", "32", "[39, inf)"} <= shown[0]


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.date32()])
@pytest.mark.parametrize("bounds", [False, True])
def test_a_removed_blank_does_not_show_in_the_label_of_everything(kind: pa.DataType, bounds: bool, tmp_path: Path) -> None:
    """All rows hold one number, or all but one that holds none and is removed: the label is the same."""
    shown = []
    facts = (
        '[columns.x]\nkind = "number"\nrole = "quasi"\nbounds = [0, 50]\n[columns.sex]\nkind = "category"\nrole = "quasi"\n'
    )
    settings = {"schema": cl.Schema.from_text(facts)} if bounds and kind != pa.date32() else {}
    for at, more in enumerate([0, 1, 20]):
        cells = pa.concat_arrays([pa.array([33] * 60, pa.int32()), pa.nulls(more, pa.int32())]).cast(kind)
        table = pa.table({"x": cells, "sex": [*["F", "M"] * 30, *["F"] * more]})
        out = tmp_path / f"{at}.parquet"
        cl.TopDownSpecialization(k=10, quasi=["x", "sex"], suppression=0.1, **settings).publish(table, out)
        shown.append(set(pq.read_table(out)["x"].to_pylist()))
    assert shown[0] == shown[1] == {"*"}
    assert len(shown[2]) == 2  # blanks that k rows hold are a label, beside that of the numbers


WHOLE = [10, 11, 12] * 20


@pytest.mark.parametrize(
    ("cells", "middle"),
    [
        (pa.array(WHOLE), "11"),
        (pa.array([str(cell) for cell in WHOLE]), "11"),  # texts, as in a CSV file: every cell is whole
        (pa.array([str(cell) for cell in [*WHOLE, 12.1, 12.2, 12.3, 12.4, 12.45]]), "[11, 12)"),  # k rows are not
        (pa.array(WHOLE, pa.float64()), "[11, 12)"),
        (pa.array(WHOLE, pa.decimal128(9, 0)), "11"),
        (pa.array(WHOLE, pa.decimal128(9, 2)), "[11, 12)"),
    ],
)
@pytest.mark.parametrize("scope", ["global", "local"])
def test_an_interval_of_one_step_is_a_value(cells: pa.Array, middle: str, scope: str, tmp_path: Path) -> None:
    """Of whole numbers the step is 1; of others none is known, and every label is an interval."""
    made = cl.TopDownSpecialization(k=5, quasi=["n"], scope=scope)
    made.publish(pa.table({"n": cells}), tmp_path / "out.parquet")
    assert set(pq.read_table(tmp_path / "out.parquet")["n"].to_pylist()) == {"(-inf, 11)", middle, "[12, inf)"}
    again = Recoding.from_json(made.recoding_.to_json())
    others = pa.table({"n": pa.array([10.5, 11.0, 11.5])})
    apply_recoding(again, others, tmp_path / "others.parquet")
    expected = ["(-inf, 11)", middle] + ([middle] if middle.startswith("[") else [])  # 11.5 is no 11, and not published
    assert pq.read_table(tmp_path / "others.parquet")["n"].to_pylist() == expected


@pytest.mark.parametrize("cells", [pa.array([True, False] * 20), pa.array(["true", "false"] * 20)])
def test_true_and_false_are_labels(cells: pa.Array, tmp_path: Path) -> None:
    """There are no others: the bounds of such a column are 0 and 1."""
    cl.TopDownSpecialization(k=5, quasi=["b"]).publish(pa.table({"b": cells}), tmp_path / "out.parquet")
    assert set(pq.read_table(tmp_path / "out.parquet")["b"].to_pylist()) == {"0", "1"}


def test_bounds_and_step_make_the_outermost_labels_values(tmp_path: Path) -> None:
    """Between public bounds the last value is a label of its own; cells that are not on the step's grid make intervals."""
    facts = '[columns.n]\nkind = "number"\nrole = "quasi"\nbounds = [{}, 12]\nstep = {}\n'
    for low, step, expected in [
        (10, 1, {"10", "11", "12"}),
        (10, 2, {"10", "12"}),
        (9.5, 1, {"[9.5, 10.5)", "[10.5, 11.5)", "[11.5, 12]"}),
        (10, 0.5, {"[10, 11)", "[11, 12)", "12"}),
    ]:
        out = tmp_path / f"{low}-{step}.parquet"
        made = cl.TopDownSpecialization(k=5, schema=cl.Schema.from_text(facts.format(low, step)))
        made.publish(pa.table({"n": [cell for cell in WHOLE if step != 2 or cell != 11]}), out)
        assert set(pq.read_table(out)["n"].to_pylist()) == expected
