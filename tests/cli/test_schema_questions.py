"""``cloister schema --ask``: lines that are typed make a schema, or nothing."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from cloister.cli import app
from cloister.cli.schema_questions import broken
from cloister.schema import Category, Date, Number, Role, Schema, Text


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A German file with a name, a number, a category and a day."""
    path = tmp_path / "leute.csv"
    days = [f"{1 + i % 28:02d}.{1 + i % 12:02d}.{1930 + i % 70}" for i in range(100)]
    lines = [f"N{i};{i % 9}.{100 + i},50;{'wmd'[i % 3]};{days[i]}" for i in range(100)]
    path.write_text("\n".join(["Nachname;Gehalt;Geschlecht;Geburtsdatum", *lines]) + "\n")
    return path


def ask(table: Path, lines: list[str], *more: object) -> Result:
    """Run the command with these lines as standard input."""
    words = ["schema", str(table), "--ask", *map(str, more)]
    return CliRunner().invoke(app, words, input="".join(f"{line}\n" for line in lines))


ANSWERS = [
    *("", ""),  # Nachname
    *("", "sensitive", "0 20000", "0.01", "", "?"),  # Gehalt; and more about the last question
    *("none",),
    *("", "", "w, m, d", "no", ""),  # Geschlecht
    *("", "", "1900-01-01 to 2030-12-31", "", "unknown, -"),  # Geburtsdatum
    *("staff", "Nachname", "3", "yes"),
]


def test_answers_make_a_schema(table: Path, tmp_path: Path) -> None:
    """What was typed, and by Enter what was guessed; nothing is marked as guessed any more."""
    done = ask(table, ANSWERS, "-o", tmp_path / "leute.toml")
    assert done.exit_code == 0, done.output
    schema = Schema.from_toml(tmp_path / "leute.toml")
    assert (schema.table, schema.unit, schema.max_rows) == ("staff", "Nachname", 3)
    assert schema["Nachname"].role is Role.IDENTIFIER
    assert schema["Gehalt"].kind == Number((0, 20_000), 0.01, decimal=",", thousands=".")
    assert schema["Geschlecht"].kind == Category(("w", "m", "d"))
    born = Date((date(1900, 1, 1), date(2030, 12, 31)), format="%d.%m.%Y", missing=("unknown", "-"))
    assert schema["Geburtsdatum"].kind == born
    assert "guessed" not in (tmp_path / "leute.toml").read_text()


def test_free_text_is_proposed_to_be_dropped(tmp_path: Path) -> None:
    """What is guessed as text with no role may name people, and anonymize would publish it: the help says so."""
    lines = [f"seen by {'ABCDEFGH'[i % 8]} on ward {i % 15}" for i in range(200)]
    (tmp_path / "notes.csv").write_text("\n".join(["remark", *lines]) + "\n")
    done = ask(tmp_path / "notes.csv", ["?", "text", "", "none", "", "yes"])
    assert "anonymize publishes it as it is, unless its role is identifier" in done.stderr
    assert "identifier, quasi, sensitive or other? [identifier]" in done.stderr
    assert 'role = "identifier"' in done.stdout


def test_a_question_explains_itself_and_proposes_nothing_from_the_rows(table: Path) -> None:
    """The text in brackets is the default; bounds and domains have none; "?" tells more."""
    asked = ask(table, ANSWERS).stderr
    assert "Gehalt: what does it hold: number, category, date or text? [number]" in asked
    assert asked.count("Not from the rows. [none]") == 3
    assert "For example ?, NA, -, 999" in asked
    assert "8.1" not in asked


def test_without_a_file_the_schema_is_on_the_screen(table: Path) -> None:
    """And nothing else is; --json has it in a document."""
    assert Schema.from_text(ask(table, ANSWERS).stdout).names == ("Nachname", "Gehalt", "Geschlecht", "Geburtsdatum")
    document = json.loads(ask(table, ANSWERS, "--json").stdout)
    assert Schema.from_text(document["toml"])["Gehalt"].kind == Number((0, 20_000), 0.01, decimal=",", thousands=".")


def test_back_asks_again_with_what_was_typed(table: Path) -> None:
    """Also across columns, and from the last question; the first has nothing before it."""
    lines = ["back", "", "", "", "", "0 5", "back", "0 6", "done", "back", "none", "yes"]
    done = ask(table, lines)
    assert "This is the first question." in done.stderr
    assert "Not from the rows. [0 5]" in done.stderr
    schema = Schema.from_text(done.stdout)
    assert schema["Gehalt"].kind == Number((0, 6), decimal=",", thousands=".")
    assert schema.unit is None


def test_another_kind_forgets_what_was_asked_of_the_first(table: Path) -> None:
    """A number that became a text has no bounds."""
    done = ask(table, ["skip", "", "", "0 5", "back", "back", "back", "text", "done", ""])
    assert Schema.from_text(done.stdout)["Gehalt"].kind == Text()


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["numbre"], 'type one of number, category, date, text. Did you mean "number"?'),
        (["", "nobody"], "type one of identifier, quasi, sensitive, other."),
        (["skip", "", "", "5"], "type two values with a blank between them"),
        (["skip", "", "", "5 0"], "low below high"),
        (["skip", "", "", "few many"], "type numbers with digits and a point"),
        (["skip", "", "", "0 5", "9"], "step 9 is wider than the bounds"),
        (["skip", "", "", "", "", "12.34"], "as the column writes it"),
        (["skip", "skip", "", "", '"w'], "quotation mark is not closed"),
        (["skip", "skip", "", "", "w, w"], 'lists "w" twice'),
        (["skip", "skip", "", "", "", "maybe"], "type one of yes, no."),
        (["skip", "skip", "skip", "", "", "1900 2000"], "type days as year-month-day"),
        (["skip", "skip", "skip", "", "", "", "tomorrow"], "type the last day of 2024"),
        (["skip", "skip", "skip", "skip", "", "nobody"], 'unit "nobody" is not a column'),
        (["skip", "skip", "skip", "skip", "", "Nachname", "none"], "type a whole number"),
        (["done", "perhaps"], "Type yes, no or back."),
    ],
)
def test_an_answer_that_cannot_be_read_is_asked_again(table: Path, lines: list[str], told: str) -> None:
    """With one sentence; the end of the lines leaves without a file."""
    done = ask(table, lines)
    assert told in done.stderr
    assert done.exit_code == 130
    assert done.stdout == ""


@pytest.mark.parametrize("lines", [[], ["", "", ""], ["done", "no"]])
def test_leaving_writes_nothing(table: Path, tmp_path: Path, lines: list[str]) -> None:
    """Ctrl-D at any question, or "no" at the last one."""
    done = ask(table, lines, "-o", tmp_path / "leute.toml")
    assert done.exit_code == 130
    assert "Nothing was written." in done.stderr
    assert not (tmp_path / "leute.toml").exists()


def test_a_schema_can_be_edited(table: Path, tmp_path: Path) -> None:
    """What it says are the defaults; columns that it lacks are asked for, those that the data lacks are kept."""
    old = tmp_path / "old.toml"
    old.write_text(
        'table = "staff"\n[columns.Gehalt]\nkind = "number"\nbounds = [0, 9]\ndefault = 4\n'
        '[columns.Team]\nkind = "category"\nhierarchy = "team.csv"\n'
    )
    (tmp_path / "new").mkdir()
    new = tmp_path / "new" / "leute.toml"
    done = ask(table, ["", "", "0 10", "done", ""], "--schema", old, "-o", new)
    assert done.exit_code == 0, done.output
    assert "Not in the data, and kept as it is: Team." in done.stderr
    schema = Schema.from_text(new.read_text())
    assert schema.names == ("Gehalt", "Team", "Nachname", "Geschlecht", "Geburtsdatum")
    assert schema["Gehalt"].kind == Number((0, 10), default=4)
    assert schema["Team"].kind == Category(hierarchy="../team.csv")
    assert schema.table == "staff"


@pytest.mark.parametrize(
    ("more", "told"),
    [(["--check"], "--ask stands alone"), (["--hierarchies", "h"], "--ask stands alone")],
)
def test_flags_that_do_not_go_together_are_refused(table: Path, more: list[str], told: str) -> None:
    """Before anything is asked."""
    done = ask(table, [], *more)
    assert done.exit_code == 2
    assert told in done.output


def test_data_from_standard_input_is_refused(tmp_path: Path) -> None:
    """The answers come from there."""
    done = CliRunner().invoke(app, ["schema", "-", "--ask"], input="\n")
    assert done.exit_code == 2
    assert "answers from standard input" in done.output


def test_a_table_has_no_name_unless_one_is_typed(table: Path, tmp_path: Path) -> None:
    """A name is an account in the ledger, which nobody opened: what is anonymized next would be refused."""
    out = tmp_path / "ask.toml"
    assert ask(table, ["done", "yes"], "-o", out).exit_code == 0
    assert Schema.from_toml(out).table is None
    words = ["anonymize", str(table), "--k", "2", "--quasi", "Geschlecht", "--keep-unique", "Gehalt,Geburtsdatum"]
    words += ["--schema", str(out)]
    done = CliRunner().invoke(app, [*words, "--out", str(tmp_path / "safe.csv")])
    assert done.exit_code == 0, done.output
    refused = CliRunner().invoke(
        app, [*words, "--table", "people", "--ledger", str(tmp_path / "l"), "--out", str(tmp_path / "b.csv")]
    )
    assert refused.exit_code == 4
    assert (
        "takes nothing of that total, which private releases spend); or drop table from the schema, and --table"
        in refused.stderr
    )


def test_days_may_be_typed_as_the_column_writes_them(table: Path) -> None:
    """With points the day comes first."""
    done = ask(table, ["skip", "skip", "skip", "", "", "1.2.1900 31.12.2024", "done", ""])
    born = Schema.from_text(done.stdout)["Geburtsdatum"].kind
    assert isinstance(born, Date)
    assert born.bounds == (date(1900, 2, 1), date(2024, 12, 31))


def test_questions_are_broken_between_words() -> None:
    """Where a terminal is narrow; what is typed stands behind the blank at the end."""
    line = "born: first and last day that make sense, such as 1900-01-01 2030-12-31? Not from the rows. [none] "
    lines = broken(line, 40).split("\n")
    assert max(map(len, lines)) <= 40
    assert " ".join(lines) == line
