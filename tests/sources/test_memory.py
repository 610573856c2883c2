"""Memory that runs out is told as such: nothing is wrong with the data."""

from __future__ import annotations

import errno
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.cli import app
from cloister.clustering.request import ClusterRequest
from cloister.encode import Encoding
from cloister.errors import DataError, EngineError
from cloister.sources.source import retold

NO_MEMORY = [MemoryError("secret"), pa.ArrowMemoryError("secret"), OSError(errno.ENOMEM, "secret")]


@pytest.mark.parametrize("error", NO_MEMORY, ids=lambda error: type(error).__name__)
def test_a_file_that_does_not_fit_into_memory_is_not_damaged(error: Exception) -> None:
    """Getting it anew would not help."""
    with pytest.raises(EngineError, match=r"not enough memory when rows.csv was read") as caught, retold("rows.csv"):
        raise error
    assert caught.value.__context__ is None


def test_a_damaged_file_still_is() -> None:
    """Other errors of Arrow's are about the file."""
    with pytest.raises(DataError, match="damaged"), retold("rows.csv"):
        raise pa.ArrowInvalid("secret")


def test_a_pass_that_needs_too_much_memory_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the threads that encode rows too; what was charged is said."""

    def fail(*_: object) -> None:
        raise MemoryError("secret")

    monkeypatch.setattr(Encoding, "encode", fail)
    with pytest.raises(EngineError, match=r"not enough memory when the rows were gone through.*epsilon 1") as caught:
        cl.KMeans(2, 1, bounds=(0, 1)).fit(np.zeros((20, 2)))
    assert "secret" not in str(caught.value)


def test_a_command_that_needs_too_much_memory_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no bug."""

    def fail(*_: object) -> None:
        raise MemoryError("secret")

    data = tmp_path / "x.csv"
    data.write_text("a\n1\n")
    monkeypatch.setattr(ClusterRequest, "fit", fail)
    argv = [
        "cluster",
        str(data),
        "--columns",
        "a",
        "--bounds=0,1",
        "--epsilon",
        "1",
        "--k",
        "2",
        "--out",
        str(tmp_path / "out"),
    ]
    failed = CliRunner().invoke(app, argv)
    assert failed.exit_code == 1
    assert "EngineError: there was not enough memory when the command ran." in failed.stderr
    assert "bug" not in failed.stderr
