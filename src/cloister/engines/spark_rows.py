"""Rows that Spark reads: a DataFrame, a table of its catalog, or files of any kind that it knows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cloister.engines.options import Spark, is_spark_frame
from cloister.engines.spark_errors import retold_opening
from cloister.engines.spark_session import find_session
from cloister.errors import SchemaError, SourceError, UsageError
from cloister.sources.csv import _delimiter, _names
from cloister.sources.source import distinct

__all__ = ["SparkRows", "check_types", "open_spark"]

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc", ".json": "json", ".jsonl": "json", ".avro": "avro",
    ".csv": "csv", ".tsv": "csv", ".txt": "csv",
}  # fmt: skip
PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")
READABLE = (
    "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "string", "char", "varchar", "date",
    "timestamp", "timestamp_ntz", "binary", "void",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SparkRows:
    """A DataFrame with the names of its columns. No row has been read."""

    frame: Any
    names: tuple[str, ...]
    in_memory: bool = False

    @property
    def session(self) -> Any:
        """The session that the DataFrame lives in."""
        return self.frame.sparkSession


def open_spark(data: Any, options: Spark) -> SparkRows:
    """Open whatever Spark can read; a DataFrame stays in its own session."""
    if isinstance(data, SparkRows):
        return data
    if is_spark_frame(data):
        with retold_opening("the DataFrame"):
            return SparkRows(data, distinct(data.columns, "the DataFrame"))
    paths = [data] if isinstance(data, str | os.PathLike) else data
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | os.PathLike) for path in paths) or not paths:
        raise UsageError(
            "the Spark engine reads Spark DataFrames, table names and files. For data in memory use the local engine."
        )
    names = [os.fspath(path) for path in paths]
    session = find_session(options)
    with retold_opening(names[0] if len(names) == 1 else f"{names[0]} and others"):
        frame = read(session, names)
        return SparkRows(frame, distinct(frame.columns, names[0]))


def read(session: Any, names: list[str]) -> Any:
    """A DataFrame over a table or files."""
    formats = {format_of(name) for name in names}
    if formats == {None} and len(names) == 1 and "/" not in names[0] and session.catalog.tableExists(names[0]):
        return session.table(names[0])
    if len(formats) > 1:
        raise SourceError("the files are of different formats. Read them in separate runs, or convert them first.")
    format = formats.pop() or "parquet"  # folders that tools of this world write hold Parquet
    return read_csv(session, names) if format == "csv" else session.read.format(format).load(names)


def format_of(name: str) -> str | None:
    """The format that a name ends in, its compression aside."""
    stem = name.rstrip("/").lower()
    while stem.endswith(PACKED):
        stem = stem[: stem.rindex(".")]
    return FORMATS.get(os.path.splitext(stem)[1])


def read_csv(session: Any, names: list[str]) -> Any:
    """CSV as the local engine reads it: every cell is text, the header says the delimiter and the names."""
    first = session.read.text(names[0]).first()
    if first is None:
        raise SourceError(f"{names[0]}: the file is empty. It needs a header line with the names of its columns.")
    import csv

    header = first["value"].lstrip("\ufeff").rstrip("\r")
    delimiter = _delimiter(header.encode())
    columns = _names(next(csv.reader([header], delimiter=delimiter)), names[0])
    schema = ", ".join(f"{quoted(name)} string" for name in columns)
    reader = session.read.schema(schema).option("header", True).option("enforceSchema", True)
    reader = reader.option("sep", delimiter).option("quote", '"').option("escape", '"').option("mode", "PERMISSIVE")
    return reader.csv(names)


def quoted(name: str) -> str:
    """A column's name as Spark's SQL writes it."""
    return "`" + name.replace("`", "``") + "`"


def check_types(rows: SparkRows, columns: Sequence[str]) -> None:
    """Refuse columns that hold no single value a row, before anything is charged."""
    with retold_opening("the DataFrame"):
        kinds = dict(rows.frame.dtypes)
    for name in columns:
        kind = str(kinds[name])
        if kind.partition("(")[0].partition("<")[0] not in READABLE:
            raise SchemaError(
                f'column "{name}" is of type {kind.partition("<")[0]} on Spark, and one number or text a row is needed. '
                "Select its parts into columns of their own first."
            )
