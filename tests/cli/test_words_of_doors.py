"""Messages speak of flags on the command line and of parameters in Python."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.errors import CloisterError

FLAG = re.compile(r"(?<![\w-])--[a-z]")
PYTHON = re.compile(r"\w=[\[({\"]|\w=(?![\w])|ApproxDP|PureDP|\bTrue\b|\bNone\b")
CSV = "age,pay,school\n31,100.5,a\n40,200,b\n"

COMMANDS: dict[str, str] = {
    "nothing known": "tabulate t.csv --by school --epsilon 1 --out o.csv",
    "no number": "tabulate t.csv --by age --measures school --epsilon 1 --out o.csv",
    "no budget": "tabulate t.csv --by age --out o.csv",
    "no epsilon": "tabulate t.csv --by age --epsilon much --out o.csv",
    "large epsilon": "cluster t.csv --k 2 --epsilon 1e12 --out o",
    "no columns": "cluster t.csv --k 2 --epsilon 1 --out o",
    "no bounds": "synopsis t.csv --columns age --epsilon 1 --out o.parquet",
    "grid without bounds": "cluster t.csv --k 2 --columns age --method tree --epsilon 1 --out o",
    "turned bounds": "synopsis t.csv --columns age --bounds 9,1 --epsilon 1 --out o.parquet",
    "no table": "cluster t.csv --k 2 --columns age --bounds 0,9 --epsilon 1 --out o --ledger l",
    "an identifier": "cluster t.csv --k 2 --columns age --schema s.toml --epsilon 1 --out o",
    "a category": "cluster t.csv --k 2 --columns school --schema s.toml --model kmeans --epsilon 1 --out o",
    "no quasi-identifier": "anonymize t.csv --k 2 --out o.csv",
}
SCHEMA = """
[columns.age]
kind = "number"
bounds = [0, 99]
role = "identifier"
[columns.school]
kind = "category"
domain = ["a", "b"]
"""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_told_of_flags(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No `bounds=(low, high)` and no ApproxDP where nothing but flags can be typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(CSV)
    (tmp_path / "s.toml").write_text(SCHEMA)
    done = CliRunner().invoke(app, COMMANDS[name].split())
    assert done.exit_code in (1, 2), done.output
    assert "Error: " in done.output
    assert not PYTHON.search(done.output), done.output


def spent(ledger: cl.Ledger) -> Any:
    """A release of a table that has nothing left."""
    return cl.KMeans(2, 5, (0, 1), table="t", ledger=ledger).fit(X)


X = np.zeros((9, 2))
ROWS = pa.table({"age": [1], "school": ["a"]})
CALLS: dict[str, Callable[[cl.Ledger], Any]] = {
    "spent": spent,
    "no delta left": lambda ledger: cl.KMeans(2, cl.ApproxDP(1, "1e-6"), (0, 1), table="t", ledger=ledger).fit(X),
    "large epsilon": lambda _: cl.KMeans(2, 10**12, (0, 1)).fit(X),
    "small epsilon": lambda _: cl.KMeans(2, 1e-9, (0, 1)).fit(X),
    "no epsilon": lambda _: cl.KMeans(2, "much", (0, 1)).fit(X),
    "no budget": lambda _: cl.synopsis(X, None, (0, 1)),
    "no bounds": lambda _: cl.synopsis(X, 1),
    "turned bounds": lambda _: cl.synopsis(X, 1, (1, 0)),
    "by": lambda _: cl.tabulate(ROWS, [], 1),
    "a text by": lambda _: cl.tabulate(ROWS, "age", 1),
    "nothing known": lambda _: cl.tabulate(ROWS, ["age"], 1),
    "text": lambda _: cl.KMeans(2, 1, (0, 1)).fit(ROWS),
    "clusters": lambda _: cl.synopsis(X, 1, (0, 1)).cluster(0),
    "no table": lambda ledger: cl.KMeans(2, 1, (0, 1), ledger=ledger).fit(X),
    "ending": lambda _: cl.tabulate(ROWS, ["age"], 1, bounds={"age": (0, 9)}).save("t.txt"),
    "narrow": lambda _: cl.KMeans(2, 1, ([0, 0], [1e-9, 1e9]), scale=None).fit(X),
}


@pytest.mark.parametrize("name", CALLS)
def test_python_is_told_of_parameters(name: str, tmp_path: Path) -> None:
    """No --epsilon where nothing but parameters can be given; also after a command ran in the same process."""
    CliRunner().invoke(app, ["cluster", "none.csv", "--k", "2"])
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(3))
    with pytest.raises(CloisterError) as told:
        CALLS[name](ledger)
    assert not FLAG.search(str(told.value)), told.value
