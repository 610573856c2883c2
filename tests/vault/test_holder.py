"""The holder's door: written down once, and what it writes can be read again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cloister.encode import Encoding, Grid
from cloister.errors import SchemaError, UsageError
from cloister.kernels import Rows
from cloister.kernels.distinct_values import DistinctValues
from cloister.kernels.keyed import RowKeys
from cloister.kernels.loops import choose
from cloister.privacy.budgets import PureDP
from cloister.privacy.ledger import Ledger
from cloister.schema import Neighbours
from cloister.testing import seeded_noise
from cloister.vault import Vault

ENCODING = Encoding((Grid("x", 0.0, 1.0, 100),))
TABLE = pa.table({"x": np.arange(50.0)})


@dataclass(frozen=True)
class Same:
    """Every row as it is."""

    columns: tuple[str, ...] = ("x",)
    schema: pa.Schema = TABLE.schema

    def map_batch(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        return batch


def open_vault(ledger: str) -> object:
    return Vault.open(
        TABLE, ENCODING, budget=PureDP(1), neighbours=Neighbours.ADD_REMOVE, purpose="test", ledger=ledger
    )  # fmt: skip


def hold(ledger: str) -> object:
    return Vault.holding(TABLE, purpose="test", ledger=ledger)


def label(ledger: str) -> object:
    return Vault.label(TABLE, ENCODING, lambda rows: rows.numbers[:, 0], name="x", purpose="test", ledger=ledger)


@pytest.mark.parametrize("door", [open_vault, hold, label])
def test_a_ledger_needs_to_know_the_table(door: Callable[[str], object], tmp_path: Path) -> None:
    """Every door refuses a ledger without the name of a table."""
    with pytest.raises(UsageError, match="which table this is"):
        door(str(tmp_path / "ledger.sqlite"))


def test_several_passes_are_recorded_once(tmp_path: Path) -> None:
    """Counts and labels of one holder are one entry in the ledger."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(1))
    holder = Vault.holding(TABLE, purpose="test", table="t", ledger=ledger)
    holder.record()
    assert len(holder.count(ENCODING, RowKeys(1)).value) == 50
    holder.label(ENCODING, lambda rows: rows.numbers[:, 0], "x")
    holder.record()
    assert ledger.accounts()[0].holder_uses == 1


def test_labels_of_a_missing_column_are_not_recorded(tmp_path: Path) -> None:
    """What cannot be read is refused before the ledger is written."""
    ledger = Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("t", "add-remove", Fraction(1))
    holder = Vault.holding(pa.table({"y": [1.0]}), purpose="test", table="t", ledger=ledger)
    with pytest.raises(SchemaError, match='no column "x"'):
        holder.label(ENCODING, lambda rows: rows.numbers[:, 0], "x")
    assert ledger.accounts()[0].holder_uses == 0


def test_what_was_written_is_opened_again(tmp_path: Path) -> None:
    """A shuffled table has the same values, and is no table of the ledger's."""
    holder = Vault.holding(TABLE, purpose="test")
    path = str(tmp_path / "out.parquet")
    holder.rewrite(Same(), path, "parquet", shuffled=50)
    again = holder.reopen(path)
    assert again.in_ledger is None
    values = again.distinct(DistinctValues(("x",), (100,))).value
    assert sorted(values["number"].to_pylist()) == TABLE["x"].to_pylist()
    assert [file.name for file in tmp_path.iterdir()] == ["out.parquet"]


@pytest.mark.parametrize(("shuffled", "is_seeded"), [(None, False), (50, True)])
def test_a_seeded_order_is_known(shuffled: int | None, is_seeded: bool, tmp_path: Path) -> None:
    """A secret order that was drawn from a seed is no secret; without a shuffle nothing is drawn."""
    holder = Vault.holding(TABLE, purpose="test")
    with seeded_noise(3):
        holder.rewrite(Same(), str(tmp_path / "out.parquet"), "parquet", shuffled)
    assert holder.is_seeded is is_seeded


def test_exact_summaries_are_recorded_once_and_stamped(tmp_path: Path) -> None:
    """Several kernels over the same rows are one use; the number of rows that loops are told is forgotten afterwards."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 1)
    holder = Vault.holding(TABLE, purpose="sums", table="t", ledger=ledger)
    with holder.folding(ENCODING) as fold:
        first, second = fold(Rows()), fold(Rows())
        assert choose._expected_rows == 50
    assert first.value["counts"].tolist() == second.value["counts"].tolist() == [50]
    assert first.stamp == "for the holder only: not a private release"
    assert [entry.purpose for entry in ledger.entries("t")] == ["sums"]
    assert choose._expected_rows == float("inf")


def test_gathered_rows_come_in_order_and_take_a_number_each(tmp_path: Path) -> None:
    """What is gathered is for the holder; numbers that were made of it go out with the rows that they belong to."""
    table = Vault.holding(TABLE, purpose="test")
    gathered = table.gather(Same())
    assert "not a private release" in gathered.stamp
    assert gathered.value["x"].to_pylist() == list(range(50))
    both = Same(("x", "n"), pa.schema([*TABLE.schema, pa.field("n", pa.int32())]))
    table.with_column("n", np.arange(50, dtype=np.int32)).rewrite(both, str(tmp_path / "out.parquet"), "parquet", 50)
    rows = pq.read_table(tmp_path / "out.parquet").to_pylist()
    assert sorted(row["n"] for row in rows) == list(range(50))
    assert all(row["x"] == row["n"] for row in rows)
