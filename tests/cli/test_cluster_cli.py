"""``cloister cluster``, as a user types it."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyarrow import csv
from typer.testing import CliRunner

from cloister.cli import app

runner = CliRunner()


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_a_clustering_writes_centres_and_a_certificate_that_verifies(people: Path, tmp_path: Path) -> None:
    """The folder holds centers.csv and release.json, and verify accepts them until they are changed."""
    schema, out = people.with_suffix(".toml"), tmp_path / "out"
    code, text = run("cluster", people, "--k", 2, "--epsilon", 5, "--schema", schema, "--out", out, "--labels")
    assert code == 0, text
    assert (out / "centers.csv").read_text().splitlines()[0] == "cluster,size,age,income"
    assert b"not a private release" in pq.read_metadata(out / "labels.parquet").metadata[b"cloister"]
    assert run("verify", out / "release.json")[0] == 0
    (out / "centers.csv").write_text("changed")
    assert run("verify", out)[0] == 5


def test_json_is_for_programs(people: Path, tmp_path: Path) -> None:
    """With --json the output is one document, with version, guarantee and steps."""
    words = ["cluster", people, "--k", 2, "--epsilon", 1, "--columns", "age", "--bounds", "0,100", "--json"]
    data = json.loads(run(*words, "--out", tmp_path / "out")[1])
    assert data["version"] == 2
    assert data["guarantee"]["epsilon"] == "1"
    assert data["ledger"] == "unledgered"


def test_a_dry_run_reads_no_row_and_writes_nothing(people: Path, tmp_path: Path) -> None:
    """The plan is printed; there is no output folder."""
    code, text = run("cluster", people, "--k", 2, "--epsilon", 1, "--schema", people.with_suffix(".toml"), "--dry-run")
    assert code == 0
    assert "Plan for epsilon 1" in text
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "people.toml"]


def test_a_rho_takes_its_worlds_from_the_schema(people: Path, tmp_path: Path) -> None:
    """The smallest grid among the columns that are used counts: age has 10,001 values."""
    words = ["cluster", people, "--k", 2, "--rho", 0.05, "--columns", "age", "--schema", people.with_suffix(".toml")]
    data = json.loads(run(*words, "--out", tmp_path / "out", "--json")[1])
    assert data["guarantee"]["neighbours"] == "replace-one"
    assert data["identifiability"]["10001"] == pytest.approx(0.05, abs=1e-9)
    assert data["parameters"]["identifiability"] == {"rho": "0.05", "worlds": 10_001, "values_of": "age"}
    plan = run(*words, "--dry-run")[1]
    assert 'rho 0.05 among the 10001 values of "age"' in plan


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--k", "2"], "--epsilon"),
        (["--k", "0", "--epsilon", "1"], "at least 1"),
        (["--k", "2", "--epsilon", "0"], "positive finite"),
        (["--k", "2", "--epsilon", "nan"], "positive finite"),
        (["--k", "2", "--epsilon", "abc"], "positive finite"),
        (["--k", "2", "--epsilon", "1", "--columns", "age", "--bounds", "1,0"], "below its high bound"),
        (["--k", "2", "--epsilon", "1"], "--columns"),
        (["--k", "5000", "--epsilon", "1", "--columns", "age"], "at most 4,096"),
        (["--k", "2", "--epsilon", "1", "--bounds", "x"], "two numbers"),
        (["--k", "2", "--epsilon", "1", "--columns", "absent", "--bounds", "0,1"], "no column"),
        (["--k", "2", "--epsilon", "1", "--method", "magic", "--bounds", "0,1"], "not known"),
        (["--k", "2", "--rho", "0.05", "--worlds", "10", "--bounds", "0,1"], "rho must lie above"),
        (["--k", "2", "--rho", "1", "--worlds", "10", "--bounds", "0,1"], "rho must lie above"),
        (["--k", "2", "--rho", "0.5", "--worlds", "1", "--bounds", "0,1"], "at least 2"),
        (["--k", "2", "--rho", "0.5", "--worlds", "9", "--delta", "1e-6"], "without delta"),
        (["--k", "2", "--rho", "0.5", "--columns", "age"], "--worlds"),
        (["--k", "2", "--rho", "0.5", "--columns", "age", "--bounds", "0,100"], "--worlds"),
        (["--k", "2", "--rho", "1.5", "--columns", "age", "--bounds", "0,100"], "below 1"),
        (["--k", "2", "--epsilon", "1", "--delta", "2", "--bounds", "0,1"], "delta"),
        (["--k", "2", "--epsilon", "1", "--schema", "nowhere.toml"], "nowhere.toml"),
        (["--k", "2", "--epsilon", "1", "--engine", "abacus"], "abacus"),
        (["--k", "two"], "--k"),
        (["--magic"], "--magic"),
    ],
)
def test_usage_faults_exit_with_two(people: Path, tmp_path: Path, words: list[str], message: str) -> None:
    """Each wrong flag gets one or two lines, exit code 2 and no output."""
    code, text = run("cluster", people, *words, "--out", tmp_path / "out")
    assert code == 2, text
    assert message in text
    assert "Traceback" not in text
    assert not (tmp_path / "out").exists()


def test_missing_and_foreign_files_are_told_apart(tmp_path: Path) -> None:
    """A file that is not there and one of an unknown format each say what to do."""
    strange = tmp_path / "people.xyz"
    strange.write_bytes(b"\x00\x01\x02\x03" * 100)
    for path in (tmp_path / "nothing.csv", strange):
        code, text = run("cluster", path, "--k", 2, "--epsilon", 1, "--bounds", "0,1", "--out", tmp_path / "out")
        assert code == 2, text
        assert path.name in text


def test_an_output_that_exists_is_refused_before_anything_is_charged(people: Path, tmp_path: Path) -> None:
    """The folder is looked at first."""
    (tmp_path / "out").mkdir()
    code, text = run("cluster", people, "--k", 2, "--epsilon", 1, "--bounds", "0,1", "--out", tmp_path / "out")
    assert code == 2
    assert "out" in text


def test_a_total_that_would_be_passed_exits_with_three(people: Path, tmp_path: Path) -> None:
    """The second release of the same size is refused, and says how much is left."""
    ledger = tmp_path / "ledger.sqlite"
    assert run("ledger", "create", "people", "--epsilon", 1.5, "--ledger", ledger)[0] == 0
    words = ["cluster", people, "--k", 2, "--epsilon", 1, "--columns", "age", "--bounds", "0,100", "--table", "people"]
    assert run(*words, "--ledger", ledger, "--out", tmp_path / "one")[0] == 0
    code, text = run(*words, "--ledger", ledger, "--out", tmp_path / "two")
    assert code == 3
    assert "0.5 of 1.5 is left" in text
    assert not (tmp_path / "two").exists()


def test_unknown_schema_keys_are_refused(people: Path, tmp_path: Path) -> None:
    """A typo in the schema is found before a row is read."""
    (tmp_path / "typo.toml").write_text('[columns.age]\nkind = "number"\nbuonds = [0, 100]\n')
    words = ["cluster", people, "--k", 2, "--epsilon", 1, "--schema", tmp_path / "typo.toml", "--out", tmp_path / "out"]
    code, text = run(*words)
    assert code == 2
    assert "buonds" in text


def test_rows_that_cannot_be_read_are_not_shown(people: Path, tmp_path: Path) -> None:
    """Text among numbers neither aborts nor appears."""
    people.write_text(people.read_text() + "x;SECRET;1\n;;\n")
    words = ["cluster", people, "--k", 2, "--epsilon", 1, "--schema", people.with_suffix(".toml"), "--out", tmp_path / "out"]
    code, text = run(*words)
    assert code == 0
    assert "SECRET" not in text


SLOW = """
import sys, time
import cloister.sources.in_memory as tables
from cloister.cli import main
import cloister.engines.local.engine as local
fold = local.LocalEngine.fold
def slow(self, kernel):
    print("reading", flush=True)
    time.sleep(60)
local.LocalEngine.fold = slow
main()
"""


def test_ctrl_c_leaves_nothing_half_written(people: Path, tmp_path: Path) -> None:
    """Interrupted in the middle, it says so in one line and leaves no folder."""
    words = ["cluster", people, "--k", "2", "--epsilon", "1", "--columns", "age", "--bounds", "0,100"]
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW, *map(str, words), "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "reading\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Stopped" in errors
    assert "Traceback" not in errors
    assert sorted(p.name for p in tmp_path.iterdir()) == ["people.csv", "people.toml"]


def test_without_a_standard_error_a_clustering_is_made(people: Path, tmp_path: Path) -> None:
    """Progress has nowhere to go, and the result is there."""
    schema, out = str(people.with_suffix(".toml")), str(tmp_path / "out")
    words = ["cloister", "cluster", str(people), "--k", "2", "--epsilon", "5", "--schema", schema, "--out", out]
    command = f"import sys; from cloister.cli import main; sys.argv = {words}; main()"
    done = subprocess.run(["sh", "-c", '"$0" -c "$1" 2>&-', sys.executable, command], capture_output=True, text=True)
    assert done.returncode == 0
    assert (tmp_path / "out" / "centers.csv").exists()


def test_clusters_lost_in_the_noise_are_told_of_before_the_charge(people: Path, tmp_path: Path) -> None:
    """With --rows before a row is read, and the fit goes on; the loss is shown with its error."""
    words = ["cluster", people, "--k", 40, "--epsilon", 0.05, "--columns", "age", "--bounds", "0,100"]
    code, text = run(*words, "--rows", 1000, "--out", tmp_path / "out")
    assert code == 0, text
    told = "Warning: 40 clusters are too many for about"
    assert text.startswith(f"{told} 1,000 rows at epsilon 0.05: most centres will be noise. Enough would be: epsilon")
    assert "squared column widths" in text
    assert text.splitlines()[-1].startswith(told)  # of the released number of rows
    assert "Too little" not in text
    assert not run(*words, "--rows", 1_000_000, "--out", tmp_path / "other")[1].startswith("Warning")


def test_a_dry_run_says_that_clusters_are_too_many_and_nothing_of_a_charge(people: Path) -> None:
    """The sentence is that of a fit; nothing is charged here."""
    words = ["cluster", people, "--k", 9, "--epsilon", 0.05, "--columns", "age", "--bounds", "0,100", "--rows", 1000]
    text = run(*words, "--dry-run")[1]
    assert "too little: 9 clusters are too many for about 1,000 rows at epsilon 0.05" in text
    assert "charged all the same" not in text


@pytest.mark.parametrize("rows", ["abc", "10,000", "0", "-5", "1e4", ""])
def test_a_number_of_rows_that_is_none_is_refused_in_plain_words(people: Path, rows: str) -> None:
    """With the name of the flag and an example."""
    for verb in (["cluster", people, "--k", 2, "--columns", "age"], ["synopsis", people], ["microdata", people]):
        code, text = run(*verb, "--epsilon", 1, "--rows", rows, "--dry-run")
        assert code == 2
        assert "--rows" in text
        assert "such as 10000" in " ".join(text.replace("│", " ").split())


def test_help_says_what_becomes_of_too_few_rows() -> None:
    """They are warned of; nothing is refused."""
    text = " ".join(run("cluster", "--help")[1].replace("│", " ").split())
    assert "warns before the charge" in text
    assert "is refused before a charge" not in text


LLOYD = ["--k", 2, "--epsilon", 5, "--columns", "age", "--bounds", "0,100", "--method", "lloyd"]


def test_lloyd_takes_its_schedule_stop_and_start(people: Path, tmp_path: Path) -> None:
    """Every flag reaches the plan and the certificate."""
    words = ["--schedule", "halving", "--tolerance", 50, "--max-iter", 4, "--seeding", "evolution"]
    words += ["--evolution", "population=12,generations=3,F=0.7,CR=0.1:0.9"]
    code, text = run("cluster", people, *LLOYD, *words, "--dry-run")
    assert code == 0, text
    assert "one last round takes the epsilon" in text
    data = json.loads(run("cluster", people, *LLOYD, *words, "--out", tmp_path / "out", "--json")[1])
    assert [step["step"] for step in data["steps"]] == ["size", "level 1", "level 2", "round 1", "last round", "loss"]
    assert "population 12, generations 3, F 0.7, CR 0.1 to 0.9" in data["parameters"]["choices"]["start"]
    assert run("verify", tmp_path / "out")[0] == 0


def test_skipped_rounds_are_named_and_verify(people: Path, tmp_path: Path) -> None:
    """With a delta they stay charged: the certificate has their events, adds up, and says that they were not measured."""
    words = [*LLOYD, "--delta", "1e-6", "--tolerance", 50, "--max-iter", 4, "--out", tmp_path / "out", "--json"]
    data = json.loads(run("cluster", people, *words)[1])
    assert [step["step"] for step in data["steps"]][-4:] == ["round 2", "round 3", "round 4", "loss"]
    assert data["parameters"]["skipped"] == ["round 2", "round 3", "round 4"]
    assert any("Charged and not measured: round 2, round 3, round 4." in note for note in data["notes"])
    assert run("verify", tmp_path / "out")[0] == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--method", "votes", "--seeding", "canopy"], "takes no seeding"),
        (["--seeding", "canopy"], "takes no seeding"),
        (["--method", "tree", "--schedule", "equal"], "has no schedule"),
        (["--tolerance", "0.1"], "has no tolerance"),
        (["--method", "lloyd", "--schedule", "thirds"], "not known"),
        (["--method", "lloyd", "--evolution", "population=40"], "--seeding evolution too"),
        (["--method", "lloyd", "--seeding", "evolution", "--evolution", "population"], "--evolution takes"),
        (["--method", "tree", "--seeding", "packing"], "does not start from"),
    ],
)
def test_flags_that_would_be_ignored_are_refused(people: Path, tmp_path: Path, words: list[str], told: str) -> None:
    """One sentence, exit code 2, and no output."""
    flags = ["--k", 2, "--epsilon", 1, "--columns", "age", "--bounds", "0,100", "--out", tmp_path / "out"]
    code, text = run("cluster", people, *flags, *words)
    assert code == 2
    assert told in " ".join(text.split())
    assert not (tmp_path / "out").exists()


def test_a_synopsis_has_no_rounds(people: Path, tmp_path: Path) -> None:
    """Flags of rounds beside --synopsis are refused."""
    code, text = run("cluster", "--synopsis", "s.parquet", "--k", 2, "--schedule", "equal", "--out", tmp_path / "out")
    assert code == 2
    assert "Drop --schedule" in " ".join(text.split())


def test_a_number_of_clusters_that_was_chosen_is_told_with_its_reason(people: Path, tmp_path: Path) -> None:
    """The plan says which numbers are tried and for which its figures are; the result says which was chosen, and why."""
    words = ["cluster", people, "--k", "auto", "--epsilon", 0.3, "--columns", "age", "--bounds", "0,100"]
    plan = run(*words, "--rows", 1000, "--dry-run")[1]
    told = re.search(
        r"clusters: 2 to ([0-9]+) are tried on the released cells, .*; the figures here are for ([0-9]+)\n", plan
    )
    assert told is not None
    assert told[1] == told[2]
    code, text = run(*words, "--out", tmp_path / "out")
    assert code == 0, text
    count = len((tmp_path / "out" / "centers.csv").read_text().splitlines()) - 1
    why = f"{count}, chosen from the released cells: the fewest within 5% of the best Calinski-Harabasz score"
    assert f"Clusters: {why}" in text
    assert json.loads((tmp_path / "out" / "release.json").read_text())["parameters"]["choices"]["clusters"] == why


def test_a_chosen_number_of_clusters_of_a_synopsis_is_told(people: Path, tmp_path: Path) -> None:
    """Both where it is released on the way and where it was released before; the certificate verifies."""
    facts = [people, "--epsilon", 5, "--columns", "age", "--bounds", "0,100"]
    assert "2 to 30 are tried" in run("cluster", *facts, "--k", "auto", "--method", "tree", "--dry-run")[1]
    lloyd = run("cluster", *facts, "--k", "auto", "--method", "lloyd", "--seeding", "canopy", "--dry-run")[1]
    assert "the figures here are for 8" in lloyd
    text = run("cluster", *facts, "--k", "auto", "--method", "tree", "--out", tmp_path / "one")[1]
    assert "chosen from the released cells: where the distance" in text
    assert run("synopsis", *facts, "--out", tmp_path / "cells.parquet")[0] == 0
    text = run("cluster", "--synopsis", tmp_path / "cells.parquet", "--k", "auto", "--out", tmp_path / "two")[1]
    assert "chosen from the released cells: where the distance" in text
    assert run("verify", tmp_path / "two")[0] == 0


def test_the_words_of_lloyd(people: Path, tmp_path: Path) -> None:
    """Its plan says in which unit noise adds to the loss and that the start may cost more; its result names the method."""
    plan = run("cluster", people, *LLOYD, "--dry-run")[1]
    assert "squared column widths more than without noise" in plan
    assert "a start that leads astray may cost many times that" in plan
    assert "Method: Lloyd, with noisy counts" in run("cluster", people, *LLOYD, "--out", tmp_path / "out")[1]
    assert "a synopsis (adaptive-grid)" in run("cluster", people, *LLOYD, "--seeding", "canopy", "--dry-run")[1]
    code, text = run("cluster", people, "--k", 2, "--epsilon", 5, "--columns", "age", "--method", "lloyd", "--dry-run")
    assert code == 2
    assert "needs public bounds" in text
    assert "both" not in text


def test_a_seeding_that_is_refused_names_the_methods_that_take_it(people: Path) -> None:
    """All of them; packing is of lloyd alone."""
    words = ["cluster", people, "--k", 2, "--epsilon", 1, "--columns", "age", "--bounds", "0,100", "--dry-run"]
    assert 'a method that starts from "packing": lloyd.' in run(*words, "--seeding", "packing")[1]
    told = run(*words, "--seeding", "canopy")[1].split('starts from "canopy": ')[1]
    assert {"lloyd", "tree", "hybrid"} <= set(told.strip(" .\n").split(", "))


def test_a_file_whose_columns_blanks_tell_apart_is_explained(tmp_path: Path) -> None:
    """Its header is one column; nothing of it is quoted."""
    path = tmp_path / "blanks.csv"
    path.write_text("secret y\n1 2\n")
    code, text = run("cluster", path, "--k", 2, "--epsilon", 1, "--columns", "x,y", "--dry-run")
    assert code == 2
    assert "The first line was read as one column" in text
    assert "a comma, a semicolon, a tab or a vertical bar" in text
    assert "secret" not in text


def test_a_plan_says_how_small_a_cluster_may_be(people: Path) -> None:
    """As many rows as would make one cluster stand out by the rule of "too little"."""
    words = ["cluster", people, "--k", 4, "--epsilon", 1, "--columns", "age,income", "--bounds", "0,100", "--dry-run"]
    assert "(those of fewer than about 76 rows may be missed)" in run(*words)[1]


def test_what_becomes_of_cells_that_are_no_numbers_is_said_before_the_charge(people: Path, tmp_path: Path) -> None:
    """In one line for a file of text without a schema, whatever its rows are; not where a schema or types describe them."""
    words = ["--k", 2, "--epsilon", 5, "--columns", "age"]
    place = {"0,100": "50", "-10,10": "0", None: "0 while the bounds are found, then as the middle of them"}
    for i, (bounds, told) in enumerate(place.items()):
        flags = ["--bounds", bounds] if bounds else []
        text = run("cluster", people, *words, *flags, "--out", tmp_path / f"out{i}")[1]
        assert text.startswith(
            f"Columns are read as numbers; what is not one counts as {told}. With a schema, cloister schema "
        )
    told = "Columns are read as numbers"
    assert told not in run("cluster", people, *words, "--schema", people.with_suffix(".toml"), "--out", tmp_path / "a")[1]
    pq.write_table(csv.read_csv(people, parse_options=csv.ParseOptions(delimiter=";")), tmp_path / "people.parquet")
    assert told not in run("cluster", tmp_path / "people.parquet", *words, "--out", tmp_path / "b")[1]
    assert told not in run("cluster", people, *words, "--bounds", "0,1", "--table", "none", "--dry-run")[1]


def test_the_loss_is_shown_with_its_unit(people: Path, tmp_path: Path) -> None:
    """The widths that were used, and that losses under other bounds are no comparison."""
    words = ["cluster", people, "--k", 2, "--epsilon", 100]
    facts = ["--columns", "age", "--bounds", "0,100"]
    text = run(*words, *facts, "--out", tmp_path / "a")[1]
    assert re.search(
        r"Loss: 0\.\S+ \+- \S+ squared column widths \(a width is 100\)(; rows far from every centre may raise it to \S+)?; "
        "compare it only under the same bounds",
        text,
    )
    text = run(*words, "--schema", people.with_suffix(".toml"), "--out", tmp_path / "b")[1]
    assert "squared column widths (widths: age 100, income 10,000); " in text
    text = run(*words, *facts, "--scale", "none", "--out", tmp_path / "c")[1]
    assert "squared units of the data; " in text


def test_labels_beside_a_release_tell_nothing_of_odd_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Holders are warned of lines that are no JSON; a private release, whose output is kept in logs, says nothing exact."""
    monkeypatch.chdir(tmp_path)
    lines = [f'{{"age": {20 + i % 50}}}' for i in range(300)]
    Path("people.jsonl").write_text("\n".join([*lines, "no json"]) + "\n")
    words = "cluster people.jsonl --columns age --bounds 0,100 --k 2 --epsilon 5 --labels --out out"
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code == 0, done.output
    assert "lines" not in done.output
