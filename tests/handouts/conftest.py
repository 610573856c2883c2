"""One release of every kind for all tests of reports."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.handouts.published import publish


@pytest.fixture(scope="package")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The report of each release, by what was written."""
    folder = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("XDG_DATA_HOME", str(folder / "data"))
        return publish(folder)
