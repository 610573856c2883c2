"""Holders are told of files that look as if they were meant to be read otherwise; private verbs look at no row for that."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.errors import LikelyMisread
from cloister.file_options import Files
from cloister.sources.misread_files import warn_of_misreading
from cloister.sources.opening import open_source


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    """A sheet with a title above its header."""
    import xlsxwriter

    path = tmp_path / "people.xlsx"
    with xlsxwriter.Workbook(str(path)) as book:
        sheet = book.add_worksheet()
        for place, row in enumerate([["People"], ["age", "sex"], [31, "f"], [40, "m"]]):
            sheet.write_row(place, 0, row)
    return path


def test_another_delimiter_than_the_default_is_named(tmp_path: Path) -> None:
    """Where columns are named by the user, no header line tells it, and every row is one field."""
    (tmp_path / "bare.csv").write_text("31;f\n40;m\n" * 50)
    words = ["risk", str(tmp_path / "bare.csv"), "--names", "age,sex", "--quasi", "age,sex"]
    assert "another delimiter. Say which, for example --delimiter semicolon" in " ".join(
        CliRunner().invoke(app, words).stderr.split()
    )
    assert CliRunner().invoke(app, [*words, "--delimiter", "semicolon"]).stderr == ""


def test_a_title_above_the_header_is_named(workbook: Path) -> None:
    """The header has one name and the rows have more cells; with the title skipped nothing is said."""
    with pytest.warns(LikelyMisread, match="one name"):
        warn_of_misreading(open_source(workbook))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_misreading(open_source(Files(workbook, skip=1)))


def test_private_verbs_say_nothing_of_it(tmp_path: Path) -> None:
    """What they print does not depend on how many fields rows have."""
    (tmp_path / "bare.csv").write_text("f;1\nm;2\n" * 50)
    (tmp_path / "s.toml").write_text('[columns.sex]\nkind = "category"\ndomain = ["f", "m"]\n')
    words = ["tabulate", str(tmp_path / "bare.csv"), "--names", "sex,n", "--by", "sex", "--epsilon", "1"]
    done = CliRunner().invoke(app, [*words, "--schema", str(tmp_path / "s.toml"), "--out", str(tmp_path / "t.csv")])
    assert done.exit_code == 0, done.output
    assert "delimiter" not in done.output


@pytest.mark.parametrize("title", ["People of 2024", "People, of 2024"])
def test_a_title_above_the_header_of_a_text_file_is_named(tmp_path: Path, title: str) -> None:
    """Drafts and risks warn, and what is refused says how a title is passed over."""
    path = tmp_path / "title.csv"
    path.write_text(f"{title}\nage,sex,town\n" + "31,f,Ulm\n40,m,Bonn\n" * 10)
    drafted = CliRunner().invoke(app, ["schema", str(path)])
    assert drafted.exit_code == 0
    assert "If it is a title above the header, give --skip 1" in drafted.stderr
    assert CliRunner().invoke(app, ["schema", str(path), "--skip", "1"]).stderr == ""
    refused = CliRunner().invoke(app, ["risk", str(path), "--quasi", "age,sex"])
    assert "--skip 1" in refused.stderr
    assert "--names age,..." in refused.stderr
    assert "2024" not in refused.stderr + drafted.stderr


def test_a_file_of_one_column_has_no_title(tmp_path: Path) -> None:
    """Labels hold commas in quotes."""
    (tmp_path / "ages.csv").write_text("age\n" + '"[20, 30)"\n"[30, 40)"\n' * 10)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_misreading(open_source(tmp_path / "ages.csv"))


@pytest.mark.parametrize(
    ("line", "is_told"),
    [("31,f,Ulm", True), ("x,f,Bonn", True), ("31,g,Essen", True), ("age,sex,town", False), ("2020,2021,2022", False)],
)
def test_a_row_in_place_of_the_header_is_named(tmp_path: Path, line: str, is_told: bool) -> None:
    """A number as a name, unless they count on as years do, or a name that stands below as a value; neither is quoted."""
    path = tmp_path / "bare.csv"
    path.write_text(f"{line}\n" + "33,f,Bonn\n40,m,Bonn\n" * 10)
    for verb in ("schema", "risk"):
        told = CliRunner().invoke(app, [verb, str(path)]).stderr
        assert ("may be a row and not a header" in told) is is_told, told
        assert "Ulm" not in told
    assert CliRunner().invoke(app, ["schema", str(path), "--names", "a,b,c"]).stderr == ""


def test_lines_that_are_no_json_are_counted_for_the_holder(tmp_path: Path) -> None:
    """Risks of rows in which everything is missing look like no risk at all; a private verb says nothing."""
    path, facts = tmp_path / "p.jsonl", tmp_path / "s.toml"
    path.write_text("31,f\n" * 30 + '{"age": 1, "sex": "f"}\n' * 2)
    facts.write_text('[columns.sex]\nkind = "category"\ndomain = ["f", "m"]\nother = true\n')
    words = ["--schema", str(facts)]
    told = CliRunner().invoke(app, ["risk", str(path), "--quasi", "sex", *words]).stderr
    assert "30 of 32 lines are no JSON objects" in told
    checked = CliRunner().invoke(app, ["schema", str(path), "--check", *words])
    assert (checked.exit_code, "30 of 32 lines are no JSON objects" in checked.stdout) == (5, True)
    assert "more or fewer cells" not in checked.output
    out = ["--out", str(tmp_path / "t.csv")]
    private = CliRunner().invoke(app, ["tabulate", str(path), "--by", "sex", "--epsilon", "1", *words, *out])
    assert private.exit_code == 0, private.output
    assert "JSON" not in private.output
