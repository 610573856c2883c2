"""``cloister synopsis``, and ``cloister cluster --synopsis``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyarrow import csv
from typer.testing import CliRunner

from cloister.cli import app
from cloister.clustering.synopsis.shapes import SHAPES


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


@pytest.mark.parametrize("method", SHAPES)
def test_a_synopsis_is_released_then_asked_then_clustered(folder: Path, method: str) -> None:
    """One release; then a suggestion, a count, made-up rows and clusters from the file alone."""
    made = folder / "s.parquet"
    text = run(
        "synopsis",
        folder / "points.csv",
        "--columns",
        "x,y",
        "--epsilon",
        2,
        "--bounds",
        "0,100",
        "--method",
        method,
        "--out",
        made,
    )
    assert "Guarantee: epsilon 2" in text
    (folder / "points.csv").unlink()
    answer = json.loads(run("synopsis", made, "--suggest-k", "--count", "x=0:50", "--json"))
    assert answer["count"]["value"] == pytest.approx(500, abs=100)
    assert answer["suggest_k"]["k"] >= 2
    run("synopsis", made, "--sample", 50, "--out", folder / "rows.csv")
    assert csv.read_csv(folder / "rows.csv").num_rows == 50
    out = folder / "clusters"
    run("cluster", "--synopsis", made, "--k", 2, "--seeding", "evolution", "--out", out)
    centers = csv.read_csv(out / "centers.csv")
    assert sorted(round(value / 10) for value in centers["x"].to_pylist()) == [2, 8]
    assert "steps add up" in run("verify", out / "release.json")


def test_a_synopsis_of_hardly_anybody_still_answers(folder: Path) -> None:
    """With fewer dense cells than it takes to compare distances a suggestion is printed without them."""
    (folder / "few.csv").write_text("x,y\n1,1\n2,2\n3,3\n")
    made = str(folder / "few.parquet")
    settings = ["--columns", "x,y", "--bounds", "0,10", "--epsilon", "50", "--method", "uniform-grid"]
    run("synopsis", folder / "few.csv", *settings, "--out", made)
    assert "to be there: hardly any" in run("synopsis", made, "--suggest-k")


def test_labels_beside_a_synopsis_are_refused_where_no_engine_hands_them_out(folder: Path) -> None:
    """On Spark labels are a DataFrame: refused before Spark is started, as without a synopsis."""
    words = ["cluster", folder / "points.csv", "--synopsis", folder / "s.parquet", "--k", 2, "--labels", "--engine", "spark"]
    assert "--labels writes a file here" in run(*words, "--out", folder / "c", code=2)


def test_k_auto_takes_what_the_synopsis_suggests(folder: Path) -> None:
    """--k auto clusters with the suggested number."""
    made = folder / "s.parquet"
    run("synopsis", folder / "points.csv", "--columns", "x,y", "--epsilon", 2, "--bounds", "0,100", "--out", made)
    data = json.loads(run("cluster", "--synopsis", made, "--k", "auto", "--out", folder / "c", "--json"))
    k = json.loads(run("synopsis", made, "--suggest-k", "--json"))["suggest_k"]["k"]
    assert data["parameters"]["n_clusters"] == k


def test_a_plan_reads_no_rows(folder: Path) -> None:
    """--dry-run prints the steps of a synopsis."""
    words = ["synopsis", folder / "points.csv", "--columns", "x,y", "--epsilon", 1, "--bounds", "0,100"]
    assert "level 1" in run(*words, "--dry-run")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["synopsis", "points.csv", "--epsilon", "1", "--bounds", "0,100"], "where should the synopsis go"),
        (["synopsis", "points.csv", "--suggest-k"], "is not a synopsis"),
        (
            ["synopsis", "points.csv", "--columns", "x", "--epsilon", "1", "--out", "s.parquet"],
            "bounds of the data are not known",
        ),
        (["cluster", "--k", "2", "--epsilon", "1", "--out", "c"], "what should be clustered"),
        (["cluster", "points.csv", "--synopsis", "s", "--k", "2", "--out", "c"], "stands in for DATA"),
        (["cluster", "--synopsis", "missing.parquet", "--k", "2", "--out", "c"], "does not exist"),
        (["cluster", "--synopsis", "s.parquet", "--k", "2", "--epsilon", "1", "--out", "c"], "Drop --epsilon"),
        (["synopsis", "points.csv", "--epsilon", "1", "--bounds", "0,1", "--out", "s.csv"], "ends in .parquet"),
    ],
)
def test_usage_faults_have_exit_code_2(
    folder: Path, words: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each is told in a line or two."""
    monkeypatch.chdir(folder)
    assert message in " ".join(run(*words, code=2).split())


@pytest.mark.parametrize(
    "words",
    [
        ["synopsis"],
        ["synopsis", "--epsilon", "1", "--columns", "points 0", "--bounds", "0,1", "--out", "again.parquet"],
        ["cluster", "--epsilon", "1", "--k", "2", "--columns", "points 0", "--bounds", "0,1", "--out", "again.d"],
        ["tabulate", "--epsilon", "1", "--by", "counts", "--out", "t.csv"],
        ["schema"],
        ["risk", "--quasi", "counts"],
    ],
    ids=lambda words: words[0],
)
def test_a_synopsis_is_no_data_of_another_release(folder: Path, words: list[str]) -> None:
    """Its cells were taken for rows, and a budget was spent on them; the message says what can be done with it."""
    made = folder / "s.parquet"
    verb, *rest = words
    run("synopsis", folder / "points.csv", "--epsilon", 1, "--columns", "x,y", "--bounds", "0,100", "--out", made)
    text = run(verb, made, *(folder / word if "." in word else word for word in rest), code=2)
    for hint in ("is a synopsis", "--synopsis", "--suggest-k", "--count", "--sample"):
        assert hint in text


def test_a_suggestion_is_told_in_plain_words(folder: Path) -> None:
    """How many, why, and a short table: thirty lines of distances and depths said nothing to anybody."""
    made = folder / "s.parquet"
    run("synopsis", folder / "points.csv", "--epsilon", 50, "--columns", "x,y", "--bounds", "0,100", "--out", made)
    text = run("synopsis", made, "--suggest-k")
    assert text.startswith("2 clusters seem to be there: a centre more would lie ")
    assert "depth" not in text
    assert len(text.splitlines()) < 20
