"""How commands end: exit codes, errors as JSON, and what --quiet leaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy.ledger import Ledger
from cloister.vault.doors import Vault

POINTS = ("--k", "2", "--epsilon", "1", "--table", "points")


def run(*words: object) -> Any:
    """A command that ran."""
    return CliRunner().invoke(app, [str(word) for word in words])


def error_of(done: Any) -> dict[str, Any]:
    """The one document on standard output, which is an error with the exit code of the command."""
    facts: dict[str, Any] = json.loads(done.stdout)["error"]
    assert facts["exit_code"] == done.exit_code
    assert set(facts) == {"type", "message", "exit_code", "charged", "notes"}
    return facts


def cluster(home: Path, *words: object) -> Any:
    """Clusters of the points, charged to their ledger."""
    return run("cluster", home / "points.csv", *POINTS, "--schema", home / "points.toml", *words, "--out", home / "made")


@pytest.mark.parametrize(
    "words",
    [
        ("cluster", "--json", "--no-such-flag"),
        ("cluster", "--json", "--k"),
        ("--no-such-flag", "--json"),
        ("nonsense", "--json"),
        ("ledger", "nonsense", "--json"),
        ("collect", "plan", "--json"),
        ("risk", "none.csv", "--threshold", "x", "--json"),
    ],
)
def test_what_the_parser_refuses_is_json_too(words: tuple[str, ...]) -> None:
    """With --json anywhere among the words, whatever else is wrong."""
    assert (error_of(run(*words))["type"], run(*words).exit_code) == ("UsageError", 2)


def test_a_refused_budget_has_its_own_code(home: Path) -> None:
    """3, with the sentence that says how much is left."""
    told = error_of(cluster(home, "--ledger", home / "ledger.sqlite", "--epsilon", "11", "--json"))
    assert (told["type"], told["exit_code"], told["charged"]) == ("BudgetExceeded", 3, None)
    assert "10 of 10 is left" in told["message"]


def test_a_ledger_that_cannot_be_read_has_its_own_code(home: Path) -> None:
    """4, before a row is read."""
    (home / "text.sqlite").write_text("no ledger at all" * 100)
    assert error_of(cluster(home, "--ledger", home / "text.sqlite", "--json"))["exit_code"] == 4


def test_a_bug_has_its_own_code_and_says_what_stays_charged(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """70, and the charge as numbers and names for a program; nothing of the exception's own message, which may quote rows."""

    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("secret")

    monkeypatch.setattr(Vault, "measure", broken)
    done = cluster(home, "--ledger", home / "ledger.sqlite", "--json")
    told = error_of(done)
    assert (told["type"], told["exit_code"]) == ("RuntimeError", 70)
    assert told["charged"] == {"amount": "epsilon 1", "table": "points", "entry": 1}
    assert "secret" not in done.output


def test_a_signal_is_told_in_json(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """130, with what stays charged."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Vault, "measure", stopped)
    told = error_of(cluster(home, "--ledger", home / "ledger.sqlite", "--json"))
    assert (told["type"], told["exit_code"], told["charged"]["entry"]) == ("Interrupted", 130, 1)
    assert len(Ledger(home / "ledger.sqlite").entries("points")) == 1


def test_a_signal_before_the_command_is_told_in_json() -> None:
    """While modules are loaded, too."""
    script = (
        "import os, sys\n"
        "class Stop:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'typer': os.kill(os.getpid(), 2)\n"
        "sys.meta_path.insert(0, Stop())\n"
        "from cloister.__main__ import main\n"
        "sys.argv = ['cloister', 'ledger', 'show', '--json']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, env=os.environ)
    assert done.returncode == 128 + signal.SIGINT
    assert json.loads(done.stdout)["error"]["type"] == "Interrupted"


def test_errors_of_people_stay_on_standard_error(home: Path) -> None:
    """Without --json standard output stays empty; with it and --quiet standard error does."""
    said = run("risk", home / "none.csv")
    assert (said.stdout, "none.csv" in said.stderr) == ("", True)
    assert run("risk", home / "none.csv", "--json").stderr == said.stderr
    assert run("risk", home / "none.csv", "--json", "--quiet").stderr == ""


def test_quiet_commands_print_nothing_about_what_they_wrote(home: Path) -> None:
    """The result is in its file; the check of it is its exit code."""
    done = cluster(home, "--ledger", home / "ledger.sqlite", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    done = run("verify", home / "made", "--ledger", home / "ledger.sqlite", "--quiet")
    assert (done.exit_code, done.output) == (0, "")
    assert run("verify", home / "made", "--ledger", home / "no.sqlite", "--quiet").stderr.startswith("LedgerNotAsked: ")


def test_quiet_commands_print_what_is_written_nowhere_else(home: Path) -> None:
    """A plan, a ledger, and JSON."""
    assert "No row was read" in cluster(home, "--dry-run", "--quiet").stdout
    assert "points" in run("ledger", "show", "--ledger", home / "ledger.sqlite", "--quiet").stdout
    assert json.loads(cluster(home, "--ledger", home / "ledger.sqlite", "--quiet", "--json").stdout)["out"]


def test_quiet_checks_and_hierarchies_print_nothing_when_all_is_well(home: Path) -> None:
    """The exit code of a check says it; what does not fit is told all the same."""
    checked = ("schema", home / "points.csv", "--schema", home / "points.toml", "--check")
    assert (run(*checked, "--quiet").stdout, run(*checked, "--quiet").exit_code) == ("", 0)
    (home / "few.csv").write_text("x,y\n1,2,3\n")
    found = run("schema", home / "few.csv", "--schema", home / "points.toml", "--check", "--quiet")
    assert found.exit_code == 5
    assert "have more or fewer cells" in found.stdout
    drafted = run(
        "schema", home / "students.csv", "--schema", home / "students.toml", "--hierarchies", home / "h", "--quiet"
    )
    assert (drafted.stdout, drafted.exit_code) == ("", 0)
    assert [*(home / "h").iterdir()]


def test_an_unknown_flag_is_told_with_what_is_near_alone() -> None:
    """The parser lists whatever shares a few letters."""
    told = CliRunner().invoke(app, ["tabulate", "points.csv", "--epsilonn", "1"])
    assert told.exit_code == 2
    assert "--epsilon)" in told.output
    assert not {"--json", "--plot"} & set(told.output.replace(",", " ").split())
