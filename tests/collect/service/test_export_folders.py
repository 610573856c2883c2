"""Nothing of a download stays in the temporary folder, also when the service is killed while it makes one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from cloister.collect.service import export_folders
from cloister.collect.service.app import make_app
from cloister.collect.service.export_folders import PREFIX, export_folder, remove_abandoned
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.inbox import Inbox

EXPORTING = """
import os, signal
from cloister.collect.service import collector_api
def killed(path):
    path.write_text("half of it")
    os.kill(os.getpid(), signal.SIGKILL)
collector_api.zipped("rows.csv", killed)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A temporary folder of the test's own, here and in processes that it starts."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_service_removes_what_a_killed_one_left(folder: Path) -> None:
    """The folder of a download that was never finished is gone once a service has started."""
    from starlette.testclient import TestClient

    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    subprocess.run([sys.executable, "-c", EXPORTING], env=environment, check=False)
    left = list(folder.glob(f"{PREFIX}*"))
    assert len(left) == 1  # this is what a kill leaves behind
    inbox = Inbox(folder / "reports.db")
    inbox.create()
    with TestClient(make_app(ServiceSettings(str(folder / "reports.db")))):
        assert not left[0].exists()


def test_folders_in_use_stay(folder: Path) -> None:
    """Another worker that starts does not take the files of a download that is being made."""
    with export_folder() as used:
        (used / "reports.parquet").write_text("half of it")
        remove_abandoned()
        assert (used / "reports.parquet").exists()
    assert not list(folder.iterdir())


def test_a_folder_that_was_taken_for_abandoned_is_made_anew(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another worker may look around just between making a folder and locking it."""
    lock_of, asked = export_folders.lock_of, []

    def removed_first(place: Path) -> int | None:
        asked.append(place)
        if len(asked) == 1:
            place.rmdir()
        return lock_of(place)

    monkeypatch.setattr(export_folders, "lock_of", removed_first)
    with export_folder() as used:
        assert used.is_dir()
        assert used != asked[0]


def test_folders_of_other_names_and_modes_stay(folder: Path) -> None:
    """What somebody made themselves, under a name that begins alike, is theirs."""
    for name, mode in ((f"{PREFIX}mydata", 0o700), (f"{PREFIX}abcd_123", 0o755)):
        (folder / name).mkdir()
        (folder / name).chmod(mode)
        (folder / name / "thesis.csv").write_text("precious")
    remove_abandoned()
    assert len(list(folder.glob("*/thesis.csv"))) == 2


def test_links_are_not_followed(folder: Path) -> None:
    """Whoever may write to the temporary folder cannot have another one removed by a link."""
    (folder / "papers").mkdir()
    (folder / "papers" / "thesis").write_text("years of work")
    (folder / f"{PREFIX}link").symlink_to(folder / "papers")
    remove_abandoned()
    assert (folder / "papers" / "thesis").exists()


def test_a_failing_export_leaves_nothing(folder: Path) -> None:
    """An error in the block is the caller's, and the folder goes all the same."""
    with pytest.raises(FileNotFoundError), export_folder() as used:
        (used / "none").read_text()
    assert not list(folder.iterdir())
