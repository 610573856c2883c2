"""``cloister microdata``: private rows and averaged rows on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.fixture
def base(folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The table with its schema, in the folder that is the working directory."""
    monkeypatch.chdir(folder)
    return ["microdata", "students.csv", "--schema", "students.toml"]


@pytest.mark.parametrize("method", ["clusters", "marginals"])
def test_private_rows_are_written_with_their_certificate(base: list[str], method: str) -> None:
    """As many as the table has, about, with its columns; verify says that they are what was released."""
    shown = run(*base, "--method", method, "--epsilon", 5, "--out", "rows.csv")
    assert "private rows, all made up" in shown
    assert "Guarantee: epsilon 5" in shown
    made = pa_csv.read_csv("rows.csv")
    assert abs(made.num_rows - 1000) < 400
    assert "student_id" not in made.schema.names
    assert "steps add up" in run("verify", "rows.csv")


def test_json_is_for_programs(base: list[str]) -> None:
    """The certificate, where it lies, and no row."""
    printed = json.loads(run(*base, "--epsilon", 1, "--out", "rows.parquet", "--json"))
    assert printed["out"] == "rows.parquet"
    assert printed["certificate"] == "rows.parquet.release.json"
    assert printed["kind"] == "rows"
    assert list(printed["files"]) == ["rows.parquet"]
    assert "made_up" not in printed
    assert pq.read_table("rows.parquet").num_rows == printed["result"]["rows"]


def test_a_dry_run_reads_nothing_and_charges_nothing(base: list[str]) -> None:
    """The plan says what each step spends, for people and for programs."""
    assert "nothing was charged" in run(*base, "--epsilon", 1, "--dry-run", "--rows", 5000)
    plan = json.loads(run(*base, "--epsilon", 1, "--dry-run", "--json"))
    assert plan["steps"][0]["step"] == "size"


def test_averaged_rows_are_written_with_their_certificate(base: list[str]) -> None:
    """Every tuple of the averaged columns stands there at least k times."""
    shown = run(*base, "--method", "microaggregation", "--k", 5, "--columns", "age,level", "--out", "safe.csv")
    assert "syntactic: k = 5, not differentially private" in shown
    counts = pa_csv.read_csv("safe.csv").group_by(["age", "level"]).aggregate([([], "count_all")])
    assert min(counts["count_all"].to_pylist()) >= 5
    assert "The files are those of this release" in run("verify", "safe.csv")
    assert "No row was read" in run(*base, "--method", "microaggregation", "--k", 5, "--columns", "age", "--dry-run")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--out", "r.csv"], "how much may be revealed?"),
        (["--epsilon", "1"], "where should the rows go?"),
        (["--epsilon", "1", "--out", "r.xls"], "written as .csv, .parquet or .xlsx"),
        (["--epsilon", "1", "--out", "r.csv", "--k", "5"], "has no groups of k. Leave --k out"),
        (["--epsilon", "1", "--out", "r.csv", "--rule", "mdav"], "--rule is for --method microaggregation"),
        (["--epsilon", "1", "--out", "r.csv", "--method", "insensitive"], "--neighbours replace-one"),
        (["--epsilon", "1", "--out", "r.csv", "--columns", "agee"], "no column"),
        (["--epsilon", "1", "--out", "r.csv", "--columns", "student_id"], "says who a row is about"),
        (["--epsilon", "1", "--out", "r.csv", "--bins", "age=5"], '--bins is for method "marginals"'),
        (["--epsilon", "1", "--out", "r.csv", "--clusters", "0"], "n_clusters"),
        (["--method", "microaggregation", "--out", "r.csv"], "how many rows are averaged?"),
        (["--method", "microaggregation", "--k", "5", "--epsilon", "1", "--out", "r.csv"], "is not private"),
        (["--method", "microaggregation", "--k", "1", "--out", "r.csv"], "at least 2"),
    ],
)
def test_slips_are_told_in_a_sentence_and_charge_nothing(base: list[str], words: list[str], message: str) -> None:
    """Exit code 2 for usage, 1 for a schema that does not fit; nothing is written and the ledger is as it was."""
    Ledger("ledger.sqlite").create("students", "add-remove", 5)
    done = CliRunner().invoke(app, [*base, "--table", "students", "--ledger", "ledger.sqlite", *words])
    assert done.exit_code in (1, 2), done.output
    assert message in " ".join(done.output.split())
    assert not Path("r.csv").exists()
    assert Ledger("ledger.sqlite").account("students").epsilon_spent == 0


def test_a_table_without_bounds_or_with_ten_thousand_values_is_refused(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One sentence each, before anything is charged."""
    monkeypatch.chdir(folder)
    Ledger("ledger.sqlite").create("t", "add-remove", 5)
    Ledger("ledger.sqlite").create("u", "replace-one", 5)
    Path("t.csv").write_text("a,b,c\n" + "\n".join(f"{i},v{i},x" for i in range(50)))
    many = ", ".join(f'"v{i}"' for i in range(10_000))
    where = ["--ledger", "ledger.sqlite", "--epsilon", "1"]
    schemas = {
        "no bounds": ('[columns.a]\nkind = "number"\n', "has no bounds"),
        "many": (f'[columns.b]\nkind = "category"\ndomain = [{many}]\n', "has 10,000 categories"),
        "one value": ('[columns.c]\nkind = "category"\ndomain = ["x"]\n', "nothing to release"),
    }
    for name, (schema, message) in schemas.items():
        Path(f"{name}.toml").write_text(schema)
        for method in ("clusters", "marginals", "insensitive"):
            relation = ["--table", "u", "--neighbours", "replace-one"] if method == "insensitive" else ["--table", "t"]
            flags = ["--method", method, *relation]
            done = CliRunner().invoke(
                app, ["microdata", "t.csv", "--schema", f"{name}.toml", *flags, *where, "--out", f"{name}.csv"]
            )
            assert done.exit_code in (1, 2), done.output
            assert message in " ".join(done.output.split())
    assert [account.epsilon_spent for account in Ledger("ledger.sqlite").accounts()] == [0, 0]


def test_a_table_of_blanks_gives_rows_of_defaults(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blanks count as the public default, as everywhere: nothing tells that all were."""
    monkeypatch.chdir(folder)
    Path("t.csv").write_text("a,b\n" + "\n".join([","] * 200))
    age = '[columns.a]\nkind = "number"\nbounds = [0, 10]\nstep = 1\n'
    Path("t.toml").write_text(f'{age}[columns.b]\nkind = "category"\ndomain = ["x", "y"]\nother = true\n')
    for method in ("clusters", "marginals"):
        run("microdata", "t.csv", "--schema", "t.toml", "--epsilon", 20, "--method", method, "--out", f"{method}.csv")
        made = pa_csv.read_csv(f"{method}.csv").to_pylist()
        assert sum(row == {"a": 5, "b": "(other)"} for row in made) > 0.8 * len(made)
