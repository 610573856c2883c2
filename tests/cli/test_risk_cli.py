"""``cloister risk`` and ``cloister anonymize --curve``: pages, JSON, exit codes, the ledger."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.privacy.release import Release, Syntactic
from cloister.schema.hierarchies import flat
from cloister.sinks import file_hashes

SECRET = "Havana-Vieja"


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """A small table with a secret town."""
    path = tmp_path / "people.csv"
    rows = [f"{20 + i % 20};{'fm'[i % 2]};{['Lima', SECRET][i % 7 == 0]};{'abc'[i % 3]}" for i in range(60)]
    path.write_text("age;sex;town;illness\n" + "\n".join(rows) + "\n")
    return path


def run(*words: object) -> tuple[int, str]:
    """Run the command: exit code and everything it printed."""
    result = CliRunner().invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_a_page_for_the_holder(people: Path) -> None:
    """It names k, the three who look and their risk, l and t, and carries the stamp; no value is shown."""
    code, output = run("risk", people, "--quasi", "age,sex", "--sensitive", "illness", "--search", 2)
    assert code == 0
    for word in ("k = 3", "prosecutor", "journalist", "marketer", "illness", "for the holder only", "above 20%"):
        assert word in output
    assert SECRET not in output


def test_json_for_programs(people: Path) -> None:
    """One document with numbers, formulas and the stamp."""
    code, output = run("risk", people, "--quasi", "age,sex", "--json", "--threshold", "0.4")
    document = json.loads(output)
    assert code == 0
    assert document["risk"]["k"] == 3
    assert document["risk"]["prosecutor_at_risk"] == 0
    assert document["formulas"]["risk"]["marketer"]
    assert document["stamp"].startswith("for the holder only")


def test_against_the_original(people: Path, tmp_path: Path) -> None:
    """An anonymized file, read with its intervals and stars, is compared with its original."""
    out = tmp_path / "out.csv"
    assert run("anonymize", people, "--quasi", "age,sex,town", "--k", 5, "--out", out)[0] == 0
    code, output = run(
        "risk", out, "--quasi", "age,sex,town", "--against", people, "--population", people, "--target", "illness", "--json"
    )
    document = json.loads(output)
    assert code == 0
    assert document["risk"]["k"] >= 5
    assert document["risk"]["outside"] == 0
    assert 0 < document["loss"]["lm"] < 1
    assert 0 < document["linkage"]["linked"] <= 1 / 5
    assert set(document["learning"]) >= {"accuracy", "original", "majority"}
    code, page = run("risk", out, "--quasi", "age,sex,town", "--against", people, "--target", "illness")
    assert "Record linkage" in page
    assert "classifier" in page


@pytest.mark.parametrize("has_trees", [True, False])
@pytest.mark.parametrize("scope", ["global", "local"])
def test_the_loss_of_risk_is_the_loss_of_anonymize(people: Path, tmp_path: Path, scope: str, has_trees: bool) -> None:
    """What the search reports is what risk measures on the file, with hierarchies and without."""
    trees = tmp_path / "trees"
    trees.mkdir()
    for name, values in {"sex": ["f", "m"], "town": ["Lima", SECRET], "age": [str(age) for age in range(20, 40)]}.items():
        (trees / f"{name}.csv").write_text(flat(values).to_csv())
    out = tmp_path / "out.parquet"
    words = ["--quasi", "age,sex,town", *(["--hierarchies", trees] if has_trees else [])]
    _, made = run("anonymize", people, *words, "--k", 5, "--scope", scope, "--out", out, "--json")
    _, seen = run("risk", out, *words, "--against", people, "--json")
    assert json.loads(seen)["loss"]["lm"] == pytest.approx(json.loads(made)["result"]["loss"])


def test_the_ledger_remembers(people: Path, tmp_path: Path) -> None:
    """A named table's ledger records that its holder saw exact numbers."""
    place = str(tmp_path / "ledger.sqlite")
    Ledger(place).create("people", "add-remove", 1)
    code, _ = run("risk", people, "--quasi", "age,sex", "--table", "people", "--ledger", place)
    assert code == 0
    assert [(entry.kind, entry.purpose) for entry in Ledger(place).entries("people")] == [
        ("holder", "risk of re-identification")
    ]


def test_roles_and_people_of_a_schema(people: Path, tmp_path: Path) -> None:
    """Quasi-identifiers and sensitive columns come from the schema; with a unit, people are counted."""
    facts = tmp_path / "people.toml"
    columns = {"age": "quasi", "sex": "quasi", "town": "other", "illness": "sensitive"}
    text = "".join(f'[columns.{name}]\nkind = "category"\nrole = "{role}"\n' for name, role in columns.items())
    facts.write_text(text)
    document = json.loads(run("risk", people, "--schema", facts, "--json")[1])
    assert document["quasi"] == ["age", "sex"]
    assert [each["column"] for each in document["sensitive"]] == ["illness"]
    facts.write_text('unit = "town"\nmax_rows = 60\n' + text)
    document = json.loads(run("risk", people, "--schema", facts, "--json")[1])
    assert document["counted"] == "people"
    assert document["risk"]["k"] == 1


@pytest.mark.parametrize(
    "words",
    [
        ["risk", "nowhere.csv", "--quasi", "age"],
        ["risk", "{people}", "--quasi", "age,nothing"],
        ["risk", "{people}", "--quasi", "age", "--sensitive", "age"],
        ["risk", "{people}", "--quasi", "age", "--threshold", "1.5"],
        ["risk", "{people}", "--quasi", "age", "--target", "sex"],
        ["risk", "{people}", "--quasi", "age", "--against", "nowhere.csv"],
        ["risk", "{people}", "--quasi", "age", "--population", "nowhere.csv"],
        ["risk", "{people}", "--quasi", "age", "--hierarchies", "nowhere"],
        ["risk", "{people}", "--quasi", "age", "--ledger", "x.sqlite"],
        ["risk", "{people}", "--as-rows"],
        ["risk", "{people}", "--against", "{people}", "--plot", "page.gif"],
        ["risk", "{people}", "--against", "{people}", "--plot", "{people}"],
        ["risk", "{people}", "--quasi", "age", "--against", "{people}", "--control", "{people}"],
        ["risk", "{people}", "--against", "{people}", "--as-rows", "--control", "nowhere.csv"],
        ["risk", "{people}", "--against", "{people}", "--as-rows", "--target", "nothing"],
        ["anonymize", "{people}", "--quasi", "age", "--curve", "curve.gif"],
        ["anonymize", "{people}", "--quasi", "age", "--curve", "{people}"],
        ["anonymize", "{people}", "--quasi", "age", "--curve", "curve.png", "--k", "3"],
    ],
)
def test_faults_of_usage_exit_with_2(people: Path, words: list[str]) -> None:
    """A line or two, no value, no traceback."""
    code, output = run(*(word.format(people=people) for word in words))
    assert code == 2
    assert 1 <= len(output.strip().splitlines()) <= 2
    assert "Traceback" not in output
    assert SECRET not in output


def test_labels_that_mean_nothing_are_told_without_their_text(people: Path, tmp_path: Path) -> None:
    """Another table's labels: the column is named, the label is not."""
    other = tmp_path / "other.csv"
    other.write_text(people.read_text().replace("Lima", "Label-of-no-one"))
    code, output = run("risk", other, "--quasi", "town", "--against", people)
    assert code == 2
    assert 'column "town"' in output
    assert "--as-rows" in output
    assert "Label-of-no-one" not in output


def test_rows_are_compared(people: Path, tmp_path: Path) -> None:
    """A page of text without a value, a page of pictures, and one document for programs."""
    made = tmp_path / "made.csv"
    made.write_text(people.read_text().replace("20;", "21.5;"))
    picture = tmp_path / "page.png"
    words = ["risk", made, "--against", people, "--as-rows", "--target", "sex", "--control", people]
    code, output = run(*words, "--plot", picture)
    assert code == 0
    for word in (
        "SSE / SST",
        "nearest-record linkage",
        "within chance",
        "classifier finds sex",
        "impossible rows",
        "Drawn: ",
    ):
        assert word in output
    assert output.index("columns off by") < output.index("classifier finds sex") < output.index("SSE / SST")
    assert "the same rows as the original" in output
    assert SECRET not in output
    assert picture.read_bytes()[:4] == b"\x89PNG"
    code, output = run(*words, "--json", "--all-rows")
    document = json.loads(output)
    assert code == 0
    assert document["stamp"].startswith("for the holder only")
    assert document["tried"] == document["rows"] == 60
    assert document["error"]["sse"] == pytest.approx(3 * (1.5 / 19) ** 2)  # three rows of 20 became 21.5, of a range of 19
    assert document["models"]["is_control"]
    assert SECRET not in output


def test_made_up_rows_without_their_original(people: Path) -> None:
    """The page of risk begins with what it cannot say, and names the flag."""
    made_up = Release("rows", Syntactic(2), (), {}, {}, files=file_hashes(people))
    Path(f"{people}.release.json").write_text(made_up.to_json())
    code, output = run("risk", people, "--quasi", "age,sex")
    assert code == 0
    first = output.splitlines()[0]
    assert first.startswith("Note: These rows are made up")
    assert "--against FILE" in first


@pytest.mark.parametrize("scope", ["global", "local"])
@pytest.mark.parametrize("suffix", ["png", "svg"])
def test_a_curve(people: Path, tmp_path: Path, scope: str, suffix: str) -> None:
    """A table on the screen and a picture on the disk; what cannot hold k is told; no table is written."""
    picture = tmp_path / f"curve.{suffix}"
    code, output = run("anonymize", people, "--quasi", "age,sex,town", "--scope", scope, "--curve", picture)
    assert code == 0
    assert "Not possible: k = 100" in output
    assert "for the holder only" in output
    assert picture.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([picture.name, "people.csv"])


def test_a_curve_for_programs(people: Path, tmp_path: Path) -> None:
    """Risk falls and loss rises with k."""
    code, output = run(
        "anonymize", people, "--quasi", "age,sex,town", "--scope", "local", "--curve", tmp_path / "c.svg", "--json"
    )
    points = json.loads(output)["points"]
    assert code == 0
    assert [point["k"] for point in points] == [2, 5, 10, 20, 50]
    assert all(point["risk"]["k"] >= point["k"] for point in points)
    risks = [point["risk"]["prosecutor_average"] for point in points]
    assert risks == sorted(risks, reverse=True)
