"""``cloister collect serve``, ``invite`` and ``report --to``: what they print, and one sentence for each mistake."""

from __future__ import annotations

import json
import socket
import stat
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from cloister.cli import app
from cloister.collect import Client
from cloister.collect.storing.inbox import Inbox
from tests.collect.service.live_service import live_service
from tests.collect.survey import survey

Run = Callable[..., Result]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in a folder with a survey in it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    survey().save(tmp_path / "survey.toml")
    return lambda *words: CliRunner().invoke(app, ["collect", *map(str, words)])


def test_a_token_is_printed_alone(run: Run, tmp_path: Path) -> None:
    """Standard output holds the token, so that a script can keep it; the words are beside it."""
    done = run("serve", "--new-token", "--store", "sqlite:///reports.db")
    assert done.exit_code == 0
    token = done.stdout.strip()
    assert Inbox(tmp_path / "reports.db").is_token(token)
    assert "only time" in done.stderr
    again = run("serve", "--new-token", "--store", "reports.db", "--json")
    assert Inbox(tmp_path / "reports.db").is_token(json.loads(again.stdout)["token"])
    assert not Inbox(tmp_path / "reports.db").is_token(token)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["survey.toml", "--new-token"], "Leave the collections out"),
        (["--invited"], "Name their files"),
        (["--wanted", "5"], "Name their files"),
        (["none.toml"], "no such collection"),
        (["survey.toml", "--store", "mysql://host/x"], "cannot be kept in mysql"),
        (["survey.toml", "--store", "sqlite:///none/reports.db"], "folder"),
        (["survey.toml", "--store", "survey.toml"], "another kind"),
        (["survey.toml", "--host", "203.0.113.1"], "cannot be listened on"),
        (["survey.toml", "--store", "postgresql://nobody@127.0.0.1:1/none"], "Check the address"),
    ],
)
def test_mistakes_end_in_one_sentence(run: Run, words: list[str], message: str) -> None:
    """Nothing is served, and the exit code says so."""
    done = run("serve", *words)
    assert done.exit_code in (2, 4)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("proxy", ["foo", "*", "", "10.0.0.0/33", "10.0.0.1/8", "192.0.2.1:80", "proxy.example"])
def test_a_proxy_that_is_no_address(run: Run, tmp_path: Path, proxy: str) -> None:
    """It is refused before a store is made: who is believed must not depend on a typing error."""
    elsewhere = ["--host", "203.0.113.1"]  # where nothing can be served
    done = run("serve", "survey.toml", *elsewhere, "--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", proxy)
    assert (done.exit_code, "is neither" in done.stderr) == (2, True)
    assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "reports.db").exists()


def test_a_port_that_is_taken(run: Run) -> None:
    """Somebody else listens there."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = run("serve", "survey.toml", "--port", taken.getsockname()[1])
    assert (done.exit_code, "cannot be listened on" in done.stderr) == (2, True)


def test_another_collection_under_a_hosted_id(run: Run, tmp_path: Path) -> None:
    """A changed file is refused before anything is served."""
    Inbox(tmp_path / "reports.db").create()
    Inbox(tmp_path / "reports.db").add(survey(epsilon=2))
    done = run("serve", "survey.toml")
    assert (done.exit_code, "another collection" in done.stderr) == (2, True)


def test_inviting(run: Run, tmp_path: Path) -> None:
    """Codes or links, printed or into a file for its owner alone."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey(), is_invited=True)
    printed = run("invite", "students", "--count", 2)
    assert (printed.exit_code, len(printed.stdout.split())) == (0, 2)
    done = run("invite", "students", "--count", 3, "--url", "https://survey.example/", "--out", "codes.txt")
    assert done.exit_code == 0
    links = (tmp_path / "codes.txt").read_text().split()
    assert all(link.startswith("https://survey.example/c/students#") for link in links)
    assert stat.S_IMODE((tmp_path / "codes.txt").stat().st_mode) == 0o600
    assert inbox.invitations(hosted.number) == 5
    told = json.loads(run("invite", "students", "--count", 1, "--json").stdout)
    assert len(told["invitations"]) == 1
    for words, message in (
        (["students", "--count", 1, "--out", "codes.txt"], "exists"),
        (["nobody", "--count", 1], "no collection of that id"),
        (["students", "--count", 1, "--store", "none.db"], "there is no store"),
    ):
        refused = run("invite", *words)
        assert refused.exit_code in (2, 4)
        assert message in refused.stderr
    assert inbox.invitations(hosted.number) == 6


def test_inviting_to_what_everybody_may_answer(run: Run, tmp_path: Path) -> None:
    """Such a collection has no codes."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    inbox.add(survey())
    done = run("invite", "students", "--count", 1)
    assert (done.exit_code, "anybody may answer" in done.stderr) == (2, True)


def test_a_report_that_was_not_taken_is_not_lost(run: Run, tmp_path: Path) -> None:
    """Without a memo nothing else has it: programs get it with what went wrong, and `send` sends the same one again."""
    answers = ["--answer", "smokes=no", "--answer", "year=1", "--answer", "likes=tea", "--no-memo"]
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey(), is_invited=True)
    survey().save(tmp_path / "asked.toml")
    (code,) = inbox.invite("students", 1)
    wrong = code[:-1] + ("0" if code[-1] != "0" else "1")
    with live_service(tmp_path, "--store", tmp_path / "reports.db") as service:
        link = f"{service.address}/c/students#"
        refused = run("report", "asked.toml", *answers, "--to", link + wrong, "--json")
        told = json.loads(refused.stdout)
        assert (refused.exit_code, told["sent"], "used already" in told["problem"]) == (1, None, True)
        (tmp_path / "kept.json").write_text(json.dumps(told["report"]))
        for outcome in ("stored", "stored before"):
            done = run("send", "asked.toml", "kept.json", "--to", link + code, "--json")
            assert (done.exit_code, json.loads(done.stdout)) == (0, {outcome: 1})
        inbox.close("students")  # who lost the acknowledgement may still ask
        assert run("send", "asked.toml", "kept.json", "--to", link + code).exit_code == 0
        time.sleep(1.1)  # for a second the service does not look a collection up again
        assert run("report", "asked.toml", *answers, "--to", link + code).exit_code == 1
    assert inbox.count(hosted.number) == 1


def test_sending_files(run: Run, tmp_path: Path) -> None:
    """What is no report is not sent and is counted; a service that is busy is waited for; nothing to send is an error."""
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    hosted = inbox.add(survey())
    survey().save(tmp_path / "asked.toml")
    made = [Client(survey()).report({"smokes": "no", "year": 1, "likes": "tea"}).to_json() for _ in range(62)]
    (tmp_path / "made.jsonl").write_text("\n".join([*made, "{}", "no JSON"]))
    (tmp_path / "none.jsonl").write_text("{}\n")
    with live_service(tmp_path, "--store", tmp_path / "reports.db", rate=60) as service:
        done = run("send", "asked.toml", "made.jsonl", "--to", service.address)
        assert done.exit_code == 0, done.stderr
        assert "62 stored\n" in done.stdout
        assert "1 not sent: " in done.stdout
        for words, message in (
            (["none.jsonl", "--to", service.address], "no report was sent"),
            (["absent.jsonl", "--to", service.address], "no such file"),
            (["made.jsonl", "--to", "survey.example"], "https"),
            (["made.jsonl", "--to", service.address, "--code", "3J7QX"], "takes no code"),
        ):
            wrong = run("send", "asked.toml", *words)
            assert (wrong.exit_code in (1, 2), message in wrong.stderr) == (True, True), wrong.stderr
    assert inbox.count(hosted.number) == 62


def test_sending_a_report(run: Run, tmp_path: Path) -> None:
    """With a memo the same report goes again and counts once; a changed answer under its id is a conflict that is told."""
    answers = ["--answer", "smokes=no", "--answer", "year=1", "--answer", "likes=tea"]
    inbox = Inbox(tmp_path / "reports.db")
    inbox.create()
    invited = inbox.add(survey(title="x"), is_invited=True)
    (code,) = inbox.invite("students", 1)
    survey(title="x").save(tmp_path / "invited.toml")
    with live_service(tmp_path, "--store", tmp_path / "reports.db") as service:
        told: list[Any] = [
            run("report", "invited.toml", *answers, "--to", service.address, "--code", code, "--json") for _ in range(2)
        ]
        assert [json.loads(each.stdout)["sent"] for each in told] == ["stored", "stored before"]
        refused = run("report", "invited.toml", *answers, "--no-memo", "--to", service.address, "--code", code)
        assert (refused.exit_code, "was used already" in refused.stderr) == (1, True)
        missing = run("report", "invited.toml", *answers, "--no-memo", "--to", service.address)
        assert (missing.exit_code, missing.stdout) == (2, "")  # nothing was drawn
        assert "needs the code of your invitation. Give it with --code CODE" in missing.stderr
        survey(epsilon=2).save(tmp_path / "dearer.toml")
        other = run("report", "dearer.toml", *answers, "--no-memo", "--to", service.address)
        assert (other.exit_code, other.stdout, "other terms" in other.stderr) == (2, "", True)
    gone = run("report", "invited.toml", *answers, "--to", service.address, "--code", code)
    assert (gone.exit_code, "cannot be reached" in gone.stderr) == (1, True)
    assert inbox.count(invited.number) == 1
    for words in (["--to", "http://survey.example"], ["--to", "localhost:1"], ["--code", "x"]):
        done = run("report", "invited.toml", *answers, "--no-memo", *words)
        assert done.exit_code == 2
