"""Columns of the types that users of Parquet, Arrow and Polars bring: published, or refused by name before a row is written."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import cloister as cl
from cloister.errors import CloisterError, SchemaError, UsageError

N = 60
CODES = [i % 3 for i in range(N)]
WORDS = ["abc"[code] for code in CODES]
DAYS = pa.array([400 * code for code in CODES], pa.int32()).cast(pa.date32())  # days are cut where months begin


class Stamped(pa.ExtensionType):
    """A type of the user's own."""

    def __init__(self) -> None:
        super().__init__(pa.string_view(), "tests.stamped")

    def __arrow_ext_serialize__(self) -> bytes:
        return b""


class Stream:
    """Whatever has the Arrow C stream, such as a frame of Polars."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._table.__arrow_c_stream__(requested_schema)


def runs(values: list[Any], kind: pa.DataType) -> pa.Array:
    return pa.RunEndEncodedArray.from_arrays(pa.array(range(1, N + 1), pa.int32()), pa.array(values, kind))


PUBLISHED = {
    "string_view": pa.array(WORDS, pa.string_view()),
    "large_string": pa.array(WORDS, pa.large_string()),
    "binary_view": pa.array([word.encode() for word in WORDS], pa.binary_view()),
    "runs of text": runs(WORDS, pa.string_view()),
    "runs of numbers": runs(CODES, pa.int64()),
    "dictionary of views": pa.DictionaryArray.from_arrays(
        pa.array(CODES, pa.int8()), pa.array(list("abc"), pa.string_view())
    ),
    **({"decimal32": pa.array([Decimal(code) for code in CODES], pa.decimal32(5, 2))} if hasattr(pa, "decimal32") else {}),
    "decimal256": pa.array([Decimal(code) for code in CODES], pa.decimal256(50, 2)),
    "time in seconds": pa.array(CODES, pa.int32()).cast(pa.time32("s")),
    "time in nanoseconds": pa.array([10**9 * code for code in CODES], pa.int64()).cast(pa.time64("ns")),
    "day": DAYS,
    "instant": pa.array([400 * 86_400 * code for code in CODES], pa.int64()).cast(pa.timestamp("s")),
    "half float": pa.array(np.array(CODES, np.float16)),
    "own type": pa.ExtensionArray.from_storage(Stamped(), pa.array(WORDS, pa.string_view())),
    "truth value": pa.ExtensionArray.from_storage(pa.bool8(), pa.array([code % 2 for code in CODES], pa.int8())),
}
WITHOUT_TEXT = {
    "interval": pa.array([pa.MonthDayNano([code, 0, 0]) for code in CODES]),
    "duration": pa.array(CODES, pa.int64()).cast(pa.duration("s")),
    "uuid": pa.ExtensionArray.from_storage(pa.uuid(), pa.array([bytes([code]) * 16 for code in CODES], pa.binary(16))),
}
NESTED = {
    "list": pa.array([[code] for code in CODES]),
    "list of views": pa.array([[word] for word in WORDS], pa.list_(pa.string_view())),
    "struct": pa.array([{"a": code} for code in CODES]),
    "map": pa.array([[("a", code)] for code in CODES], pa.map_(pa.string(), pa.int64())),
}
ROLES: dict[str, dict[str, Any]] = {
    "rides along": {},
    "quasi": {"quasi": ["q", "x"]},
    "sensitive": {"sensitive": "x", "l_diversity": 2},
    "pseudonym": {"pseudonyms": ["x"], "key_variable": "CLOISTER_TEST_KEY"},
}


def publish(column: pa.Array, out: Path, *, stream: bool = False, **settings: Any) -> pa.Table:
    """The published column."""
    table = pa.table({"q": [i % 2 for i in range(N)], "x": column})
    model = cl.TopDownSpecialization(**{"k": 5, "quasi": ["q"], "identifiers": [], **settings})
    model.publish(Stream(table) if stream else table, out)
    if out.suffix == ".parquet":
        return pq.read_table(out)
    from pyarrow import csv

    return csv.read_csv(out, convert_options=csv.ConvertOptions(column_types={"x": pa.string()}))


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLOISTER_TEST_KEY", "k" * 40)


@pytest.mark.parametrize("role", ROLES)
@pytest.mark.parametrize("name", PUBLISHED)
def test_cells_of_every_layout_are_published(name: str, role: str, tmp_path: Path) -> None:
    """Whatever the layout, a column is published in every role, from a table and from a stream, shuffled or not."""
    for format, stream in (("parquet", False), ("csv", True)):
        out = publish(PUBLISHED[name], tmp_path / f"out.{format}", stream=stream, shuffle=stream, **ROLES[role])
        assert len(set(out["x"].to_pylist()) - {None, ""}) == len(set(PUBLISHED[name].to_pylist()))


@pytest.mark.parametrize("name", WITHOUT_TEXT)
@pytest.mark.parametrize("role", ["quasi", "sensitive", "pseudonym"])
def test_cells_without_a_text_are_refused_by_name(name: str, role: str, tmp_path: Path) -> None:
    """Where a text is needed to tell cells apart, a column that has none is refused, and nothing is written."""
    with pytest.raises(UsageError, match=r'column "x" holds .*--identifiers x'):
        publish(WITHOUT_TEXT[name], tmp_path / "out.csv", **ROLES[role])
    with pytest.raises(UsageError, match=r'column "x" holds .* CSV cannot'):
        publish(WITHOUT_TEXT[name], tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_a_type_that_parquet_lacks_is_refused_by_name(tmp_path: Path) -> None:
    """An interval cannot be stored: one sentence before rows are written."""
    with pytest.raises(UsageError, match='column "x" is of type month_day_nano_interval, which parquet cannot hold'):
        publish(WITHOUT_TEXT["interval"], tmp_path / "out.parquet")
    assert publish(WITHOUT_TEXT["duration"], tmp_path / "out.parquet")["x"].type == pa.duration("s")


@pytest.mark.parametrize("name", NESTED)
def test_lists_and_structs_are_refused_until_named(name: str, tmp_path: Path) -> None:
    """They are not counted, so that nobody knows whether they are unique: drop them, or confirm them by name."""
    column, out = NESTED[name], tmp_path / "out.parquet"
    with pytest.raises(UsageError, match=r'column "x" holds lists or structs.*--identifiers x.*--keep-unique x'):
        publish(column, out)
    for role in ("quasi", "sensitive", "pseudonym"):
        with pytest.raises(UsageError, match='column "x" holds lists or structs'):
            publish(column, out, **ROLES[role])
    assert publish(column, tmp_path / "dropped.csv", identifiers=["x"]).column_names == ["q"]
    assert publish(column, out, keep_unique=["x"])["x"].to_pylist() == column.to_pylist()
    assert '\\"x\\" were not counted' in out.with_name("out.parquet.release.json").read_text()


def test_typed_dates_are_values_to_a_guard(tmp_path: Path) -> None:
    """A sensitive column of dates is not a column of blanks: a class of one date is not close to a table of two."""
    letters, days = ["a"] * 30 + ["b"] * 30, pa.array([0] * 30 + [1] * 30, pa.int32()).cast(pa.date32())
    table = pa.table({"letter": letters, "born": days})
    model = cl.TopDownSpecialization(k=5, quasi=["letter"], sensitive="born", t_closeness=0.2, identifiers=[])
    model.publish(table, tmp_path / "out.csv")
    assert model.summary_.classes == 1


@pytest.mark.parametrize("shuffle", [False, True])
def test_a_value_that_does_not_fit_is_not_quoted(shuffle: bool, tmp_path: Path) -> None:
    """Parquet counts instants in milliseconds: seconds far beyond them are refused without their number."""
    secret = 1_234_567_890_123_456_789
    instants = pa.array([secret, *CODES[1:]], pa.int64()).cast(pa.timestamp("s"))
    with pytest.raises(CloisterError, match='column "x"') as refused:
        publish(instants, tmp_path / "out.parquet", shuffle=shuffle)
    told = refused.value
    assert str(secret)[:9] not in str(told)
    assert told.__context__ is None
    assert not list(tmp_path.iterdir())


def test_a_frame_of_polars(tmp_path: Path) -> None:
    """Its texts are string views."""
    frame = polars.DataFrame({"q": WORDS, "other": WORDS[::-1]})
    cl.TopDownSpecialization(k=5, quasi=["q"], identifiers=[]).publish(frame, tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text().splitlines()[1] == f'"{WORDS[0]}","{WORDS[-1]}"'


@pytest.mark.parametrize("write", [lambda table: table, lambda table: table.cast(pa.schema([("n", pa.string())]))])
def test_whole_numbers_that_one_float_stands_for_are_refused(write: Any, tmp_path: Path) -> None:
    """2^53 and 2^53 + 1 are one float: a label would name a number that some of its rows do not hold."""
    cells = [5] * 20 + [2**53] * 20 + [2**53 + 1] * 20
    made = cl.TopDownSpecialization(k=5, quasi=["n"], identifiers=[])
    with pytest.raises(SchemaError, match='column "n" holds numbers of 9,007,199,254,740,992 or more'):
        made.publish(write(pa.table({"n": cells})), tmp_path / "out.csv")
    made.publish(write(pa.table({"n": [cell // 2 for cell in cells]})), tmp_path / "out.csv")
    made.publish(pa.table({"n": [float(cell) for cell in cells]}), tmp_path / "floats.csv")
