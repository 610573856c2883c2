"""A disk without room: it is seen before the charge where the size is known, and after it nothing that was paid for is lost."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.errors import CloisterError
from cloister.privacy import kept_releases
from cloister.privacy.budgets import PureDP
from cloister.privacy.ledger import Ledger
from cloister.sinks import Staged
from cloister.sinks.reservations import Reservation
from cloister.tabulation.request import TabulationRequest
from tests.cli.test_recover_cli import fill_disk, left, run


def test_without_any_room_a_synopsis_is_printed_whole(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Grid, cells and signed certificate are in what is printed; read back, they are the file that was paid for."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("cells.parquet"))
        patch.setattr(kept_releases, "keep", lambda *_: None)
        failed = run(home, "cells.parquet")
    assert failed.exit_code == 1
    assert "cl.Synopsis.from_json" in failed.stderr
    synopsis = cl.Synopsis.from_json(failed.stdout)
    assert len(synopsis) == json.loads(failed.stdout)["result"]["cells"]
    synopsis.save(home / "again.parquet")
    argv = ["verify", str(home / "again.parquet"), "--ledger", str(home / "ledger.sqlite")]
    kept_releases.tell_ledger(Ledger(home / "ledger.sqlite"), synopsis.release)
    assert CliRunner().invoke(app, argv).exit_code == 0


@pytest.mark.parametrize("change", ["{}", "[]", '{"file_base64": "?"}', '{"file_base64": "AAAA"}', "not JSON"])
def test_what_is_no_printed_synopsis_is_refused(change: str) -> None:
    """In one sentence, which names no temporary file."""
    with pytest.raises(CloisterError, match="printed synopsis") as refused:
        cl.Synopsis.from_json(change)
    assert "/" not in str(refused.value)


def test_room_for_a_large_table_is_set_aside_before_the_charge(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that has a megabyte and no more refuses a table of many cells, and nothing is charged."""
    take = Reservation.take_room

    def little(self: Reservation, size: int) -> None:
        if size > 1 << 20:
            raise OSError(errno.ENOSPC, "no space")
        take(self, size)

    monkeypatch.setattr(Reservation, "take_room", little)
    argv = ["tabulate", str(home / "points.csv"), "--schema", str(home / "points.toml"), "--epsilon", "1"]
    argv += ["--by", "x,y", "--bins", "x=400", "--bins", "y=400", "--ledger", str(home / "ledger.sqlite")]
    refused = CliRunner().invoke(app, [*argv, "--out", str(home / "table.json")])
    assert refused.exit_code == 2
    assert "cannot be set aside: No space left on device" in refused.stderr
    assert left(home) == 10


@pytest.mark.parametrize("name", ["table.csv", "table.json", "table.parquet"])
def test_a_table_is_no_larger_than_the_room_for_it(home: Path, name: str) -> None:
    """The bound holds for every format, certificate aside."""
    request = TabulationRequest(by=["x", "y"], budget=PureDP("0.01"), bins={"x": 40, "y": 40}, measures=["x"],
                                schema=str(home / "points.toml"), columns=None)  # fmt: skip
    table = request.run(str(home / "points.csv"), ledger=str(home / "ledger.sqlite"))
    table.save(home / name)
    assert (home / name).stat().st_size - 20_000 < request.on(["x", "y"]).most_bytes()
