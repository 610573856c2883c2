"""Kills at every file event: what a command leaves is absent or complete, verifies, and does not stop the next run.

Each verb that writes is run in a process that sends itself SIGKILL, SIGTERM or SIGINT before the n-th time that it opens, makes,
links, renames or removes a file. CI takes a part of these points; ``CLOISTER_KILLS=all`` takes all of them.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from cloister.collect import Client, Collection
from cloister.sinks import certificate_path

DATA = ["points.csv", "--schema", "points.toml", "--ledger", "ledger.sqlite", "--epsilon", "1"]
MINE = ["--answer", "a=x", "--answer", "b=u"]
OUT = {
    "cluster": (["cluster", *DATA, "--k", "2"], "clusters"),
    "labels": (["cluster", *DATA, "--k", "2", "--labels"], "clusters"),
    "synopsis": (["synopsis", *DATA, "--method", "uniform-grid"], "cells.parquet"),
    "table": (["tabulate", *DATA, "--by", "x", "--bins", "x=4"], "table.csv"),
    "json table": (["tabulate", *DATA, "--by", "x", "--bins", "x=4"], "table.json"),
    "rows": (["microdata", *DATA], "rows.csv"),
    "choice": (["choose", *DATA, "--column", "x", "--quantile", "0.5"], "choice.json"),
    "anonymize": (["anonymize", "points.csv", "--k", "5", "--quasi", "x,y"], "safe.csv"),
    "shuffled": (["anonymize", "points.csv", "--k", "5", "--quasi", "x,y", "--shuffle"], "safe.parquet"),
    "schema": (["schema", "points.csv"], "draft.toml"),
    "estimate": (["collect", "estimate", "survey.toml", "reports.jsonl"], "estimate.csv"),
    "report": (["collect", "report", "survey.toml", *MINE, "--memo", "memo.sqlite"], "report.json"),
}
UNVERIFIED = ("schema", "report")
UNCHARGED = ("schema", "anonymize", "shuffled", "estimate", "report")
SIGNALS = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}
IN_CI = 2  # points a verb and signal
IS_WHOLE = "is whole"


@dataclass
class Host:
    """Commands in a folder of their own, run by `kill_host`."""

    process: subprocess.Popen[str]
    home: Path

    def run(self, argv: list[str], at: int | None = None, number: int = 0, warm: bool = False) -> dict[str, Any]:
        """One command; with `at`, a signal comes before that event."""
        work = self.home / "work"
        argv = [str(work / word) if (work / word).exists() or word in PATHS else word for word in argv]
        environment = {"XDG_DATA_HOME": str(work / "data"), "TMPDIR": str(work / "tmp")}
        job = {
            "argv": argv, "at": at, "signal": int(number), "folder": str(work), "warm": warm, "environment": environment,
        }  # fmt: skip
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        return dict(json.loads(self.process.stdout.readline()))

    def fresh(self) -> Path:
        """The folder as it was before any command."""
        shutil.rmtree(self.home / "work", ignore_errors=True)
        shutil.copytree(self.home / "start", self.home / "work")
        return self.home / "work"


PATHS = {out for _, out in OUT.values()} | {
    "ledger.sqlite",
    "again",
    "again.csv",
    "again.json",
    "again.parquet",
    "memo.sqlite",
}


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    """A process that runs commands, with a table and its ledger."""
    home = tmp_path_factory.mktemp("kills")
    start = home / "start"
    start.mkdir()
    (start / "tmp").mkdir()
    (start / "points.csv").write_text("x,y\n" + "".join(f"{i % 40},{i % 7}\n" for i in range(400)))
    column = '[columns.{}]\nkind = "number"\nrole = "quasi"\nbounds = [0, 40]\n'
    (start / "points.toml").write_text('table = "points"\n' + column.format("x") + column.format("y"))
    survey = Collection("s", {"a": ["x", "y"], "b": ["u", "v"]}, 1)
    survey.save(start / "survey.toml")
    reports = [Client(survey).report({"a": "x", "b": "v"}).to_json() + "\n" for _ in range(50)]
    (start / "reports.jsonl").write_text("".join(reports))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "300"}
    command = [sys.executable, str(Path(__file__).with_name("kill_host.py"))]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment) as process:
        made = Host(process, home)
        made.fresh()
        made.run(["ledger", "create", "points", "--epsilon", "1000", "--ledger", "ledger.sqlite"])
        assert shutil.copyfile(home / "work" / "ledger.sqlite", start / "ledger.sqlite")
        yield made
        assert process.stdin is not None
        process.stdin.close()


def leftovers(work: Path) -> list[str]:
    """Parts of outputs, and temporary files, that should not be there."""
    hidden = [path.name for path in work.rglob("*") if path.name.endswith(".partial")]
    return [*hidden, *(path.name for path in (work / "tmp").iterdir())]


def check_end(host: Host, verb: str, code: int, said: str, number: int) -> bool:
    """The state after a signal: nothing, or all of it; whether it is all."""
    out = host.home / "work" / OUT[verb][1]
    beside = certificate_path(out)
    is_killed = number == signal.SIGKILL
    assert code in (SIGNALS[signal.Signals(number)], 0), said
    assert "Traceback" not in said
    if not is_killed:
        assert leftovers(host.home / "work") == [], said
    if not out.exists():
        assert code != 0
        # a certificate may be alone only where a killed process left what says so
        assert not beside.exists() or (is_killed and leftovers(host.home / "work"))
        assert IS_WHOLE not in said
        return False
    if verb not in UNVERIFIED:
        assert host.run(["verify", OUT[verb][1]])["code"] == 0
    if not is_killed and code:
        assert IS_WHOLE in said
    return True


def check_rerun(host: Host, verb: str, is_complete: bool) -> None:
    """The same command runs as if nothing had been, and removes what a killed one left."""
    argv, name = OUT[verb]
    work, start = ({path.name for path in (host.home / each).iterdir()} for each in ("work", "start"))
    if work - {"data"} == start:  # a first run, which the test has seen
        return
    again = host.run([*argv, "--out", name])
    assert again["code"] == (2 if is_complete else 0), again["said"]
    assert leftovers(host.home / "work") == []
    if verb not in UNVERIFIED:
        assert host.run(["verify", name])["code"] == 0


def check_kept(host: Host, verb: str, is_complete: bool) -> int:
    """A release that was kept is handed out, whole, and then kept no longer; how many there were."""
    name = f"again{Path(OUT[verb][1]).suffix}"
    flags = ["--ledger", "ledger.sqlite", "--json"]
    if not (host.home / "work" / "ledger.sqlite.kept").exists():
        return 0
    kept = json.loads(host.run(["ledger", "recover", *flags])["said"])["kept"]
    assert len(kept) <= (0 if is_complete else 1)
    if kept:
        recovered = host.run(["ledger", "recover", kept[0]["entry"], "--out", name, *flags])
        assert (recovered["code"], json.loads(recovered["said"])["kept"]) == (0, [])
        assert host.run(["verify", name])["code"] == 0
    return len(kept)


@pytest.mark.parametrize("verb", OUT)
def test_a_signal_at_any_file_event(host: Host, verb: str, record_property: Any) -> None:
    """After it the output is absent or complete, the rerun works, and what was paid for and kept can be recovered."""
    argv, name = OUT[verb]
    for _ in range(2):  # the first one loads modules
        host.fresh()
        events = host.run([*argv, "--out", name], warm=True)["events"]
    take_all = os.environ.get("CLOISTER_KILLS") == "all"
    tried = complete = kept = 0
    for shift, number in enumerate(SIGNALS):
        stride = 1 if take_all else max(1, events // IN_CI)
        for at in range(1 if take_all else 1 + (shift * stride) // len(SIGNALS), events + 1, stride):
            host.fresh()
            ended = host.run([*argv, "--out", name], at, number)
            try:
                is_complete = check_end(host, verb, ended["code"], ended["said"], number)
                kept += check_kept(host, verb, is_complete) if verb not in UNCHARGED else 0
                check_rerun(host, verb, is_complete)
            except AssertionError as error:
                error.add_note(f"signal {number} before event {at} of {events}; it said: {ended['said']}")
                raise
            tried, complete = tried + 1, complete + is_complete
    record_property("signals, complete, kept", (tried, complete, kept))
    assert tried >= IN_CI * len(SIGNALS)
