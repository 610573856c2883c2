"""ORC files: read stripe by stripe, by their declared types; what Arrow cannot read whatever the cells are is refused."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import orc

import cloister as cl
from cloister.errors import CloisterError, SchemaError, SourceError
from cloister.sources.opening import open_source

TABLE = pa.table(
    {
        "x": [0.5, None, 1.5],
        "s": ["f", "é\n", None],
        "day": [dt.date(2024, 2, 29)] * 3,
        "at": pa.array([dt.datetime(2024, 2, 29)] * 3, pa.timestamp("ns")),
        "many": [[1], None, [2, 3]],
    }
)


def rows_of(source: Any, names: list[str]) -> list[dict[str, Any]]:
    """Some columns of all rows."""
    return [row for batch in source.batches(names) for row in batch.to_pylist()]


def test_a_file_comes_back_as_it_was_written(tmp_path: Path) -> None:
    """In many stripes, some of its columns, in another order; without columns its rows are counted."""
    large = pa.concat_tables([TABLE] * 20_000)
    orc.write_table(large, tmp_path / "t.orc", stripe_size=1 << 16, batch_size=1024)
    source = open_source(tmp_path / "t.orc")
    assert orc.ORCFile(tmp_path / "t.orc").nstripes > 1
    assert rows_of(source, ["s", "x"]) == large.select(["s", "x"]).to_pylist()
    assert sum(batch.num_rows for batch in source.batches([])) == len(large)


def test_columns_that_one_cell_could_break_are_refused_before_the_charge(tmp_path: Path) -> None:
    """Moments after 2262 end the reading; other columns of the file are read."""
    orc.write_table(TABLE, tmp_path / "t.orc")
    with pytest.raises(SchemaError, match=r'"at".*ORC'):
        cl.KMeans(1, 1.0, (0, 1), columns=["at"]).fit(tmp_path / "t.orc")
    with pytest.raises(SchemaError, match="lists"):
        cl.KMeans(1, 1.0, (0, 1), columns=["many"]).fit(tmp_path / "t.orc")
    assert cl.KMeans(1, 1.0, (0, 1), columns=["x"]).fit(tmp_path / "t.orc").release_.adds_up()


def test_a_damaged_file_gets_a_sentence(tmp_path: Path) -> None:
    """And a text file whose header begins with the letters ORC is a text file."""
    orc.write_table(TABLE, tmp_path / "t.orc")
    (tmp_path / "t.orc").write_bytes((tmp_path / "t.orc").read_bytes()[:100])
    with pytest.raises(CloisterError, match="damaged"):
        open_source(tmp_path / "t.orc")
    (tmp_path / "t.csv").write_text("ORCID,b\n1,2\n")
    assert open_source(tmp_path / "t.csv").names == ("ORCID", "b")


def test_an_option_of_text_means_nothing_here(tmp_path: Path) -> None:
    """The columns of the file have names."""
    orc.write_table(TABLE, tmp_path / "t.orc")
    with pytest.raises(SourceError, match="skip means nothing"):
        open_source(cl.Files(tmp_path / "t.orc", skip=1))
