"""Private rows read back from their files: the same as before they were written, or refused."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import numpy as np
import polars
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import DataError, SourceError
from cloister.schema import Category, Column, Date, Number, Schema

SEXES = ("f", 'm, "q"', "NA")
CHANCE = np.random.default_rng(0)
ROWS = pa.table(
    {
        "age": CHANCE.integers(0, 99, 300),
        "income": CHANCE.normal(30, 9, 300),
        "sex": CHANCE.choice(SEXES, 300),
        "born": [date(2000, 1, 1) + timedelta(days=i) for i in range(300)],
    }
)
SCHEMA = Schema(
    (
        Column("age", Number(bounds=(0, 99), step=1)),
        Column("income", Number(bounds=(0, 60))),
        Column("sex", Category(SEXES)),
        Column("born", Date(bounds=(date(2000, 1, 1), date(2002, 1, 1)))),
    )
)


@pytest.fixture(scope="module")
def rows() -> cl.PrivateRows:
    """Rows with a column of each kind."""
    return cl.PrivateMicrodata(budget=2, schema=SCHEMA).sample(ROWS)


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_rows_that_are_read_are_those_that_were_written(rows: cl.PrivateRows, ending: str, tmp_path: Path) -> None:
    """Cells, types of columns, and the certificate."""
    release = rows.save(tmp_path / f"rows.{ending}")
    read = cl.PrivateRows.load(tmp_path / f"rows.{ending}")
    assert read.table.schema.equals(rows.table.schema)
    assert read.as_rows() == rows.as_rows()
    assert read.release_ == release


def test_changed_rows_are_refused(rows: cl.PrivateRows, tmp_path: Path) -> None:
    """As `cloister verify` refuses them; and rows without their certificate."""
    path = tmp_path / "rows.csv"
    rows.save(path)
    path.write_text(path.read_text() + "1,2,f,2000-01-01\n")
    with pytest.raises(DataError, match="changed after it was written"):
        cl.PrivateRows.load(path)
    (tmp_path / "rows.csv.release.json").unlink()
    with pytest.raises(SourceError, match=r"no rows\.csv\.release\.json stands beside it\. Give private rows"):
        cl.PrivateRows.load(path)


def test_rows_are_frames_and_data(rows: cl.PrivateRows) -> None:
    """Of every library, and whatever reads data reads them as they are."""
    assert rows.to_arrow() is rows.table
    assert rows.to_polars().equals(polars.DataFrame(rows))
    assert rows.to_polars().to_arrow().num_rows == len(rows.to_pandas()) == len(rows)
    assert cl.risk(rows, ["age", "sex"]).risk.rows == len(rows)  # type: ignore[union-attr]
