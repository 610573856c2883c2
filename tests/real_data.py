"""Where the tests find real data sets: CLOISTER_DATA, or a folder beside the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("CLOISTER_DATA", Path(__file__).parent.parent / "../shared/data"))


def real(name: str) -> Path:
    """A real file, or a skipped test (in CI: a failed one, as `conftest` has it)."""
    path = FOLDER / name
    if not path.exists():
        pytest.skip(f"{name} is not there: set CLOISTER_DATA to the folder of the real data sets")
    return path
