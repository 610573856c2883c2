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
