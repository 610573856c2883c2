"""``cloister calibrate``."""

from __future__ import annotations

from typer.testing import CliRunner

from cloister.cli import app

runner = CliRunner()


def run(*words: object) -> tuple[int, str]:
    """The exit code and everything that was printed."""
    result = runner.invoke(app, [str(word) for word in words])
    return result.exit_code, result.output


def test_calibrate_says_what_rho_means() -> None:
    """Rho 0.05 among 10,001 worlds is epsilon 6.2659, and from 5 on there is a warning."""
    code, text = run("calibrate", "--rho", 0.05, "--worlds", 10001)
    assert code == 0
    assert "6.2659" in text
    assert "Careful" in text
    assert "99.8" in text
