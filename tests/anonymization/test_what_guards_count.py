"""What guards count: the population under the label as published, and sensitive values by what they mean."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import CloisterError, UsageError
from cloister.schema.hierarchies import Hierarchy


@pytest.mark.parametrize("scope", ["global", "local"])
def test_a_population_is_counted_under_the_label_that_is_published(scope: str, tmp_path: Path) -> None:
    """k-map with a label of one value: those of the population who hold that value are k, not those around it."""
    table = pa.table({"age": [age for age in (24, 25, 26, 59, 60, 61) for _ in range(6)], "sex": ["m"] * 36})
    others = [21, 22, 23, 24, 26, 27, 28, 29] * 5
    population = pa.table({"age": [25] * 2 + others + [59, 60, 61] * 20, "sex": ["m"] * 102})
    settings: dict[str, Any] = {"k": 3, "quasi": ["age", "sex"], "identifiers": [], "k_map": 20, "scope": scope}
    cl.TopDownSpecialization(**settings, population=population).publish(table, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        labels = {row["age"] for row in csv.DictReader(file)}
    assert "25" not in labels
    assert "60" in labels


@pytest.mark.parametrize("by_people", [False, True])
def test_a_tuple_that_is_left_over_joins_a_class_with_its_people_of_the_population(by_people: bool, tmp_path: Path) -> None:
    """Local recoding with k-map and another guard: the lone row is published, as is every other."""
    words = ["a"] * 6 + ["b"]
    table = pa.table({"a": words, "b": ["u"] * 7, "s": ["x", "y"] * 3 + ["y"], "who": list("1234567")})
    population = pa.table({"a": words * 3, "b": ["u"] * 21})
    settings: dict[str, Any] = {"k": 3, "quasi": ["a", "b"], "identifiers": ["who"], "scope": "local", "k_map": 4}
    if by_people:
        settings["schema"] = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n')
    else:
        settings |= {"l_diversity": 2, "sensitive": "s"}
    cl.TopDownSpecialization(**settings, population=population).publish(table, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        assert len(list(csv.DictReader(file))) == 7


@pytest.mark.parametrize("seed", range(30))
def test_local_recoding_with_a_population_loses_no_row(seed: int, tmp_path: Path) -> None:
    """Random tables with their population: published whole, or refused because the whole breaks a guard."""
    random = np.random.default_rng(seed)
    n = int(random.integers(6, 60))
    cells = {name: random.choice(list("abcdef"), n).tolist() for name in ("a", "b")}
    population = pa.table({name: column * 3 for name, column in cells.items()})
    table = pa.table(cells | {"s": random.choice(["x", "y", "z"], n).tolist()})
    settings: dict[str, Any] = {"k": 3, "quasi": ["a", "b"], "scope": "local", "k_map": 12, "l_diversity": 2}
    model = cl.TopDownSpecialization(**settings, sensitive="s", identifiers=[], population=population)
    model.publish(table, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        assert len(list(csv.DictReader(file))) == n


NUMBER = '[columns.s]\nkind = "number"\nbounds = [0, 50000]\n'


@pytest.mark.parametrize(
    ("cells", "facts"),
    [
        (["1", "1.0"], None),
        (["1", "1.0", "01", "1.00"], NUMBER),
        (["20,000", "20000", "20000.0"], NUMBER + "thousands = ','\n"),
        (["2020-01-01", "2020-01-01T00:00:00"], '[columns.s]\nkind = "date"\nbounds = [2000-01-01, 2030-01-01]\n'),
        (["-999", "-999.0", "3"], NUMBER + "missing = ['-999']\n"),
        (["xx", "yy"], '[columns.s]\nkind = "category"\ndomain = ["flu", "hiv"]\nother = true\n'),
    ],
)
def test_spellings_of_a_value_are_not_diverse(cells: list[str], facts: str | None, tmp_path: Path) -> None:
    """l-diversity counts values as the schema says that they read, not how they are written."""
    table = pa.table({"sex": ["m", "f"] * 10 * len(cells), "s": pa.array(cells).take(np.arange(20 * len(cells)) // 20)})
    settings: dict[str, Any] = {"k": 5, "quasi": ["sex"], "identifiers": [], "sensitive": "s", "l_diversity": 2}
    schema = None if facts is None else cl.Schema.from_text(facts)
    with pytest.raises(CloisterError, match="l-diversity"):
        cl.TopDownSpecialization(**settings, schema=schema).publish(table, tmp_path / "out.csv")


@pytest.mark.parametrize("facts", [None, '[columns.s]\nkind = "date"\n'])
def test_moments_of_one_day_are_not_diverse(facts: str | None, tmp_path: Path) -> None:
    """18:00 and 23:00 in New York are two days in UTC, and one where they were written down; `risk` says the same."""
    moments = pa.array([23 * 3_600, 28 * 3_600] * 20).cast(pa.timestamp("s", "America/New_York"))
    table = pa.table({"sex": ["m"] * 20 + ["f"] * 20, "s": moments})
    settings: dict[str, Any] = {"k": 5, "quasi": ["sex"], "identifiers": [], "sensitive": "s", "l_diversity": 2}
    schema = None if facts is None else cl.Schema.from_text(facts)
    with pytest.raises(CloisterError, match="l-diversity"):
        cl.TopDownSpecialization(**settings, schema=schema).publish(table, tmp_path / "out.csv")
    assert cl.risk(table, ["sex"], sensitive="s", schema=schema).sensitive[0].l == 1


@pytest.mark.parametrize("kind", [pa.date32(), pa.timestamp("us")])
def test_a_column_of_dates_is_compared_without_a_schema(kind: pa.DataType, tmp_path: Path) -> None:
    """Typed dates are values: they once all read as blanks, and then every class was as close as it could be."""
    days = pa.array([18_262] * 20 + [18_628] * 20, pa.int32()).cast(pa.date32()).cast(kind)
    table = pa.table({"sex": ["m"] * 20 + ["f"] * 20, "s": days})
    settings: dict[str, Any] = {"k": 5, "quasi": ["sex"], "identifiers": [], "sensitive": "s", "t_closeness": 0.1}
    cl.TopDownSpecialization(**settings).publish(table, tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        assert {row["sex"] for row in csv.DictReader(file)} == {"*"}


def as_text(cells: list[bytes]) -> pa.Array:
    """Bytes in a column of text, as some writers leave them."""
    stored = pa.array(cells, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(cells), stored.buffers())


@pytest.mark.parametrize(
    ("names", "people"),
    [
        (pa.array([b"\xff%d\xfe" % i for i in range(12)], pa.binary()), 12),
        (pa.array([f"p{i}" for i in range(12)]), 12),
        (as_text([b"\xff" + bytes([200 + i]) for i in range(12)]), 1),  # all of them repair to one text
        (as_text([b"%d\xff" % (i % 6) for i in range(12)]), 6),
    ],
)
def test_people_whose_names_read_alike_count_as_one(names: pa.Array, people: int, tmp_path: Path) -> None:
    """k is of too few people rather than of too many."""
    facts = (
        'unit = "who"\n[columns.who]\nkind = "category"\nrole = "identifier"\n[columns.x]\nkind = "number"\nrole = "quasi"\n'
    )
    rows = pa.table({"who": names, "x": [1] * 12})
    for k in (people, people + 1):
        made = cl.TopDownSpecialization(k=max(k, 2), schema=cl.Schema.from_text(facts))
        if 2 <= k <= people:
            made.publish(rows, tmp_path / f"{k}.csv")
        else:
            with pytest.raises(UsageError, match="does not hold"):
                made.publish(rows, tmp_path / f"{k}.csv")


@pytest.mark.parametrize("facts", [None, '[columns.s]\nkind = "category"\n', '[columns.s]\nkind = "text"\n'])
@pytest.mark.parametrize(
    ("spellings", "others", "removed"),
    [
        (["1", "1.0"], ["1", "2", "3"], "unknown"),
        (["1", "1.0"], ["1", "2", "3"], "007"),
        (["7", "007"], ["7", "8", "9"], "unknown"),
        (["1", "+1"], ["1", "2", "3"], "2020-01-01"),
        (["2020-01-01", "2020-01-01 00:00:00"], ["2020-01-01", "2021-01-01", "2022-01-01"], "soon"),
    ],
)
@pytest.mark.parametrize("guard", ["l_diversity", "entropy_l_diversity"])
def test_a_removed_row_does_not_decide_what_a_value_is(
    guard: str, spellings: list[str], others: list[str], removed: str, facts: str | None, tmp_path: Path
) -> None:
    """All rows of one sex hold one value in two spellings: a row of another kind, removed, does not make them two."""
    rows = [("F", "common", spellings[i % 2]) for i in range(40)]
    rows += [("M", "common", others[i % 3]) for i in range(40)] + [("F", "rare", removed)]
    table = pa.table({name: [row[j] for row in rows] for j, name in enumerate(["sex", "code", "s"])})
    schema = None if facts is None else cl.Schema.from_text(facts)
    settings: dict[str, Any] = {"quasi": ["sex", "code"], "sensitive": ["s"], guard: 2, "suppression": 0.05}
    cl.TopDownSpecialization(k=5, schema=schema, **settings).publish(table, tmp_path / "out.csv")
    for read_with in {None, schema}:
        seen = cl.risk(tmp_path / "out.csv", ["sex", "code"], sensitive="s", schema=read_with).sensitive[0]
        assert seen.l >= 2
        assert seen.entropy_l >= 2 or guard == "l_diversity"
        assert seen.certain == 0


@pytest.mark.parametrize("other", [True, False])
def test_a_listed_value_in_another_spelling_is_that_value(other: bool, tmp_path: Path) -> None:
    """The domain lists 1; a cell 1.0 is no other value, and a class of the two is not diverse."""
    table = pa.table({"sex": ["m", "f"] * 40, "s": ["1", "1", "1.0", "1.0"] * 20})
    listed = f'[columns.s]\nkind = "category"\ndomain = ["2", "1"]\nother = {str(other).lower()}\n'
    settings: dict[str, Any] = {"k": 5, "quasi": ["sex"], "sensitive": "s", "l_diversity": 2}
    schema = cl.Schema.from_text(listed)
    with pytest.raises(CloisterError, match="l-diversity"):
        cl.TopDownSpecialization(**settings, schema=schema).publish(table, tmp_path / "out.csv")
    assert cl.risk(table, ["sex"], sensitive="s", schema=schema).sensitive[0].l == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_guards_of_a_table_are_those_of_the_file_by_itself(seed: int, tmp_path: Path) -> None:
    """Random columns of numbers, days and words in several spellings: `risk` on the file sees what the certificate says."""
    random = np.random.default_rng(seed)
    words = ["1", "1.0", "01", "1e0", "2", "2.00", "true", "2020-01-01", "2020-01-01T12:00:00", "a", "A", "", "007", "7"]
    words = random.choice(words, random.integers(3, 9), replace=False).tolist()
    n = 120
    cells = {"a": random.choice(list("xyz"), n, p=[0.5, 0.45, 0.05]), "b": random.choice(list("uv"), n)}
    table = pa.table({**{k: v.tolist() for k, v in cells.items()}, "s": random.choice(words, n).tolist()})
    settings: dict[str, Any] = {"k": 3, "quasi": ["a", "b"], "sensitive": "s", "suppression": 0.1}
    guards = {"l_diversity": 2, "entropy_l_diversity": 1.5, "t_closeness": 0.3}
    try:
        cl.TopDownSpecialization(**settings, **guards).publish(table, tmp_path / "out.parquet")
    except UsageError:  # the whole table breaks a guard
        return
    seen = cl.risk(tmp_path / "out.parquet", ["a", "b"], sensitive="s").sensitive[0]
    assert seen.l >= 2
    assert seen.entropy_l >= 1.5
    assert seen.t <= 0.3 + 1e-9


def test_moments_with_a_zone_are_not_guarded_in_text(tmp_path: Path) -> None:
    """CSV would lose the zone, and with it the days by which the guard told values apart; Parquet keeps it."""
    moments = pa.array([3_600 * hour for hour in (1, 27)] * 20).cast(pa.timestamp("s", "America/New_York"))
    table = pa.table({"sex": ["m"] * 20 + ["f"] * 20, "s": moments})
    settings: dict[str, Any] = {"k": 5, "quasi": ["sex"], "identifiers": [], "sensitive": "s", "l_diversity": 2}
    with pytest.raises(CloisterError, match="zone"):
        cl.TopDownSpecialization(**settings).publish(table, tmp_path / "out.csv")
    cl.TopDownSpecialization(**settings).publish(table, tmp_path / "out.parquet")
    assert cl.risk(tmp_path / "out.parquet", ["sex"], sensitive="s").sensitive[0].l == 2


@pytest.mark.parametrize("seed", [64, 103])
def test_starred_rows_and_a_star_in_the_data_are_one_class(seed: int, tmp_path: Path) -> None:
    """Counted by people the two hold l-diversity each, and not together: the starred rows are removed."""
    random = np.random.default_rng(seed)
    n = int(random.integers(20, 60))
    words = random.choice(["a", "b", "*", "c", "d", "e", "f"], n, p=[0.3, 0.3, 0.2, 0.05, 0.05, 0.05, 0.05])
    table = pa.table({"g": words, "s": random.choice(list("uvw"), n), "who": random.integers(0, 9, n).astype(str)})
    schema = cl.Schema.from_text('unit = "who"\nmax_rows = 5\n[columns.who]\nkind = "text"\nrole = "identifier"\n')
    settings: dict[str, Any] = {"k": 2, "quasi": ["g"], "sensitive": "s", "l_diversity": 2, "suppression": 0.4}
    made = cl.TopDownSpecialization(**settings, schema=schema, gain="entropy")
    made.publish(table, tmp_path / "out.csv")
    assert made.summary_.suppressed > 0
    assert not made.summary_.is_starred
    with (tmp_path / "out.csv").open() as file:
        published = [row["g"] for row in csv.DictReader(file)]
    assert published.count("*") == words.tolist().count("*") > 0


UNIT = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\nrole = "identifier"\n')


@pytest.mark.parametrize("scope", ["global", "local"])
def test_a_population_is_counted_by_people_where_it_says_whose_a_row_is(scope: str, tmp_path: Path) -> None:
    """Two people with ten rows each are no k-map of 20, though they are 20 rows; everybody together is."""
    table = pa.table({"a": list("xxxyyyzzz"), "b": ["u"] * 9, "who": [str(i) for i in range(9)]})
    rows = [*[("x", f"p{i % 2}") for i in range(20)], *[(word, f"{word}{i}") for word in "yz" for i in range(20)]]
    population = pa.table({"a": [word for word, _ in rows], "b": ["u"] * len(rows), "who": [who for _, who in rows]})
    settings: dict[str, Any] = {"k": 3, "quasi": ["a", "b"], "schema": UNIT, "k_map": 20, "scope": scope}
    by_people = cl.TopDownSpecialization(**settings, population=population)
    by_people.publish(table, tmp_path / "people.csv")
    with (tmp_path / "people.csv").open() as file:
        assert "x" not in {row["a"] for row in csv.DictReader(file)}
    assert by_people.release_.guarantee.also == ("k-map, k = 20",)
    assert any('population table (column "who")' in note for note in by_people.release_.notes)
    by_rows = cl.TopDownSpecialization(**settings, population=population.drop_columns(["who"]))
    by_rows.publish(table, tmp_path / "rows.csv")
    with (tmp_path / "rows.csv").open() as file:
        assert "x" in {row["a"] for row in csv.DictReader(file)}
    assert by_rows.release_.guarantee.also == ("k-map by rows, k = 20",)
    assert by_rows.release_.parameters["guards"] == ["k-map by rows, k = 20"]
    assert any("k-map counts rows" in note for note in by_rows.release_.notes)


def test_a_person_of_the_population_counts_once_in_a_class(tmp_path: Path) -> None:
    """One with rows under two values that are published as one label is one person of that label."""
    table = pa.table({"a": list("xxyy"), "who": list("1234")})
    tree = Hierarchy.from_paths([("x", "xy", "*"), ("y", "xy", "*"), ("z", "z", "*")])
    settings: dict[str, Any] = {"k": 2, "quasi": ["a"], "schema": UNIT, "hierarchies": {"a": tree}, "k_map": 4}
    same = pa.table({"a": list("xxxyyyz"), "who": list("abcabcd")})
    made = cl.TopDownSpecialization(**settings, population=same)
    made.publish(table, tmp_path / "same.csv")
    assert made.summary_.columns[0].labels == ("*",)
    others = pa.table({"a": list("xxxyyyz"), "who": list("abcdefg")})
    made = cl.TopDownSpecialization(**settings, population=others)
    made.publish(table, tmp_path / "others.csv")
    assert made.summary_.columns[0].labels == ("xy",)
