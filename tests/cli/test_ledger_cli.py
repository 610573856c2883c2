"""``cloister ledger``, as a person and as a machine use it."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli.ledger import app
from cloister.errors import LedgerError, NotChecked, UsageError, VerificationFailed
from cloister.privacy.ledger import Ledger
from cloister.privacy.signing import host_key
from tests.privacy.forgery import forger

runner = CliRunner()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The default ledger, in a folder of its own and not yet written."""
    path = str(tmp_path / "ledger.sqlite")
    monkeypatch.setenv("CLOISTER_LEDGER", path)
    monkeypatch.setenv("COLUMNS", "200")
    return path


def machine(*arguments: str) -> dict[str, object]:
    """Run a command with --json and read what it prints."""
    result = runner.invoke(app, [*arguments, "--json"], catch_exceptions=False)
    assert result.exit_code == 0
    answer: dict[str, object] = json.loads(result.stdout)
    return answer


def test_create_as_json(place: str) -> None:
    """A created account comes back with its numbers as they were typed."""
    account = machine("create", "students", "--epsilon", "0.3", "--delta", "1e-6", "--neighbours", "replace-one")["account"]
    assert isinstance(account, dict)
    assert (account["epsilon_total"], account["delta_left"]) == ("0.3", "0.000001")
    assert Ledger(place).account("students").neighbours == "replace-one"


def test_a_total_as_a_rho(place: str) -> None:
    """It is kept as an epsilon under replace-one, and shown as a rho, too, by every command that shows it."""
    account = machine("create", "students", "--rho", "0.05", "--worlds", "10001")["account"]
    assert isinstance(account, dict)
    assert (account["neighbours"], account["epsilon_total"][:6]) == ("replace-one", "6.2659")
    assert account["rho"] == {"worlds": 10_001, "total": "0.05", "so_far": "0.000099990001", "left": "0.05"}
    Ledger(place).charge("students", "replace-one", 6, 0, "k-means")
    Ledger(place).create("others", "add-remove", 1)
    shown = machine("show")["accounts"]
    assert [entry["rho"] and entry["rho"]["left"][:8] for entry in shown] == [None, "0.000130"]  # type: ignore[attr-defined]
    told = runner.invoke(app, ["show"], catch_exceptions=False).stdout
    assert all(words in told for words in ("rho left", "of 0.05", "among 10,001", "rhos do not add up"))
    told = runner.invoke(app, ["show", "students"], catch_exceptions=False).stdout
    assert "rho left" in told
    assert "0.03877" in told
    both = machine("show", "--worlds", "100")["accounts"]
    assert all(entry["rho"]["worlds"] == 100 for entry in both)  # type: ignore[attr-defined]
    assert machine("verify")["verified"]
    assert "rho left" in (Ledger(place)._repr_html_())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "Give --epsilon TOTAL, or --rho"),
        (["--rho", "0.05"], "Give the number of worlds"),
        (["--worlds", "10"], "--worlds goes with --rho"),
        (["--rho", "0.05", "--worlds", "1"], "at least 2"),
        (["--rho", "0.05", "--worlds", "10001", "--epsilon", "1"], "--rho stands alone"),
        (["--rho", "0.05", "--worlds", "10001", "--delta", "1e-6"], "without delta"),
        (["--rho", "0.05", "--worlds", "10001", "--neighbours", "add-remove"], "replace-one"),
    ],
)
def test_totals_that_do_not_fit_together(place: str, words: list[str], message: str) -> None:
    """The sentence says what to add or drop, and nothing is written."""
    with pytest.raises(UsageError, match=message):
        runner.invoke(app, ["create", "students", *words], catch_exceptions=False)
    assert not Path(place).exists()


def test_show_as_json(place: str) -> None:
    """What is left of every table is shown exactly."""
    ledger = Ledger(place)
    ledger.create("students", "add-remove", 1)
    ledger.charge("students", "add-remove", "1/3", 0, "cluster")
    shown = machine("show")
    assert shown["ledger"] == place
    assert [account["epsilon_left"] for account in shown["accounts"]] == ["2/3"]  # type: ignore[attr-defined]


def test_show_one_table_as_json(place: str) -> None:
    """One table is shown with its entries, oldest first."""
    ledger = Ledger(place)
    ledger.create("students", "add-remove", 1)
    ledger.complete(ledger.charge("students", "add-remove", "0.5", 0, "cluster"), "abc")
    ledger.record_holder("students", "risk")
    entries = machine("show", "--table", "students")["entries"]
    assert isinstance(entries, list)
    assert [(entry["kind"], entry["epsilon"], entry["release_hash"]) for entry in entries] == [
        ("charge", "0.5", "abc"),
        ("holder", "0", None),
    ]


def test_a_holders_use_of_which_nothing_was_published_is_not_called_released(place: str) -> None:
    """A run that was refused or stopped, or risks for the holder alone: begun. A table that was published: released."""
    ledger = Ledger(place)
    ledger.create("students", "add-remove", 1)
    ledger.record_holder("students", "k-anonymous table, k = 5")
    assert "Begun: " in runner.invoke(app, ["show", "students"]).stdout
    ledger.complete(ledger.record_holder("students", "k-anonymous table, k = 10"), "ab" * 32)
    entries = machine("show", "students")["entries"]
    assert isinstance(entries, list)
    assert [entry["status"] for entry in entries] == ["begun", "released"]


def test_show_for_people(place: str) -> None:
    """People read what is left of what, and a name with brackets is not taken for markup."""
    Ledger(place).create("pupils [red]", "add-remove", 3)
    Ledger(place).charge("pupils [red]", "add-remove", "2.8", 0, "cluster [5]")
    shown = runner.invoke(app, ["show", "--table", "pupils [red]"], catch_exceptions=False).stdout
    assert all(words in shown for words in ("pupils [red]", "0.2 of 3", "cluster [5]", "2.8"))


def test_show_warns_of_holder_uses(place: str) -> None:
    """A table with exact results handed out is shown with what that means."""
    Ledger(place).create("students", "add-remove", 3)
    Ledger(place).record_holder("students", "risk")
    assert "does not cover" in runner.invoke(app, ["show"], catch_exceptions=False).stdout


def test_show_nothing_yet(place: str) -> None:
    """An empty ledger says how to begin, and stays unwritten."""
    result = runner.invoke(app, ["show"], catch_exceptions=False)
    assert result.exit_code == 0
    assert "cloister ledger create NAME --epsilon TOTAL" in result.stdout
    assert not Path(place).exists()


def test_other_ledger(place: str, tmp_path: Path) -> None:
    """--ledger leads to another ledger than the default one."""
    machine("create", "students", "--epsilon", "1", "--ledger", f"sqlite:///{tmp_path}/other.sqlite")
    assert Ledger(tmp_path / "other.sqlite").account("students").epsilon_total == 1
    assert not Path(place).exists()


@pytest.mark.parametrize("epsilon", ["0", "-1", "nan", "much"])
def test_senseless_epsilon(place: str, epsilon: str) -> None:
    """A total that makes no sense is a usage error, and nothing is written."""
    with pytest.raises(UsageError, match="epsilon"):
        runner.invoke(app, ["create", "students", "--epsilon", epsilon], catch_exceptions=False)
    assert not Path(place).exists()


def test_unknown_relation(place: str) -> None:
    """A neighbour relation that does not exist is refused with exit code 2."""
    assert runner.invoke(app, ["create", "t", "--epsilon", "1", "--neighbours", "all"]).exit_code == 2


def test_unknown_table(place: str) -> None:
    """Showing a table that is not there says how to add it."""
    with pytest.raises(LedgerError, match="cloister ledger create pupils --epsilon TOTAL"):
        runner.invoke(app, ["show", "--table", "pupils"], catch_exceptions=False)


def test_key_and_verify(place: str) -> None:
    """The host's public key, the keys that the ledger knows, and that every record is signed by one of them."""
    key = host_key().public
    assert machine("key")["keys_of_the_ledger"] == []
    Ledger(place).create("students", "add-remove", 3)
    Ledger(place).charge("students", "add-remove", 1, 0, "cluster")
    shown = machine("key")
    assert (shown["key"], shown["keys_of_the_ledger"]) == (key, [key])
    told = runner.invoke(app, ["key"], catch_exceptions=False).stdout
    assert key in told
    assert host_key().secret.hex() not in told
    report = machine("verify", "--key", key)
    assert (report["verified"], report["records"], report["signed"]) == (True, 4, {key: 4})
    told = " ".join(runner.invoke(app, ["verify"], catch_exceptions=False).stdout.split())
    assert "none was changed, removed or put in" in told
    with pytest.raises(VerificationFailed, match="none of the keys that you gave"):
        runner.invoke(app, ["verify", "--key", forger().public], catch_exceptions=False)


def test_verify_finds_a_change(place: str) -> None:
    """And says at which record."""
    Ledger(place).create("students", "add-remove", 3)
    with closing(sqlite3.connect(place)) as connection, connection:
        connection.execute("UPDATE cloister_ledger_records SET body = replace(body, '\"3\"', '\"9\"') WHERE number = 3")
    with pytest.raises(LedgerError, match="record 3 of the ledger was changed"):
        runner.invoke(app, ["verify"], catch_exceptions=False)


@pytest.mark.parametrize("verb", ["show", "create", "key", "verify"])
def test_help_has_an_example(verb: str) -> None:
    """Each command's help ends with a worked example."""
    assert f"Example: cloister ledger {verb}" in runner.invoke(app, [verb, "--help"]).stdout


def test_an_older_ledger_is_upgraded_on_request_and_says_so_for_good(place: str) -> None:
    """Show and verify refuse it before, and afterwards name the day and the totals that nobody had signed."""
    script = (Path(__file__).parents[1] / "privacy" / "ledgers_v1" / "ledger.sql").read_text(encoding="utf-8")
    with closing(sqlite3.connect(place)) as connection:
        connection.executescript(script)
        connection.execute("PRAGMA journal_mode=WAL")
    for words in (["show"], ["show", "students"], ["verify"]):
        with pytest.raises((LedgerError, NotChecked), match=r"version 1.*cloister ledger upgrade"):
            runner.invoke(app, words, catch_exceptions=False)
    upgraded = runner.invoke(app, ["upgrade"], catch_exceptions=False).output
    assert "2 accounts and 5 entries" in upgraded
    for words in (["show"], ["show", "students"], ["verify"]):
        shown = runner.invoke(app, words, catch_exceptions=False).output
        assert "Carried over from version 1 on 20" in shown
        assert '"students" epsilon 1.3' in shown
        assert machine(*words)["carried_over"]
