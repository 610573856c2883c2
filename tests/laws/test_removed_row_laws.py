"""Removed rows do not show in labels: ordered hierarchies leave no gap, and one row decides nothing about how others read.

The laws of numbers and days without a hierarchy are in `test_label_laws`. ``CLOISTER_FUZZ=50000`` runs as many tables.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Callable
from datetime import date
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.specialize import specialize
from cloister.errors import SchemaError
from cloister.risks.assess import assess
from cloister.schema.hierarchies import Hierarchy, calendar, flat, intervals

TABLES = int(os.environ.get("CLOISTER_FUZZ", "100"))
INTERVAL = re.compile(r"\[(.+), (.+)([\])])")

TREES = [
    (calendar(date(2019, 11, 5), date(2021, 2, 20)), "2021-02-20"),
    (calendar(date(2020, 1, 1), date(2020, 1, 20), cuts=[date(2020, 1, 7)]), "2020-01-20"),
    (intervals(0, 97, width=5), "97"),
    (intervals(0.5, 9.5, step=0.1, width=1, fanout=3), "9.5"),
    (intervals(0, 40, step=1, cuts=[3, 21]), "40"),
]


def leaves_of(tree: Hierarchy, text: str, last: str) -> tuple[int, int]:
    """The leaves that a label names, by its text alone: from the one that begins at its start to the one before its end."""
    starts = [leaf if (match := INTERVAL.fullmatch(leaf)) is None else match[1] for leaf in tree.nodes[: tree.leaves]]
    match = INTERVAL.fullmatch(text)
    if match is None:
        return starts.index(text), starts.index(text) + 1
    assert match[3] == ")" or match[2] == last
    return starts.index(match[1]), tree.leaves if match[3] == "]" else starts.index(match[2])


@pytest.mark.parametrize(("tree", "last"), TREES)
def test_labels_of_ordered_hierarchies_tile(tree: Hierarchy, last: str) -> None:
    """Where rows may be removed, days and intervals of a hierarchy leave no gap, and each label holds the rows that it is of."""
    random, closed = np.random.default_rng(5), 0
    for _ in range(max(8, TABLES // len(TREES))):
        held = random.choice(tree.leaves, random.integers(2, min(tree.leaves, 40)), replace=False)
        codes = random.choice(held, 200, p=random.dirichlet(np.full(len(held), 0.5)))
        words = random.integers(0, 2, 200) * (random.random(200) < 0.5)
        rows = TupleCounts(np.stack([codes, words], 1).astype(np.int32), np.ones(200, np.int64))
        counted = CountedTable(rows, [tree, flat(["a", "b"])], ["q", "w"])
        found = specialize(counted, 5, gain="loss", suppression=0.1, beam=1)
        texts = found.recoding.columns[0].labels
        shown = {at: texts[found.recoding.classes[at, 0]] for at in set(found.labels.tolist()) - {-1}}
        spans = {text: leaves_of(tree, text, last) for text in shown.values() if text != "*"}
        for leaf, at in zip(codes.tolist(), found.labels.tolist(), strict=True):
            assert at < 0 or shown[at] == "*" or spans[shown[at]][0] <= leaf < spans[shown[at]][1]
        tiles = sorted(spans.values())
        assert all(end == start for (_, end), (start, _) in itertools.pairwise(tiles)), "a gap"
        assert not tiles or (tiles[0][0], tiles[-1][1]) == (0, tree.leaves)
        closed += not set(shown.values()) <= set(tree.nodes)
    assert closed, "no table had a gap to close"


FACTS = '[columns.born]\nkind = "date"\nrole = "quasi"\nbounds = [2020-01-01, 2020-12-31]\n'
STEPS = "[intervals]\nlow = 0\nhigh = 60\nstep = 1\nwidth = 10\n"


def months(*numbers: int) -> list[date]:
    return [date(2020, month, 1 + i % 28) for month in numbers for i in range(40)]


@pytest.mark.parametrize("removed", [[], [date(2020, 3, 17)] * 2])
def test_the_calendar_of_bounds_shows_no_month_of_removed_rows(removed: list[date], tmp_path: Path) -> None:
    """Nobody was born in March, or two people who are removed: the labels are the same, and the loss is the one of risk."""
    table = pa.table({"born": [*months(1, 2, 4, 5, 6), *removed]})
    pq.write_table(table, tmp_path / "in.parquet")
    schema = cl.Schema.from_text(FACTS)
    made = cl.TopDownSpecialization(k=5, schema=schema, suppression=0.02, identifiers=[])
    made.publish(tmp_path / "in.parquet", tmp_path / "out.csv")
    shown = pa.csv.read_csv(tmp_path / "out.csv")["born"].to_pylist()
    ends = [f"2020-0{month}-01" for month in (1, 2, 3, 4, 5, 6)] + ["2020-12-31"]
    march_joins = {month: [end for end in ends if end != f"2020-0{month}-01"] for month in (3, 4)}  # February, or April
    tilings = [[f"[{a}, {b})" for a, b in itertools.pairwise(places)] for places in march_joins.values()]
    assert [label.replace("]", ")") for label in sorted(set(shown))] in tilings
    risk = assess(tmp_path / "out.csv", ["born"], against=tmp_path / "in.parquet", schema=schema)
    assert risk.loss is not None
    assert risk.loss.lm == pytest.approx(made.summary_.loss)


@pytest.mark.parametrize("held", [(5, 7, 9, 1, 12, 14), (14, 12, 9, 1, 7, 5), (9, 9, 9, 1, 9, 9)])
def test_a_coin_of_the_host_says_which_side_a_gap_joins(
    held: tuple[int, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both occur, whatever the counts, and one host always takes the same; of 20 keys all agree once in 524,288 runs."""
    bounds = "bounds = [2020-03-01, 2020-03-06]"
    schema = cl.Schema.from_text(f'[columns.day]\nkind = "date"\n{bounds}\nrole = "quasi"\n')
    table = pa.table({"day": [f"2020-03-0{day}" for day, rows in enumerate(held, 1) for _ in range(rows)]})
    sides = []
    for key in range(20):
        monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / f"{key}.key"))
        again = set()
        for run in range(2):
            made = cl.TopDownSpecialization(k=5, schema=schema, suppression=0.05)
            made.publish(table, tmp_path / f"{key}.{run}.parquet")
            shown = set(pq.read_table(tmp_path / f"{key}.{run}.parquet")["day"].cast(pa.string()).to_pylist())
            again.add(next(label for label in shown if label[0] == "["))
        (side,) = again
        sides.append(side)
    assert set(sides) == {"[2020-03-03, 2020-03-05)", "[2020-03-04, 2020-03-06)"}


def test_risk_reads_a_label_over_a_gap(tmp_path: Path) -> None:
    """Whichever side the gap of the step 7 joins."""
    (tmp_path / "age.toml").write_text(STEPS)
    ages = [age for age in (5, 6, 8, 9) for _ in range(10 * age)]
    pq.write_table(pa.table({"age": [*ages, 7]}), tmp_path / "in.parquet")
    made = cl.TopDownSpecialization(k=5, quasi=["age"], suppression=0.02, hierarchies={"age": tmp_path / "age.toml"})
    made.publish(tmp_path / "in.parquet", tmp_path / "out.csv")
    shown = set(pa.csv.read_csv(tmp_path / "out.csv")["age"].to_pylist())
    assert shown in ({"[0, 6)", "[6, 8)", "8", "[9, 60]"}, {"[0, 6)", "6", "[7, 9)", "[9, 60]"})
    trees = {"age": tmp_path / "age.toml"}
    risk = assess(tmp_path / "out.csv", ["age"], against=tmp_path / "in.parquet", hierarchies=trees)
    assert risk.loss is not None
    assert risk.loss.lm == pytest.approx(made.summary_.loss)


def test_why_a_search_stopped_does_not_say_that_a_cell_is_blank(tmp_path: Path) -> None:
    """Ten rows, all published as `*`, with and without a blank: nothing is published as it is."""
    reasons = set()
    for at, last in enumerate(("34", None)):
        made = cl.TopDownSpecialization(k=6, quasi=["age"], identifiers=[])
        made.publish(pa.table({"age": [*map(str, range(30, 39)), last]}), tmp_path / f"{at}.parquet")
        reasons.add(made.summary_.reason)
    (reason,) = reasons
    assert "as it is" not in reason


MOST_VALUES = 4_096  # that are counted one by one
SHARED = [value for value in range(20) for _ in range(50)]
BOUNDED = (
    '[columns.n]\nkind = "number"\nrole = "quasi"\nbounds = [0, {}]\nstep = {}\n'
    '[columns.w]\nkind = "category"\nrole = "quasi"\n'
)
COLUMNS = [  # the cells of numbers, and what a schema says of them
    (lambda cells: pa.array(cells, pa.int64()), None),
    (lambda cells: pa.array(cells, pa.float64()), None),
    (lambda cells: pa.array([str(cell) for cell in cells]), None),
    (lambda cells: pa.array(cells, pa.int64()), BOUNDED.format(9_999, 1)),
    (lambda cells: pa.array(cells, pa.float64()), BOUNDED.format(9_999, 1)),
    (lambda cells: pa.array([str(cell) for cell in cells]), BOUNDED.format(9_999, 1)),
    (lambda cells: pa.array([cell / 2 for cell in cells]), BOUNDED.format(5_000, 0.5)),
    (lambda cells: pa.array(cells, pa.int64()), BOUNDED.format(10**9, 1)),
    (lambda cells: pa.array([cell * 100 for cell in cells], pa.int64()), None),
]


@pytest.mark.parametrize(("column", "facts"), COLUMNS)
@pytest.mark.parametrize("people", [False, True])
def test_one_removed_row_changes_the_form_of_no_label(
    column: Callable[[list[int]], pa.Array], facts: str | None, people: bool, tmp_path: Path
) -> None:
    """One more row, whose value nobody else holds and which is removed: all others read as before."""
    shown = []
    cells = [*SHARED, *range(20, MOST_VALUES)]
    for at, more in enumerate([[], [5_000]]):
        held = [*cells, *more]
        columns = {"n": column(held), "w": [*["common"] * len(cells), *["rare"] * len(more)]}
        if people:
            columns["who"] = [f"p{i}" for i in range(len(held))]
        text = (
            facts
            if facts is None or not people
            else f'unit = "who"\n{facts}[columns.who]\nkind = "category"\nrole = "identifier"\n'
        )
        settings = (
            {"quasi": ["n", "w"], "identifiers": ["who"] if people else []}
            if text is None
            else {"schema": cl.Schema.from_text(text)}
        )
        made = cl.TopDownSpecialization(k=40, suppression=0.01, **settings)
        made.publish(pa.table(columns), tmp_path / f"{at}.parquet")
        shown.append(pq.read_table(tmp_path / f"{at}.parquet")["n"].cast(pa.string()).to_pylist())
    before, after = shown
    assert len(before) == len(after), "the row was removed"
    assert before[: len(SHARED)] == after[: len(SHARED)]
    assert [text[0] in "[(" for text in before] == [text[0] in "[(" for text in after]


@pytest.mark.parametrize("column", [lambda cells: pa.array(cells, pa.int64()), lambda cells: pa.array(map(str, cells))])
def test_one_more_different_number_of_a_removed_row_moves_no_cut(
    column: Callable[[list[int]], pa.Array], tmp_path: Path
) -> None:
    """The 4,097th different number, of a range above 131,072 steps, has all of them counted in intervals."""
    grouped = [110 + j % 10 for j in range(60)] + [410 + j % 10 for j in range(60)]
    shown = []
    for last in (900_000, 900_001):
        cells = [*grouped, *range(900_000, 900_000 + 3 * 4_075, 3), 912_300, last]
        table = pa.table({"n": column(cells), "w": ["u"] * (len(cells) - 1) + ["zz"]})
        made = cl.TopDownSpecialization(k=50, quasi=["n", "w"], suppression=0.0005, identifiers=[])
        made.publish(table, tmp_path / f"{last}.parquet")
        assert made.summary_.suppressed == 1
        shown.append(pq.read_table(tmp_path / f"{last}.parquet")["n"].to_pylist())
    assert shown[0] == shown[1]


def test_one_more_different_day_moves_no_cut(tmp_path: Path) -> None:
    """The 4,097th different day has all of them counted in months."""
    few = [date(1950, 1, 15), date(1950, 3, 20)]
    days = [date.fromordinal(date(1960, 1, 1).toordinal() + i) for i in range(4_095)]
    early = [date(1950, 1 + 2 * (i % 2), 1 + i % 9) for i in range(24)]
    late = days[: 4_096 - len({*few, *early})]
    shown = []
    for last in (date(1950, 1, 15), date(1950, 1, 16)):
        made = cl.TopDownSpecialization(k=10, quasi=["n"], identifiers=[])
        made.publish(pa.table({"n": [*early, *few, *late, last]}), tmp_path / f"{last}.parquet")
        shown.append(pq.read_table(tmp_path / f"{last}.parquet")["n"].to_pylist())
    assert shown[0] == shown[1]


@pytest.mark.parametrize("facts", [None, BOUNDED.format(9_999, 1)])
@pytest.mark.parametrize("cells", [pa.float64(), pa.string()])
def test_a_few_cells_between_steps_among_very_many(facts: str | None, cells: pa.DataType, tmp_path: Path) -> None:
    """None: values; fewer than k: refused; k: intervals. Floats without a schema have no step."""
    whole = [*SHARED, *range(20, 2 * MOST_VALUES)]
    settings = {"quasi": ["n", "w"], "identifiers": []} if facts is None else {"schema": cl.Schema.from_text(facts)}
    forms = []
    for more in (0, 1, 40):
        numbers = (
            [*map(float, whole), *[700.5] * more] if pa.types.is_floating(cells) else [*map(str, whole), *["700.5"] * more]
        )
        made = cl.TopDownSpecialization(k=40, suppression=0.01, **settings)
        try:
            made.publish(
                pa.table({"n": pa.array(numbers, cells), "w": ["common"] * len(numbers)}), tmp_path / f"{more}.parquet"
            )
            forms.append("11" in pq.read_table(tmp_path / f"{more}.parquet")["n"].cast(pa.string()).to_pylist())
        except SchemaError:
            forms.append(None)
    has_no_step = facts is None and pa.types.is_floating(cells)
    assert forms == ([False] * 3 if has_no_step else [True, None, False])


@pytest.mark.parametrize("unit", ["", "who"])
def test_a_few_cells_between_steps_in_a_population(unit: str, tmp_path: Path) -> None:
    """They are held to the rule of the table's own: None: values; fewer than k: refused; k: intervals."""
    facts = '[columns.n]\nkind = "number"\nstep = 1\nrole = "quasi"\n'
    facts = f'unit = "who"\n{facts}[columns.who]\nkind = "category"\nrole = "identifier"\n' if unit else facts
    cells = [str(n) for n in (20, 21, 22, 23) for _ in range(10)]
    table = pa.table({"n": cells, "who": [f"p{i}" for i in range(40)]} if unit else {"n": cells})
    forms = []
    for more in (0, 1, 5):
        everybody = pa.table({"n": [*cells * 3, *["21.5"] * more]})
        made = cl.TopDownSpecialization(k=5, schema=cl.Schema.from_text(facts), population=everybody, k_map=20)
        if more == 1:
            with pytest.raises(SchemaError, match="1 of its rows in the population, fewer than k"):
                made.publish(table, tmp_path / f"{more}.parquet")
            continue
        made.publish(table, tmp_path / f"{more}.parquet")
        forms.append("21" in pq.read_table(tmp_path / f"{more}.parquet")["n"].cast(pa.string()).to_pylist())
    assert forms == [True, False]
