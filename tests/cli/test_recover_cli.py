"""What was paid for is not lost: a release that cannot be written is kept, told of, and handed out at no cost."""

from __future__ import annotations

import errno
import json
import shutil
import signal
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cloister.cli import app
from cloister.privacy import kept_releases
from cloister.privacy.ledger import Ledger
from cloister.sinks import Staged

VERBS = {
    "clusters": ["cluster", "--k", "2"],
    "cells.parquet": ["synopsis", "--method", "uniform-grid"],
    "table.csv": ["tabulate", "--by", "x", "--bins", "x=4"],
    "table.json": ["tabulate", "--by", "x", "--bins", "x=4"],
    "table.parquet": ["tabulate", "--by", "x", "--bins", "x=4"],
    "rows.csv": ["microdata"],
    "rows.parquet": ["microdata"],
    "median.json": ["choose", "--column", "x", "--quantile", "0.5"],
}


def run(home: Path, name: str, *more: str, ledgered: bool = True) -> Any:
    """A verb that writes under this name."""
    verb, *flags = VERBS[name]
    schema = home / "points.toml"
    if ledgered:
        flags += ["--ledger", str(home / "ledger.sqlite")]
    else:
        schema.write_text(schema.read_text().removeprefix('table = "points"\n'))
    argv = [verb, str(home / "points.csv"), "--schema", str(schema), "--epsilon", "1", *flags, "--out", str(home / name)]
    return CliRunner().invoke(app, [*argv, *more])


def recover(home: Path, *words: str) -> Any:
    """``cloister ledger recover``."""
    return CliRunner().invoke(app, ["ledger", "recover", *words, "--ledger", str(home / "ledger.sqlite")])


def left(home: Path) -> Fraction:
    """What the table may still spend."""
    return Ledger(home / "ledger.sqlite").account("points").epsilon_left


def fill_disk(name: str) -> Callable[..., None]:
    """A commit that finds the disk full, but only under this name."""
    commit = Staged.commit

    def failing(self: Staged, certificate: str | None = None) -> None:
        if self.target.parent.name != "result" and self.target.name == name:
            raise OSError(errno.ENOSPC, "no space")
        commit(self, certificate)

    return failing


@pytest.mark.parametrize("name", VERBS)
def test_a_release_that_cannot_be_written_is_kept_and_recovered(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The error says what was charged and what to type; that hands the same release out, under any name, for nothing."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk(name))
        failed = run(home, name)
    assert failed.exit_code == 1
    assert failed.stderr.startswith("UnwrittenRelease:")
    assert 'Entry 1 of table "points" stays charged: epsilon 1' in failed.stderr
    assert f"cloister ledger recover 1 --out PATH --ledger {home}" in failed.stderr
    assert left(home) == 9
    assert not (home / name).exists()
    listed = json.loads(recover(home, "--json").stdout)["kept"]
    assert [each["entry"] for each in listed] == ["1"]
    out = home / f"again{Path(name).suffix}"
    assert recover(home, "1", "--out", str(out)).exit_code == 0
    assert CliRunner().invoke(app, ["verify", str(out)]).exit_code == 0
    assert left(home) == 9
    assert "Nothing is kept" in recover(home).stdout
    assert not (home / "ledger.sqlite.kept").exists()


def test_a_kept_release_is_the_users_alone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder beside the ledger is closed to others."""
    monkeypatch.setattr(Staged, "commit", fill_disk("clusters"))
    run(home, "clusters")
    assert (home / "ledger.sqlite.kept").stat().st_mode & 0o777 == 0o700


def test_nothing_is_kept_of_what_was_written(home: Path) -> None:
    """After a command that went well no copy is left, in no place."""
    for name in VERBS:
        assert run(home, name).exit_code == 0
    assert not (home / "ledger.sqlite.kept").exists()
    assert not list((home / "data").rglob("*.json"))


def test_without_room_beside_the_ledger_the_users_folder_is_taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is where the folder would be; the release is found in the other place all the same."""
    (home / "ledger.sqlite.kept").write_text("in the way")
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("clusters"))
        assert run(home, "clusters").exit_code == 1
    assert list((home / "data").rglob("about.json"))
    assert recover(home, "--out", str(home / "again")).exit_code == 0


@pytest.mark.parametrize("name", ["clusters", "table.csv"])
def test_without_any_room_the_release_is_printed(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Neither written nor kept: the certificate, with centres or cells, goes to the terminal."""
    monkeypatch.setattr(Staged, "commit", fill_disk(name))
    monkeypatch.setattr(kept_releases, "keep", lambda *_: None)
    failed = run(home, name)
    assert failed.exit_code == 1
    assert "no room to keep" in failed.stderr
    printed = json.loads(failed.stdout)
    assert printed["result"]["centers"] if name == "clusters" else printed["rows"]


def test_a_release_without_a_ledger_is_kept_too(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the user's data folder, under the beginning of its hash."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("clusters"))
        failed = run(home, "clusters", ledgered=False)
    assert "No ledger was charged" in failed.stderr
    (kept,) = json.loads(recover(home, "--json").stdout)["kept"]
    assert f"recover {kept['entry']} --out" in failed.stderr
    assert recover(home, kept["entry"], "--out", str(home / "again")).exit_code == 0
    assert CliRunner().invoke(app, ["verify", str(home / "again")]).exit_code == 0


def test_somebody_who_was_faster_costs_nothing_but_the_name(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that appears under --out while the rows are read stays, and the release is kept."""
    from cloister.clustering.request import ClusterRequest

    fit = ClusterRequest.fit

    def slow(self: ClusterRequest, *arguments: Any) -> Any:
        fitted = fit(self, *arguments)
        (home / "clusters").write_text("theirs")
        return fitted

    monkeypatch.setattr(ClusterRequest, "fit", slow)
    failed = run(home, "clusters")
    assert (failed.exit_code, (home / "clusters").read_text()) == (1, "theirs")
    assert "exists already" in failed.stderr
    assert "ledger recover 1" in failed.stderr


def test_labels_that_cannot_be_made_leave_the_centres(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows break while they are labelled, after the charge: the release is kept without labels."""
    from cloister.clustering.clusters import Clusters
    from cloister.errors import DataError

    def broken(*_: object, **__: object) -> None:
        raise DataError("the file breaks while it is read.")

    with monkeypatch.context() as patch:
        patch.setattr(Clusters, "label", broken)
        failed = run(home, "clusters", "--labels")
    assert failed.stderr.startswith("UnwrittenRelease: the file breaks")
    assert recover(home, "--out", str(home / "clusters")).exit_code == 0
    assert sorted(path.name for path in (home / "clusters").iterdir()) == ["centers.csv", "release.json"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_whatever_stops_the_writing_tells_of_the_kept_release(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Ctrl-C, or a bug: below the usual line stands what was charged and how to get the result."""
    commit = Staged.commit

    def failing(self: Staged, certificate: str | None = None) -> None:
        if self.target == home / "clusters":
            raise error
        commit(self, certificate)

    monkeypatch.setattr(Staged, "commit", failing)
    failed = run(home, "clusters")
    assert failed.exit_code == {KeyboardInterrupt: 130, MemoryError: 1}.get(error, 70)
    assert 'Entry 1 of table "points" stays charged' in failed.stderr
    assert "ledger recover 1" in failed.stderr


def test_what_cannot_be_recovered_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing kept, no such entry, several to choose from, another format; --drop throws one away."""
    assert "nothing is kept" in recover(home, "--out", "x").stderr
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("table.csv"))
        run(home, "table.csv")
        run(home, "table.csv")
    assert "no release of entry 7" in recover(home, "7", "--out", "x.csv").stderr
    assert "2 releases are kept" in recover(home, "--out", "x.csv").stderr
    assert "is a .csv file" in recover(home, "1", "--out", "x.parquet").stderr
    assert recover(home, "--drop").exit_code == 2
    assert recover(home, "1", "--drop").exit_code == 0
    assert [each["entry"] for each in json.loads(recover(home, "--json").stdout)["kept"]] == ["2"]


@pytest.mark.parametrize("name", ["n" * 240 + ".csv", "no/folder.csv"])
def test_a_name_that_cannot_be_written_costs_nothing(home: Path, name: str) -> None:
    """Refused as a usage error, before the charge."""
    verb = ["tabulate", str(home / "points.csv"), "--schema", str(home / "points.toml"), "--by", "x", "--epsilon", "1"]
    refused = CliRunner().invoke(app, [*verb, "--ledger", str(home / "ledger.sqlite"), "--out", str(home / name)])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("SinkError:")
    assert left(home) == 10


def test_the_second_command_with_one_name_pays_nothing(home: Path) -> None:
    """While another command holds the name, a command is refused before its charge."""
    import threading

    from cloister.sinks import reserved

    held, done = threading.Event(), threading.Event()

    def hold() -> None:
        with reserved(home / "clusters"):
            held.set()
            done.wait()

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    refused = run(home, "clusters")
    done.set()
    other.join()
    assert refused.exit_code == 2
    assert "being written by another command" in refused.stderr
    assert left(home) == 10
    assert run(home, "clusters").exit_code == 0


def test_a_parquet_part_that_lost_bytes_costs_nothing(home: Path) -> None:
    """The last of three parts misses a stretch of rows; its footer is whole."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    (home / "parts").mkdir()
    for i in range(3):
        rows = np.random.default_rng(i).uniform(0, 100, (5000, 2))
        pq.write_table(pa.table({"x": rows[:, 0], "y": rows[:, 1]}), home / "parts" / f"{i}.parquet")
    whole = (home / "parts" / "2.parquet").read_bytes()
    argv = ["cluster", str(home / "parts"), "--schema", str(home / "points.toml"), "--k", "2", "--epsilon", "1"]
    argv += ["--ledger", str(home / "ledger.sqlite"), "--out", str(home / "clusters")]
    for damaged in (whole[:4] + whole[20_004:], whole[:-500], whole[:20_000]):
        (home / "parts" / "2.parquet").write_bytes(damaged)
        refused = CliRunner().invoke(app, argv)
        assert refused.exit_code == 1
        assert "damaged or incomplete" in refused.stderr
        assert left(home) == 10


@pytest.mark.parametrize("name", ["clusters", "table.csv", "table.parquet"])
@pytest.mark.parametrize("times", [1, 2])
def test_a_ledger_that_fails_at_the_end_costs_no_result(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, times: int
) -> None:
    """Its disk is full when the release is there. That is written; the ledger is told a moment later, or by `recover`."""
    from cloister.errors import LedgerError

    complete, calls = Ledger.complete, []

    def failing(self: Ledger, *arguments: Any) -> None:
        calls.append(arguments)
        if len(calls) <= times:
            raise LedgerError("the disk is full.")
        complete(self, *arguments)

    monkeypatch.setattr(Ledger, "complete", failing)
    ended = run(home, name)
    assert CliRunner().invoke(app, ["verify", str(home / name)]).exit_code == 0
    assert ended.exit_code == (0 if times == 1 else 4)
    if times == 2:
        assert "could not be told of the release" in ended.stderr
        assert f"cloister ledger recover --ledger {home}" in ended.stderr
        assert "was written before that, and is whole" in ended.stderr
        assert "Nothing is kept" in recover(home).stdout
    (entry,) = Ledger(home / "ledger.sqlite").entries("points")
    assert entry.status == "released"
    verified = CliRunner().invoke(app, ["verify", str(home / name), "--ledger", str(home / "ledger.sqlite")])
    assert verified.exit_code == 0
    assert not (home / "ledger.sqlite.kept").exists()


def keep_one(home: Path, monkeypatch: pytest.MonkeyPatch, name: str = "table.csv", ledgered: bool = True) -> Path:
    """The folder of a release that could not be written."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk(name))
        assert run(home, name, ledgered=ledgered).exit_code == 1
    (about,) = (home / ("ledger.sqlite.kept" if ledgered else "data")).rglob("about.json")
    return about.parent


def test_a_copy_that_was_being_removed_is_gone(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process killed while it removes a copy leaves nothing that is listed, and the next look removes the rest."""
    folder = keep_one(home, monkeypatch)

    remove = shutil.rmtree

    def stop(path: Path, **options: bool) -> None:
        if Path(path).name != f".{folder.name}.gone" or not path.exists():
            remove(path, **options)
            return
        next(path.glob("result/*")).unlink()
        raise PermissionError

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", stop)
        assert recover(home, "1", "--out", str(home / "again.csv")).exit_code == 0
    assert list((home / "ledger.sqlite.kept").iterdir()) == [folder.with_name(f".{folder.name}.gone")]
    assert json.loads(recover(home, "--json").stdout)["kept"] == []
    assert not list((home / "ledger.sqlite.kept").iterdir())


@pytest.mark.parametrize("table", ["points", "other"])
def test_a_ledger_that_was_restored_hands_out_nothing_that_it_does_not_hold(
    home: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    """The entry numbers of an older copy are given again: the kept release is not tied to another charge, of whatever table."""
    place = home / "ledger.sqlite"
    Ledger(place).create("other", "add-remove", 1)
    backup = place.read_bytes()
    keep_one(home, monkeypatch)
    for file in home.glob("ledger.sqlite*"):
        if file.is_file():
            file.unlink()
    place.write_bytes(backup)
    assert Ledger(place).charge(table, "add-remove", 1, 0, "killed") == 1
    refused = recover(home, "1", "--out", str(home / "again.csv"))
    assert refused.exit_code == 4
    assert "does not hold the charge of this release" in refused.stderr
    assert not (home / "again.csv").exists()
    assert Ledger(place).entries(table)[0].status == "charged"
    assert len(json.loads(recover(home, "--json").stdout)["kept"]) == 1


def test_nothing_is_kept_where_others_may_write(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that others made, or a link, stands where releases are kept: another place is taken."""
    (home / "ledger.sqlite.kept").mkdir(mode=0o777)
    (home / "ledger.sqlite.kept").chmod(0o777)
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("table.csv"))
        run(home, "table.csv")
    assert not list((home / "ledger.sqlite.kept").iterdir())
    assert recover(home, "--out", str(home / "again.csv")).exit_code == 0


def test_listing_drops_nothing_but_what_is_written(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another file of that name in its place; and a place that cannot be looked at."""
    keep_one(home, monkeypatch, "table.json")
    (home / "table.json").write_text("theirs")
    assert len(json.loads(recover(home, "--json").stdout)["kept"]) == 1
    exists = Path.exists

    def refused(self: Path, **options: Any) -> bool:
        if self == home / "table.json":
            raise PermissionError(errno.EACCES, "not yours")
        return exists(self, **options)

    monkeypatch.setattr(Path, "exists", refused)
    assert len(json.loads(recover(home, "--json").stdout)["kept"]) == 1


def test_a_signal_while_the_release_is_kept_tells_of_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C as the kept copy appears: it waits until that is known, and the message says how to get the result."""
    commit = Staged.commit

    def interrupted(self: Staged, certificate: str | None = None) -> None:
        commit(self, certificate)
        if self.target.parent.name == "ledger.sqlite.kept":
            signal.raise_signal(signal.SIGINT)

    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", interrupted)
        failed = run(home, "table.csv")
    assert failed.exit_code == 130
    assert "ledger recover 1" in failed.stderr
    assert recover(home, "1", "--out", str(home / "again.csv")).exit_code == 0


@pytest.mark.parametrize("ledgered", [True, False])
@pytest.mark.parametrize("name", ["table.csv", "clusters", "cells.parquet"])
def test_a_key_in_a_home_folder_that_is_not_there_costs_nothing(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, ledgered: bool
) -> None:
    """Told in a sentence before the charge, with a ledger and without one."""
    monkeypatch.setenv("CLOISTER_KEY", "~nosuch/key")
    refused = run(home, name, ledgered=ledgered)
    assert refused.exit_code == 2
    assert refused.stderr.startswith("UsageError: the signing key of this host, ~nosuch/key, begins with a home folder")
    assert left(home) == 10
    refused = CliRunner().invoke(app, ["ledger", "show", "--ledger", "~nosuch/ledger.sqlite"])
    assert refused.exit_code == 2
    assert refused.stderr.startswith("UsageError: the ledger, ~nosuch/ledger.sqlite, begins with a home folder")


@pytest.mark.parametrize("ledgered", [True, False])
def test_an_unexpected_error_after_the_result_says_what_was_spent(
    home: Path, monkeypatch: pytest.MonkeyPatch, ledgered: bool
) -> None:
    """No ledger is named where none was charged."""
    from cloister.cli import output

    def broken(*args: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(output, "print_release", broken)
    failed = run(home, "clusters", ledgered=ledgered)
    spent = 'What was charged stays charged: epsilon 1, table "points", ledger entry 1.'
    if not ledgered:
        spent = "Rows may have been read: count epsilon 1 as spent, which no ledger keeps."
    assert failed.stderr.startswith(f"Unexpected RuntimeError. {spent} This is a bug")


@pytest.mark.parametrize("error", [RuntimeError, MemoryError])
def test_an_unexpected_error_says_whether_something_was_charged(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: type[Exception]
) -> None:
    """A dry run charges nothing, whatever becomes of it."""

    def broken(*args: object) -> None:
        raise error

    monkeypatch.setattr("cloister.clustering.votes.fit.plan_votes", broken)
    failed = run(home, "clusters", "--dry-run", "--rows", "100")
    assert failed.exit_code == (70 if error is RuntimeError else 1)
    assert "Nothing was charged to a ledger." in failed.stderr
    assert "stays charged" not in failed.stderr
    monkeypatch.setattr("cloister.clustering.votes.fit.after_size", broken)
    failed = run(home, "clusters")
    assert "stays charged" in failed.stderr
    assert "Nothing was charged" not in failed.stderr


def test_a_kept_folder_that_is_not_the_users_alone_is_told(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not used, and nobody says that nothing is kept there."""
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("table.csv"))
        run(home, "table.csv")
    place = home / "ledger.sqlite.kept"
    place.chmod(0o750)
    for words in ([], ["--json"], ["--out", str(home / "again.csv")], ["1", "--out", str(home / "again.csv")]):
        told = recover(home, *words)
        assert told.exit_code == 1, words
        assert f"{place} is not used" in told.stderr
        assert "othing is kept" not in told.stderr + told.stdout
    place.chmod(0o700)
    assert recover(home, "--out", str(home / "again.csv")).exit_code == 0


def test_a_ledger_behind_a_link_keeps_beside_its_file(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever name it is given by, then and later."""
    (home / "ledger.sqlite").rename(home / "real.sqlite")
    (home / "ledger.sqlite").symlink_to(home / "real.sqlite")
    with monkeypatch.context() as patch:
        patch.setattr(Staged, "commit", fill_disk("table.csv"))
        run(home, "table.csv")
    assert (home / "real.sqlite.kept").is_dir()
    words = ["ledger", "recover", "--out", str(home / "again.csv"), "--ledger", str(home / "real.sqlite")]
    assert CliRunner().invoke(app, words).exit_code == 0
