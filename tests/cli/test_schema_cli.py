"""``cloister schema``: drafts, checks, exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.schema import Schema
from cloister.schema.hierarchies import find_hierarchies


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table."""
    path = tmp_path / "people.csv"
    path.write_text("age;sex\n" + "34;f\n51;m\n200;f\n;m\n" * 10)
    return path


def run(*words: object) -> tuple[int, str]:
    """Run the command: exit code and everything it printed."""
    result = CliRunner().invoke(app, ["schema", *map(str, words)])
    return result.exit_code, result.output


def test_a_draft_is_written(people: Path, tmp_path: Path) -> None:
    """-o writes a draft that reads as a schema."""
    code, _ = run(people, "-o", tmp_path / "people.toml")
    assert code == 0
    assert Schema.from_toml(tmp_path / "people.toml").names == ("age", "sex")


def test_a_draft_is_printed(people: Path) -> None:
    """Without -o the draft is on the screen, as TOML."""
    code, output = run(people)
    assert code == 0
    assert Schema.from_text(output).names == ("age", "sex")


def test_a_draft_for_machines(people: Path) -> None:
    """--json prints one document with the columns and the TOML."""
    code, output = run(people, "--json")
    document = json.loads(output)
    assert code == 0
    assert [column["kind"] for column in document["columns"]] == ["number", "category"]
    assert Schema.from_text(document["toml"]).names == ("age", "sex")


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    """A filled-in schema."""
    path = tmp_path / "people.toml"
    path.write_text(
        '[columns.age]\nkind = "number"\nbounds = [0, 120]\n[columns.sex]\nkind = "category"\ndomain = ["f", "m"]\n'
    )
    return path


def test_a_check_tells_counts_to_the_holder(people: Path, facts: Path) -> None:
    """--check counts what does not fit, stamps it, shows no value, and exits with 1."""
    code, output = run(people, "--schema", facts, "--check")
    assert code == 5
    assert "10 of 40 cells are empty" in output
    assert "10 of 40 cells are outside" in output
    assert "holder's eyes only" in output
    assert "200" not in output


def test_a_check_for_machines(people: Path, facts: Path) -> None:
    """--check --json prints the problems as data."""
    code, output = run(people, "--schema", facts, "--check", "--json")
    document = json.loads(output)
    assert code == 5
    assert [(p["column"], p["trouble"], p["count"]) for p in document["problems"]] == [
        ("age", "empty", 10),
        ("age", "outside", 10),
    ]
    assert "not a private release" in document["stamp"]


def test_data_that_fits_exits_with_0(tmp_path: Path, facts: Path) -> None:
    """Clean data passes the check."""
    path = tmp_path / "clean.csv"
    path.write_text("age,sex\n34,f\n")
    assert run(path, "--schema", facts, "--check")[0] == 0


def test_mere_blanks_are_told_and_are_no_fault(tmp_path: Path, facts: Path) -> None:
    """A schema foresees that values are missing: blanks, and what it lists as missing, exit with 0; unreadable cells do not."""
    facts.write_text(facts.read_text().replace("bounds", 'missing = ["?"]\nbounds'))
    path = tmp_path / "blanks.csv"
    path.write_text("age,sex\n34,f\n?,m\n,f\n")
    code, output = run(path, "--schema", facts, "--check")
    assert code == 0
    assert "2 of 3 cells are empty or marked as missing" in output
    assert "2 of 3 values would be made up" in output
    assert "fits the schema" in output
    code, output = run(path, "--schema", facts, "--check", "--json")
    assert code == 0
    assert json.loads(output)["fits"]
    assert [problem["fault"] for problem in json.loads(output)["problems"]] == [False]
    path.write_text("age,sex\nold,f\n?,m\n")
    code, output = run(path, "--schema", facts, "--check")
    assert code == 5
    assert "fits the schema" not in output


def test_a_unit_without_max_rows_is_a_fault_of_the_schema(tmp_path: Path) -> None:
    """Every release would refuse it, and the check passed."""
    facts, path = tmp_path / "t.toml", tmp_path / "t.csv"
    facts.write_text('unit = "who"\n[columns.who]\nkind = "text"\n')
    path.write_text("who,age\na,3\n")
    code, output = run(path, "--schema", facts, "--check")
    assert code == 5
    assert "Fill in: max_rows = 5" in output
    facts.write_text("max_rows = 5\n" + facts.read_text())
    assert run(path, "--schema", facts, "--check")[0] == 0


@pytest.mark.parametrize(
    "words",
    [
        ["nowhere.csv"],
        ["{people}", "-o", "{people}"],
        ["{people}", "-o", "no/such/folder/x.toml"],
        ["{people}", "--check"],
        ["{people}", "--schema", "nowhere.toml", "--check"],
        ["{people}", "--schema", "people.toml"],
        ["{people}", "--schema", "people.toml", "--check", "-o", "x.toml"],
    ],
)
def test_faults_of_usage_exit_with_2(people: Path, words: list[str]) -> None:
    """Missing files, outputs that exist and flags that do not go together exit with 2 and a line or two."""
    code, output = run(*(word.format(people=people) for word in words))
    assert code == 2
    assert 1 <= len(output.strip().splitlines()) <= 2
    assert "Traceback" not in output


@pytest.mark.parametrize("name", ["{outside}/victim age", "../../victim age", "age/years", "..", "a%2Fb", "back\\slash age"])
def test_a_hierarchy_stays_in_its_folder(tmp_path: Path, name: str) -> None:
    """Whatever a column is called, its draft is a file of the folder, nothing else is written, and the column finds it."""
    outside = tmp_path / "outside"
    outside.mkdir()
    victims = [place / f"victim age{end}" for place in (outside, tmp_path) for end in (".toml", ".csv")]
    for victim in victims:
        victim.write_text("untouched")
    column = name.format(outside=outside)
    facts, data, folder = tmp_path / "facts.toml", tmp_path / "data.csv", tmp_path / "one" / "trees"
    folder.parent.mkdir()
    facts.write_text(f"[columns.{json.dumps(column)}]\nkind = 'number'\nrole = 'quasi'\nbounds = [0, 120]\n")
    data.write_text(json.dumps(column).replace("\\\\", "\\") + "\n" + "34\n51\n" * 10)
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    code, output = run(data, "--schema", facts, "--hierarchies", folder)
    assert code == 0, output
    assert all(victim.read_text() == "untouched" for victim in victims)
    assert {path.parent for path in tmp_path.rglob("*") if path.is_file() and path not in before} == {folder}
    assert list(find_hierarchies(folder, ["years", column, "b", "x"])) == [column]


def test_lines_with_too_few_or_too_many_fields_are_counted(tmp_path: Path, facts: Path) -> None:
    """A release cuts a long line and fills up a short one without a word; the holder is told, and it is a fault."""
    path = tmp_path / "ragged.csv"
    path.write_text('age,sex\n34,f\n"3,4",f\n51,m,x\n34\n' + "34,f\n" * 20_000 + "1,f,\n")
    code, output = run(path, "--schema", facts, "--check")
    assert code == 5
    assert "3 of 20,005 rows have more or fewer cells than the table has columns" in output
    code, output = run(path, "--schema", facts, "--check", "--json")
    assert json.loads(output)["ragged_rows"] == 3
    path.write_text("age,sex\n34,f\n\n51,m\n")
    code, output = run(path, "--schema", facts, "--check")
    assert code == 0
    assert "more or fewer" not in output


def test_hierarchies_from_rows_read_cells_as_the_draft_does(tmp_path: Path) -> None:
    """Days written as 05.05.1960 are a calendar, and no codes to mask."""
    days = [f"{1 + i % 28:02}.{1 + i % 12:02}.{1930 + i % 70}" for i in range(200)]
    data = tmp_path / "d.csv"
    data.write_text("\n".join(["geburtsdatum", *days]))
    code, _ = run(data, "--hierarchies", tmp_path / "trees")
    assert code == 0
    assert "[intervals]\nlow = 1930-01-01\nhigh = 1999-12-31\n" in (tmp_path / "trees" / "geburtsdatum.toml").read_text()


def test_what_private_verbs_alone_need_is_told_and_is_no_fault(tmp_path: Path) -> None:
    """A draft that is right for anonymize passes the check; a cell that cannot be read does not."""
    data, facts = tmp_path / "p.csv", tmp_path / "p.toml"
    data.write_text("age,sex\n" + "31,f\n40,m\n" * 5)
    facts.write_text('[columns.age]\nkind = "number"\n[columns.sex]\nkind = "category"\n')
    words = ["schema", str(data), "--schema", str(facts), "--check"]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert done.output.count("Private verbs need it, anonymize and risk do not. Fill in:") == 2
    assert "The data fits the schema: what it leaves blank, private verbs alone need." in done.output
    assert json.loads(CliRunner().invoke(app, [*words, "--json"]).stdout)["fits"] is True
    data.write_text(data.read_text() + "old,f\n")
    assert CliRunner().invoke(app, words).exit_code == 5
