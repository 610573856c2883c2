"""``cloister demo``."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from cloister.cli import app

runner = CliRunner()


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_the_demo_shows_the_whole_tour(tmp_path: Path) -> None:
    """A schema, a plan, a clustering, the ledger and a refused overspend."""
    code, text = run("demo", "--keep", tmp_path / "tour")
    assert code == 0, text
    for part in ("[columns.age]", "Plan for", "private clusters", "BudgetExceeded", "0.5 left"):
        assert part in text
    assert (tmp_path / "tour" / "clusters" / "release.json").exists()
