"""A few blanks in a column of numbers or days are suppressed where that pays, and do not make all of it ``*``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl


def ages(blanks: int, n: int = 2_000) -> list[float | None]:
    """Whole ages, of which the first are blank."""
    cells: list[float | None] = np.random.default_rng(2).integers(20, 70, n).astype(float).tolist()
    return [None] * blanks + cells[blanks:]


def published(tmp_path: Path, table: pa.Table, **settings: Any) -> Any:
    """What became of a table."""
    made = cl.TopDownSpecialization(k=10, quasi=table.column_names, identifiers=[], **settings)
    made.publish(table, tmp_path / "out.parquet")
    return made.summary_


@pytest.mark.parametrize("gain", ["loss", "distance", "entropy"])
def test_one_blank_does_not_make_a_column_a_star(gain: str, tmp_path: Path) -> None:
    """The row with the blank is suppressed, the others are published."""
    summary = published(tmp_path, pa.table({"age": ages(1)}), gain=gain, suppression=0.05)
    assert summary.loss < 0.05
    assert summary.suppressed >= 1


def test_days_and_several_columns(tmp_path: Path) -> None:
    """Two columns with a few blanks each: both are published."""
    days = pa.array(np.arange(2_000) % 900, pa.int32()).cast(pa.date32()).to_pylist()
    table = pa.table({"age": ages(2), "day": [*days[:-3], None, None, None], "sex": ["f", "m"] * 1_000})
    labels = {column.name: column.labels for column in published(tmp_path, table, suppression=0.05).columns}
    assert labels["age"] != ("*",)
    assert labels["day"] != ("*",)


def test_blanks_that_may_not_be_suppressed_stay_with_the_numbers(tmp_path: Path) -> None:
    """Without suppression, or with fewer rows of it than blanks, nothing is lost."""
    for share in (0.0, 0.001):
        (tmp_path / str(share)).mkdir()
        assert published(tmp_path / str(share), pa.table({"age": ages(5)}), suppression=share).suppressed == 0
