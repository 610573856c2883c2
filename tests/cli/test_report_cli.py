"""``cloister report``: what is refused is refused in one sentence, before anything is charged or written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from tests.handouts.published import run


@pytest.fixture
def table(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A private table that was charged to a ledger."""
    monkeypatch.chdir(home)
    tabulate("table.csv")
    return home / "table.csv"


def refused(*words: object) -> str:
    """What a command says that does not end with success; which code that is, the tests of codes say."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code not in (0, 70), done.output
    return done.output


def tabulate(out: str, *words: object, runs: Callable[..., str] = run) -> str:
    """Count points in cells."""
    cells = ("--by", "x,y", "--bins", "x=2", "--bins", "y=2", "--epsilon", 1)
    where = ("--schema", "points.toml", "--ledger", "ledger.sqlite", "--out", out)
    return runs("tabulate", "points.csv", *cells, *where, *words)


def test_the_report_lies_beside_the_release_by_default(table: Path) -> None:
    """A folder's own files are listed in its certificate, so a page may not lie in it."""
    assert run("report", table) == f"Written: {table}.report.html\n"
    assert "The ledger was not asked when this report was made" in Path(f"{table}.report.html").read_text(encoding="utf-8")
    run("verify", table)


def test_the_ledger_that_is_named_is_asked(table: Path) -> None:
    """Then the page says what is left, and that the ledger holds the release."""
    run("report", table, "--ledger", "ledger.sqlite", "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "9 left of 10; 1 spent" in page
    assert "yes: it is in it" in page


def test_checks_that_were_not_made_are_not_claimed(table: Path) -> None:
    """Without a key and a ledger it says that nobody else was asked."""
    run("report", table, "-o", "page.html")
    page = Path("page.html").read_text(encoding="utf-8")
    assert "nobody else was asked" in page
    assert "no: the ledger was not asked" in page


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("points.csv",), "points.csv has no certificate"),
        (("absent",), "absent does not exist"),
        (("table.csv", "-o", "page.pdf"), "ends in .html"),
        (("table.csv", "-o", "points.csv.html"), "exists already"),
        (("table.csv", "-o", "nowhere/page.html"), "does not exist. Create it first"),
        (
            ("table.csv", "--key", "ed25519:2e0cf44b8ab4b8897468d98388df5f76581686373ca9ff874a67b40f5ffa6ac0"),
            "signed by another key",
        ),
        (("table.csv", "--ledger", "other.sqlite"), "there is no ledger"),
    ],
)
def test_refusals_are_one_sentence_and_leave_nothing(table: Path, words: tuple[str, ...], sentence: str) -> None:
    """Whatever is wrong, no page appears."""
    Path("points.csv.html").touch()
    before = sorted(table.parent.iterdir())
    said = refused("report", *words)
    assert sentence in said
    assert said.count("\n") == 1
    assert sorted(table.parent.iterdir()) == before


def test_a_changed_release_has_no_report(table: Path) -> None:
    """It is checked as `cloister verify` does."""
    table.write_text(table.read_text() + "\n")
    assert "was changed after it was written" in refused("report", table, "-o", "page.html")
    assert not Path("page.html").exists()


@pytest.mark.parametrize(
    ("page", "sentence"),
    [
        ("page.pdf", "ends in .html"),
        ("points.csv", "ends in .html"),
        ("taken.html", "exists already"),
        ("no/page.html", "Create"),
    ],
)
def test_a_report_that_cannot_be_written_is_refused_before_the_charge(table: Path, page: str, sentence: str) -> None:
    """Nothing is charged and no table appears."""
    Path("taken.html").touch()
    spent = Ledger("ledger.sqlite").account("points").epsilon_spent
    assert sentence in tabulate("second.csv", "--report", page, runs=refused)
    assert Ledger("ledger.sqlite").account("points").epsilon_spent == spent
    assert not Path("second.csv").exists()


def test_a_report_inside_the_folder_of_a_release_is_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its certificate lists every file there is."""
    monkeypatch.chdir(home)
    words = ("cluster", "points.csv", "--schema", "points.toml", "--k", 2, "--epsilon", 1, "--ledger", "ledger.sqlite")
    assert "folder of the release" in refused(*words, "--out", "two", "--report", "two/page.html")
    assert Ledger("ledger.sqlite").account("points").epsilon_spent == 0
    run(*words, "--out", "two")
    Path("linked").symlink_to("two")
    assert "folder of the release" in refused("report", "two", "-o", "linked/page.html")


def test_a_table_made_with_a_drafted_schema_is_compared_with_its_original(table: Path) -> None:
    """The draft of a column that holds ? gives what is missing the label "(other)", which is known again."""
    cells = [("a", "?", "b")[at % 3] for at in range(30)]
    Path("people.csv").write_text("age,work\n" + "".join(f"{20 + at % 5},{cell}\n" for at, cell in enumerate(cells)))
    run("schema", "people.csv", "-o", "draft.toml")
    assert 'missing = ["?"]' in Path("draft.toml").read_text()
    columns = ("--schema", "draft.toml")
    run("anonymize", "people.csv", *columns, "--quasi", "age,work", "--k", 2, "--out", "safe.csv")
    assert "(other)" in Path("safe.csv").read_text()
    run("report", "safe.csv", "-o", "safe.html", "--against", "people.csv", *columns)
    assert "What was lost" in Path("safe.holder.html").read_text()
    assert "What was lost" in run("risk", "safe.csv", "--against", "people.csv", "--quasi", "age,work", *columns)
    without = refused("report", "safe.csv", "-o", "b.html", "--against", "people.csv")
    assert "--schema" in without
    assert "--as-rows" not in without  # which is no flag of this command
