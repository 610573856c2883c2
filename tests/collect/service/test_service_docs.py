"""The page of the service can be followed, command by command."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from cloister.collect.storing.inbox import Inbox
from tests.collect.service.live_service import live_service
from tests.test_docs import commands

PAGE = "collect-service"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a data directory of its own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def cloister(here: Path, words: list[str]) -> str:
    """Run a command that ends by itself."""
    done = subprocess.run(
        [sys.executable, "-m", "cloister", *words], capture_output=True, text=True, cwd=here, env=os.environ.copy()
    )
    assert done.returncode == 0, f"cloister {shlex.join(words)}\n{done.stderr}"
    return done.stdout


def test_the_page_of_the_service_can_be_followed(here: Path) -> None:
    """Its commands in their order: servers are started where the page starts them, on a free port in place of 8000."""
    words = commands(PAGE)
    new, token, serve, report, estimate, verify, new_club, serve_club, invite, postgres = words
    assert (serve[:2], serve_club[:2], postgres[:2]) == (["collect", "serve"],) * 3
    cloister(here, new)
    secret = cloister(here, token).strip()
    with live_service(here, *serve[2:]) as service:
        for _ in range(2):
            cloister(here, [word.replace("http://127.0.0.1:8000", service.address) for word in report])
        asked = Request(f"{service.address}/v1/collections/students-2026/reports.parquet")
        asked.add_header("Authorization", f"Bearer {secret}")
        with urlopen(asked, timeout=20) as answer:
            (here / "reports.parquet").write_bytes(answer.read())
    cloister(here, estimate)
    cloister(here, verify)
    assert json.loads((here / "estimate.csv.release.json").read_text())["result"]["reports"] == 1  # sent twice, counted once
    cloister(here, new_club)
    with live_service(here, *serve_club[2:]):
        cloister(here, invite)
    links = (here / "invitations.txt").read_text().split()
    assert len(links) == 3
    assert all(link.startswith("https://survey.example/c/club#") for link in links)
    assert Inbox(here / "reports.db").invitations(Inbox(here / "reports.db").get("club").number) == 3
    assert "postgresql://" in " ".join(postgres)  # tests/collect/service/test_server.py has workers on PostgreSQL
