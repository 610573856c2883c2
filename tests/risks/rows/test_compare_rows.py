"""The walk from two tables to a report: what is compared, which comparison is chosen, what odd tables get."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

from cloister.errors import CloisterError, UsageError
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release, Syntactic
from cloister.report.plot import draw_page
from cloister.risks.assess import RiskReport, RowsReport, assess
from cloister.schema import Category, Column, Role, Schema
from cloister.sinks import file_hashes

ORIGINAL = pa.table({"age": [0, 2, 8, 10], "town": ["a", "a", "b", "c"]})
AVERAGED = pa.table({"age": [1.0, 1.0, 9.0, 9.0], "town": ["a", "a", "b", "b"]})


def compare(released: Any, original: Any = ORIGINAL, **more: Any) -> RowsReport:
    """The comparison of rows."""
    report = assess(released, against=original, as_rows=True, **more)
    assert isinstance(report, RowsReport)
    return report


def test_a_report_by_hand() -> None:
    """All measures of four averaged rows; text, HTML and plain data say the same and carry the stamp."""
    report = compare(AVERAGED)
    assert (report.rows, report.released_rows, report.released_records, report.tried) == (4, 4, 2, 4)
    assert report.error.sse == pytest.approx(1.04)
    assert report.linkage.group == 0.5
    assert report.shares.worst_column.columns == ("age",)
    facts = json.loads(json.dumps(report.as_dict()))
    assert facts["error"]["ratio"] == report.error.ratio
    assert facts["kind"] == "rows"
    assert "page" not in facts
    assert facts["formulas"]["nearest_linkage"]
    for page in (str(report), report._repr_html_()):
        assert "for the holder only" in page
        assert "SSE / SST" in page


@pytest.mark.parametrize(
    ("released", "seen"),
    [
        ({"age": [1, 2, 3, 4, 5, 6, 7], "town": list("aabbccd")}, (7, 0)),  # another number of rows
        ({"age": [5], "town": ["b"]}, (1, 0)),  # one row
        ({"age": [None, None], "town": [None, None]}, (2, 0)),  # nothing but blanks
        ({"age": [7, 7], "town": ["z", "z"]}, (2, 0)),  # one value
        ({"age": [1, 2]}, (2, 1)),  # a column is missing
        ({"age": [1, 2], "town": ["a", "b"], "more": [1, 2]}, (2, 1)),  # one more column
        ({"age": ["[0, 5)", "[5, 10]"], "town": ["a", "*"]}, (2, 0)),  # labels
        ({"age": [1e300, -1e308], "town": ["a", "b"]}, (2, 0)),  # beyond all bounds
        ({"age": [float("inf"), float("nan")], "town": ["a", "b"]}, (2, 0)),  # no numbers
    ],
)
def test_odd_releases_get_a_page(released: dict[str, Any], seen: tuple[int, int], tmp_path: Path) -> None:
    """Rows, columns that are not compared, finite figures, and pictures that can be drawn."""
    report = compare(pa.table(released))
    assert (report.released_rows, len(report.not_compared)) == seen
    assert np.isfinite([report.closeness.ratio_median, report.linkage.nearest, report.shares.column_mean]).all()
    assert 0 <= report.error.sse < np.inf
    json.dumps(report.as_dict(), allow_nan=False)
    assert ("Not compared: " in str(report)) == bool(seen[1])
    report.draw(tmp_path / "page.svg")
    assert (tmp_path / "page.svg").read_bytes()[:5] == b"<?xml"


def test_labels_are_told_in_a_note() -> None:
    """Intervals among numbers are compared as words, and the page says for which columns."""
    report = compare(pa.table({"age": ["[0, 5)", "[5, 10]"], "town": ["a", "b"]}))
    assert any("compared as words" in note and "age" in note for note in report.notes)


def test_many_texts() -> None:
    """10,000 different texts: the column is compared, its pairs are not, and the page says how many."""
    words = [f"w{i}" for i in range(10_000)]
    table = pa.table({"text": words, "kind": [f"k{i % 30}" for i in range(10_000)]})
    report = compare(table.slice(0, 100), table, all_rows=False)
    assert report.shares.skipped == 1
    assert any("1 pairs" in note for note in report.notes)
    assert report.tried == 5_000


@pytest.mark.parametrize(
    ("released", "more", "words"),
    [
        (AVERAGED.slice(0, 0), {}, "no rows"),
        (pa.table({"other": [1]}), {}, "no column in common"),
        (AVERAGED, {"target": "salary"}, 'no column "salary"'),
        (AVERAGED, {"quasi": "age,salary"}, 'no column "salary"'),
        (AVERAGED, {"control": pa.table({"age": [1]})}, "the control has no column"),
        (AVERAGED, {"sensitive": "town"}, "have no classes"),
        (AVERAGED, {"search": 2}, "have no classes"),
    ],
)
def test_what_cannot_be_compared_gets_a_sentence(released: Any, more: dict[str, Any], words: str) -> None:
    """No traceback, no value."""
    with pytest.raises(CloisterError, match=words):
        compare(released, **more)


def test_flags_of_rows_need_rows(tmp_path: Path) -> None:
    """Against labels a control would be ignored: it is refused, in words that ask for what is missing and nothing else."""
    with pytest.raises(UsageError, match="give as_rows=True too"):
        assess(ORIGINAL, "age", against=ORIGINAL, control=ORIGINAL)
    with pytest.raises(UsageError, match="give as_rows=True and against=ORIGINAL too"):
        assess(ORIGINAL, "age", control=ORIGINAL)
    (made,) = written(tmp_path, "rows", made=ORIGINAL)
    with pytest.raises(UsageError, match="give against=ORIGINAL too"):
        assess(made, control=ORIGINAL)
    with pytest.raises(UsageError, match="against=ORIGINAL"):
        assess(ORIGINAL, as_rows=True)


def test_a_misspelt_target_gets_the_name_of_the_schema(tmp_path: Path) -> None:
    """The first line of a file is not quoted; the schema's names may be."""
    released, original = written(tmp_path, {"kind": "rows"}, released=ORIGINAL, original=ORIGINAL)
    schema = Schema((Column("town", Category(("a", "b", "c"))),))
    with pytest.raises(CloisterError, match=r'no column "tow"\. Did you mean "town"\?'):
        assess(released, against=original, target="tow", schema=schema)


def test_columns_may_be_named_and_identifiers_stay_out() -> None:
    """Of three columns the named one; without names all but the schema's identifiers."""
    tables = [table.append_column("name", pa.array(list("wxyz"))) for table in (AVERAGED, ORIGINAL)]
    assert compare(*tables, quasi="age").columns == ("age",)
    schema = Schema((Column("name", Category(), role=Role.IDENTIFIER),))
    report = compare(*tables, schema=schema)
    assert report.columns == ("age", "town")
    assert report.not_compared == ("name",)


def test_refused_labels_name_the_other_way() -> None:
    """Averages are no labels of the original: the refusal says what to do."""
    with pytest.raises(CloisterError, match="as_rows=True"):
        assess(AVERAGED, "age", against=ORIGINAL)


def certify(path: Path, kind: str, parameters: dict[str, Any] | None = None) -> None:
    """Write a certificate of this kind beside a file."""
    release = Release(kind, Syntactic(2), (), parameters or {}, {}, files=file_hashes(path))
    Path(f"{path}.release.json").write_text(release.to_json())


@pytest.mark.parametrize(
    ("kind", "origin"),
    [("microaggregated table", "averaged"), ("rows", "made up"), ("k-anonymous table", None), (None, None)],
)
def test_the_certificate_says_what_rows_are(kind: str | None, origin: str | None, tmp_path: Path) -> None:
    """Beside the release; one of another kind changes nothing."""
    released, original = tmp_path / "released.csv", tmp_path / "original.csv"
    pa_csv.write_csv(ORIGINAL, original)
    pa_csv.write_csv(ORIGINAL, released)
    if kind is not None:
        certify(released, kind)
    report = assess(released, against=original)
    assert isinstance(report, RiskReport if origin is None else RowsReport)
    if isinstance(report, RowsReport):
        assert report.origin == origin
        assert (report.linkage.group is None) == (origin == "made up")
        assert isinstance(assess(released, against=original, as_rows=False), RiskReport)
        assert isinstance(assess(released, against=original, sensitive="town"), RiskReport)


@pytest.mark.parametrize("text", ['{"kind": "rows"}', '{"kind": ["rows"]}', "[1]", "not JSON", "another file's"])
def test_what_is_no_certificate_of_the_file_is_not_believed(text: str, tmp_path: Path) -> None:
    """A copy of the original beside which somebody wrote that it is made up: the page must not say that it is nobody's."""
    released, original = tmp_path / "released.csv", tmp_path / "original.csv"
    pa_csv.write_csv(ORIGINAL, original)
    pa_csv.write_csv(ORIGINAL, released)
    if text == "another file's":
        certify(released, "rows")
        pa_csv.write_csv(ORIGINAL.slice(1), released)
    else:
        Path(f"{released}.release.json").write_text(text)
    assert isinstance(assess(released, against=original), RiskReport)


def test_with_a_unit_there_is_no_group_linkage() -> None:
    """Somebody's many rows would make groups look large: the page says that its figures are about rows."""
    schema = Schema.from_text('unit = "who"\nmax_rows = 9\n[columns.who]\nkind = "text"\n[columns.age]\nkind = "number"\n')
    tables = [pa.table({"who": ["a", "a", "b", "b"], "age": ages}) for ages in ([1, 1, 9, 9], [0, 2, 8, 10])]
    report = assess(tables[0].drop_columns("who"), against=tables[1], as_rows=True, schema=schema)
    assert isinstance(report, RowsReport)
    assert report.linkage.group is None
    assert "people have several rows" in str(report)


def made_up_tables(number: int) -> list[pa.Table]:
    """Tables of independent rows of one kind."""
    random = np.random.default_rng(2)
    return [pa.table({"x": random.normal(size=300), "y": random.integers(0, 3, 300)}) for _ in range(number)]


def test_rows_of_which_nothing_is_known_have_no_figure_without_a_control() -> None:
    """All rows are different, so there is no group linkage; shares of linked rows are in the plain data alone."""
    report = compare(*made_up_tables(2))
    page = str(report)
    assert "needs rows that were not in the table: control=ROWS" in page
    for word in ("safe", "roup linkage", "nearest-record", "blind guess"):
        assert word not in page
    assert report.as_dict()["linkage"]["nearest"] > 0


def test_verdicts_beside_a_control() -> None:
    """Independent rows are within chance; copies of the original are beyond it, and the page names every figure that is."""
    original, released, control = made_up_tables(3)
    report = compare(released, original, control=control)
    assert str(report).count("within chance") >= 4
    assert "beyond chance" not in str(report)
    copied = compare(original, original, control=control)
    assert "beyond chance: +" in str(copied)
    assert "Beyond chance: nearest-record linkage, unchanged rows, distance" in str(copied)
    assert copied.as_dict()["excess"]["unchanged"]["excess"] == 1


def test_a_control_that_is_the_original_is_told() -> None:
    """In another order too; other rows get no note."""
    original, released, control = made_up_tables(3)
    shuffled = original.take(np.random.default_rng(0).permutation(300))
    assert any("the same rows as the original" in note for note in compare(released, original, control=shuffled).notes)
    assert not compare(released, original, control=control).notes


def written(folder: Path, kind: str, parameters: dict[str, Any] | None = None, **tables: pa.Table) -> list[Path]:
    """Tables as files, the first with a certificate."""
    paths = [folder / f"{name}.csv" for name in tables]
    for path, table in zip(paths, tables.values(), strict=True):
        pa_csv.write_csv(table, path)
    certify(paths[0], kind, parameters)
    return paths


@pytest.mark.parametrize(
    ("parameters", "group"),
    [
        ({"quasi": ["age"]}, 0.5),
        ({"columns": ["age"]}, 0.5),
        ({}, 1.0),
        ({"quasi": [1]}, 1.0),
        (None, 1.0),
        ({"quasi": ["q"]}, None),
    ],
)
def test_the_certificate_names_the_averaged_columns(parameters: Any, group: float | None, tmp_path: Path) -> None:
    """Group linkage is over these alone; over all that are compared where it does not say, and none if none is compared."""
    tables = [pa.table({"age": ages, "illness": list("wxyz")}) for ages in ([1, 1, 9, 9], [0, 2, 8, 10])]
    released, original = written(tmp_path, "microaggregated table", parameters, released=tables[0], original=tables[1])
    report = assess(released, against=original)
    assert isinstance(report, RowsReport)
    assert report.linkage.group == group
    assert ("There is no group linkage" in str(report)) == (group is None)


def test_made_up_rows_alone(tmp_path: Path) -> None:
    """Without an original the page of risk begins with what it cannot say; averaged rows and others get no such note."""
    words = "These rows are made up, by their certificate"
    (made,) = written(tmp_path, "rows", made=ORIGINAL)
    report = assess(made)
    assert isinstance(report, RiskReport)
    assert str(report).startswith(f"Note: {words}")
    assert words in report._repr_html_()
    assert report.as_dict()["notes"][0].startswith(words)
    (averaged,) = written(tmp_path, "microaggregated table", averaged=ORIGINAL)
    assert words not in str(assess(averaged))


def test_pictures_choose_the_target_and_the_worst() -> None:
    """Of 15 columns 12 are drawn: the target, though it is kept, and those that are off most; the title counts the others."""
    original = pa.table({f"c{i}": [f"v{j}" for j in range(20)] for i in range(15)})
    released = pa.table({f"c{i}": [f"v{j if j >= i else 0}" for j in range(20)] for i in range(15)})
    report = compare(released, original, target="c0")
    assert report.page is not None
    drawn = [panel.title.split()[0] for panel in report.page.panels]
    assert drawn == ["c0", *(f"c{i}" for i in range(4, 15))]
    assert "3 of 15 columns are not drawn" in report.page.title
    assert report.page.panels[0].words[-1] == "(rarer values)"  # type: ignore[union-attr]


def test_the_ledger_remembers(tmp_path: Path) -> None:
    """A named table's ledger records that its holder saw exact numbers."""
    place = str(tmp_path / "ledger.sqlite")
    Ledger(place).create("people", "add-remove", 1)
    compare(AVERAGED, table="people", ledger=place)
    assert [(entry.kind, entry.purpose) for entry in Ledger(place).entries("people")] == [("holder", "comparison of rows")]


def test_words_in_pictures_are_no_formulas(tmp_path: Path) -> None:
    """A dollar sign in a value or a name is drawn as it is."""
    table = pa.table({"pay $ a": ["$x", "$y$", "$z"], "b": [1, 2, 3]})
    report = compare(table, table)
    assert report.page is not None
    draw_page(report.page, tmp_path / "page.png")
    assert (tmp_path / "page.png").read_bytes()[:4] == b"\x89PNG"
