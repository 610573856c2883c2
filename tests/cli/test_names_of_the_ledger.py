"""No output takes a name that the ledger needs: SQLite's journals, and the folder of kept releases."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.testing import seeded_noise
from cloister.vault.booking import ENDINGS

SCHEMA = 'table = "points"\n' + "".join(f'[columns.{name}]\nkind = "number"\nbounds = [0, 100]\n' for name in "xy")


@pytest.mark.parametrize("through", ["", "link/"])
@pytest.mark.parametrize("ending", [*ENDINGS[1:], ".kept/clusters"])
def test_names_that_belong_to_the_ledger_are_refused(folder: Path, ending: str, through: str) -> None:
    """Before the charge, also where the path to the ledger leads through a link."""
    (folder / "points.toml").write_text(SCHEMA)
    (folder / "link").symlink_to(folder, target_is_directory=True)
    ledger = Ledger(folder / "ledger.sqlite")
    ledger.create("points", "add-remove", 10)
    if "/" in ending:
        (folder / "ledger.sqlite.kept").mkdir(mode=0o700)
    argv = ["cluster", str(folder / "points.csv"), "--schema", str(folder / "points.toml"), "--k", "2", "--epsilon", "1"]
    where = ["--ledger", f"{folder}/{through}ledger.sqlite", "--out", f"{folder}/ledger.sqlite{ending}"]
    refused = CliRunner().invoke(app, [*argv, *where])
    assert refused.exit_code == 2
    assert "a name that the ledger" in refused.stderr
    assert ledger.account("points").epsilon_spent == 0
    assert not (folder / f"ledger.sqlite{ending}").exists()
    where[-1] = f"{folder}/ledger.sqlite-clusters"
    assert CliRunner().invoke(app, [*argv, *where]).exit_code == 0


@pytest.mark.parametrize(("flag", "words"), [("--table", "a table name has 1 to 200"), ("--ledger", "--ledger is empty")])
def test_an_empty_name_is_no_default(folder: Path, flag: str, words: str) -> None:
    """An unset variable of a script does not make a release that no ledger, or another one, keeps."""
    table = ["--table", "points"] if flag == "--ledger" else []
    argv = ["cluster", str(folder / "points.csv"), "--columns", "x,y", "--bounds", "0,100", "--k", "2", "--epsilon", "1"]
    done = CliRunner().invoke(app, [*argv, *table, flag, "", "--out", str(folder / "clusters")])
    assert done.exit_code == 2
    assert words in done.output
    assert not (folder / "clusters").exists()


@pytest.mark.parametrize("name", ["two\nlines", "a blank ", "long " * 150 + "name"])
def test_a_column_may_be_called_anything_where_a_ledger_keeps_it(folder: Path, name: str) -> None:
    """Nobody gave a purpose: the ledger's is made of the names of columns, and written so that it prints."""
    ledger = Ledger(folder / "l.sqlite")
    ledger.create("t", "add-remove", 3)
    table = pa.table({name: ["a", "b"]})
    with seeded_noise(1):
        cl.tabulate(table, by=[name], domains={name: ["a", "b"]}, budget=1, table="t", ledger=ledger)
    (entry,) = ledger.entries("t")
    assert len(entry.purpose) <= 500
    assert entry.purpose.isprintable()
    assert entry.purpose.endswith("[seeded noise: NOT PRIVATE]")
