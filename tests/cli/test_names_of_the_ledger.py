"""No output takes a name that the ledger needs: SQLite's journals, and the folder of kept releases."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
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
