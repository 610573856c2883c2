"""Releases of every kind, each with its report, as the verbs that publish write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
from pyarrow import csv
from typer.testing import CliRunner

from cloister.cli import app
from cloister.datasets import STUDENTS, students
from cloister.privacy.ledger import Ledger

__all__ = ["HOSTILE", "VERBS", "publish", "run"]

HOSTILE = '</style><script>alert("1")</script><iframe src></iframe>&amp;\''
TABLE = "students.csv --schema students.toml --ledger ledger.sqlite"
VERBS = {  # what is written, and the command that writes it
    "clusters": f"cluster {TABLE} --columns hours_online,grade --k 3 --epsilon 1 --labels --out clusters",
    "gaussian": f"cluster {TABLE} --columns age,hours_online,forum_posts,grade --k 2 --epsilon 1 --delta 1e-6 --out gaussian",
    "mixed": f"cluster {TABLE} --columns age,level --k 2 --epsilon 1 --out mixed",
    "cells.parquet": f"synopsis {TABLE} --columns age,grade --epsilon 1 --out cells.parquet",
    "derived": "cluster --synopsis cells.parquet --ledger ledger.sqlite --k 2 --out derived",
    "table.csv": f"tabulate {TABLE} --by level,age --bins age=3 --measures grade --epsilon 1 --out table.csv",
    "table.json": f"tabulate {TABLE} --by level --epsilon 6 --out table.json",
    "median.json": f"choose {TABLE} --column age --quantile 0.5 --epsilon 1 --out median.json",
    "made_up.csv": f"microdata {TABLE} --epsilon 1 --out made_up.csv",
    "averaged.csv": f"microdata {TABLE} --method microaggregation --k 5 --columns age,level --out averaged.csv",
    "alike.csv": f"anonymize {TABLE} --k 5 --suppress 0.05 --save-recoding recoding.json --out alike.csv",
    "recoded.csv": "anonymize students.csv --apply recoding.json --ledger ledger.sqlite --out recoded.csv",
    "estimate.csv": "collect estimate survey.toml reports.jsonl --out estimate.csv",
    "modes.csv": "collect cluster survey.toml reports.jsonl --k 2 --out modes.csv",
}


def run(*words: object, code: int = 0) -> str:
    """The output of a command, standard error included."""
    done = CliRunner().invoke(app, [str(word) for word in words])
    assert done.exit_code == code, done.output
    return done.output


def publish(folder: Path) -> dict[str, Path]:
    """Run every verb in a folder, where the process is; the report of each, by what was written."""
    csv.write_csv(students(1000), folder / "students.csv")
    (folder / "students.toml").write_text(STUDENTS.to_toml())
    Ledger(folder / "ledger.sqlite").create("students", "add-remove", 40, "1e-5")
    run("collect", "new", "survey.toml", "--id", "habits", "--title", HOSTILE, "--epsilon", 1,
        "--question", f"{HOSTILE}=no,yes", "--question", f"pet=<b>cat</b>,dog,{HOSTILE}")  # fmt: skip
    people = pa.table({HOSTILE: ["no", "yes"] * 100, "pet": ["<b>cat</b>", "dog"] * 100})
    csv.write_csv(people, folder / "pilot.csv")
    run("collect", "simulate", "survey.toml", "pilot.csv", "--people", 200, "--out", "reports.jsonl")
    pages = {}
    for name, words in VERBS.items():
        pages[name] = folder / f"{name}.html"
        assert f"Report: {pages[name].name}" in run(*words.split(), "--report", pages[name].name)
    return pages
