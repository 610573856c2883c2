"""What stands where rows are looked for: files, and things that only look like them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import cloister as cl
from cloister.errors import SourceError, UsageError
from cloister.privacy import signing
from cloister.sources import places
from cloister.sources.places import find


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_a_pipe_is_refused_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Opened it would be waited for, whoever writes to it, and no signal would end that."""
    os.mkfifo(tmp_path / "rows.csv")
    for place in (tmp_path / "rows.csv", "/dev/null"):
        with pytest.raises(SourceError, match=r"pipe or a device.*Give a file"):
            find(place)
    with pytest.raises(SourceError, match="Give a file"):
        cl.KMeans(2, 1, bounds=(0, 1), columns=["x"]).fit(str(tmp_path / "rows.csv"))
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "rows.csv"))
    with pytest.raises(UsageError, match="not a file"):
        signing.host_key()


def test_a_folder_that_cannot_be_listed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a sentence, whatever the system says."""

    def refused(*_: object) -> None:
        raise PermissionError(13, "Cannot list directory")

    monkeypatch.setattr(places, "_in_folder", refused)
    with pytest.raises(SourceError, match="cannot be listed to its end"):
        find(tmp_path)
