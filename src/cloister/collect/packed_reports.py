"""Packed reports: a table with one column a question, checked and each counted once, for counting at scale.

The ids are left behind: nothing in the file tells one report from another with the same answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
from cloister.collect.reports import CheckedReports, parsed, read_reports
from cloister.errors import SourceError, UsageError
from cloister.parameters import check_path
from cloister.privacy import noise
from cloister.sinks import stage
from cloister.sources.places import Place, find

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
    source = read_reports(chosen, parsed(reports))
    if not isinstance(source, CheckedReports):
        raise UsageError("these reports are packed already. Give files of JSON, one report a line.")
    target = Path(check_path(path, "the output", "a new file"))
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
    target = Path(check_path(path, "the output", "a new file"))
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


def read_marks(collection: Collection, reports: Any, is_local: bool = True) -> Marks:
    """What reports say of themselves; those under other terms are refused. Reports in JSON say it one by one.

    Files are found as the local engine finds them, so that each file that is read is asked. Another engine may find others under
    the same name (a table of a catalog, a file on another system): there nothing vouches for what is read.
    """
    if isinstance(read_reports(collection, reports), CheckedReports):
        return Marks(False, True)
    given = reports if isinstance(reports, list | tuple) else [reports]
    marks = [mark for each in given for mark in _marks_of(each)]
    if any(mark.get(TERMS, collection.terms.encode()) != collection.terms.encode() for mark in marks):
        raise UsageError(
            "these reports were packed under other terms: questions, values, epsilons or protocols differ from those of the "
            "collection. Give the collection that they answer."
        )
    return Marks(any(mark.get(SEEDED) == b"1" for mark in marks), is_local and all(TERMS in mark for mark in marks))


def _marks_of(reports: Any) -> list[dict[bytes, bytes]]:
    """What a table, or each file that a path stands for, says of itself; nothing for what says nothing."""
    if isinstance(reports, pa.Table | pa.RecordBatch | pa.RecordBatchReader):
        return [reports.schema.metadata or {}]
    if not isinstance(reports, str | PathLike):  # the parts of a dataset or a frame may differ
        return [{}]
    try:
        return [_marks_of_file(place) for place in find(reports)]
    except SourceError:  # whoever reads it says what is wrong
        return [{}]


def _marks_of_file(place: Place) -> dict[bytes, bytes]:
    try:
        with place.open() as file:
            return pq.read_schema(file).metadata or {}
    except (OSError, pa.ArrowException):  # no Parquet
        return {}
