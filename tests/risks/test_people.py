"""Where a schema says whose rows they are, people are counted: once, and by the rule of `anonymize`."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.guards import Closeness, Diversity, EntropyDiversity
from cloister.risks.assess import assess
from tests.anonymization.test_what_guards_count import NUMBER

UNIT = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\nrole = "identifier"\n')
PEOPLE = 'unit = "who"\nmax_rows = 9\n[columns.who]\nkind = "text"\nrole = "identifier"\n'
ROWS = st.lists(
    st.tuples(st.integers(0, 6), st.sampled_from("abc"), st.sampled_from(["flu", "cold", "hiv", ""])),
    min_size=1,
    max_size=30,
)


def table_of(rows: list[tuple[int, str, str]]) -> pa.Table:
    """Rows of a person, a quasi-identifier and an illness."""
    who, where, ill = zip(*rows, strict=True)
    return pa.table({"who": who, "where": where, "ill": ill})


def test_a_person_counts_once() -> None:
    """Three people, one of them with rows in two classes: three people, not four, and that one counts at the smaller class."""
    rows = [(1, "a", "flu"), (1, "a", "flu"), (2, "a", "flu"), (3, "a", "flu"), (3, "b", "flu")]
    risk = assess(table_of(rows), ["where"], schema=UNIT).risk
    assert (risk.rows, risk.classes, risk.k, risk.largest) == (3, 2, 1, 3)
    assert risk.unique == pytest.approx(1 / 3)
    assert risk.prosecutor_average == pytest.approx((1 / 3 + 1 / 3 + 1) / 3)
    assert risk.sizes == ((1, 1, 1), (3, 1, 2))


@given(ROWS)
def test_a_plain_count_of_people_agrees(rows: list[tuple[int, str, str]]) -> None:
    """The same numbers by sets of people in plain Python, for the classes and for the combinations of columns."""
    people = defaultdict(set)
    for who, where, _ in rows:
        people[where].add(who)
    smallest = {who: min(len(group) for group in people.values() if who in group) for who, _, _ in rows}
    report = assess(table_of(rows), ["where"], schema=UNIT, search=1, threshold=0.4)
    risk = report.risk
    assert risk.rows == len(smallest)
    assert risk.k == min(smallest.values())
    assert risk.average_size == pytest.approx(sum(map(len, people.values())) / len(people))
    unique = sum(size == 1 for size in smallest.values()) / len(smallest)
    average = sum(1 / size for size in smallest.values()) / len(smallest)
    assert (risk.unique, risk.prosecutor_average, risk.marketer) == pytest.approx((unique, average, average))
    assert risk.prosecutor_at_risk == sum(1 / size > 0.4 for size in smallest.values()) / len(smallest)
    assert sum(members for _, _, members in risk.sizes) == len(smallest)
    for combination in report.combinations:
        assert (combination.unique, combination.average_risk) == pytest.approx((unique, average))


@given(ROWS)
@settings(max_examples=60)
def test_l_and_t_are_those_of_the_guards(rows: list[tuple[int, str, str]]) -> None:
    """What risk measures is what the guards of `anonymize` let pass: rows or people, blanks aside."""
    data = table_of(rows)
    where = np.unique(data["where"].to_pylist(), return_inverse=True)[1].astype(np.int64)
    words = [*sorted({ill for _, _, ill in rows if ill}), ""]  # a blank is coded last
    values = np.array([[words.index(ill)] for _, _, ill in rows], np.int32)
    for persons, schema in ((None, None), (data["who"].to_numpy(), UNIT)):
        counts = TupleCounts(
            where[:, None].astype(np.int32),
            np.ones(len(rows), np.int64),
            values,
            meanings=(tuple(range(len(words))),),
            persons=persons,
        )
        told = assess(data, ["where"], sensitive="ill", schema=schema).sensitive[0]
        number = int(where.max()) + 1

        def holds(guard: Any, counts: TupleCounts = counts, number: int = number) -> bool:
            return bool(guard.passes(where, number, counts).all())

        assert holds(Diversity(max(1, told.l))) is (told.l > 0)
        assert not holds(Diversity(told.l + 1))
        # a tie is decided by the last bit, which depends on the order of a sum
        assert holds(EntropyDiversity(max(1.0, told.entropy_l - 1e-9)))
        assert not holds(EntropyDiversity(told.entropy_l + 1e-6))
        assert holds(Closeness(min(1.0, told.t + 1e-9)))
        assert told.t < 1e-9 or not holds(Closeness(told.t - 1e-6))


def test_l_counts_people() -> None:
    """Five people who all have cancer are not diverse because one of them has four other rows."""
    rows = [(who, "a", "cancer") for who in range(5)] + [(0, "a", ill) for ill in ("flu", "cold", "hiv", "gout")]
    told = assess(table_of(rows), ["where"], sensitive="ill", schema=UNIT).sensitive[0]
    assert (told.values, told.l, told.entropy_l, told.certain) == (5, 1, 1.0, 1.0)


def test_a_blank_is_not_a_diverse_value() -> None:
    """Null, empty and what the schema lists as missing are no value of anybody's; a class of nothing else has none."""
    data = pa.table({"where": ["a"] * 3 + ["b"] * 3, "ill": ["flu", "", None, "?", " ", "?"]})
    schema = cl.Schema.from_text('[columns.ill]\nkind = "category"\ndomain = ["flu", "cold"]\nmissing = ["?"]\n')
    told = assess(data, ["where"], sensitive="ill", schema=schema).sensitive[0]
    assert (told.values, told.l) == (1, 0)
    assert told.certain == 0.5  # who is found in "a" has the flu, if anything


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        (["1", "1.0"], None),
        (["1", "1.0", "01", "1.00"], NUMBER),
        (["20,000", "20000", "20000.0"], NUMBER + "thousands = ','\n"),
        (["1.242,50", "1242,5"], NUMBER + "thousands = '.'\ndecimal = ','\n"),
        (["2020-01-01", "2020-01-01T00:00:00"], None),
        (["01.02.2020", "1.2.2020"], '[columns.s]\nkind = "date"\nformat = "%d.%m.%Y"\n'),
        (["-999", "-999.0", "3"], NUMBER + "missing = ['-999']\n"),
        (["xx", "yy"], '[columns.s]\nkind = "category"\ndomain = ["flu", "hiv"]\nother = true\n'),
        (["1242,5", "1242.5"], NUMBER + "thousands = '.'\ndecimal = ','\n"),
    ],
)
def test_spellings_of_a_value_are_not_diverse(cells: list[str], facts: str | None) -> None:
    """l counts values as the schema says that they read, not how they are written; what cannot be read is a blank."""
    table = pa.table({"sex": ["m"] * len(cells), "s": cells})
    told = assess(table, ["sex"], sensitive="s", schema=None if facts is None else cl.Schema.from_text(facts)).sensitive[0]
    assert (told.values, told.l, told.certain) == (1, 1, 1.0)


@pytest.mark.parametrize(
    ("cells", "values"),
    [(["007", "7"], 1), (["1", "1.0", "x"], 2), (["2020-01-01", "2020-01-01 09:00", "1", "soon"], 3), (["x", "X"], 2)],
)
def test_two_cells_are_compared_whatever_else_is_there(cells: list[str], values: int) -> None:
    """What reads as one number or day is one value beside words and codes too: another row does not make it two."""
    told = assess(pa.table({"sex": ["m"] * len(cells), "s": cells}), ["sex"], sensitive="s").sensitive[0]
    assert (told.values, told.l) == (values, values)


def test_codes_that_a_domain_lists_are_different() -> None:
    """007 and 7 are two values where the schema says so."""
    schema = cl.Schema.from_text('[columns.s]\nkind = "category"\ndomain = ["007", "7"]\n')
    told = assess(pa.table({"sex": ["m"] * 2, "s": ["007", "7"]}), ["sex"], sensitive="s", schema=schema).sensitive[0]
    assert told.l == 2


def test_rows_of_nobody_are_one_person() -> None:
    """Blank names make no class larger than one more person would."""
    data = pa.table({"who": ["1", "", None, " "], "where": ["a"] * 4})
    assert assess(data, ["where"], schema=UNIT).risk.rows == 2


def test_a_table_without_its_unit_counts_rows_and_says_so() -> None:
    """A published table no longer says whose a row is."""
    report = assess(pa.table({"where": ["a", "a"]}), ["where"], schema=UNIT)
    assert report.counted == "rows"
    assert any('no column "who"' in note for note in report.notes)


def test_a_population_is_counted_by_people() -> None:
    """Rows of one person are not several people to hide among, under a label neither."""
    table = pa.table({"who": [1, 2], "age": ["[20, 30)", "40"]})
    population = pa.table({"who": [1, 1, 1, 2, 2, 3], "age": [20, 21, 22, 40, 40, 25]})
    risk = assess(table, ["age"], schema=UNIT, population=population).risk
    assert (risk.k_map, risk.population, risk.outside) == (1, 3, 0)
    assert risk.marketer == pytest.approx((1 / 2 + 1) / 2)
    raw = assess(pa.table({"who": [1], "age": ["20"]}), ["age"], schema=UNIT, population=population).risk
    assert raw.k_map == 1


def test_the_curve_counts_people_once() -> None:
    """The average risk of tables to choose k from is over people, however many classes they are in."""
    from cloister.anonymization.reporting.curve import curve

    who = [i // 2 for i in range(80)]
    data = pa.table({"who": [str(i) for i in who], "x": [["a", "b"][i % 2] for i in range(80)]})
    schema = cl.Schema.from_text(PEOPLE + '[columns.x]\nkind = "category"\ndomain = ["a", "b"]\nrole = "quasi"\n')
    points = curve(cl.TopDownSpecialization(schema=schema), data, [2]).points
    assert points[0].risk.rows == 40
