"""Anonymizing reads cells as the schema says that they are written, and keeps what it says of missing values."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.anonymization.writing.apply import apply_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import SchemaError
from cloister.schema import Category, Column, Date, Number, Role, Schema

BORN = Column("born", Date(format="%d.%m.%Y", missing=("?",)), Role.QUASI)
PAY = Column("pay", Number((0, 100_000), decimal=",", thousands="."), Role.QUASI)
JOB = Column("job", Category(("nurse", "cook"), other=True, missing=("?",)), Role.QUASI)
ROWS = {
    "born": ["11.03.1980", "12.03.1980", "1.4.1999", "2.4.1999", "?"] * 20,
    "pay": ["36.993,09", "20.000", "1.000,5", "900", "90.000"] * 20,
    "job": ["nurse", "cook", "?", "pilot", ""] * 20,
}


def publish(column: Column, cells: list[str], out: Path, **settings: object) -> tuple[Counter[str | None], Recoding]:
    """What one quasi-identifier is published as, and the recoding."""
    model = cl.TopDownSpecialization(k=10, schema=Schema((column,)), **settings)
    model.publish(pa.table({column.name: cells}), out)
    return Counter(pq.read_table(out)[column.name].to_pylist()), model.recoding_


def test_dates_are_split_as_days(tmp_path: Path) -> None:
    """11.03.1980 was refused, or a text among texts; now days are joined into intervals, and "?" is a blank."""
    labels, _ = publish(BORN, ROWS["born"], tmp_path / "o.parquet")
    assert labels[None] == 20
    assert sum(labels.values()) == 100
    assert all(label is None or label[:1] in "[(12" for label in labels)
    wrong = Column("born", Date(), Role.QUASI)
    with pytest.raises(SchemaError, match="cannot be read as dates"):
        publish(wrong, ROWS["born"], tmp_path / "x.parquet")


def test_numbers_are_split_as_numbers(tmp_path: Path) -> None:
    """German numbers are joined into intervals between the public bounds."""
    labels, _ = publish(PAY, ROWS["pay"], tmp_path / "o.parquet")
    assert len(labels) > 1
    assert min(labels.values()) >= 10
    with pytest.raises(SchemaError, match="cannot be read as numbers"):
        publish(Column("pay", Number((0, 100_000)), Role.QUASI), ROWS["pay"], tmp_path / "x.parquet")


@pytest.mark.parametrize("scope", ["global", "local"])
def test_other_is_a_leaf(scope: str, tmp_path: Path) -> None:
    """Missing and unseen values share the label "(other)"; without it an unseen value is refused, and a blank stays blank."""
    labels, _ = publish(JOB, ROWS["job"], tmp_path / "o.parquet", scope=scope)
    assert labels == {"nurse": 20, "cook": 20, "(other)": 60}
    without = Column("job", Category(("nurse", "cook"), missing=("?",)), Role.QUASI)
    with pytest.raises(SchemaError, match="lacks"):
        publish(without, ROWS["job"], tmp_path / "x.parquet", scope=scope)


def test_other_of_a_hierarchy_is_where_the_file_puts_it(tmp_path: Path) -> None:
    """A hierarchy file may place "(other)" itself; otherwise it lies under the root."""
    (tmp_path / "placed.csv").write_text("nurse;health;*\ncook;kitchen;*\n(other);health;*\n")
    (tmp_path / "plain.csv").write_text("nurse;health;*\ncook;kitchen;*\n")
    for name, expected in (("placed", {"health": 16, "cook": 20}), ("plain", {"cook": 20, "*": 16})):
        kind = Category(hierarchy=str(tmp_path / f"{name}.csv"), other=True)
        cells = ["nurse"] * 9 + ["pilot"] * 7 + ["cook"] * 20
        labels, _ = publish(Column("job", kind, Role.QUASI), cells, tmp_path / f"{name}.parquet")
        assert labels == expected


@pytest.mark.parametrize("column", [BORN, PAY, JOB], ids=lambda column: column.name)
def test_a_saved_recoding_reads_the_same_cells(column: Column, tmp_path: Path) -> None:
    """The formats, and where unseen values go, are in the recoding's file: applied anew it gives the same labels."""
    cells = ROWS[column.name]
    labels, recoding = publish(column, cells, tmp_path / "o.parquet")
    again = Recoding.from_json(recoding.to_json())
    assert again.to_json() == recoding.to_json()
    apply_recoding(again, pa.table({column.name: cells}), tmp_path / "again.parquet")
    assert Counter(pq.read_table(tmp_path / "again.parquet")[column.name].to_pylist()) == labels


def test_a_word_for_missing_is_no_sensitive_value(tmp_path: Path) -> None:
    """ "?" and "-" are blanks to l-diversity, not two more values."""
    kinds = {"sex": Category(("f", "m")), "ill": Category(("flu", "cold"), missing=("?", "-"))}
    schema = Schema((Column("sex", kinds["sex"], Role.QUASI), Column("ill", kinds["ill"], Role.SENSITIVE)))
    rows = pa.table({"sex": ["f"] * 20 + ["m"] * 20, "ill": ["flu", "cold", "?", "-"] * 10})
    cl.TopDownSpecialization(k=5, schema=schema, l_diversity=2).publish(rows, tmp_path / "o.parquet")
    with pytest.raises(cl.CloisterError):
        cl.TopDownSpecialization(k=5, schema=schema, l_diversity=4).publish(rows, tmp_path / "x.parquet")
