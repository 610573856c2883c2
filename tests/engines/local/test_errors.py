"""What the local engine says when something goes wrong: no value, and nothing behind it that holds one."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloister.engines.local.engine import LocalEngine
from cloister.errors import DataError, EngineError, SourceError
from cloister.sources.opening import open_source
from tests.engines import kernels
from tests.laws.tables import identity, random_rows, table

ENCODING = identity(2, 50, ())


def test_an_error_in_a_pass_leaves_its_cause_behind() -> None:
    """A kernel that fails with a value in its message: neither the error nor what hangs on it holds the value."""
    engine = LocalEngine(open_source(table(random_rows(6, 400, 2, 50, ()))), ENCODING)
    with pytest.raises(EngineError, match="ValueError") as caught:
        engine.fold(kernels.Blurts())
    assert "forty-two" not in str(caught.value)
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None


def test_a_broken_file_leaves_arrows_message_behind(tmp_path: Path) -> None:
    """Arrow's own messages may quote a field: they do not hang on the error that retells them."""
    path = tmp_path / "broken.parquet"
    path.write_bytes(b"PAR1 forty-two PAR1")
    with pytest.raises((DataError, SourceError)) as caught:
        list(open_source(path).batches(("a",)))
    assert caught.value.__context__ is None
