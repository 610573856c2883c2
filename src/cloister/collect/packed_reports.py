"""Packed reports: a table with one column a question, checked and each counted once, for counting at scale.

The ids are left behind: nothing in the file tells one report from another with the same answers.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from cloister.collect.client import Report, fresh_id
from cloister.collect.collection import Collection
from cloister.collect.protocols import RandomizedResponse
from cloister.collect.protocols.base import text_column
from cloister.collect.reports import JsonReports, read_reports
from cloister.errors import UsageError
from cloister.privacy import noise
from cloister.sinks import stage

__all__ = ["PackedReports", "Marks", "pack", "packed_schema", "perturbed_rows", "read_marks", "write_reports"]

TERMS, SEEDED = b"cloister.terms", b"cloister.seeded"  # keys in a Parquet file's metadata
CHUNK = 2**18  # reports at a time


@dataclass(frozen=True, slots=True)
class PackedReports:
    """How many reports were packed, and how many refused, by reason."""

    reports: int
    refused: dict[str, int]


def packed_schema(collection: Collection, is_seeded: bool = False) -> pa.Schema:
    """The columns of packed reports: texts, one column a question; and under which terms they were given."""
    kind = pa.dictionary(pa.int32(), pa.string())
    fields = [(q.name, kind if q.answering().joins else pa.string()) for q in collection.questions]
    return pa.schema(fields, metadata={TERMS: collection.terms, **({SEEDED: b"1"} if is_seeded else {})})


def perturbed_rows(collection: Collection, codes: NDArray[np.int64], schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """What people with these true codes send, (n, questions), some at a time and in their order."""
    protocols = [question.answering() for question in collection.questions]
    for start in range(0, len(codes), CHUNK):
        columns = [
            text_column(protocol.values, protocol.perturb_codes(part))
            if isinstance(protocol, RandomizedResponse)
            else pa.array(protocol.perturb(part), pa.string())
            for protocol, part in zip(protocols, codes[start : start + CHUNK].T, strict=True)
        ]
        yield pa.record_batch(columns, schema=schema)


def pack(collection: Collection | str | PathLike[str], reports: Any, path: str | PathLike[str]) -> PackedReports:
    """Check reports in JSON and write those that count into a new Parquet file, in a secret order within each part of it.

    Parameters
    ----------
    collection : Collection, or the path of its file
    reports : paths of files, `Report` objects or dicts
    path : where the file goes, ending in .parquet
    """
    chosen = collection if isinstance(collection, Collection) else Collection.load(collection)
    source = read_reports(chosen, reports)
    if not isinstance(source, JsonReports):
        raise UsageError("these reports are packed already. Give files of JSON, one report a line.")
    target = Path(path)
    if target.suffix.lower() != ".parquet":
        raise UsageError("packed reports are written as .parquet. Give the file a name that ends so.")
    schema = packed_schema(chosen)
    count = 0
    with stage(target, directory=False) as staged:
        with pq.ParquetWriter(staged.path, schema) as writer:
            for batch in source.batches(chosen.names):
                order = pa.array(noise.permutation(batch.num_rows))
                writer.write_table(pa.Table.from_batches([batch]).take(order).cast(schema))
                count += batch.num_rows
        staged.commit()
    return PackedReports(count, dict(source.refused))


def write_reports(collection: Collection, reports: pa.Table, path: str | PathLike[str]) -> None:
    """Write packed reports into a new file: as they are (.parquet), or as JSON, one a line, under fresh ids (.jsonl)."""
    target = Path(path)
    kind = target.suffix.lower()
    if kind not in (".parquet", ".jsonl"):
        raise UsageError("reports are written as .parquet or .jsonl. Give the file a name that ends so.")
    with stage(target, directory=False) as staged:
        if kind == ".parquet":
            pq.write_table(reports, staged.path)
        else:
            seeded = (reports.schema.metadata or {}).get(SEEDED) == b"1"
            with staged.path.open("w", encoding="utf-8", newline="\n") as lines:
                for batch in reports.to_batches(max_chunksize=CHUNK):
                    for answers in batch.to_pylist():
                        report = Report(collection.id, collection.terms, fresh_id(), answers, seeded)
                        lines.write(report.to_json() + "\n")
        staged.commit()


@dataclass(frozen=True, slots=True)
class Marks:
    """What reports say of themselves: whether they were made with seeded noise, and whether all of them name their terms."""

    is_seeded: bool
    has_terms: bool


def read_marks(collection: Collection, reports: Any) -> Marks:
    """What reports say of themselves; those under other terms are refused. Reports in JSON say it one by one."""
    source = read_reports(collection, reports) if not hasattr(reports, "__next__") else None
    if isinstance(source, JsonReports):
        return Marks(False, True)
    given = reports if isinstance(reports, list | tuple) else [reports]
    schemas = [schema for each in given for schema in _schemas_of(each)]
    marks = [(schema.metadata or {}) if schema is not None else {} for schema in schemas]
    if any(mark.get(TERMS, collection.terms.encode()) != collection.terms.encode() for mark in marks):
        raise UsageError(
            "these reports were packed under other terms: questions, values, epsilons or protocols differ from those of the "
            "collection. Give the collection that they answer."
        )
    return Marks(any(mark.get(SEEDED) == b"1" for mark in marks), all(TERMS in mark for mark in marks))


def _schemas_of(reports: Any) -> list[pa.Schema | None]:
    """What tables and Parquet files on this machine say of themselves; None for what says nothing."""
    if not isinstance(reports, str | PathLike):
        schema = getattr(reports, "schema", None)
        return [schema if isinstance(schema, pa.Schema) else None]
    path = os.fspath(reports)
    found = [os.path.join(path, "**", "*.parquet"), path] if os.path.isdir(path) else [path]
    files = [file for pattern in found for file in (glob(pattern, recursive=True) or [pattern]) if not os.path.isdir(file)]
    return [_schema_of_file(file) for file in files] or [None]


def _schema_of_file(file: str) -> pa.Schema | None:
    try:
        return pq.read_schema(file) if Path(file).is_file() and file.lower().endswith(".parquet") else None
    except (OSError, pa.ArrowException):  # whoever reads it says what is wrong
        return None
