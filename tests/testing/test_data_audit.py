"""The audit of a release on a holder's own data: the right rows are left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import csv

from cloister.clustering.request import ClusterRequest
from cloister.errors import UsageError
from cloister.schema import Column, Neighbours, Number, Schema, Text
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.testing.data_audit import ChangedSource, audit_rows, owners_of

TABLE = pa.table({"x": np.linspace(0, 1, 20), "who": [f"p{i % 5}" for i in range(20)]})


def rows_of(source: ChangedSource) -> list[float]:
    """What is left."""
    return [value for batch in source.batches(["x"]) for value in batch.column(0).to_pylist()]


def test_rows_are_dropped_and_doubled() -> None:
    """One is missing, one is there twice, the others stay."""
    source = open_source(TABLE)
    values = TABLE["x"].to_pylist()
    assert rows_of(ChangedSource(source, frozenset())) == values
    assert rows_of(ChangedSource(source, frozenset([3]))) == values[:3] + values[4:]
    assert sorted(rows_of(ChangedSource(source, frozenset([3]), doubled=7))) == sorted(values[:3] + values[4:] + [values[7]])


@pytest.mark.parametrize("neighbours", Neighbours)
def test_a_row_of_a_file_is_audited(neighbours: Neighbours, tmp_path: Path) -> None:
    """Of a CSV file, read by its own rules; every row costs something and none more than is claimed."""
    path = tmp_path / "rows.csv"
    csv.write_csv(TABLE, path)
    request = ClusterRequest(
        n_clusters=2, bounds=(0, 1), columns=["x"], method="lloyd", neighbours=neighbours.value, random_state=0
    )
    audited = list(audit_rows(request.fit, [str(path)], neighbours=neighbours, tries=4))
    assert [each.row for each in audited] == [1, 7, 13, 20]
    assert all(each.audit.holds and 0 < each.audit.largest_loss <= 1 + 1e-9 for each in audited)


def test_a_person_is_left_out_with_all_rows() -> None:
    """Four rows of a person, of whom all count: the loss is that of a person."""
    schema = Schema((Column("x", Number(bounds=(0, 1))), Column("who", Text())), unit="who", max_rows=4)
    request = ClusterRequest(n_clusters=1, schema=schema, method="lloyd", random_state=0)
    (audited,) = audit_rows(request.fit, TABLE, neighbours=Neighbours.ADD_REMOVE, unit=Unit("who", 4), rows=[2])
    assert audited.audit.holds
    size = audited.audit.steps[0]
    assert max(size.worst) == pytest.approx(0.02)  # all four rows: one of them would cost a quarter of the size's share


@pytest.mark.parametrize("data", ["binary", "objects"])
def test_a_person_named_in_bytes_is_left_out_with_all_rows(data: str) -> None:
    """The audit tells people apart as the release does: bytes that repair to one text were one person for one of the two."""
    schema = Schema((Column("x", Number(bounds=(0, 1))), Column("who", Text())), unit="who", max_rows=1)
    request = ClusterRequest(n_clusters=1, schema=schema, method="lloyd", random_state=0)
    names = [bytes([128 + i % 5, i % 5]) for i in range(20)]
    table: Any = TABLE.set_column(1, "who", pa.array(names, pa.binary()))
    if data == "objects":
        table = pd.DataFrame({"x": TABLE["x"].to_pylist(), "who": pd.Series(names, dtype=object)})
    audited = list(audit_rows(request.fit, table, neighbours=Neighbours.ADD_REMOVE, unit=Unit("who", 1), tries=5))
    assert all(each.audit.holds for each in audited)
    assert any(each.audit.largest_loss > 0 for each in audited)
    assert len(np.unique(owners_of(open_source(table), Unit("who", 1)), axis=0)) == 5


def test_rows_that_are_not_there_are_refused() -> None:
    """The places of rows begin at 1."""
    request = ClusterRequest(n_clusters=1, bounds=(0, 1), columns=["x"], random_state=0)
    for row in (0, 21):
        with pytest.raises(UsageError, match="rows 1 to 20"):
            list(audit_rows(request.fit, TABLE, neighbours=Neighbours.ADD_REMOVE, rows=[row]))
    with pytest.raises(UsageError, match="no rows"):
        list(audit_rows(request.fit, TABLE.slice(0, 0), neighbours=Neighbours.ADD_REMOVE))


def test_a_unit_as_text_is_refused_with_what_is_wanted() -> None:
    """It ended in an AttributeError."""
    with pytest.raises(UsageError, match=r'Unit\("mrn", max_rows=5\)'):
        next(audit_rows(print, TABLE, neighbours=Neighbours.ADD_REMOVE, unit="who"))  # type: ignore[arg-type]
