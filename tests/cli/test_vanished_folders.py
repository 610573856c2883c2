"""Folders that vanish between the charge and the writing: what was paid for is written, or kept and told of."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.vault import Vault

VERBS = {
    "clusters": ["cluster", "--k", "2"],
    "cells.parquet": ["synopsis", "--method", "uniform-grid"],
    "table.csv": ["tabulate", "--by", "x", "--bins", "x=4"],
    "rows.csv": ["microdata"],
}


@pytest.fixture
def home(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The table with its ledger, and a folder ``work`` below them that is the working directory."""
    (home / "work").mkdir()
    monkeypatch.chdir(home / "work")
    return home


def after_the_release(monkeypatch: pytest.MonkeyPatch, happen: Callable[[], object]) -> None:
    """Let something happen as soon as the noise is drawn and the certificate made."""
    release = Vault.release

    def and_then(self: Vault, *arguments: Any, **facts: Any) -> Any:
        released = release(self, *arguments, **facts)
        happen()
        return released

    monkeypatch.setattr(Vault, "release", and_then)


def run(name: str, out: str, *more: str) -> Any:
    """A verb with relative paths everywhere."""
    verb, *flags = VERBS[name]
    argv = [verb, "../points.csv", "--schema", "../points.toml", "--epsilon", "1", *flags, "--out", out]
    return CliRunner().invoke(app, [*argv, *more])


@pytest.mark.parametrize("in_environment", [False, True])
@pytest.mark.parametrize("name", VERBS)
def test_a_working_directory_that_vanishes_takes_nothing_along(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, in_environment: bool
) -> None:
    """Where the output and the ledger are was settled before the charge; no path is looked up again."""
    after_the_release(monkeypatch, lambda: os.rmdir(home / "work"))
    if in_environment:
        monkeypatch.setenv("CLOISTER_LEDGER", "../ledger.sqlite")
    written = run(name, f"../{name}", *([] if in_environment else ["--ledger", "../ledger.sqlite"]))
    assert written.exit_code == 0, written.stderr
    os.chdir(home)
    assert (home / name).exists()
    assert not (home / "ledger.sqlite.kept").exists()
    [entry] = Ledger(home / "ledger.sqlite").entries("points")
    assert entry.status == "released"


@pytest.mark.parametrize("name", VERBS)
def test_a_removed_folder_of_the_output_is_told_as_such(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The release is kept, and the message is about the place, not about a bug."""
    (home / "results").mkdir()
    after_the_release(monkeypatch, lambda: shutil.rmtree(home / "results"))
    failed = run(name, f"../results/{name}", "--ledger", "../ledger.sqlite")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("UnwrittenRelease:"), failed.stderr
    assert "cannot be written: No such file or directory" in failed.stderr
    assert "cloister ledger recover 1 --out PATH" in failed.stderr
    argv = ["ledger", "recover", "1", "--out", str(home / name), "--ledger", str(home / "ledger.sqlite")]
    assert CliRunner().invoke(app, argv).exit_code == 0
