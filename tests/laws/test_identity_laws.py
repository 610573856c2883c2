"""The law of names: two people whose cells differ are two people, in every door there is, and one person is one.

Cells are drawn in heaps that differ in little: a bit, a byte that no encoding has, a digit that no float holds. What differs is
said by a model of each door that shares no code with it.
"""

from __future__ import annotations

import random
import urllib.parse
from collections.abc import Callable, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

import cloister as cl
from cloister.engines.local.engine import LocalEngine
from cloister.kernels import Rows, per_unit
from cloister.kernels.exact import open_exact
from cloister.kernels.per_unit import people
from cloister.schema.cell_values import texts
from cloister.schema.unit import Unit
from cloister.sources.opening import open_source
from cloister.sources.stated_names import StatedNames
from cloister.testing import audit
from tests.engines.spark import jobs
from tests.laws.kernels import HALF
from tests.laws.row_readings import CASES
from tests.laws.tables import identity, random_rows, table
from tests.laws.test_typed_row_laws import TYPES, column, write_arrow
from tests.spark_hosts import Host

HEAP = 12  # cells of a case
ROUNDS = max(CASES // HEAP, 15)
PIECES = [*b"a \xc3\xa9 \xe9 \x81 \x8d \xff \xfe \xed\xa0\x80 \xed\xa0\x81 \xef\xbf\xbd".split(b" "), b" "]


def near_bytes(chance: random.Random) -> bytes:
    """A few bytes, of which many repair to the same text."""
    return b"".join(chance.choice(PIECES) for _ in range(chance.randrange(1, 4)))


def near_text(chance: random.Random) -> str:
    return "".join(chance.choice(("a", "é", "\ud800", "\ud801", "\udcff", "\ufffd", "?", " ")) for _ in range(2))


def near_number(chance: random.Random) -> Any:
    digits = chance.randrange(10**21, 10**21 + 4)
    return chance.choice((Decimal(digits).scaleb(-22), Fraction(digits, 10**22 + 1), 10**80 + digits, digits))


def near_object(chance: random.Random) -> Any:
    draw = chance.choice((near_bytes, near_text, near_number, lambda chance: (near_bytes(chance), near_text(chance))))
    return draw(chance)


def key_of_object(cell: Any) -> Any:
    """What tells an object from others: its type and itself; None is no name.

    A text loses the blanks around it, unless it holds lone surrogates: then it is its bytes.
    """
    if isinstance(cell, str):
        text = cell if any("\ud800" <= letter <= "\udfff" for letter in cell) else cell.strip()
        return ("text", text) if text else None
    return ("number", Fraction(cell)) if isinstance(cell, int | Decimal | Fraction) else (type(cell).__name__, cell)


def key_of_text(raw: bytes) -> Any:
    """What tells a text in a typed file from others: it is a text, or else bytes."""
    try:
        return raw.decode().strip() or None
    except UnicodeDecodeError:
        return raw


def key_in_csv(raw: bytes) -> Any:
    """What a cell of a CSV file says: the text that UTF-8 makes of it, or else Windows-1252, as browsers know it."""
    try:
        return raw.decode().strip() or None
    except UnicodeDecodeError:
        return "".join(bytes([b]).decode("cp1252") if b not in b"\x81\x8d\x8f\x90\x9d" else chr(b) for b in raw).strip()


def owners_in(data: Any) -> list[tuple[int, ...]]:
    """Whose row each is, as a private verb tells them apart."""
    source = open_source(data, StatedNames(("who", "note")))
    source = source.keeping_kinds() if hasattr(source, "keeping_kinds") else source
    return [tuple(owner) for batch in source.batches(["who"]) for owner in people(batch.column(0)).tolist()]


def check_names(owners: Sequence[Any], keys: Sequence[Any]) -> None:
    """Two rows have one owner exactly where they have one key."""
    assert len(owners) == len(keys)
    assert len(set(owners)) == len(set(keys)) == len(set(zip(owners, keys, strict=True)))


def object_frame(cells: list[Any]) -> pd.DataFrame:
    frame = pd.DataFrame({"note": range(len(cells))})
    frame["who"] = pd.Series(cells, dtype=object)
    return frame


OBJECTS: dict[str, Callable[[list[Any]], Any]] = {
    "list": lambda cells: [[cell, 1] for cell in cells],
    "dict of columns": lambda cells: {"who": cells, "note": cells},
    "frame": object_frame,
}


@pytest.mark.parametrize("form", sorted(OBJECTS))
def test_objects_that_differ_are_different_people(form: str) -> None:
    """Bytes, lone surrogates, long numbers, pairs: a hundred people with ids of eight bytes counted as one row."""
    for number in range(ROUNDS):
        chance = random.Random(number)
        cells = [near_object(chance) for _ in range(HEAP)]
        check_names(owners_in(OBJECTS[form](cells)), [key_of_object(cell) for cell in cells])


def write_part(folder: Path, rows: pa.Table, number: int = 0) -> Path:
    pq.write_table(rows, folder / f"{number}.parquet")
    return folder / f"{number}.parquet"


FILES: dict[str, Callable[[Path, pa.Table], Any]] = {
    "table": lambda folder, rows: rows,
    "stream": lambda folder, rows: rows.to_reader(max_chunksize=3),
    "dataset": lambda folder, rows: dataset(write_arrow(folder, rows), format="arrow"),
    "Parquet": write_part,
    "Arrow": write_arrow,
    "parts": lambda folder, rows: [write_part(folder, rows.slice(i, 1), i) for i in range(len(rows))],
}


STORED: list[Callable[[pa.Array], pa.Array]] = [
    lambda stored: stored,
    lambda stored: stored.dictionary_encode(),
    pc.run_end_encode,
    lambda stored: stored.cast(pa.binary()).cast(pa.binary_view()).view(pa.string_view()),
]


@pytest.mark.parametrize("form", sorted(FILES))
def test_texts_that_are_not_utf_8_are_different_people(form: str, tmp_path: Path) -> None:
    """Plain, as codes and in runs of a file that says UTF-8 and does not hold it."""
    for number in range(ROUNDS):
        chance = random.Random(number)
        cells = [near_bytes(chance) for _ in range(HEAP)]
        stored = pa.array(cells, pa.binary()).view(pa.string())
        stored = chance.choice(STORED[: 2 if form in ("Parquet", "parts") else 4])(stored)
        made = FILES[form](tmp_path, pa.table({"who": stored, "note": cells}))
        check_names(owners_in(made), [key_of_text(cell) for cell in cells])


@pytest.mark.parametrize("kind", [kind for kind in TYPES if not pa.types.is_null(kind)], ids=str)
def test_values_of_any_type_that_differ_are_different_people(kind: pa.DataType) -> None:
    """Any two values that a type has room for, and that are not one number or one text."""
    chance = random.Random(str(kind))
    cells = [TYPES[kind][1](chance) for _ in range(60)]
    values = column(kind, cells)
    if pa.types.is_floating(kind):
        floats = values.to_numpy(zero_copy_only=False)
        keys: list[Any] = [None if np.isnan(x) else float(x) for x in floats]
    elif kind in (pa.string(), pa.large_string()) or pa.types.is_dictionary(kind):
        keys = [key_of_text(cell if isinstance(cell, bytes) else cell.encode()) for cell in cells]
    else:
        keys = [cell or None if isinstance(cell, bytes) else cell for cell in cells]
    for stored in (values, values.take(pa.array(range(len(cells))))):
        check_names([tuple(owner) for owner in people(stored).tolist()], keys)


def test_uuids_are_different_people(tmp_path: Path) -> None:
    """Sixteen bytes under a type of their own, in memory and in a file."""
    raw = [bytes(15) + bytes([last]) for last in range(120, 140)]
    uuids = pa.table({"who": pa.ExtensionArray.from_storage(pa.uuid(), pa.array(raw, pa.binary(16))), "note": raw})
    for form in FILES.values():
        check_names(owners_in(form(tmp_path, uuids)), raw)


def test_folders_that_differ_are_different_people(tmp_path: Path) -> None:
    """who=%FF and who=%FE were both called U+FFFD."""
    names = sorted({name for number in range(60) if (name := near_bytes(random.Random(number))).strip()})
    for name in names:
        folder = tmp_path / f"who={urllib.parse.quote_from_bytes(name)}"
        folder.mkdir()
        pq.write_table(pa.table({"note": [1]}), folder / "rows.parquet")
    owners = owners_in(tmp_path)
    assert len(set(owners)) == len({key_of_text(name) for name in names})


def csv_file(path: Path, rows: list[tuple[bytes, bytes]]) -> Path:
    path.write_bytes(b"who,note\n" + b"".join(b'"%s",%s\n' % row for row in rows))
    return path


def test_a_cell_of_a_csv_file_is_read_by_itself(tmp_path: Path) -> None:
    """Whose line it is does not depend on what else is on the line, nor on which of the readers has the line."""
    for number in range(ROUNDS):
        chance = random.Random(number)
        rows = [(near_bytes(chance), near_bytes(chance) + b"," * (chance.random() < 0.1)) for _ in range(HEAP)]
        alone = [(name, b"ok") for name, _ in rows]
        keys = [key_in_csv(name) for name, _ in rows]
        owners = owners_in(csv_file(tmp_path / "rows.csv", rows))
        check_names(owners, keys)
        assert owners == owners_in(csv_file(tmp_path / "rows.csv", alone))
        for batch in open_source(csv_file(tmp_path / "rows.csv", rows)).batches(["who"]):
            assert [text or None for text in texts(batch.column(0)).to_pylist()] == keys


def name_columns() -> dict[str, tuple[pa.Array, int]]:
    """Names of a file, and how many people they are."""
    raw = [near_bytes(random.Random(number)) for number in range(200)]
    as_text = pa.array(raw, pa.binary()).view(pa.string())
    return {
        "text": (as_text, len({key_of_text(cell) for cell in raw})),
        "bytes": (pa.array(raw, pa.binary()), len(set(raw))),
    }


@pytest.mark.spark
@pytest.mark.parametrize("kind", sorted(name_columns()))
def test_spark_tells_the_same_people_apart(kind: str, classic: Host, tmp_path: Path) -> None:
    """With one row a person, as many rows count as there are people, on both engines."""
    names, expected = name_columns()[kind]
    rows = random_rows(3, len(names), 2, HALF, (3,))
    path = write_part(tmp_path, table(rows, np.arange(len(names))).drop(["who"]).append_column("who", names))
    encoding, unit = identity(2, HALF, (3,)), Unit("who", 1)
    here = open_exact(LocalEngine(open_source(path).keeping_kinds(), encoding, unit).fold(Rows()))  # type: ignore[attr-defined]
    (there,) = classic(jobs.folds, path, encoding, [Rows()], unit)[0]
    assert sum(here["counts"].ravel()) == sum(there["counts"].ravel()) == expected


def test_names_that_go_through_repaired_texts_are_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted bug: what a name is says its text."""
    monkeypatch.setattr(per_unit, "_text_name", lambda cell: cell.decode("utf-8", "replace").strip().encode())
    with pytest.raises(AssertionError):
        test_texts_that_are_not_utf_8_are_different_people("table", Path())


def test_the_audit_finds_what_is_claimed_where_names_are_bytes(tmp_path: Path) -> None:
    """Two people with ids of bytes, and one who is called the same with and without a bad byte on the line: epsilon 1, not 2."""
    schema = cl.Schema.from_text(
        'unit="who"\nmax_rows=1\n[columns.who]\nkind="text"\n[columns.c]\nkind="category"\ndomain=["x","y"]\n'
    )
    objects = [pd.DataFrame({"who": pd.Series(who, dtype=object), "c": c}) for who, c in (
        ([b"\x80\x01", b"\x81\x01"], ["y", "x"]), ([b"\x81\x01"], ["x"]),
    )]  # fmt: skip
    name = "René".encode()
    files = []
    for number, lines in enumerate((name + b",x,ok\n" + name + b",y,caf\xe9\nZoe,x,\n", b"Zoe,x,\n")):
        files.append(tmp_path / f"{number}.csv")
        files[-1].write_bytes(b"who,c,note\n" + lines)
    for pair in (objects, files):
        found = audit(lambda data: cl.tabulate(data, by=["c"], budget=1, schema=schema), tuple(pair))
        assert found.holds
