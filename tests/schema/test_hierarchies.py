"""Hierarchies: read from files, built from public facts, drafted; faults are named with file and line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloister import TopDownSpecialization
from cloister.errors import SchemaError, SourceError
from cloister.schema import Category, Column, Date, Number, Text
from cloister.schema.cell_format import CellFormat
from cloister.schema.hierarchies import (
    MISSING,
    UNKNOWN,
    Hierarchy,
    calendar,
    draft,
    draft_from_values,
    find_hierarchies,
    flat,
    intervals,
    prefix,
    read_hierarchy,
)
from cloister.sources.python_cells import cell_column


def written(folder: Path, name: str, text: str | bytes) -> Path:
    """A file with this text."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def paths(tree: Hierarchy) -> list[list[str]]:
    """The labels from every leaf to the root, each once."""
    found = []
    for leaf in range(tree.leaves):
        path = [leaf]
        while tree.parent[path[-1]] >= 0:
            path.append(int(tree.parent[path[-1]]))
        found.append([tree.nodes[node] for node in path])
    return found


def test_csv(tmp_path: Path) -> None:
    """One line a value, from the value to the root."""
    tree = read_hierarchy(written(tmp_path, "x.csv", "a;letter;*\nb;letter;*\n1;digit;*\n"))
    assert paths(tree) == [["a", "letter", "*"], ["b", "letter", "*"], ["1", "digit", "*"]]


@pytest.mark.parametrize(
    "text",
    ["a,letter,*\nb,letter,*\n", "\ufeffa;letter;*\r\nb;letter;*\r\n\r\n", '"a"; "letter" ;*\n b ;letter;*'],
)
def test_csv_dialects(tmp_path: Path, text: str) -> None:
    """Commas, a byte order mark, Windows line ends, quotes, blanks and empty lines do not matter."""
    tree = read_hierarchy(written(tmp_path, "x.csv", text))
    assert paths(tree) == [["a", "letter", "*"], ["b", "letter", "*"]]


def test_latin_1(tmp_path: Path) -> None:
    """A file that is not UTF-8 is read as Windows wrote it."""
    tree = read_hierarchy(written(tmp_path, "x.csv", "Peñarol;club;*\n".encode("cp1252")))
    assert tree.nodes[0] == "Peñarol"


def test_repeated_labels_are_one_node(tmp_path: Path) -> None:
    """Short paths are padded by repeating a label: that makes no steps that change nothing."""
    tree = read_hierarchy(written(tmp_path, "x.csv", "a;a;g;*;*\nb;h;g;*;*\nc;c;c;*;*\n"))
    assert paths(tree) == [["a", "g", "*"], ["b", "h", "g", "*"], ["c", "*"]]


def test_a_label_may_name_a_value_and_its_group(tmp_path: Path) -> None:
    """A group may be called like one of its values."""
    tree = read_hierarchy(written(tmp_path, "x.csv", "Other;Other;*\nSales;Other;*\n"))
    assert tree.loss.tolist() == [0, 0, 1, 1]


def test_a_plain_list(tmp_path: Path) -> None:
    """A file of values alone is a flat hierarchy."""
    assert paths(read_hierarchy(written(tmp_path, "x.csv", "a\nb\n"))) == [["a", "*"], ["b", "*"]]


def test_nested_toml(tmp_path: Path) -> None:
    """Tables within tables, lists of values inside."""
    text = 'none = ["0"]\n[some.few]\nunits = [1, 2]\n[some.many]\ntens = [10, "20"]\n'
    tree = read_hierarchy(written(tmp_path, "x.toml", text))
    assert paths(tree)[:2] == [["0", "none", "*"], ["1", "units", "few", "some", "*"]]


def test_nested_json(tmp_path: Path) -> None:
    """A single table at the top names the root; null and true are values."""
    tree = read_hierarchy(written(tmp_path, "x.json", '{"any": {"said": [true, false], "unsaid": [null]}}'))
    assert paths(tree) == [["true", "said", "any"], ["false", "said", "any"], ["", "unsaid", "any"]]


@pytest.mark.parametrize("suffix", [".json", ".toml"])
def test_blanks_around_labels_do_not_count(tmp_path: Path, suffix: str) -> None:
    """A label with a blank at its end is the label without it; two that differ in blanks alone are refused."""
    texts = {
        ".json": '{"*": {"north ": ["x", " y"], "south": ["z"]}}',
        ".toml": '["*"]\n"north " = ["x", " y"]\nsouth = ["z"]\n',
    }
    tree = read_hierarchy(written(tmp_path, f"x{suffix}", texts[suffix]))
    assert tree.nodes == ("x", "y", "z", "north", "south", "*")
    by_paths = Hierarchy.from_paths([("x ", "north ", "* "), ("y", "north ", "* "), ("z", "south", "* ")])
    assert by_paths.nodes == tree.nodes
    twice = texts[suffix].replace("south", "north")
    with pytest.raises(SchemaError, match=f"x{suffix}: two labels"):
        read_hierarchy(written(tmp_path, f"x{suffix}", twice))


def test_a_table_under_labels_with_blanks_is_published(tmp_path: Path) -> None:
    """What is written is what was planned."""
    path = written(tmp_path, "a.json", '{"*": {"north ": ["x", "y"], "south": ["z"]}}')
    table = pa.table({"a": ["x"] * 2 + ["y"] * 4 + ["z"] * 6})
    made = TopDownSpecialization(k=5, quasi=["a"], hierarchies={"a": path})
    made.publish(table, tmp_path / "out.csv")
    assert made.summary_.columns[0].labels == ("z", "north")


def test_floats_keep_their_digits(tmp_path: Path) -> None:
    """A number in a nested hierarchy is written as the cells of a table are."""
    values = [0.1234567, 1234567.5, 3.0, 1e20, 1e-7]
    listed = ", ".join(map(repr, values))
    for name, text in (("x.json", f'{{"some": [{listed}], "none": []}}'), ("x.toml", f"some = [{listed}]\n")):
        tree = read_hierarchy(written(tmp_path, name, text))
        assert tree.nodes[:5] == ("0.1234567", "1234567.5", "3", "1" + "0" * 20, "1e-07")
        assert tree.codes(pa.array(values)).tolist() == [0, 1, 2, 3, 4]


def test_rules_in_files(tmp_path: Path) -> None:
    """A file may hold a rule instead of a tree."""
    numbers = read_hierarchy(written(tmp_path, "x.toml", "[intervals]\nlow = 0\nhigh = 40\nwidth = 10\n"))
    codes = read_hierarchy(written(tmp_path, "y.json", '{"prefix": {"values": ["11", "12"], "lengths": [1]}}'))
    days = read_hierarchy(written(tmp_path, "z.toml", "[intervals]\nlow = 2020-01-01\nhigh = 2020-12-31\n"))
    assert (numbers.nodes[4], codes.nodes[2], days.nodes[366]) == ("[0, 20)", "1*", "[2020-01-01, 2020-02-01)")


@pytest.mark.parametrize(
    ("name", "text", "where"),
    [
        ("x.csv", "a;g;*\nb;g;*\na;g;*\n", "x.csv, line 3: the value was listed before, in line 1"),
        ("x.csv", "a;g;t;*\nb;g;u;*\n", "x.csv, line 2: a label has another parent here than in line 1"),
        ("x.csv", "a;g;*\n\nb;*\n", "x.csv, line 3: 2 labels, and 3 in line 1"),
        ("x.csv", "a;g;*\nb;g;all\n", "x.csv, line 2: the last label differs"),
        ("x.csv", "a;g;*\nb;;*\n", "x.csv, line 2: a label above the value is empty"),
        ("x.csv", "\n\n", "x.csv: no values"),
        ("x.json", '{"g": ["a",\n"b"],\n"h": ["a"]}', "x.json, line 3: the value was listed before, in line 1"),
        ("x.json", '{"r": {"p": {"g": ["a"]},\n"s": {"g": ["b"]}}}', "x.json, line 2: a label has another parent"),
        ("x.json", '{"g": ["a"],\n"g": ["b"]}', "x.json, line 2: a name is there twice"),
        ("x.json", '{"g": ["a"\n', "x.json, line 2: not valid JSON"),
        ("x.toml", "g = [", "x.toml: not valid TOML"),
        ("x.toml", "[intervals]\nlow = 5\nhigh = 2\n", "x.toml: low must be below high"),
        ("x.toml", "[intervals]\nlow = 0\nhigh = 9\nwith = 2\n", 'x.toml: intervals has no key "with"'),
        ("x.toml", "[intervals]\nlow = 0\nwidth = 2\n", "x.toml: intervals needs the key 'high'"),
        ("x.toml", '[intervals]\nlow = 0\nhigh = "a"\n', "x.toml: intervals needs numbers"),
    ],
)
def test_faults_are_named_with_file_and_line(tmp_path: Path, name: str, text: str, where: str) -> None:
    """A fault of a file is one sentence that says where it is."""
    with pytest.raises(SchemaError) as error:
        read_hierarchy(written(tmp_path, name, text))
    assert str(error.value).startswith(where)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, and a format that is not known, are refused with a hint."""
    with pytest.raises(SourceError, match="cannot be read"):
        read_hierarchy(tmp_path / "none.csv")
    with pytest.raises(SourceError, match="unknown format"):
        read_hierarchy(written(tmp_path, "x.xlsx", ""))


def test_a_file_belongs_to_the_column_its_name_ends_in(tmp_path: Path) -> None:
    """The longest column that a file's name ends in owns it; part of a word does not count."""
    for name in ("adult_hierarchy_age.csv", "marital-status.toml", "my_sex.json", "language.csv", "README.md"):
        written(tmp_path, name, "")
    found = find_hierarchies(tmp_path, ["age", "status", "marital-status", "sex"])
    assert {column: path.name for column, path in found.items()} == {
        "age": "adult_hierarchy_age.csv",
        "marital-status": "marital-status.toml",
        "sex": "my_sex.json",
    }


def test_two_files_for_one_column(tmp_path: Path) -> None:
    """Two files that claim a column are refused, and both are named."""
    for name in ("age.csv", "hierarchy_age.toml"):
        written(tmp_path, name, "")
    with pytest.raises(SchemaError, match=r"age\.csv and hierarchy_age\.toml"):
        find_hierarchies(tmp_path, ["age"])


def test_codes_of_texts() -> None:
    """Blanks around a value do not count, 3 and 3.0 are one value, nulls and strangers are told apart."""
    tree = flat(["3", "x"])
    assert tree.codes(pa.array([" x", "3", None, "", "y"])).tolist() == [1, 0, MISSING, MISSING, UNKNOWN]
    assert tree.codes(pa.array([3.0, 4.0])).tolist() == [0, UNKNOWN]


def test_codes_of_numbers() -> None:
    """A number belongs to the interval that holds it, the upper bound to the last; a comma as the format says."""
    tree = intervals(0, 40, width=10)
    values = pa.array(["0", "9,99", "10", "40", "40.1", "-1", "many", None])
    assert tree.codes(values).tolist() == [0, UNKNOWN, 1, 3, UNKNOWN, UNKNOWN, UNKNOWN, MISSING]
    german = replace(tree, form=CellFormat(decimal=",", missing=("-1",)))
    assert german.codes(values).tolist() == [0, 0, 1, 3, UNKNOWN, MISSING, UNKNOWN, MISSING]


def test_codes_on_a_grid() -> None:
    """On a grid every value has a leaf of its own."""
    tree = intervals(0, 3, step=1, cuts=[2])
    assert tree.codes(pa.array([0, 1, 2, 3, 4])).tolist() == [0, 1, 2, 3, UNKNOWN]


def test_codes_of_dates() -> None:
    """Dates, times and ISO texts belong to their day."""
    tree = calendar(date(2024, 1, 1), date(2024, 1, 3))
    assert tree.codes(pa.array([date(2024, 1, 1), date(2024, 1, 3), date(2024, 1, 4)])).tolist() == [0, 2, UNKNOWN]
    assert tree.codes(pa.array(["2024-01-02"])).tolist() == [1]


def test_null_gets_a_leaf_under_the_root() -> None:
    """Nulls are values of their own, next to the widest groups."""
    tree = Hierarchy.from_paths([("a", "g", "*"), ("b", "g", "*")]).with_null()
    assert tree.nodes == ("a", "b", "", "g", "*")
    assert tree.parent.tolist() == [3, 3, 4, 4, -1]
    assert tree.codes(pa.array(["b", None])).tolist() == [1, 2]
    assert tree.with_null() is tree


def test_null_leaf_of_intervals() -> None:
    """Intervals keep their edges when nulls get a leaf."""
    tree = intervals(0, 40, width=10).with_null()
    assert tree.codes(pa.array([40.0, None, 50.0])).tolist() == [3, 4, UNKNOWN]


def test_fanout() -> None:
    """Each level joins as many neighbours as the fan-out says."""
    tree = intervals(0, 9, width=1, fanout=3)
    assert tree.nodes[9:] == ("[0, 3)", "[3, 6)", "[6, 9]", "*")


def test_cuts() -> None:
    """Explicit cuts are where the finest intervals begin."""
    assert intervals(0, 100, cuts=[18, 65]).nodes == ("[0, 18)", "[18, 65)", "[65, 100]", "[0, 65)", "*")


@pytest.mark.parametrize(
    "wrong",
    [{"cuts": [5, 3]}, {"cuts": [0]}, {"width": 0}, {"width": 2, "cuts": [5]}, {"fanout": 1}, {"step": 1e-9}, {"step": -1}],
)
def test_senseless_intervals(wrong: dict[str, object]) -> None:
    """Cuts out of order or out of bounds, no width, no fan-out, a grid too fine: refused."""
    with pytest.raises(SchemaError):
        intervals(0, 10, **wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "facts",
    [
        {"low": 0, "high": 100, "step": 10, "width": 5},
        {"low": 1, "high": 6, "step": 1, "width": 0.5},
        {"low": 0, "high": 9, "step": 3, "cuts": [1, 2, 4, 5, 7]},
    ],
)
def test_intervals_without_a_step_in_them_are_left_out(facts: dict[str, Any]) -> None:
    """Intervals narrower than a step: every label holds a value."""
    tree = intervals(**facts)
    assert (tree.size > 0).all()
    assert tree.nodes[: tree.leaves] == tuple(str(at) for at in range(facts["low"], facts["high"] + 1, facts["step"]))


def test_a_drafted_scale_is_no_finer_than_its_step(tmp_path: Path) -> None:
    """Grades from 1 to 6: the draft is read, every label holds a grade, and it publishes a table."""
    name, text = draft(Column("grade", Number(bounds=(1, 6), step=1)))
    assert "width = 1\n" in text
    tree = read_hierarchy(written(tmp_path, name, text))
    assert (tree.size > 0).all()
    table = pa.table({"grade": [1, 2, 3, 4, 5, 6] * 50})
    made = TopDownSpecialization(k=5, quasi=["grade"], hierarchies={"grade": tree})
    made.publish(table, tmp_path / "out.csv")
    assert made.summary_.loss == 0


def test_calendar() -> None:
    """Days lie in months, years and decades, written as intervals."""
    tree = calendar(date(2019, 11, 30), date(2020, 2, 2))
    assert paths(tree)[0] == ["2019-11-30", "[2019-11-30, 2019-12-01)", "[2019-11-30, 2020-01-01)", "*"]


def test_prefix() -> None:
    """Codes are masked from the right."""
    assert paths(prefix(["112", "12"]))[0] == ["112", "11*", "1**", "*"]


@given(st.integers(-20, 20), st.integers(1, 60), st.integers(1, 9), st.integers(2, 5), st.booleans())
def test_intervals_are_trees_of_neighbours(low: int, span: int, width: int, fanout: int, has_step: bool) -> None:
    """Every node of any intervals holds a run of leaves, and every value in the bounds has a leaf."""
    tree = intervals(low, low + span, width=width, fanout=fanout, step=1 if has_step else None)
    values = np.arange(low, low + span + 1) if has_step else np.linspace(low, low + span, 50)
    assert tree.codes(pa.array(values)).min() >= 0
    for level in tree.levels:
        assert (np.diff(np.flatnonzero(np.diff(level))) > 0).all()
        assert len(np.unique(level)) == 1 + int((np.diff(level) != 0).sum())


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2)), min_size=1, max_size=12))
def test_csv_both_ways(groups: list[tuple[int, int]]) -> None:
    """A tree written as CSV and read again has the same paths."""
    tree = Hierarchy.from_paths([(f"v{i}", f"g{a}.{b}", f"h{b}", "*") for i, (a, b) in enumerate(groups)])
    lines = [line.split(";") for line in tree.to_csv().splitlines()]
    assert paths(Hierarchy.from_paths(lines)) == paths(tree)


@pytest.mark.parametrize(
    ("kind", "name", "labels"),
    [
        (Number(bounds=(0, 100), step=1), "x.toml", "[10, 20)"),
        (Date(bounds=(date(2020, 1, 1), date(2021, 12, 31))), "x.toml", "[2020-01-01, 2021-01-01)"),
        (Category(domain=("11200", "11300")), "x.toml", "112**"),
        (Category(domain=("f", "m")), "x.csv", "*"),
    ],
)
def test_drafts_can_be_read(tmp_path: Path, kind: Number | Date | Category, name: str, labels: str) -> None:
    """A draft from public facts is a file that reads back as a hierarchy."""
    file, text = draft(Column("x", kind))
    assert file == name
    assert labels in read_hierarchy(written(tmp_path, file, text)).nodes


@pytest.mark.parametrize("kind", [Number(), Date(), Category(), Text()])
def test_drafts_need_public_facts(kind: Number | Date | Category | Text) -> None:
    """Without bounds or a domain there is nothing to draft from."""
    with pytest.raises(SchemaError, match='column "x"'):
        draft(Column("x", kind))


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (Number(), [17, 90, None, 45]),
        (Number(), [0.5, 0.25, 0.125]),
        (Number(), [3, 3]),
        (Date(), [date(2020, 5, 5), date(2021, 1, 1)]),
        (Category(), ["a", "b", None, "a"]),
        (Category(), ["11200", "11300"]),
        (Category(), [None]),
    ],
)
def test_drafts_from_values_hold_every_value(tmp_path: Path, kind: Number | Date | Category, values: list[object]) -> None:
    """A draft for the holder reads back, and has a leaf for every value of the column."""
    column = pa.array(values)
    tree = read_hierarchy(written(tmp_path, *draft_from_values(Column("x", kind), column)))
    assert (tree.codes(column) != UNKNOWN).all()


@pytest.mark.parametrize(
    ("kind", "values", "rule"),
    [
        (Date(format="%d.%m.%Y"), ["05.05.2020", "01.01.2021", "01.07.2022"], "low = 2020-01-01\nhigh = 2022-12-31"),
        (Number(decimal=",", thousands="."), ["1.000,5", "2.000", "1.500,25"], "low = 1000\nhigh = 2000"),
        (Number(missing=("-999",)), [17, -999, 57, 37], "low = 16\nhigh = 58"),
    ],
)
def test_drafts_from_values_read_cells_as_the_schema_says(kind: Number | Date, values: list[object], rule: str) -> None:
    """Dates and numbers that are written in a format are dates and numbers, and no codes; what is missing is no value."""
    name, text = draft_from_values(Column("x", kind), pa.array(values))
    assert name == "x.toml"
    assert f"[intervals]\n{rule}\n" in text


def test_a_cell_between_two_steps_is_unknown() -> None:
    """A leaf of one value holds that value alone, as it is computed and as float32 holds it."""
    tree = intervals(0, 100, step=10, width=50)
    assert tree.codes(pa.array([16.0, 17.3, 18.9, 24.9, 20.001, -4.0, 104.0, None])).tolist() == [UNKNOWN] * 7 + [MISSING]
    assert tree.codes(pa.array([0.0, 20.0, 100.0])).tolist() == [0, 2, 10]
    tenths = intervals(-1, 2000, step=0.1, width=1)
    values = np.arange(-10, 20_001) / 10
    for cells in (values, -1 + 0.1 * np.arange(len(values)), values.astype(np.float32)):
        assert tenths.codes(pa.array(cells)).tolist() == list(range(len(values)))


def test_steps_of_many_digits_have_labels_of_their_own() -> None:
    """Fourteen digits are written out; from 2^53 on whole numbers are not told apart, and a step there is refused."""
    tree = intervals(20261116130500, 20261116130520, step=1, width=10)
    assert tree.nodes[1] == "20261116130501"
    assert len(set(tree.nodes)) == len(tree.nodes)
    with pytest.raises(SchemaError, match="one by one"):
        intervals(2**53, 2**53 + 100, step=1, width=10)


LARGE = 2**53


@pytest.mark.parametrize(
    "write",
    [
        lambda cells: pa.array(cells, pa.int64()),
        lambda cells: pa.array(cells, pa.uint64()).dictionary_encode(),
        lambda cells: pa.array([str(cell) for cell in cells]),
        lambda cells: pa.array([f" +{cell}.0 " for cell in cells], pa.large_string()),
        lambda cells: pa.array([Decimal(cell) for cell in cells], pa.decimal128(20, 0)),
        lambda cells: cell_column([str(cells[0]).encode(), *cells[1:]]),
    ],
)
def test_whole_numbers_that_a_float_rounds_are_read_exactly(write: Callable[[list[int]], pa.Array]) -> None:
    """From 2^53 on the float of a whole number may be the next interval's first: the cell is compared by its digits."""
    tree = intervals(LARGE, LARGE + 100, width=10)
    cells = [LARGE + more for more in range(104)]
    expected = [min(more // 10, 9) if more <= 100 else UNKNOWN for more in range(104)]
    assert tree.codes(write(cells)).tolist() == expected
    assert tree.codes(write([LARGE - 1, LARGE])).tolist() == [UNKNOWN, 0]


def test_digits_are_read_as_the_format_says() -> None:
    """Thousands and decimal commas; a float column holds its floats, whose digits are exact."""
    tree = replace(intervals(-LARGE - 100, -LARGE, width=10), form=CellFormat(decimal=",", thousands="."))
    assert tree.codes(pa.array(["-9.007.199.254.741.011,5", "-9.007.199.254.741.013"])).tolist() == [8, 7]
    floats = intervals(1e18, 2e18, width=1e17)
    cells = pa.array([1e18, 1.1e18, float(np.nextafter(1.1e18, 0)), 2e18])
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([1, 2, 3, 4], pa.int32()), cells)
    for same in (cells, cells.dictionary_encode(), runs):
        assert floats.codes(same).tolist() == [0, 1, 0, 9]


def test_a_number_without_digits_to_read_is_unknown_beside_a_large_edge() -> None:
    """A fraction of Python is a float with a name beside it: the hierarchy does not guess on which side it lies."""
    tree = intervals(2**70, 2**71, width=2**68)
    cells = [Fraction(3 * 2**70 + 1, 3), 2**70 + 2**60 + 1, 2**70 + 2**68 - 1, 2**70 + 2**68]
    assert tree.codes(cell_column(cells)).tolist() == [UNKNOWN, 0, 0, 1]
