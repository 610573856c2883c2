"""What stands first in a table without a header, or first in a batch, decides nothing about other rows."""

from __future__ import annotations

from pathlib import Path

import openpyxl
import polars as pl
import pyarrow as pa
import pytest

from cloister import Files
from cloister.errors import DataError, SourceError
from cloister.sources.opening import open_source


def rows_of(data: object) -> list[tuple[object, ...]]:
    source = open_source(data)
    table = pa.Table.from_batches(source.batches(source.names))
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def test_a_word_that_only_a_later_batch_has_is_read() -> None:
    """Of dictionary columns in generators and lazy frames: the words of the first batch are no domain."""
    schema = pa.schema([("s", pa.dictionary(pa.int32(), pa.string()))])
    batches = [
        pa.record_batch([pa.array(words).dictionary_encode()], schema=schema) for words in (["a", "b"], ["a", "c", "c"])
    ]
    assert rows_of(batch for batch in batches) == [("a",), ("b",), ("a",), ("c",), ("c",)]
    frame = pl.LazyFrame({"s": ["a"] * 70_000 + ["c"]}, schema={"s": pl.Categorical})
    assert rows_of(frame)[-1] == ("c",)


def test_none_among_batches_is_no_end() -> None:
    """A generator that yields None does not lose the batches behind it without a word."""
    batch = pa.record_batch({"s": ["a"]})
    with pytest.raises(DataError, match="other columns or types"):
        rows_of(each for each in (batch, None, batch))


@pytest.mark.parametrize("first", ["ORC,1", "PAR1,1", "PK\x03\x04,1", "SQLite format 3\0,1", "\x1f\x8b\x08,1", "\ufeffb,1"])
@pytest.mark.parametrize("name", ["t.csv", "t.data", "noending"])
def test_the_first_row_is_read_as_any_other(tmp_path: Path, name: str, first: str) -> None:
    """Whatever its bytes are: not as the mark of a format, of a compression or of an encoding."""
    (tmp_path / name).write_text(f"{first}\nb,2\n{first}\n")
    found = rows_of(Files(tmp_path / name, names=["s", "x"], format="csv"))
    assert found[0] == found[2]
    assert found[1] == ("b", "2")


def test_a_name_that_says_nothing_is_refused_whatever_is_in_the_file(tmp_path: Path) -> None:
    """Without a header and without a word about the format."""
    for first in ("a,1", "ORC,1"):
        (tmp_path / "t.data").write_text(f"{first}\n")
        with pytest.raises(SourceError, match="must be known by its name"):
            open_source(Files(tmp_path / "t.data", names=["s", "x"]))


def test_a_cell_to_the_left_moves_no_column(tmp_path: Path) -> None:
    """Of a sheet without a header: its first column is A, whether or not a row uses it."""
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.append([None, "a", "1"])
    book.save(tmp_path / "t.xlsx")
    before = rows_of(Files(tmp_path / "t.xlsx", names=["left", "s", "x"]))
    sheet.append(["z", "b", "2"])
    book.save(tmp_path / "t.xlsx")
    assert before == rows_of(Files(tmp_path / "t.xlsx", names=["left", "s", "x"]))[:1] == [("", "a", "1")]
