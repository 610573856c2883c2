"""Private tables read back from their files: the same as before they were written, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import DataError, SourceError

LEVELS = ['b, "x"', "m\nz", ""]
CHANCE = np.random.default_rng(0)
ROWS = pa.table(
    {
        "level": CHANCE.choice(LEVELS, 900),
        "sex": CHANCE.choice(["f", "m"], 900),
        "age": CHANCE.integers(0, 99, 900),
        "income": CHANCE.normal(30, 9, 900),
    }
)


def made(budget: Any = 1, **more: Any) -> cl.PrivateTable:
    """A table with everything that one can hold."""
    asked = {"measures": ["income"], "means": ["age", "income"], "quantiles": {"income": [0.25, 0.5], "age": 0.5}, **more}
    domains, bounds = {"level": LEVELS, "sex": ["f", "m"]}, {"age": (0, 99), "income": (0, 60)}
    return cl.tabulate(ROWS, by=["level", "sex"], budget=budget, domains=domains, bounds=bounds, **asked)


@pytest.mark.parametrize("budget", [1, cl.ApproxDP(0.1, 1e-6)], ids=["pure", "approximate"])
@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "xlsx"])
def test_a_table_that_is_read_is_the_one_that_was_written(ending: str, budget: Any, tmp_path: Path) -> None:
    """Rows, counts, sums, pictures and the certificate are the same, whatever file it went through."""
    table = made(budget)
    release = table.save(tmp_path / f"table.{ending}")
    read = cl.PrivateTable.load(tmp_path / f"table.{ending}")
    assert list(read.rows()) == list(table.rows())
    assert read.to_arrow().equals(table.to_arrow())
    assert np.array_equal(read.counts, table.counts)
    assert np.array_equal(read.sums["income"], table.sums["income"])
    assert (read.by, read.labels, read.heads, read.width) == (table.by, table.labels, table.heads, table.width)
    assert read.pictures() == table.pictures()
    assert read.release_ == release


@pytest.mark.parametrize("ending", ["csv", "json", "parquet", "xlsx"])
def test_a_table_that_was_read_can_be_written_anew(ending: str, tmp_path: Path) -> None:
    """A certificate that listed a CSV lists what is written now."""
    table = made(neighbours="replace-one")
    table.save(tmp_path / "table.csv")
    cl.PrivateTable.load(tmp_path / "table.csv").save(tmp_path / f"again.{ending}")
    (tmp_path / "table.csv").unlink()
    assert list(cl.PrivateTable.load(tmp_path / f"again.{ending}").rows()) == list(table.rows())


@pytest.mark.parametrize("ending", ["csv", "json"])
def test_a_changed_table_is_refused(ending: str, tmp_path: Path) -> None:
    """As `cloister verify` refuses it."""
    path = tmp_path / f"table.{ending}"
    made().save(path)
    before, after = path.read_text().rsplit('"f"', 1)
    path.write_text(f'{before}"g"{after}')
    with pytest.raises(DataError, match="changed after it was written"):
        cl.PrivateTable.load(path)


def test_another_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """A CSV without a certificate, a file of another kind, and one that is not there."""
    (tmp_path / "plain.csv").write_text("a,b\n1,2\n")
    (tmp_path / "plain.json").write_text("[]")
    cl.choose(ROWS, "age", budget=1, bounds=(0, 99), step=1, quantile=0.5).save(tmp_path / "choice.json")
    for name in ("plain.csv", "plain.json", "choice.json", "missing.csv", "table.xlsx"):
        with pytest.raises(SourceError, match=r"Give a table that cloister tabulate or PrivateTable.save wrote\.$"):
            cl.PrivateTable.load(tmp_path / name)
