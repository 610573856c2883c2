"""``cloister anonymize`` and ``cloister schema --hierarchies`` as users meet them."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from cloister.cli import app
from cloister.datasets import write_pupils
from cloister.privacy.ledger import Ledger


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The made-up pupils, with schema and hierarchies."""
    place = tmp_path_factory.mktemp("pupils") / "pupils"
    write_pupils(place, rows=5_000)
    return place


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words])


def flags(folder: Path, *more: object) -> list[object]:
    return [folder / "pupils.csv", "--schema", folder / "pupils.toml", "--hierarchies", folder / "trees", *more]


def test_a_table_and_its_certificate_are_written(folder: Path, tmp_path: Path) -> None:
    """The summary tells classes, suppressed rows, what columns became and why it stopped; the certificate verifies."""
    out = tmp_path / "out.csv"
    result = run("anonymize", *flags(folder, "--k", 10, "--suppress", 0.02, "--out", out))
    assert result.exit_code == 0, result.output
    for word in ("classes", "smallest", "average", "Suppressed rows", "state", "Why it stopped", "syntactic: k = 10"):
        assert word in result.output
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert "pupil_id" not in rows[0]
    sizes = Counter(tuple(row[name] for name in ("sex", "system", "level", "state", "region")) for row in rows)
    assert min(sizes.values()) >= 10
    verified = run("verify", f"{out}.release.json")
    assert verified.exit_code == 0
    assert "syntactic: k = 10, not differentially private" in verified.output


def test_quiet_keeps_the_warning_of_columns_that_nothing_was_done_to(folder: Path, tmp_path: Path) -> None:
    """It is all that is printed, and goes to the error stream."""
    result = run("anonymize", *flags(folder, "--k", 10, "--out", tmp_path / "out.csv", "--quiet"))
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.startswith("Warning: Published as they are: ")
    assert result.stderr.count("\n") == 1


def test_json_is_for_programs(folder: Path, tmp_path: Path) -> None:
    """With --json there is one document, with the certificate and where it is."""
    out = tmp_path / "out.parquet"
    result = run("anonymize", *flags(folder, "--k", 5, "--scope", "local", "--out", out, "--json"))
    told = json.loads(result.output)
    assert told["guarantee"]["k"] == 5
    assert told["result"]["smallest"] >= 5
    assert told["certificate"] == f"{out}.release.json"
    assert told["steps"] == []


def test_the_holder_is_told_more_than_the_release(folder: Path, tmp_path: Path) -> None:
    """Loss by column, risk before and after and ten rows are on the screen, marked; in JSON they are apart."""
    shown = run("anonymize", *flags(folder, "--k", 100, "--scope", "global", "--out", tmp_path / "a.csv")).output
    for words in ("for the holder only", "Lost by column: sex", "before", "rows alike", "--scope local"):
        assert words in shown
    told = json.loads(run("anonymize", *flags(folder, "--k", 10, "--out", tmp_path / "b.csv", "--json")).output)
    assert len(told["for_the_holder"]["preview"]["rows"]) == 10
    assert "for_the_holder" not in json.loads((tmp_path / "b.csv.release.json").read_text())


def test_a_dry_run_writes_nothing(folder: Path, tmp_path: Path) -> None:
    """It shows what would be published and lost, as words and as JSON; --out may be left out."""
    words = flags(folder, "--k", 10, "--most-level", "state=0", "--dry-run")
    shown = run("anonymize", *words)
    assert shown.exit_code == 0, shown.output
    for line in ("Would be published, by local recoding", "Dropped: pupil_id", "Nothing was written"):
        assert line in shown.output
    told = json.loads(run("anonymize", *words, "--out", tmp_path / "out.csv", "--json").output)
    assert told["would_publish"]["loss"] == told["for_the_holder"]["loss"]
    assert not list(tmp_path.iterdir())


def test_a_recoding_that_is_saved_is_global_unless_somebody_names_the_scope(folder: Path, tmp_path: Path) -> None:
    """A sentence says so; a local one that was asked for is saved too."""
    for scope, expected in (([], "global"), (["--scope", "local"], "local")):
        out, saved = tmp_path / f"{expected}.csv", tmp_path / f"{expected}.json"
        result = run("anonymize", *flags(folder, "--k", 10, "--out", out, "--save-recoding", saved, *scope))
        assert ("The scope is global" in result.output) == (scope == [])
        assert json.loads(Path(f"{out}.release.json").read_text())["parameters"]["scope"] == expected


def test_a_changed_table_does_not_verify(folder: Path, tmp_path: Path) -> None:
    """The certificate holds the hash of the table."""
    out = tmp_path / "out.csv"
    run("anonymize", *flags(folder, "--k", 10, "--out", out))
    out.write_text(out.read_text() + "one,more,row\n")
    result = run("verify", f"{out}.release.json")
    assert result.exit_code == 5
    assert "changed" in result.output


def test_a_recoding_and_its_table_are_two_files(folder: Path, tmp_path: Path) -> None:
    """One name for both, or for the recoding and the certificate, is refused however it is spelled, before a file is written."""
    out = tmp_path / "a.csv"
    for name in (out, tmp_path / "a.csv.release.json", tmp_path / ".." / tmp_path.name / "a.csv"):
        result = run("anonymize", *flags(folder, "--k", 10, "--out", out, "--save-recoding", name))
        assert result.exit_code == 2
        assert "same file" in result.output
    assert not list(tmp_path.iterdir())


def test_a_recoding_is_saved_and_applied(folder: Path, tmp_path: Path) -> None:
    """A saved recoding is JSON; applied to rows it warns of what it no longer guarantees."""
    saved = tmp_path / "recoding.json"
    first = run("anonymize", *flags(folder, "--k", 10, "--out", tmp_path / "a.csv", "--save-recoding", saved))
    assert first.exit_code == 0, first.output
    assert json.loads(saved.read_text())["kind"] == "recoding"
    second = run("anonymize", folder / "pupils.csv", "--apply", saved, "--out", tmp_path / "b.csv")
    assert second.exit_code == 0, second.output
    assert "guarantees nothing" in second.output
    assert "no k is claimed" in second.output
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_an_applied_recoding_is_in_the_ledger_of_its_table(folder: Path, tmp_path: Path) -> None:
    """The recoding knows which table it was: --ledger is enough, and both uses are there."""
    saved, ledger = tmp_path / "recoding.json", tmp_path / "ledger.sqlite"
    name = ["--table", "pupils", "--ledger", ledger]
    made = run("ledger", "create", "pupils", "--epsilon", 3, "--ledger", ledger)
    assert made.exit_code == 0, made.output
    first = run("anonymize", *flags(folder, "--k", 10, "--out", tmp_path / "a.csv", "--save-recoding", saved, *name))
    assert first.exit_code == 0, first.output
    second = run("anonymize", folder / "pupils.csv", "--apply", saved, "--out", tmp_path / "b.csv", "--ledger", ledger)
    assert second.exit_code == 0, second.output
    assert [entry.status for entry in Ledger(ledger).entries("pupils")] == ["released"] * 2
    assert json.loads((tmp_path / "b.csv.release.json").read_text())["ledger"]["table"] == "pupils"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--out", "{out}"], "--k"),
        (["--k", 10], "--out"),
        (["--k", 10, "--out", "{out}", "--quasi", "sexx"], 'Did you mean "sex"'),
        (["--k", 10, "--out", "{out}", "--quasi", "system,sexx"], 'Did you mean "sex"'),
        (["--k", 99_999, "--out", "{out}"], "k = 99999"),
        (["--k", 1, "--out", "{out}"], "k must be a whole number of at least 2"),
        (["--k", 10, "--out", "{out}.docx"], ".parquet"),
        (["--k", 10, "--out", "{folder}/pupils.csv"], "exists"),
        (["--k", 10, "--out", "{out}", "--suppress", 2], "below 1"),
        (["--k", 10, "--out", "{out}", "--pseudonyms", "pupil_id"], "key"),
        (["--k", 10, "--out", "{out}", "--l-diversity", 9], "l = 9"),
        (["--k", 10, "--out", "{out}", "--apply", "{out}"], "--apply"),
        (["--out", "{out}", "--apply", "{out}", "--l-diversity", 2], "--apply"),
        (["--k", 10, "--out", "{out}", "--engine", "local", "--master", "local[2]"], "Spark"),
        (["--k", 10, "--out", "{out}", "--spark-conf", "memory"], "NAME=VALUE"),
        (["--k", 10, "--out", "{out}", "--gain", "greed"], "greed"),
        (["--k", 10, "--out", "{out}", "--weight", "sex"], "--weight age=5"),
        (["--k", 10, "--out", "{out}", "--weight", "sex=a lot"], "a column and a number"),
        (["--k", 10, "--out", "{out}", "--weight", "sex=1", "--weight", "sex=2"], "twice"),
        (["--k", 10, "--out", "{out}", "--weight", "sexx=1"], 'Did you mean "sex"'),
        (["--k", 10, "--out", "{out}", "--widest", "state=5"], "--most-level state=LEVEL"),
        (["--k", 10, "--out", "{out}", *["--most-level", "level=0", "--most-level", "state=0"]], "Relax the limit"),
        (["--k", 10, "--out", "{out}", "--most-level", "level=0.5"], "whole number"),
        (["--dry-run"], "--k"),
        (["--k", 10, "--dry-run", "--save-recoding", "{out}"], "--save-recoding"),
        (["--curve", "{out}.png", "--dry-run"], "--dry-run"),
        (["--k", 10, "--out", "{out}", "--scope", "local", "--suppress", 0.1], "--scope global"),
    ],
)
def test_bad_input_is_told_in_a_line_or_two(folder: Path, tmp_path: Path, words: list[object], said: str) -> None:
    """Exit code 2, one or two lines that say what to do, and nothing written."""
    filled = [str(word).format(out=tmp_path / "out.csv", folder=folder) for word in words]
    result = run("anonymize", *flags(folder, *filled))
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not list(tmp_path.iterdir())


def test_missing_data_and_broken_hierarchies(folder: Path, tmp_path: Path) -> None:
    """A missing table and a hierarchy with a fault name the file (and the line), with exit code 2."""
    missing = run("anonymize", tmp_path / "none.csv", "--k", 5, "--quasi", "sex", "--out", tmp_path / "out.csv")
    assert (missing.exit_code, "none.csv" in missing.output) == (2, True)
    trees = tmp_path / "trees"
    trees.mkdir()
    (trees / "state.csv").write_text("Harbour;capital;*\nHarbour;coast;*\n")
    words = [folder / "pupils.csv", "--k", 5, "--quasi", "state", "--hierarchies", trees, "--out", tmp_path / "out.csv"]
    broken = run("anonymize", *words, "--identifiers", "pupil_id")
    assert broken.exit_code == 2
    assert "state.csv, line 2" in broken.output


def test_hierarchies_are_drafted(folder: Path, tmp_path: Path) -> None:
    """From a schema's facts, or from the rows for the holder; what is drafted can be used at once."""
    from_facts = run(
        "schema", folder / "pupils.csv", "--schema", folder / "pupils.toml", "--hierarchies", tmp_path / "facts"
    )
    assert from_facts.exit_code == 0, from_facts.output
    assert "from the rows" not in from_facts.output
    assert sorted(path.name for path in (tmp_path / "facts").iterdir()) == [
        "level.csv", "region.csv", "sex.csv", "state.csv", "system.csv",
    ]  # fmt: skip
    from_rows = run("schema", folder / "pupils.csv", "--hierarchies", tmp_path / "rows")
    assert "from the rows: for the holder" in from_rows.output
    words = [folder / "pupils.csv", "--k", 5, "--quasi", "sex,state", "--hierarchies", tmp_path / "rows"]
    unsaid = run("anonymize", *words, "--out", tmp_path / "out.csv")
    assert (unsaid.exit_code, "--identifiers pupil_id" in unsaid.output) == (2, True)
    used = run("anonymize", *words, "--identifiers", "pupil_id", "--out", tmp_path / "out.csv")
    assert used.exit_code == 0, used.output


def test_help_has_an_example() -> None:
    """The help shows one worked example."""
    assert "Example: cloister anonymize" in " ".join(run("anonymize", "--help").output.split())


def test_a_recoding_is_for_its_owner_and_holds_over_a_schema(folder: Path, tmp_path: Path) -> None:
    """It holds the cuts of the table: nobody else may read the file. With --schema beside it, the message says which holds."""
    saved = tmp_path / "recoding.json"
    assert run("anonymize", *flags(folder, "--k", 10, "--out", tmp_path / "a.csv", "--save-recoding", saved)).exit_code == 0
    assert saved.stat().st_mode & 0o777 == 0o600
    schema = ("--schema", folder / "pupils.toml")
    result = run("anonymize", folder / "pupils.csv", "--apply", saved, *schema, "--out", tmp_path / "b.csv")
    assert result.exit_code == 2
    assert "the recoding holds" in " ".join(result.output.split())


def test_a_table_with_semicolons_keeps_its_texts_and_hints_are_quoted(tmp_path: Path) -> None:
    """cp1252 with semicolons comes out so, and numbers with a decimal comma stay the texts they were."""
    data, out = tmp_path / "in.csv", tmp_path / "out.csv"
    lines = [f"{'mw'[i % 2]};1.{242 + i},33" for i in range(30)]
    data.write_text("\n".join(["Geschlecht;Kosten €", *lines]), encoding="cp1252")
    refused = run("anonymize", data, "--quasi", "Geschlecht", "--k", 5, "--out", out)
    assert refused.exit_code == 2
    assert "--identifiers 'Kosten €'" in " ".join(refused.output.split())
    result = run("anonymize", data, "--quasi", "Geschlecht", "--k", 5, "--keep-unique", "Kosten €", "--out", out)
    assert result.exit_code == 0, result.output
    with out.open(newline="", encoding="cp1252") as file:
        rows = list(csv.reader(file, delimiter=";"))
    assert rows == [["Geschlecht", "Kosten €"], *(line.split(";") for line in lines)]


def test_postcodes_of_a_workbook_are_text_in_every_cell(tmp_path: Path) -> None:
    """The schema says that they are categories: 01067 and 80331 stay alike; numbers are numbers."""
    import python_calamine

    (tmp_path / "in.csv").write_text("plz,pay\n" + "01067,10\n80331,20\n" * 20)
    (tmp_path / "s.toml").write_text('[columns.plz]\nkind = "category"\nrole = "quasi"\n[columns.pay]\nkind = "number"\n')
    out = tmp_path / "out.xlsx"
    done = run("anonymize", tmp_path / "in.csv", "--schema", tmp_path / "s.toml", "--k", 5, "--out", out)
    assert done.exit_code == 0, done.output
    rows = python_calamine.CalamineWorkbook.from_path(str(out)).get_sheet_by_index(0).to_python()[1:]
    assert {type(row[0]) for row in rows} == {str}
    assert {type(row[1]) for row in rows} == {float}


def test_wishes_are_named_by_their_flags(folder: Path, tmp_path: Path) -> None:
    """--weight is what was typed, not the parameter in Python."""
    done = run("anonymize", *flags(folder, "--k", 5, "--weight", "nothing=2", "--out", tmp_path / "o.csv"))
    assert "--weight names a column that is no quasi-identifier" in " ".join(done.stderr.split())
