"""Sinks: an output appears whole or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.errors import SinkError
from cloister.sinks import (
    certificate_path,
    check_free,
    check_free_with_certificate,
    file_hashes,
    stage,
)


def test_a_committed_file_is_there_and_nothing_else(tmp_path: Path) -> None:
    """After commit the folder holds the output only, with what was written."""
    with stage(tmp_path / "out.csv", directory=False) as staged:
        staged.path.write_text("a,b")
        staged.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]
    assert (tmp_path / "out.csv").read_text() == "a,b"


def test_a_committed_folder_is_there_and_nothing_else(tmp_path: Path) -> None:
    """A directory is staged empty and appears with its files and everyday permissions."""
    with stage(tmp_path / "out", directory=True) as staged:
        assert not list(staged.path.iterdir())
        (staged.path / "centers.csv").write_text("x")
        staged.commit()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    umask = os.umask(0)
    os.umask(umask)
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o777 & ~umask


def test_nothing_is_seen_before_the_commit(tmp_path: Path) -> None:
    """While it is written the output is not under its name, and what there is is hidden."""
    with stage(tmp_path / "out.csv", directory=False) as staged:
        staged.path.write_text("half")
        assert all(path.name.startswith(".") for path in tmp_path.iterdir())


@pytest.mark.parametrize("trouble", [None, ValueError, KeyboardInterrupt])
def test_without_a_commit_nothing_stays(tmp_path: Path, trouble: type[BaseException] | None) -> None:
    """An exception, Ctrl-C or a forgotten commit leaves an empty folder behind."""

    def write() -> None:
        with stage(tmp_path / "out", directory=True) as staged:
            (staged.path / "part").write_text("half")
            if trouble is not None:
                raise trouble

    if trouble is None:
        write()
    else:
        with pytest.raises(trouble):
            write()
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("there", ["file", "folder", "broken link"])
def test_an_existing_output_is_refused(tmp_path: Path, there: str) -> None:
    """Whatever has the name already, the output is refused and left as it is."""
    target = tmp_path / "out"
    {"file": target.touch, "folder": target.mkdir, "broken link": lambda: target.symlink_to("nowhere")}[there]()
    with pytest.raises(SinkError, match="exists already"):
        check_free(target)


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    """An output in a folder that does not exist is refused by the folder's name."""
    with pytest.raises(SinkError, match="does not exist"):
        check_free(tmp_path / "no" / "out")


def test_an_unwritable_folder_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A place where nothing can be created is refused before anything else happens."""

    def refuse(*_: object) -> None:
        raise OSError(errno.EROFS, "read-only")

    monkeypatch.setattr("os.mkdir", refuse)
    with pytest.raises(SinkError, match="cannot be written"):
        check_free(tmp_path / "out")


@pytest.mark.parametrize("directory", [False, True])
def test_an_output_that_appears_meanwhile_is_not_replaced(tmp_path: Path, directory: bool) -> None:
    """Someone else's output under the same name survives, and the commit says so."""
    target = tmp_path / "out"

    def write() -> None:
        with stage(target, directory=directory) as staged:
            if not directory:
                staged.path.write_text("mine")
            target.write_text("theirs")
            staged.commit()

    with pytest.raises(SinkError, match="exists already"):
        write()
    assert target.read_text() == "theirs"
    assert list(tmp_path.iterdir()) == [target]


def test_a_full_disk_is_told(tmp_path: Path) -> None:
    """Running out of room while writing is told as such, and cleaned up."""
    with pytest.raises(SinkError, match="cannot be written"), stage(tmp_path / "out", directory=True):
        raise OSError(errno.ENOSPC, "no space")
    assert not list(tmp_path.iterdir())


def test_a_killed_process_leaves_only_hidden_parts(tmp_path: Path) -> None:
    """kill -9 in the middle of writing leaves nothing under the output's name."""
    code = (
        "import os, signal, sys\n"
        "from cloister.sinks import stage\n"
        "with stage(sys.argv[1], directory=True) as staged:\n"
        "    (staged.path / 'half').write_text('x')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "out")], check=False)
    assert done.returncode == -signal.SIGKILL
    left = [path.name for path in tmp_path.iterdir()]
    assert len(left) == 1
    assert left[0].startswith(".out.")
    assert left[0].endswith(".partial")


def test_an_output_appears_with_its_certificate(tmp_path: Path) -> None:
    """Both under their names, and the certificate lists the files of a folder, hidden ones aside."""
    out = tmp_path / "table"
    with stage(out, directory=True, with_certificate=True) as staged:
        (staged.path / "part-0.csv").write_text("a\n1\n")
        (staged.path / ".part-0.csv.crc").write_text("x")
        listed = file_hashes(staged.path)
        staged.commit("{}")
    assert list(listed) == ["table/part-0.csv"]
    assert listed == file_hashes(out)
    assert (tmp_path / "table.release.json").read_text() == "{}"


@pytest.mark.parametrize("directory", [True, False])
def test_no_output_without_its_certificate(tmp_path: Path, directory: bool) -> None:
    """When the certificate cannot appear, the output does not stay."""
    out = tmp_path / "table"
    with stage(out, directory=directory, with_certificate=True) as staged:
        (staged.path / "part" if directory else staged.path).write_text("a")
        certificate_path(out).write_text("somebody was faster")
        with pytest.raises(SinkError, match="exists"):
            staged.commit("{}")
    assert [path.name for path in tmp_path.iterdir()] == ["table.release.json"]


def test_a_taken_certificate_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    """The output is free, its certificate is not."""
    (tmp_path / "a.csv.release.json").write_text("{}")
    check_free(tmp_path / "a.csv")
    with pytest.raises(SinkError, match=r"a\.csv\.release\.json exists"):
        check_free_with_certificate(tmp_path / "a.csv")


def test_a_folder_that_vanishes_is_told_in_one_sentence(tmp_path: Path) -> None:
    """Somebody removes the folder of the output while it is written."""
    folder = tmp_path / "gone"
    folder.mkdir()

    def write() -> None:
        with stage(folder / "out.csv", directory=False) as staged:
            shutil.rmtree(folder)
            staged.path.write_text("a,b")

    with pytest.raises(SinkError, match=r"out.csv cannot be written: No such file or directory. Choose another place."):
        write()


@pytest.mark.parametrize("name", ["out\\t.csv", "out\table.csv", "two\nlines.csv", "\u202evsc.csv", "\x1b[8m.csv"])
def test_a_name_that_no_certificate_can_list_is_refused(name: str, tmp_path: Path) -> None:
    """A file beside its certificate is named in it, where a backslash or a control character cannot stand: before any charge."""
    with pytest.raises(SinkError, match="backslash or a character that is not printed"):
        check_free_with_certificate(tmp_path / name)
    with stage(tmp_path / name, directory=False) as staged:  # with its certificate inside it needs no such name
        staged.path.write_text("x")
        staged.commit()


@pytest.mark.parametrize(
    "name", ["plain.csv", "a b.csv", "ümlaut \N{NO-BREAK SPACE}.csv", "100%.csv", "'quoted'.csv", "a:b.csv"]
)
def test_any_other_name_verifies(name: str, tmp_path: Path) -> None:
    """What is written under a name that is taken can be checked under it."""
    made = cl.tabulate({"c": ["p", "q"] * 50}, by=["c"], domains={"c": ["p", "q"]}, budget=1)
    made.save(tmp_path / name)
    assert CliRunner().invoke(app, ["verify", str(tmp_path / name)]).exit_code == 0
