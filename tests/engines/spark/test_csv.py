"""CSV files mean on Spark what they mean locally, and what is not read there is refused."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cloister as cl
from cloister.encode import Codes, Encoding, Grid
from cloister.engines.local.engine import LocalEngine
from cloister.engines.spark.csv import CsvLayout, LineGrammar, Parse
from cloister.errors import DataError, SourceError, UsageError
from cloister.kernels.exact import open_exact
from cloister.kernels.keyed import RowKeys
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.sources.records import Grammar
from tests.engines.spark import csv_jobs, jobs
from tests.engines.spark.csv_jobs import IN_PIECES, Cells
from tests.spark_hosts import Host

NAMES = ["id", "x", "g"]
ROWS = [["1", "5", "a"], ["2", "6", "b"], ["1", "6", "a"]]
# what stands in a file: rows of cells as they are written, or lines as they are
AWKWARD: dict[str, list[list[str] | str]] = {
    "line breaks in quotes": [*ROWS, ["7", "5", '"hi\n8,5,a\r\n9;5;a\r10,5,"'], ['"1\n1"', "6", "b"]],
    "doubled quotes": [*ROWS, ['"3"', '"5"', '"a ""b"", c; """'], ["4", '""""', '""']],
    "stray quotes": [*ROWS, ["3", 'x"y', '"a"b'], ["4", "'5'", 'a\\"'], ["5", "5", ' "a" ']],
    "a quote left open": [*ROWS, ["3", "5", '"a'], ["4", "6", "b"]],
    "ragged lines": [*ROWS, ["3"], ["4", "5"], ["5", "6", "b", "more", ""]],
    "empty cells": ["", "\n", *ROWS, ["", "", ""], ['""', '""', '""'], "   ", "\t", "\r", ["3", "", "NULL"], ""],
    "marks where lines begin": [
        *ROWS,
        ["\ufeff1", "5", "a"],
        "\ufeff",
        ["\ufeff\ufeff2", "6", "b"],
        ['\ufeff"1"', "6", "a"],
    ],
    "spaces and marks": [*ROWS, [" 3", "5 ", " a "], ["#4", "\0", "\x1a"], ["\u2028", "\u2460", "\ufeff"]],
}
FORMS = {
    "lines end in CRLF": ("\r\n", "utf-8"),
    "lines end in CR": ("\r", "utf-8"),
    "byte order mark": ("\n", "utf-8-sig"),
    "Windows-1252": ("\n", "cp1252"),
}


def text(rows: list[list[str] | str], order: list[int], delimiter: str, end: str = "\n") -> str:
    """A file whose columns stand in some order; rows that are not full are written as they come."""
    full = [[row[j] for j in order] if len(row) == len(order) else row for row in rows if not isinstance(row, str)]
    lines = iter(delimiter.join(row) for row in full)
    return (
        end.join([delimiter.join(NAMES[j] for j in order), *(r if isinstance(r, str) else next(lines) for r in rows)]) + end
    )


def write_both_orders(folder: Path, rows: list[list[str] | str], end: str = "\n", encoding: str = "utf-8") -> str:
    """A folder with two files: other orders of columns, other delimiters, and no end of the last line in one of them."""
    (folder / "people.csv" / "more").mkdir(parents=True)
    (folder / "people.csv" / "1.csv").write_bytes(text(rows, [0, 1, 2], ",", end).encode(encoding))
    (folder / "people.csv" / "more" / "2.csv").write_bytes(text(rows, [2, 1, 0], ";", end).rstrip("\r\n").encode(encoding))
    return str(folder / "people.csv")


def local_cells(path: str) -> Cells:
    return [tuple(row.values()) for batch in open_source(path).batches(NAMES) for row in batch.to_pylist()]


def in_order(cells: Cells) -> Cells:
    return sorted(cells, key=repr)


@pytest.mark.spark
@pytest.mark.parametrize("case", AWKWARD)
def test_awkward_cells_count_the_same(classic: Host, tmp_path: Path, case: str) -> None:
    """A folder of awkward files in two column orders: each person has the same number of rows of each kind as locally."""
    path = write_both_orders(tmp_path, AWKWARD[case])
    known = [tuple(dict.fromkeys(cell or "" for cell in column)) for column in zip(*local_cells(path), strict=True)]
    encoding = Encoding(categories=tuple(Codes(name, ("?", *texts)) for name, texts in zip(NAMES, known, strict=True)))
    expected = open_exact(LocalEngine(open_source(path), encoding).fold_by_key(RowKeys(3), "id"))
    found = classic(csv_jobs.counts_by_person, path, encoding, "id")
    assert found == dict(zip(map(tuple, expected.keys.tolist()), expected.counts.tolist(), strict=True))


@pytest.mark.spark
@pytest.mark.parametrize("form", FORMS)
def test_forms_of_files_read_the_same(classic: Host, tmp_path: Path, form: str) -> None:
    """Whatever ends the lines and encodes the letters, Spark reads the cells that are read locally."""
    path = write_both_orders(tmp_path, [*ROWS, ["3", "5,5", "é"], "", ["4", '"5\n""5"', "ü"]], *FORMS[form])
    assert in_order(classic(csv_jobs.cells, path, NAMES, {})) == in_order(local_cells(path))


@pytest.mark.spark
def test_pieces_of_files_hold_the_same_rows(classic: Host, tmp_path: Path) -> None:
    """Files whose cells hold no line break, by the user's word, are cut into pieces and lose or repeat no row."""
    marks = ["", "", "\ufeff"]  # a byte order mark inside a file, where a piece may begin, is a character
    many: list[list[str] | str] = [[marks[j % 3] + str(j), '"a ""b"""', "é" * (j % 40)] for j in range(100)]
    path = write_both_orders(tmp_path, ["", *many, ["7", 'x"', '"open']], "\r\n", "utf-8-sig")
    assert in_order(classic(csv_jobs.cells, path, NAMES, IN_PIECES)) == in_order(local_cells(path))


@pytest.mark.spark
def test_a_persons_text_makes_no_rows_of_others(spark: Host, tmp_path: Path) -> None:
    """Rows that somebody writes into a cell, line breaks and other people's ids included, do not count as rows."""
    path = tmp_path / "notes.csv"
    path.write_text('id,x,note\n7,5,"hi\n8,5,\n9,5,\n10,5,"\n11,6,ok\n')
    assert spark(csv_jobs.bounded_count, str(path), Encoding((Grid("x", 0, 1, 100),)), Unit("id", 1)) == 2


@pytest.mark.spark
def test_files_with_different_columns_are_refused(classic: Host, tmp_path: Path) -> None:
    """Files whose columns differ by name, not by order, are refused in the words of the local engine."""
    paths = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]
    for path, header in zip(paths, ("id,x,g", "id,x"), strict=True):
        Path(path).write_text(f"{header}\n1,2,3\n")
    with pytest.raises(SourceError) as here:
        open_source(paths)
    assert classic(csv_jobs.opening, paths) == ("SourceError", str(here.value))


@pytest.mark.spark
@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("id,x\nzoe,2\n".encode("utf-16"), "UTF-16"),
        (gzip.compress(b"id,x\nzoe,2\n"), "the file is no text"),
        (b'id,"x\nzoe,2\n', "a quote in the header line is not closed"),
        (b"\n\r\n", "the file is empty"),
        (b"id\nzoe\n\nzoe\n", "a CSV file of one column"),
    ],
    ids=["UTF-16", "compressed in secret", "line break in a name", "blank", "one column"],
)
def test_what_spark_cannot_read_is_told(classic: Host, tmp_path: Path, content: bytes, message: str) -> None:
    """Files that would be read otherwise than locally are refused, without a word of what stands in them."""
    (tmp_path / "people.csv").write_bytes(content)
    kind, told = classic(csv_jobs.opening, [str(tmp_path / "people.csv")])
    assert kind == "SourceError"
    assert message in told
    assert "zoe" not in told


@pytest.mark.spark
@pytest.mark.parametrize("name", ["people.csv", "people.parquet"])
def test_clustering_asks_for_columns_as_it_does_locally(classic: Host, tmp_path: Path, name: str) -> None:
    """A CSV file, and a DataFrame with a column of text, are not clustered before somebody says which columns."""
    path = tmp_path / name
    table = pa.table({"who": ["ann", "bob"], "x": [1.0, 2.0]})
    pq.write_table(table, path) if name.endswith("parquet") else path.write_text("who,x\nann,1\nbob,2\n")
    with pytest.raises(UsageError) as here:
        cl.KMeans(2, 1.0, (0, 1)).fit(path)
    assert classic(csv_jobs.fit_without_columns, path) == ("UsageError", str(here.value))


@pytest.mark.spark
def test_names_of_folders_stay_text(classic: Host, tmp_path: Path) -> None:
    """People that folders are named after stay apart: 007 is not 7."""
    for person in ("007", "7"):
        (tmp_path / f"id={person}").mkdir()
        pq.write_table(pa.table({"x": [1.0, 2.0]}), tmp_path / f"id={person}" / "part.parquet")
    encoding = Encoding((Grid("x", 0, 1, 100),))
    assert classic(csv_jobs.bounded_count, str(tmp_path), encoding, Unit("id", 1)) == 2


@pytest.mark.spark
def test_columns_that_spark_takes_for_one_are_refused(classic: Host, tmp_path: Path) -> None:
    """Names that differ in capital letters only are told before anything is charged."""
    (tmp_path / "people.csv").write_text("x,X\n1,2\n")
    encoding = Encoding((Grid("x", 0, 1, 100),))
    kind, told = classic(jobs.attempt, csv_jobs.counts_by_person, str(tmp_path / "people.csv"), encoding, "x")
    assert kind == "SchemaError"
    assert "but for capital letters" in told


def batches_of(files: dict[int, list[bytes]], cuts: list[int], start: int = 0) -> Iterator[pa.RecordBatch]:
    """Lines of files, one file after the other, in batches that are cut anywhere."""
    lines = [(file, line) for file, lines in files.items() for line in lines]
    bounds = sorted({0, len(lines), *(cut for cut in cuts if cut < len(lines))})
    for begin, end in pairwise(bounds):
        part = lines[begin:end]
        yield pa.RecordBatch.from_pydict(
            {
                "file": pa.array([file for file, _ in part], pa.int64()),
                "start": pa.array([start] * len(part), pa.int64()),
                "line": pa.array([line for _, line in part], pa.binary()),
            }
        )


MESSY = st.lists(st.binary(max_size=6).map(lambda raw: bytes(b'ab",;\r\xe9'[byte % 7] for byte in raw)), max_size=12)


@settings(max_examples=200, deadline=None)
@given(MESSY, MESSY, st.lists(st.integers(1, 20), max_size=4))
def test_rows_do_not_depend_on_batches(
    tmp_path_factory: pytest.TempPathFactory, one: list[bytes], two: list[bytes], cuts: list[int]
) -> None:
    """Any lines of two files, in whatever batches they reach a worker, give the cells that each file gives locally."""
    contents = {1: [b"id,x", *filter(None, one)], 2: [b"x;id", *filter(None, two)]}
    folder = tmp_path_factory.mktemp("files")
    expected: list[list[str | None]] = []
    for file, lines in contents.items():
        (folder / f"{file}.csv").write_bytes(b"\n".join(lines) + b"\n")
        source = open_source(folder / f"{file}.csv")
        expected += [list(row.values()) for batch in source.batches(["id", "x"]) for row in batch.to_pylist()]
    layouts = {1: CsvLayout(",", ("id", "x")), 2: CsvLayout(";", ("x", "id"))}
    as_characters = {file: [line.decode("latin-1").encode() for line in lines] for file, lines in contents.items()}
    found = Parse(("id", "x"), layouts, in_pieces=False)(batches_of(as_characters, cuts))
    assert [list(row.values()) for batch in found for row in batch.to_pylist()] == expected


@given(st.lists(st.lists(st.text(alphabet='ab"', max_size=5), min_size=1, max_size=3), min_size=1, max_size=8))
def test_a_line_is_a_record_when_files_are_read_in_pieces(rows: list[list[str]]) -> None:
    """Every line is read as if it stood alone in its file, quotes that it leaves open included."""
    lines = [",".join(row).encode() for row in rows if any(row)]
    found = Parse(("a", "b"), {1: CsvLayout(",", ("a", "b"))}, in_pieces=True)(batches_of({1: lines}, [3], start=64))
    alone = [
        next(Grammar(",").rows(run.raw.decode(), run.quoted))
        for line in lines
        for run in LineGrammar(",").runs(Once(line + b"\n"))
    ]
    filled = [(cells[0], cells[1] if len(cells) > 1 else None) for cells in alone]
    assert [tuple(row.values()) for batch in found for row in batch.to_pylist()] == filled


class Once:
    """A stream that gives all it has at once."""

    def __init__(self, held: bytes) -> None:
        self._held = held

    def read(self, size: int, /) -> bytes:
        """Everything, then nothing."""
        held, self._held = self._held, b""
        return held


def test_a_file_that_came_later_is_not_guessed_at() -> None:
    """Lines of a file whose header nobody has looked at are refused, not read by another file's header."""
    with pytest.raises(DataError, match="written while others were opened"):
        list(Parse(("id",), {1: CsvLayout(",", ("id",))}, in_pieces=False)(batches_of({2: [b"id", b"1"]}, [])))
