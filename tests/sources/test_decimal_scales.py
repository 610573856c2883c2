"""Decimals with more places than Arrow can write: it writes one and the same text for all of them, so their type is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.dataset
import pytest

import cloister as cl
from cloister.errors import SourceError
from cloister.sources.opening import open_source
from tests.engines import kernels

BEYOND = [pa.decimal128(10, -39), pa.decimal128(10, 39), pa.decimal256(10, -77), pa.decimal256(10, 77)]
WIDEST = [pa.decimal128(10, -38), pa.decimal128(10, 38), pa.decimal256(10, -76), pa.decimal256(10, 76)]


def decimals(kind: pa.DataType, cells: int = 4) -> pa.Array:
    width = kind.byte_width
    stored = b"".join(cell.to_bytes(width, "little", signed=True) for cell in range(cells))
    return pa.Array.from_buffers(kind, cells, [None, pa.py_buffer(stored)])


def arrow_file(table: pa.Table, path: Path) -> Path:
    with pa.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    return path


def forms(column: pa.Array, folder: Path) -> dict[str, Any]:
    table = pa.table({"x": column, "y": list(range(len(column)))})
    path = arrow_file(table, folder / "t.arrow")
    return {
        "table": table,
        "stream": table.to_reader(),
        "dict": {"x": column, "y": list(range(len(column)))},
        "file": path,
        "files": [path, arrow_file(table, folder / "u.arrow")],
        "dataset": pyarrow.dataset.dataset(path, format="ipc"),
        "frame": pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(column)), "y": [0.0] * len(column)}),
        "dict of Series": {"x": pd.Series(pd.arrays.ArrowExtensionArray(column))},
    }


@pytest.mark.parametrize("cells", [0, 4])
@pytest.mark.parametrize("kind", BEYOND, ids=str)
def test_a_scale_beyond_what_arrow_writes_is_refused_by_name(kind: pa.DataType, cells: int, tmp_path: Path) -> None:
    """In every form of a table, whether or not there is a row."""
    for data in forms(decimals(kind, cells), tmp_path).values():
        with pytest.raises(SourceError, match=r'"x" is of the type decimal.* more places than Arrow can write'):
            open_source(data)


@pytest.mark.parametrize("kind", WIDEST, ids=str)
def test_the_widest_scale_is_read(kind: pa.DataType, tmp_path: Path) -> None:
    """Up to the last place that Arrow writes."""
    for data in forms(decimals(kind), tmp_path).values():
        assert open_source(data).names[0] == "x"


def test_codes_of_such_decimals_are_refused_too() -> None:
    """A dictionary is what its values are."""
    column = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0]), decimals(BEYOND[0]))
    with pytest.raises(SourceError, match="more places"):
        open_source(pa.table({"x": column}))


def test_every_verb_refuses_before_a_charge(tmp_path: Path) -> None:
    """One cell that is not null ended a run after its charge, and as names all people were one."""
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(99))
    table = pa.table({"x": decimals(BEYOND[0]), "y": ["a", "a", "b", "b"], "z": [0.0, 1.0, 2.0, 3.0]})
    unit = cl.Schema.from_text('unit="x"\nmax_rows=1\n[columns.z]\nkind="number"\nbounds=[0,9]\n[columns.x]\nkind="text"\n')
    with pytest.raises(SourceError, match='"x" is of the type'):
        cl.tabulate(table, by=["x"], bounds={"x": (0, 9)}, bins={"x": 2}, budget=1, table="people", ledger=url)
    with pytest.raises(SourceError, match='"x" is of the type'):
        cl.tabulate(table, by=["z"], bins={"z": 2}, schema=unit, budget=1, table="people", ledger=url)
    with pytest.raises(SourceError, match='"x" is of the type'):
        cl.KMeans(2, budget=1, bounds=(0, 9), columns=["x"], table="people", ledger=url).fit(table)
    with pytest.raises(SourceError, match='"x" is of the type'):
        cl.TopDownSpecialization(k=2, quasi=["x", "y"]).publish(table, tmp_path / "out.parquet")
    with pytest.raises(SourceError, match='"x" is of the type'):
        cl.risk(table, ["x"])
    assert kernels.spent(url) == 0
