"""Damaged Arrow and Parquet files: refused before anything follows an offset in them; text that is no text is read."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.errors import DataError, SourceError
from cloister.kernels.distinct_values import DistinctValues
from cloister.schema.cell_values import numbers, texts
from cloister.sources.opening import open_source
from cloister.sources.parquet_footer import read_chunks
from cloister.sources.sound_batches import sound_batch
from tests.real_data import real


def text_array(offsets: list[int], data: bytes, kind: pa.DataType) -> pa.Array:
    """An array of texts with the offsets that a damaged file would have."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(kind, len(offsets) - 1, buffers)


def test_offsets_beyond_the_text_are_refused() -> None:
    """Following them would read, or end the process, outside of the file."""
    broken = text_array([0, 1 << 30, 3], b"abc", pa.string())
    with pytest.raises(pa.ArrowInvalid):
        sound_batch(pa.record_batch({"a": broken}))


def test_an_index_beyond_the_dictionary_is_refused() -> None:
    """The code of a text that is not there."""
    indices = pa.Array.from_buffers(pa.int32(), 2, [None, pa.py_buffer(np.array([0, 1 << 20], np.int32).tobytes())])
    broken = pa.DictionaryArray.from_arrays(indices, pa.array(["a"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        sound_batch(pa.record_batch({"a": broken}))


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()])
def test_text_that_is_no_utf8_is_read(kind: pa.DataType) -> None:
    """What a cell holds does not decide whether a file is read: its bytes are replaced, the others are untouched."""
    cells = pa.array([b"a\xff", b"b", None], pa.binary())
    wide = cells if kind == pa.string() else cells.cast(pa.large_binary())
    text = pa.Array.from_buffers(kind, 3, wide.buffers())
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 1]), text)
    read = sound_batch(pa.record_batch({"a": text, "c": coded})).to_pydict()
    assert read == {"a": ["a\ufffd", "b", None], "c": ["a\ufffd", "b", "b"]}


def test_a_sound_batch_is_handed_on_as_it_is() -> None:
    """Nothing is copied."""
    batch = pa.record_batch({"a": ["x"], "b": [1], "c": [[1, 2]]})
    assert sound_batch(batch) is batch


def test_a_damaged_arrow_file_is_an_error_without_its_values(tmp_path: Path) -> None:
    """An offset in the file itself: the message tells that it is damaged, and nothing else."""
    table = pa.table({"name": ["greta", "hans"]})
    stream = io.BytesIO()
    with pa.ipc.new_file(stream, table.schema) as writer:
        writer.write_table(table)
    raw = stream.getvalue()
    offsets = np.array([0, 5, 9], np.int32).tobytes()
    assert raw.count(offsets) == 1
    (tmp_path / "t.arrow").write_bytes(raw.replace(offsets, np.array([0, 1 << 30, 9], np.int32).tobytes()))
    source = open_source(tmp_path / "t.arrow")
    with pytest.raises(DataError, match="damaged") as caught:
        list(source.batches(source.names))
    assert "greta" not in str(caught.value)


@pytest.mark.parametrize("groups", [1, 3])
def test_footers_are_read_as_arrow_reads_them(tmp_path: Path, groups: int) -> None:
    """Path, size, number of values and whether there is a dictionary, of every chunk."""
    rows = 300
    table = pa.table(
        {"n": range(rows), "t": ["a", "b", "c"] * 100, "l": [[1]] * rows, "u": [f"{i}" * 9 for i in range(rows)]}
    )
    path = tmp_path / "t.parquet"
    pq.write_table(table, path, row_group_size=rows // groups, use_dictionary=["t"])
    expected = []
    metadata = pq.read_metadata(path)
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            expected.append(
                (chunk.path_in_schema, chunk.num_values, chunk.total_uncompressed_size, chunk.has_dictionary_page)
            )
    with pa.OSFile(str(path)) as file:
        chunks = read_chunks(file)
    assert chunks is not None
    assert [(chunk.path, chunk.values, chunk.size, chunk.has_dictionary) for chunk in chunks] == expected


def test_a_footer_that_ended_the_process_is_read(tmp_path: Path) -> None:
    """Statistics of a length that Arrow does not expect: its accessor of column chunks aborted."""
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"c": pa.array(["u", "v", "u", "w"] * 50)}), path)
    raw = path.read_bytes()
    with pa.BufferReader(raw) as file:
        assert read_chunks(file)
    for cut in range(1, 120):  # every truncation of the footer that still has its end
        with pa.BufferReader(raw[: -8 - cut] + raw[-8:]) as file:
            read_chunks(file)


def test_real_parquet_keeps_its_codes(tmp_path: Path) -> None:
    """Columns of few texts are read as the codes that the file holds, as before."""
    from pyarrow import csv

    table = csv.read_csv(real("adult-30162.csv"), parse_options=csv.ParseOptions(delimiter=";"))
    pq.write_table(table, tmp_path / "adult.parquet")
    source = open_source(tmp_path / "adult.parquet")
    batch = next(iter(source.batches(["sex", "workclass"])))
    assert all(pa.types.is_dictionary(kind) for kind in batch.schema.types)


def raw_text(cells: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Cells of a type of text whatever their bytes are, as some writers leave them."""
    plain = {pa.string(): pa.binary(), pa.large_string(): pa.large_binary(), pa.string_view(): pa.binary_view()}[kind]
    return pa.Array.from_buffers(kind, len(cells), pa.array(cells, plain).buffers())


def coded(cells: pa.Array) -> pa.Array:
    """The same cells as codes."""
    return pa.DictionaryArray.from_arrays(pa.array(range(len(cells)), pa.int8()), cells, safe=False)


def in_runs(cells: pa.Array) -> pa.Array:
    """The same cells as runs of one row each."""
    ends = pa.array(range(1, len(cells) + 1), pa.int32())
    return pa.Array.from_buffers(pa.run_end_encoded(pa.int32(), cells.type), len(cells), [None], children=[ends, cells])


ODD_TEXTS = [b"a", b"caf\xe9", b"b"]
FORMS = {
    "string": lambda: raw_text(ODD_TEXTS, pa.string()),
    "view": lambda: raw_text(ODD_TEXTS, pa.string_view()),
    "codes": lambda: coded(raw_text(ODD_TEXTS, pa.string())),
    "wide codes": lambda: coded(raw_text(ODD_TEXTS, pa.large_string())),
    "codes of views": lambda: coded(raw_text(ODD_TEXTS, pa.string_view())),
    "runs": lambda: in_runs(raw_text(ODD_TEXTS, pa.string())),
    "runs of codes": lambda: in_runs(coded(raw_text(ODD_TEXTS, pa.string()))),
}
if hasattr(pa, "json_"):  # since Arrow 19
    FORMS["JSON"] = lambda: pa.ExtensionArray.from_storage(pa.json_(), raw_text(ODD_TEXTS, pa.string()))
IN_PARQUET = ("string", "view", "codes", "wide codes", "JSON")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("is_parquet", [False, True])
def test_a_text_that_is_no_utf8_never_decides(form: str, is_parquet: bool, tmp_path: Path) -> None:
    """Whatever the type of its column, such a cell is read as in a plain column, and no pass ends at it."""
    table = pa.table({"x": FORMS[form]()})
    path = tmp_path / ("t.parquet" if is_parquet else "t.arrow")
    if not is_parquet:
        with pa.ipc.new_file(path, table.schema) as file:
            file.write_table(table)
    elif form in IN_PARQUET:
        pq.write_table(table, path)
    else:
        with pytest.raises(pa.ArrowNotImplementedError):
            pq.write_table(table, path)
        return
    (batch,) = open_source(path).batches(["x"])
    assert texts(batch.column(0)).to_pylist() == ["a", "caf\ufffd", "b"]
    table = cl.tabulate(path, ["x"], 1000, domains={"x": ["a", "b"]})
    assert table.counts.round().tolist() == [2, 1]


@pytest.mark.parametrize("bits", [bits for bits in (32, 64, 128, 256) if hasattr(pa, f"decimal{bits}")])
def test_a_decimal_beyond_its_digits_never_decides(bits: int, tmp_path: Path) -> None:
    """Bits of an Arrow file may hold more digits than the type says: such a cell cannot be read, and the others can."""
    kind = getattr(pa, f"decimal{bits}")(3, 1)
    raw = b"".join(number.to_bytes(bits // 8, "little", signed=True) for number in (15, 10**9, -(10**9), -25, 999))
    cells = pa.Array.from_buffers(kind, 5, [None, pa.py_buffer(raw)])
    with pa.ipc.new_file(tmp_path / "t.arrow", pa.schema({"x": kind})) as file:
        file.write_batch(pa.record_batch([cells], ["x"]))
        file.write_batch(pa.record_batch([cells[1:4]], ["x"]))
    first, second = open_source(tmp_path / "t.arrow").batches(["x"])
    assert np.array_equal(numbers(first.column(0)), [1.5, np.nan, np.nan, -2.5, 99.9], equal_nan=True)
    assert np.array_equal(numbers(second.column(0)), [np.nan, np.nan, -2.5], equal_nan=True)


VALUES = ["a", "b", "a", None]


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(VALUES, pa.string_view()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, None], pa.int8()), pa.array(["a", "b"], pa.string_view())),
        in_runs(pa.array(VALUES)),
        in_runs(pa.array(["b", *VALUES])).slice(1),
        in_runs(pa.array(VALUES, pa.string_view())),
        in_runs(coded(pa.array(VALUES))),
        pl.Series(VALUES).to_arrow(compat_level=pl.CompatLevel.newest()),
    ],
    ids=["view", "codes of views", "runs", "sliced runs", "runs of views", "runs of codes", "Polars"],
)
@pytest.mark.parametrize("door", ["table", "stream", "file", "dataset"])
def test_views_and_runs_go_through_every_door(cells: pa.Array, door: str, tmp_path: Path) -> None:
    """Distinct values, risk and rewriting met types of Arrow's that its own functions do not know."""
    table = pa.table({"x": cells, "y": [5, 5, 5, 5]})
    path = tmp_path / "t.arrow"
    with pa.ipc.new_file(path, table.schema) as file:
        file.write_table(table)

    def opened() -> object:
        stream = pa.RecordBatchReader.from_batches(table.schema, table.to_batches())
        doors = {"table": table, "stream": stream, "file": path, "dataset": None}
        return pa.dataset.dataset(path, format="arrow") if door == "dataset" else doors[door]

    plain = pa.table({"x": VALUES, "y": [5, 5, 5, 5]})
    counts = [cl.tabulate(data, ["x"], 1e6, domains={"x": ["b", "a"]}).counts.round().tolist() for data in (opened(), plain)]
    assert counts[0] == counts[1] == [2, 2]
    assert cl.risk(opened(), ["x"]).risk == cl.risk(plain, ["x"]).risk
    for name, data in (("one", opened()), ("other", plain)):
        cl.TopDownSpecialization(k=2, quasi=["x"]).publish(data, tmp_path / f"{name}.csv")
    assert (tmp_path / "one.csv").read_text() == (tmp_path / "other.csv").read_text()
    kernel = DistinctValues(("x",), (10,))
    values = kernel.merge(kernel.empty(), kernel.collect(next(iter(open_source(opened()).batches(["x"])))))
    assert sorted(values["text"].to_pylist()) == ["a", "b"]


def test_a_dataset_is_checked_like_its_files(tmp_path: Path) -> None:
    """A text that is not UTF-8 is read alike; codes, at which Arrow would give up in the middle of a pass, are refused before."""
    for form in ("string", "codes"):
        pq.write_table(pa.table({"x": FORMS[form]()}), tmp_path / f"{form}.parquet")
    (batch,) = open_source(pa.dataset.dataset(tmp_path / "string.parquet")).batches(["x"])
    assert batch.column(0).to_pylist() == ["a", "caf\ufffd", "b"]
    with pytest.raises(SourceError, match="Give the paths of the files"):
        open_source(pa.dataset.dataset(tmp_path / "codes.parquet"))


def decimals(numbers: list[int], kind: pa.DataType) -> pa.Array:
    """Decimals of any digits: what is stored is integers."""
    raw = b"".join(number.to_bytes(kind.byte_width, "little", signed=True) for number in numbers)
    return pa.Array.from_buffers(kind, len(numbers), [None, pa.py_buffer(raw)])


FORMS_OF_DECIMALS = {
    "table": lambda cells: pa.table({"x": cells}),
    "columns": lambda cells: {"x": cells},
    "codes": lambda cells: {"x": pa.DictionaryArray.from_arrays(pa.array(range(len(cells))), cells)},
    "pandas": lambda cells: pd.DataFrame({"x": pd.Series(pd.arrays.ArrowExtensionArray(cells)), "y": ""}),
}


@pytest.mark.parametrize("form", FORMS_OF_DECIMALS)
@pytest.mark.parametrize("kind", [pa.decimal128(38, 2), pa.decimal256(76, 2), pa.decimal128(5, 2), pa.decimal128(38, -3)])
def test_a_decimal_beyond_its_type_is_unreadable_in_any_company(form: str, kind: pa.DataType) -> None:
    """The least integer too, which Arrow takes for one without digits; and cells beside it stay what they are."""
    least, beyond = -(2 ** (8 * kind.byte_width - 1)), 10**kind.precision
    cells = [least, beyond - 1, 1 - beyond, 0, beyond, -beyond]
    for some in ([0], [0, 4], [1, 2, 3], list(range(6)), [3, 5]):
        source = open_source(FORMS_OF_DECIMALS[form](decimals([cells[i] for i in some], kind))).keeping_kinds()
        (batch,) = source.batches(["x"])
        read = [None if np.isnan(number) else number for number in numbers(batch.column(0)).tolist()]
        scale = 10.0**-kind.scale
        assert read == [pytest.approx(cells[i] * scale) if i in (1, 2, 3) else None for i in some]


def test_decimals_of_a_slice_are_its_own() -> None:
    """A part of a column, some of it null, has the same cells."""
    whole = decimals([7, 10**5, 8, 9], pa.decimal128(5, 0))
    part = pa.Array.from_buffers(whole.type, 3, [pa.py_buffer(b"\x0b"), whole.buffers()[1]], offset=1)
    assert sound_batch(pa.record_batch({"x": part})).column(0).to_pylist() == [None, None, 9]


def test_one_decimal_does_not_move_a_thousand_others() -> None:
    """What a table of counts promises."""
    kind = pa.decimal128(38, 2)
    few, more = (
        cl.tabulate(
            pa.table({"pay": decimals(rows, kind)}), by=["pay"], bounds={"pay": (0, 100)}, bins={"pay": 2}, budget=50
        )
        for rows in ([-(2**127)] * 1000, [-(2**127)] * 1000 + [10**38])
    )
    assert abs(np.asarray(few.counts) - np.asarray(more.counts)).sum() < 10
