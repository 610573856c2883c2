"""Empty paths in Python: none of them is the current folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UsageError


@pytest.mark.parametrize("kind", [cl.TopDownSpecialization, cl.Microaggregation])
def test_an_empty_path_of_hierarchies_is_not_the_current_folder(
    kind: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file there that is called as a column is not taken for its hierarchy."""
    monkeypatch.chdir(tmp_path)
    Path("zip.csv").write_text("a;berlin;*\nb;berlin;*\n")
    with pytest.raises(UsageError, match="hierarchies"):
        kind(k=2, hierarchies="", **{"quasi" if kind is cl.TopDownSpecialization else "columns": ["zip"]}).publish(
            pa.table({"zip": ["a", "b"] * 5}), tmp_path / "out.csv"
        )
