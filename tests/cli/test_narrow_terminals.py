"""No line is wider than the terminal, but for paths and keys, which are copied."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app

VERBS = {
    "cluster": ("cluster", "points.csv", "--k", "2", "--epsilon", "1", "--schema", "points.toml", "--out", "c"),
    "cluster plan": ("cluster", "points.csv", "--k", "2", "--epsilon", "1", "--schema", "points.toml", "--dry-run"),
    "synopsis": ("synopsis", "points.csv", "--epsilon", "1", "--schema", "points.toml", "--out", "s.parquet"),
    "tabulate": ("tabulate", "students.csv", "--by", "level", "--epsilon", "1", "--schema", "students.toml", "--out", "t.csv"),
    "risk": ("risk", "students.csv"),
    "ledger": ("ledger", "show", "points"),
    "ledgers": ("ledger", "show"),
    "calibrate": ("calibrate", "--epsilon", "1"),
    "config": ("config",),
}  # fmt: skip


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("width", [60, 80])
def test_lines_fit(home: Path, monkeypatch: pytest.MonkeyPatch, verb: str, width: int) -> None:
    """A longer one holds a single word that is longer than half of it."""
    monkeypatch.chdir(home)
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("CLOISTER_LEDGER", "ledger.sqlite")
    done = CliRunner().invoke(app, VERBS[verb])
    assert done.exit_code == 0, done.output
    wide = [line for line in done.stdout.splitlines() if len(line) > width and max(map(len, line.split())) < width // 2]
    assert not wide, "\n".join(wide)
