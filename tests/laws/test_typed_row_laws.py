"""The law of rows where columns have declared types, in memory and in files: one row more changes no other, and decides nothing.

As in `test_row_laws`. A row is any value of its columns' types, those included that no calendar and no encoding has.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.errors import DataError, SchemaError
from tests.engines import kernels
from tests.laws.hostile_objects import draw_float, draw_text
from tests.laws.row_readings import CASES, NAMES, check_company, check_law, read


def whole(bits: int, signed: bool = True) -> Callable[[random.Random], int]:
    """Integers of so many bits: the ends, zero, and any."""
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if signed else (0, 2**bits - 1)
    return lambda chance: chance.choice((low, high, 0, 1, chance.randint(low, high), chance.randint(max(low, -99), 99)))


def float_bits(bits: int) -> Callable[[random.Random], int]:
    """A number as it is stored: any, infinite, and a NaN that is quiet or signals."""
    kind, stored = np.dtype(f"f{bits // 8}"), np.dtype(f"u{bits // 8}")
    infinite = int(np.array([np.inf], kind).view(stored)[0])
    odd = (infinite, infinite + 1, 2 * infinite - 1, infinite | 1 << (bits - 1))

    def draw(chance: random.Random) -> int:
        with np.errstate(over="ignore"):
            number = int(np.array([draw_float(chance)]).astype(kind).view(stored)[0])
        return chance.choice((number, number, chance.getrandbits(bits), chance.choice(odd)))

    return draw


def raw_bytes(chance: random.Random) -> bytes:
    return chance.choice(
        (chance.randbytes(chance.randrange(6)), draw_text(chance).encode("utf-8", "replace"), b"1.5", b"\xff\xfe")
    )


def decimal_bits(kind: pa.DataType) -> Callable[[random.Random], bytes]:
    """Any bits that a decimal may be stored in: as many digits as its type has, one more, and the ends of the integers."""
    room, beyond = 2 ** (8 * kind.byte_width - 1), 10**kind.precision
    ends = (-room, room - 1, beyond, -beyond, beyond - 1, 1 - beyond)

    def draw(chance: random.Random) -> bytes:
        number = chance.choice(
            (*ends, 0, chance.randrange(-room, room), chance.randrange(1 - beyond, beyond), chance.randrange(99))
        )
        return number.to_bytes(kind.byte_width, "little", signed=True)

    return draw


CODED = pa.dictionary(pa.int32(), pa.decimal128(38, 3))
DECIMALS = (pa.decimal128(38, 3), pa.decimal128(38, -3), pa.decimal128(5, 2), pa.decimal256(76, 70), pa.decimal256(40, -9))

# types that are stored as integers are made of integers: any bits may come
TYPES: dict[pa.DataType, tuple[pa.DataType, Callable[[random.Random], Any]]] = {
    pa.float64(): (pa.uint64(), float_bits(64)),
    pa.float32(): (pa.uint32(), float_bits(32)),
    pa.float16(): (pa.uint16(), float_bits(16)),
    pa.int8(): (pa.int8(), whole(8)),
    pa.int64(): (pa.int64(), whole(64)),
    pa.uint64(): (pa.uint64(), whole(64, signed=False)),
    pa.bool_(): (pa.bool_(), lambda chance: chance.random() < 0.5),
    pa.string(): (pa.binary(), raw_bytes),  # not all of it UTF-8: files may hold that
    pa.large_string(): (pa.large_binary(), raw_bytes),
    pa.binary(): (pa.binary(), raw_bytes),
    pa.dictionary(pa.int32(), pa.string()): (pa.string(), lambda chance: draw_text(chance).encode("utf-8", "replace").decode()),
    CODED: (pa.binary(16), decimal_bits(CODED.value_type)),
    **{kind: (pa.binary(kind.byte_width), decimal_bits(kind)) for kind in DECIMALS},
    pa.date32(): (pa.int32(), whole(32)),
    pa.date64(): (pa.int64(), whole(64)),
    pa.timestamp("s"): (pa.int64(), whole(64)),
    pa.timestamp("ns", "Europe/Berlin"): (pa.int64(), whole(64)),
    pa.time64("us"): (pa.int64(), whole(64)),
    pa.duration("ns"): (pa.int64(), whole(64)),
    pa.null(): (pa.null(), lambda chance: None),
}  # fmt: skip
NOT_IN_PARQUET = (pa.duration("ns"), pa.float16(), pa.time64("us"), pa.date64(), pa.timestamp("s"))
IN_PARQUET = [kind for kind in TYPES if kind not in NOT_IN_PARQUET and not (pa.types.is_decimal(kind) and kind.scale < 0)]
IN_POLARS = [
    kind
    for kind in TYPES
    if not pa.types.is_decimal(kind) and kind not in (pa.string(), pa.large_string(), pa.float16(), CODED)
]


def column(kind: pa.DataType, cells: list[Any]) -> pa.Array:
    stored = pa.array(cells, TYPES[kind][0])
    if pa.types.is_dictionary(kind):
        coded = stored.dictionary_encode()
        return pa.DictionaryArray.from_arrays(coded.indices, coded.dictionary.view(kind.value_type))
    return stored if stored.type == kind else stored.view(kind)


def table(kinds: list[pa.DataType], rows: list[Any]) -> pa.Table:
    return pa.table(
        {name: column(kind, [row[j] for row in rows]) for j, (name, kind) in enumerate(zip(NAMES, kinds, strict=True))}
    )


def draw_typed(kinds: list[pa.DataType], chance: random.Random) -> list[Any]:
    return [None if chance.random() < 0.1 else TYPES[kind][1](chance) for kind in kinds]


def write_parquet(folder: Path, table: pa.Table) -> Path:
    pq.write_table(table, folder / "rows.parquet", row_group_size=100)
    return folder / "rows.parquet"


def write_arrow(folder: Path, table: pa.Table) -> Path:
    with pa.ipc.new_file(folder / "rows.arrow", table.schema) as file:
        file.write_table(table, max_chunksize=50)
    return folder / "rows.arrow"


FORMS: dict[str, tuple[Callable[[Path, pa.Table], Any], list[pa.DataType]]] = {
    "table": (lambda folder, table: table, list(TYPES)),
    "columns": (lambda folder, table: dict(zip(NAMES, table.columns, strict=True)), list(TYPES)),
    "pandas": (lambda folder, table: table.to_pandas(types_mapper=pd.ArrowDtype), list(TYPES)),
    "stream": (lambda folder, table: table.to_reader(max_chunksize=3), list(TYPES)),
    "Arrow": (write_arrow, list(TYPES)),
    "Parquet": (write_parquet, IN_PARQUET),
    "Polars": (lambda folder, table: pl.from_arrow(table), IN_POLARS),
}
every_form = pytest.mark.parametrize("form", sorted(FORMS))


@every_form
def test_any_value_of_a_type_may_be_added(form: str, tmp_path: Path) -> None:
    """Typed columns: the odd row holds any bits that the type has room for."""
    put, types = FORMS[form]
    for number in range(CASES // 10):
        chance = random.Random(f"{form} {number}")
        kinds = [chance.choice(types) for _ in NAMES]
        rows = [draw_typed(kinds, chance) for _ in range(chance.randrange(1, 6))]
        place = chance.randrange(len(rows) + 1)
        more = [*rows[:place], draw_typed(kinds, chance), *rows[place:]]
        check_law(read(put(tmp_path, table(kinds, rows))), read(put(tmp_path, table(kinds, more))), place)


@every_form
def test_a_typed_row_reads_alike_in_any_company(form: str, tmp_path: Path) -> None:
    """Hundreds of rows of every type read as they do among a few others."""
    put, types = FORMS[form]
    chance = random.Random(form)
    for number in range(max(CASES // 30, len(types))):
        kinds = [types[number % len(types)], chance.choice(types)]
        rows = [draw_typed(kinds, chance) for _ in range(30)]
        check_company(lambda some, kinds=kinds: put(tmp_path, table(kinds, some)), rows, chance)  # type: ignore[misc]


@pytest.mark.parametrize("form", ["table", "stream", "Arrow", "Parquet", "Polars"])
@pytest.mark.parametrize("name", ["lists", "structs"])
def test_nested_columns_are_refused_by_name(form: str, name: str, tmp_path: Path) -> None:
    """A column of lists or structs is refused where it is asked for, before the charge, and does not disturb others."""
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))
    rows = pa.table({"lists": [["a"], ["b"]], "structs": [{"c": 1}, {"c": 2}], "x0": [0.1, 0.2]})
    put = FORMS[form][0]
    with pytest.raises(SchemaError, match=f'column "{name}" holds lists or structs'):
        cl.KMeans(1, 1.0, (0, 1), columns=["x0", name], table="people", ledger=url).fit(put(tmp_path, rows))
    assert kernels.spent(url) == 0
    cl.KMeans(1, 1.0, (0, 1), columns=["x0"], table="people", ledger=url).fit(put(tmp_path, rows))
    assert kernels.spent(url) == 1


def test_a_stream_is_read_after_the_charge(tmp_path: Path) -> None:
    """A stream that breaks has cost its budget: that it broke may tell of its rows."""
    url = str(tmp_path / "ledger.sqlite")
    cl.Ledger(url).create("people", "add-remove", Fraction(3))

    def batches() -> Iterator[pa.RecordBatch]:
        yield pa.record_batch({"x0": [0.5]})
        raise pa.ArrowInvalid("a value")

    stream = pa.RecordBatchReader.from_batches(pa.schema([("x0", pa.float64())]), batches())
    with pytest.raises(DataError) as error:
        cl.KMeans(1, 1.0, (0, 1), table="people", ledger=url).fit(stream)
    assert "a value" not in str(error.value)
    assert kernels.spent(url) == 1
