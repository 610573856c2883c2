"""Standard input as DATA: spooled to a file that nobody else can read and that does not stay."""

from __future__ import annotations

import gzip
import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cloister.cli import app

TEXT = "age,sex\n31,f\n40,m\n31,f\n"


@pytest.fixture
def spools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for temporary files."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    monkeypatch.setenv("TMPDIR", str(folder))
    monkeypatch.setattr("tempfile.tempdir", None)
    return folder


def zipped() -> bytes:
    """An archive of one file."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("people.csv", TEXT)
    return packed.getvalue()


@pytest.mark.parametrize("text", [TEXT.encode(), gzip.compress(TEXT.encode()), zipped()], ids=["plain", "gz", "zip"])
def test_a_verb_reads_standard_input(spools: Path, text: bytes) -> None:
    """Of any format that a file may have; nothing is left."""
    done = CliRunner().invoke(app, ["risk", "-", "--quasi", "age,sex", "--json"], input=text)
    assert done.exit_code == 0, done.output
    assert json.loads(done.output)["quasi"] == ["age", "sex"]
    assert not [path for path in spools.rglob("*") if path.name == "standard-input"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-", "people.csv"], "stands alone"),
        (["-", "-"], "stands alone"),
        (["-", "--engine", "spark"], "not by Spark"),
    ],
)
def test_what_does_not_go_with_it_is_refused(spools: Path, words: list[str], said: str) -> None:
    """One sentence, before anything is read."""
    done = CliRunner().invoke(app, ["risk", *words], input=TEXT)
    assert done.exit_code != 0
    assert said in done.output


def test_an_empty_input_is_one_sentence(spools: Path) -> None:
    """As an empty file is."""
    done = CliRunner().invoke(app, ["risk", "-"], input="")
    assert "is empty" in done.output


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_of_the_input_stays_when_a_command_is_stopped(spools: Path, number: signal.Signals) -> None:
    """Not even when it is killed: the file has no name."""
    if number is signal.SIGKILL and sys.platform != "linux":
        return
    command = [sys.executable, "-m", "cloister", "risk", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert process.stdin is not None
        process.stdin.write(TEXT.encode())
        process.stdin.flush()
        for _ in range(200):
            if [path for path in spools.iterdir() if path.name.startswith("cloister-")]:
                break
            time.sleep(0.05)
        os.kill(process.pid, number)
        process.wait()
    files = [path for path in spools.rglob("*") if path.is_file()]
    assert not [path for path in files if TEXT.encode()[:7] in path.read_bytes()]


def test_errors_call_standard_input_by_its_name(spools: Path) -> None:
    """Not by the file that stands for it; JSON Lines are told how to say so."""
    done = CliRunner().invoke(app, ["risk", "-"], input=b'{"age": 31}\n')
    words = " ".join(done.stderr.split())
    assert words.startswith("SourceError: standard input: unknown format.")
    assert "--format jsonl" in words
