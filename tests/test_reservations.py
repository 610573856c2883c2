"""Reservations: a name is refused before anything is charged, held by one process, and let go when that process dies."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from cloister.errors import SinkError
from cloister.sinks import certificate_path, check_free, check_free_with_certificate, reserved, stage
from cloister.sinks.reservations import SUFFIX, Reservation

HOLDER = """
import os, signal, sys
from cloister.sinks import reserved
with reserved(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.read()
"""

KILLED = """
import os, signal, sys
from cloister.sinks import stage, staging
show = staging.show
def killed(source, target):
    {before}
    os.kill(os.getpid(), signal.SIGKILL)
staging.show = killed
if {without_links}:
    def no_link(*_):
        raise OSError(95, "no links here")
    os.link = no_link
with stage(sys.argv[1], directory=False, with_certificate=True) as staged:
    staged.path.write_text("rows")
    staged.commit("certificate")
"""


@pytest.mark.parametrize("name", ["n" * 250, "ä" * 121 + ".csv"])
def test_a_name_that_is_too_long_for_its_certificate_is_refused(tmp_path: Path, name: str) -> None:
    """The output alone would fit in 255 bytes; with its certificate beside it, it does not."""
    check_free(tmp_path / name)
    with pytest.raises(SinkError, match="too long"):
        check_free_with_certificate(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [os.fsdecode(b"caf\xe9.csv"), "nul\0.csv", os.fsdecode(b"caf\xe9") + "/out.csv"])
def test_a_name_that_is_not_utf8_is_refused(tmp_path: Path, name: str) -> None:
    """Such a name could be created, but not written by libraries that take UTF-8."""
    with pytest.raises(SinkError, match="not UTF-8"):
        check_free(tmp_path / name)


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[None]:
    """A disk of 512 kB, if this user may mount one, or else a system that says that there is no room."""
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode == 0:
        try:
            yield
        finally:
            subprocess.run(["umount", str(folder)], check=True)
        return

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "no space")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        yield


def test_a_full_disk_is_refused_before(tmp_path: Path) -> None:
    """Where no megabyte is left nothing is begun."""
    with small_disk(tmp_path / "disk"):
        with pytest.raises(SinkError, match="No space left"):
            check_free(tmp_path / "disk" / "out.csv")
        assert not list((tmp_path / "disk").iterdir())


def test_of_two_processes_one_gets_the_name(tmp_path: Path) -> None:
    """The other one is refused at once; when the first one is killed, the name is free again."""
    command = [sys.executable, "-c", HOLDER, str(tmp_path / "out")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as first:
        assert first.stdout is not None
        assert first.stdout.readline() == b"held\n"
        with pytest.raises(SinkError, match="being written by another command"):
            check_free(tmp_path / "out")
        check_free(tmp_path / "other")  # the living one's folder is left alone
        assert [path.name.endswith(SUFFIX) for path in tmp_path.iterdir()] == [True]
        first.kill()
    check_free(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_of_many_threads_one_gets_the_name(tmp_path: Path) -> None:
    """Twenty that begin at once: one writes the output, and it is the output of one."""
    outcomes: list[str] = []
    begin = threading.Barrier(20)

    def write(number: int) -> None:
        begin.wait()
        try:
            with stage(tmp_path / "out", directory=False) as staged:
                staged.path.write_text(f"{number}")
                staged.commit()
            outcomes.append(f"{number}")
        except SinkError:
            pass

    threads = [threading.Thread(target=write, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [(tmp_path / "out").read_text()] == outcomes
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_reservation_is_used_by_what_is_staged_inside(tmp_path: Path) -> None:
    """`stage` writes under the reservation that is held, and the name is let go at the end."""
    with reserved(tmp_path / "out") as held:
        with stage(tmp_path / "out", directory=True) as staged:
            assert staged.path.is_relative_to(held.folder)
            staged.commit()
        assert held.committed
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_an_error_after_the_commit_says_that_the_output_is_there(tmp_path: Path) -> None:
    """What was written stays, and the error carries a note."""

    def write_and_fail() -> None:
        with reserved(tmp_path / "out"):
            with stage(tmp_path / "out", directory=True) as staged:
                staged.commit()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as told:
        write_and_fail()
    assert told.value.__notes__ == [f"{tmp_path / 'out'} was written before that, and is whole."]


def test_a_signal_at_the_very_end_says_so_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while the reservation is let go, the last that happens."""
    remove = shutil.rmtree

    def interrupted(*arguments: object, **flags: bool) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        remove(*arguments, **flags)  # type: ignore[arg-type]

    def write() -> None:
        with reserved(tmp_path / "out"):
            with stage(tmp_path / "out", directory=True) as staged:
                staged.commit()
            monkeypatch.setattr(shutil, "rmtree", interrupted)

    with pytest.raises(KeyboardInterrupt) as told:
        write()
    assert "is whole" in told.value.__notes__[0]
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("without_links", [False, True])
@pytest.mark.parametrize("is_shown", [False, True])
def test_a_process_that_dies_between_certificate_and_output(tmp_path: Path, without_links: bool, is_shown: bool) -> None:
    """Killed before the output appears it leaves a lone certificate, which the next run takes back; after it, both stay."""
    out = tmp_path / "out.csv"
    code = KILLED.format(before="show(source, target)" if is_shown else "pass", without_links=without_links)
    done = subprocess.run([sys.executable, "-c", code, str(out)], check=False)
    assert done.returncode == -signal.SIGKILL
    assert certificate_path(out).read_text() == "certificate"
    assert out.exists() == is_shown
    if is_shown:
        with pytest.raises(SinkError, match=r"out\.csv exists"):
            check_free_with_certificate(out)
        assert {path.name for path in tmp_path.iterdir()} == {"out.csv", "out.csv.release.json"}
    else:
        check_free_with_certificate(out)
        assert not list(tmp_path.iterdir())


def test_a_certificate_of_something_else_is_not_taken_back(tmp_path: Path) -> None:
    """A lone certificate that differs from the one that a dead process staged belongs to somebody."""
    out = tmp_path / "out.csv"
    code = KILLED.format(before="pass", without_links=False)
    subprocess.run([sys.executable, "-c", code, str(out)], check=False)
    certificate_path(out).unlink()
    certificate_path(out).write_text("another")
    with pytest.raises(SinkError, match=r"release\.json exists"):
        check_free_with_certificate(out)
    assert certificate_path(out).read_text() == "another"


def test_leftovers_of_other_outputs_go_too(tmp_path: Path) -> None:
    """Whatever a dead process left in a folder is removed by the next run there; folders of others stay."""
    code = KILLED.format(before="pass", without_links=False)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.csv")], check=False)
    (tmp_path / ".mine.partial").mkdir()
    check_free(tmp_path / "b.csv")
    assert [path.name for path in tmp_path.iterdir()] == [".mine.partial"]


def test_where_there_are_no_locks_nothing_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A leftover cannot be told from a living one there: its name is refused, with what to do."""
    code = KILLED.format(before="pass", without_links=False)
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "a.csv")], check=False)
    monkeypatch.setattr("cloister.sinks.reservations.fcntl", None)
    check_free(tmp_path / "b.csv")
    certificate_path(tmp_path / "a.csv").unlink()
    left = set(tmp_path.iterdir())
    assert len(left) == 2  # of the output and of its certificate
    for _ in range(2):
        with pytest.raises(SinkError, match="If none is running, remove") as told:
            check_free_with_certificate(tmp_path / "a.csv")
        (named,) = (path for path in left if str(path) in str(told.value))
        left.remove(named)
        shutil.rmtree(named)
    check_free_with_certificate(tmp_path / "a.csv")


def test_the_name_of_a_certificate_is_held_too(tmp_path: Path) -> None:
    """While a command writes a table, nobody else takes the name of its certificate; as an output nobody ever does."""
    table = tmp_path / "t.csv"
    with reserved(table, with_certificate=True):
        with pytest.raises(SinkError, match="being written by another command"):
            Reservation(certificate_path(table)).hold()
        with pytest.raises(SinkError, match="names of certificates"), reserved(certificate_path(table)):
            pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("link", ["lock", "folder"])
def test_links_of_others_are_not_followed(tmp_path: Path, link: str) -> None:
    """Somebody who may write into the folder of the output leads a leftover to a place of the user's."""
    own = tmp_path / "own"
    own.mkdir()
    shared = tmp_path / "shared"
    shared.mkdir()
    planted = shared / f".other.csv.12345678{SUFFIX}"
    if link == "folder":
        planted.symlink_to(own)
    else:
        planted.mkdir()
        (planted / "lock").symlink_to(own / "made.txt")
    with reserved(shared / "t.csv"):
        pass
    assert not list(own.iterdir())


@pytest.mark.parametrize("name", [".mine.cloister.partial", ".t.csv.12345678.cloister.partial", ".cloister.partial"])
def test_a_name_that_is_taken_for_a_leftover_is_refused(tmp_path: Path, name: str) -> None:
    """The next command would remove it."""
    with pytest.raises(SinkError, match="names of unfinished outputs"), reserved(tmp_path / name):
        pass
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", [".mine", ".mine.csv.12345678"])
def test_a_folder_of_the_user_is_no_leftover(tmp_path: Path, name: str) -> None:
    """Neither one of another name nor one that holds other things."""
    own = tmp_path / f"{name}{SUFFIX}"
    own.mkdir()
    (own / "centers.csv").write_text("x")
    with reserved(tmp_path / "t.csv"):
        pass
    assert [path.name for path in own.iterdir()] == ["centers.csv"]
