"""Every reader of a file or a text, with an example that it reads: what is fuzzed."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import cloister as cl
from cloister.anonymization.writing.apply import read_recoding
from cloister.cli.flags import Spending, read_bounds
from cloister.cli.verify import read_release
from cloister.privacy.certificate_json import fingerprint
from cloister.privacy.release import Release
from cloister.schema.hierarchies import flat, read_hierarchy
from cloister.sources.opening import open_source

TABLE = pa.table(
    {
        "age": pa.array([1.5, 2.5, None, 3] * 30),
        "name": pa.array(["x", "yy", None, "zzz"] * 30),
        "sex": pa.array(["f", "m", "f", "d"] * 30).dictionary_encode(),
        "count": pa.array([1, 2, None, 4] * 30),
        "old": pa.array([True, None, False, True] * 30),
    }
)
SCHEMA = """table = "people"
neighbours = "add-remove"
unit = "who"
max_rows = 5
[columns.who]
kind = "text"
[columns.age]
kind = "number"
bounds = [0, 120]
step = 1
default = 40
role = "quasi"
[columns.sex]
kind = "category"
domain = ["f", "m"]
[columns.born]
kind = "date"
bounds = [1900-01-01, 2030-12-31]
"""


@dataclass(frozen=True)
class Parser:
    """A reader of files, the suffix they have, and examples of them."""

    suffix: str
    read: Callable[[Path], Any]
    examples: tuple[bytes, ...]


def read_rows(path: Path) -> None:
    """Open a file and read all of it."""
    source = open_source(path)
    for batch in source.batches(source.names):
        batch.to_pylist()


def read_certificate(path: Path) -> None:
    """A certificate, also with a hash that fits what was changed in it."""
    text = path.read_bytes().decode("utf-8", "replace")
    try:
        data = json.loads(text)
        del data["sha256"]
        text = json.dumps({**data, "sha256": fingerprint(data)})
    except (ValueError, KeyError, TypeError, RecursionError):
        pass
    Release.from_json(text).adds_up()


def read_number(path: Path) -> None:
    """A number as it is typed after a flag."""
    text = path.read_bytes().decode("utf-8", "replace")
    for typed in (
        Spending(epsilon=text),
        Spending(epsilon="1", delta=text),
        Spending(rho=text, worlds="100"),
        Spending(rho="0.1", worlds=text),
    ):
        typed.budget()
    read_bounds(text)


def read_ledger(path: Path) -> None:
    """The place of a ledger."""
    cl.Ledger(path.read_bytes().decode("utf-8", "replace"))


def make_parsers(folder: Path) -> dict[str, Parser]:
    """All parsers, with examples that are written into a folder."""
    arrow, stream, parquet = io.BytesIO(), io.BytesIO(), io.BytesIO()
    with pa.ipc.new_file(arrow, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=50)
    with pa.ipc.new_stream(stream, TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=50)
    pq.write_table(TABLE, parquet, row_group_size=50)
    rows = np.random.default_rng(0).random((50, 2))
    model = cl.KMeans(2, budget=cl.ApproxDP(5, 1e-6), bounds=(0, 1), max_iter=1).fit(rows)
    cl.synopsis(rows, budget=5, bounds=(0, 1)).save(folder / "synopsis.parquet")
    counted = cl.tabulate(TABLE, by=["sex"], budget=1, domains={"sex": ["f", "m"]})
    for suffix in (".json", ".parquet"):
        counted.save(folder / f"table{suffix}")
    specialized = cl.TopDownSpecialization(
        k=2, quasi=["sex", "age"], hierarchies={"sex": flat(["f", "m", "d"])}, identifiers=["name"]
    )
    specialized.publish(TABLE, folder / "out.csv")
    recoding = specialized.recoding_.to_json()
    old = {key: value for key, value in json.loads(recoding).items() if key not in ("sha256", "untouched", "table")} | {
        "version": 2
    }
    certificates = (model.release_.to_json().encode(), specialized.release_.to_json().encode())
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in TABLE.slice(0, 9).to_pylist())
    text = b'id;name;"a ""b"""\n' + b"".join(b'%d;"x;\n y";%d,5\r\n' % (i, i) for i in range(40))
    return {
        "certificate": Parser(".json", read_certificate, certificates),
        "recoding": Parser(".json", read_recoding, (recoding.encode(), json.dumps(old).encode())),
        "synopsis": Parser(".parquet", cl.Synopsis.load, ((folder / "synopsis.parquet").read_bytes(),)),
        "table, JSON": Parser(".json", read_release, ((folder / "table.json").read_bytes(),)),
        "table, Parquet": Parser(".parquet", read_release, ((folder / "table.parquet").read_bytes(),)),
        "schema": Parser(".toml", cl.Schema.from_toml, (SCHEMA.encode(),)),
        "hierarchy, CSV": Parser(".csv", read_hierarchy, (b"a;letter;*\nb;letter;*\n1;digit;*\n",)),
        "hierarchy, TOML": Parser(
            ".toml",
            read_hierarchy,
            (
                b'none = ["0"]\n[some.few]\nunits = [1, 2]\n[some.many]\ntens = [10, "20"]\n',
                b"[intervals]\nlow = 0\nhigh = 40\nwidth = 10\n",
                b"[intervals]\nlow = 2020-01-01\nhigh = 2021-12-31\n",
            ),
        ),
        "hierarchy, JSON": Parser(
            ".json",
            read_hierarchy,
            (b'{"any": {"said": [true, false], "unsaid": [null]}}', b'{"prefix": {"values": ["11", "12"], "lengths": [1]}}'),
        ),
        "CSV": Parser(".csv", read_rows, (text, b"a,b\n1,2\n")),
        "JSON Lines": Parser(".jsonl", read_rows, (lines,)),
        "Parquet": Parser(".parquet", read_rows, (parquet.getvalue(),)),
        "Arrow file": Parser(".arrow", read_rows, (arrow.getvalue(),)),
        "Arrow stream": Parser(".arrows", read_rows, (stream.getvalue(),)),
        "ledger": Parser(
            ".txt", read_ledger, (b"sqlite:///ledger.sqlite", b"postgresql://user:word@host:5432/name", b"folder/ledger.db")
        ),
        "flag": Parser(".txt", read_number, (b"0.5", b"1/3", b"1e-6", b"0,1")),
    }
