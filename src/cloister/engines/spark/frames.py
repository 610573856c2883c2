"""DataFrames with the names of their columns: a DataFrame, a table of its catalog, or files of any kind that it knows."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from glob import glob
from typing import Any
from urllib.parse import unquote

from cloister.column_names import FirstLine
from cloister.engines.spark.csv import quoted, read_csv, shown_as
from cloister.engines.spark.fault_messages import retold_opening
from cloister.engines.spark.options import Spark, is_spark_frame
from cloister.engines.spark.session import find_session
from cloister.errors import SchemaError, SourceError, UsageError
from cloister.file_options import NOTHING_SAID, FileOptions, Files
from cloister.sources.file_sets import check_urls_once
from cloister.sources.places import find_all
from cloister.sources.source import distinct

__all__ = ["SparkRows", "check_types", "open_spark", "quoted"]

FORMATS = {
    ".parquet": "parquet", ".pq": "parquet", ".orc": "orc", ".avro": "avro", ".json": "json", ".jsonl": "json", ".ndjson": "json",
    ".csv": "csv", ".tsv": "csv", ".txt": "csv",
}  # fmt: skip
FOOTERS_AT_ONCE = 8  # files whose columns are looked at at a time
PACKED = (".gz", ".bz2", ".zst", ".snappy", ".lz4", ".deflate")
TEXTS = ("string", "char", "varchar")
READABLE = (
    *TEXTS, "tinyint", "smallint", "int", "bigint", "float", "double", "decimal", "boolean", "date", "timestamp", "timestamp_ntz",
    "binary", "void",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class SparkRows:
    """A DataFrame with the names of its columns. No row has been read."""

    frame: Any
    names: tuple[str, ...]
    typed: bool = True  # whether the columns' types say which of them are numbers: those of CSV do not
    texts: tuple[str, ...] = ()  # the columns whose type says that they hold text
    rounded: tuple[str, ...] = ()  # moments of files, which may be stored in nanoseconds: Spark has microseconds
    in_memory: bool = False

    @property
    def session(self) -> Any:
        """The session that the DataFrame lives in."""
        return self.frame.sparkSession


def open_spark(data: Any, options: Spark, described: FileOptions = NOTHING_SAID) -> SparkRows:
    """Open whatever Spark can read; a DataFrame stays in its own session. `described`: what a schema says of files of text."""
    if isinstance(data, SparkRows):
        return data
    if is_spark_frame(data):
        with retold_opening("the DataFrame"):
            return with_names(data, "the DataFrame", is_stored=False)
    said = data if isinstance(data, Files) else NOTHING_SAID
    paths = data.paths if isinstance(data, Files) else [data] if isinstance(data, str | os.PathLike) else data
    if not isinstance(paths, list | tuple) or not all(isinstance(path, str | os.PathLike) for path in paths) or not paths:
        raise UsageError(
            "the Spark engine reads Spark DataFrames, table names and files. For data in memory use the local engine."
        )
    names = [os.fspath(path) for path in paths]
    if packed := [name for name in names if name.lower().endswith((".zip", ".xz"))]:
        raise SourceError(f"{packed[0]}: Spark does not unpack .zip and .xz. Unpack it, or read it with the local engine.")
    check_unsaid(said)  # a schema may say it of files that the table was made of
    if any(format_of(name) == "csv" for name in names):
        check_unsaid(described)
    session = find_session(options, lambda: check_here(names, options))
    with retold_opening(names[0] if len(names) == 1 else f"{names[0]} and others"):
        return read(session, names, described)


def check_unsaid(said: FileOptions) -> None:
    """Refuse what is said of files and Spark does not heed: here every file of text has a header line."""
    for option in said.stated():
        raise UsageError(
            f"{option} is for files that are read here: on Spark a text file has a header line above its rows. Read it with the "
            "local engine, or save it as Parquet."
        )


def check_here(names: list[str], options: Spark) -> None:
    """Tell that a file is missing before Spark is started, where it would look for it on this machine."""
    reads_here = (
        (options.master or "local").startswith("local") and not options.remote and "HADOOP_CONF_DIR" not in os.environ
    )
    for name in names:
        is_file = "://" not in name and ("/" in name or format_of(name) is not None)
        if reads_here and is_file and not glob(name):
            raise SourceError(f"{name}: no such file. Check the name.")


def with_names(frame: Any, shown: str, folders: Sequence[str] = (), *, is_stored: bool = True) -> SparkRows:
    """A DataFrame with its names, and which of them are texts; a folder's name does not say what its column holds.

    `is_stored`: its rows are read from files.
    """
    texts = [name for name, kind in frame.dtypes if kind_of(kind) in TEXTS and name not in folders]
    moments = [name for name, kind in frame.dtypes if is_stored and kind_of(kind).startswith("timestamp")]
    return SparkRows(frame, distinct(frame.columns, shown), texts=tuple(texts), rounded=tuple(moments))


def read(session: Any, names: list[str], described: FileOptions = NOTHING_SAID) -> SparkRows:
    """A table or files."""
    formats = {format_of(name) for name in names}
    if formats == {None} and len(names) == 1 and "/" not in names[0] and session.catalog.tableExists(names[0]):
        return with_names(session.table(names[0]), names[0])
    check_files(names)
    if None in formats:
        inside = {format_of(file) for file in session.read.format("binaryFile").load(names).inputFiles()}
        formats = inside - {None} or {"parquet"}  # Spark and its like write folders of Parquet
    if len(formats) > 1:
        raise SourceError("the files are of different formats. Read them in separate runs, or convert them first.")
    format = str(formats.pop())
    if format == "json":
        raise SourceError(
            f"{names[0]}: a JSON file does not say what its columns are; Spark would take them from the rows. Convert it to "
            'Parquet, or give a DataFrame read with types of your own: spark.read.schema("age int, pay double").json(...).'
        )
    if format == "csv":
        check_unsaid(described)
        frame = read_csv(session, names)
        return SparkRows(frame, FirstLine(distinct(frame.columns, names[0])), typed=False)
    return read_typed(session, format, names)


def check_files(names: Sequence[str]) -> None:
    """Refuse files that would be read twice or against the log of their table, as locally; those elsewhere by names alone."""
    here = {name: re.sub("^file:/+", "/", name) for name in names}
    found = [name for name in names if "://" not in here[name] and (os.path.exists(here[name]) or glob(here[name]))]
    find_all([here[name] for name in found])
    check_urls_once([name for name in names if name not in found])


def read_typed(session: Any, format: str, names: list[str]) -> SparkRows:
    """Files that say the types of their columns. Columns that folders' names hold (id=007) are text, as they are locally."""
    frame = session.read.format(format).load(names)
    check_parts(session, format, frame.inputFiles())
    if not any("=" in file.rpartition("/")[0] for file in frame.inputFiles()):
        return with_names(frame, names[0])
    from pyspark.sql.types import StringType, StructField, StructType

    stored = session.read.format(format).option("recursiveFileLookup", True).load(names).columns
    folders = [name for name in frame.columns if name not in stored]
    if not folders:
        return with_names(frame, names[0])
    fields = [StructField(field.name, StringType()) if field.name in folders else field for field in frame.schema.fields]
    return with_names(session.read.schema(StructType(fields)).format(format).load(names), names[0], folders)


def check_parts(session: Any, format: str, files: Sequence[str]) -> None:
    """Refuse files of one table that differ in their columns or in the types of these, as they are refused locally.

    Spark itself takes the columns of any one file for those of all, fills up what others lack, and gives up in the middle of a
    pass where a type differs. Every file is looked at for its columns; no row is.
    """
    if len(files) < 2:
        return

    def columns_of(file: str) -> dict[str, str]:
        return dict(session.read.format(format).load(literal_path(file)).dtypes)

    with ThreadPoolExecutor(FOOTERS_AT_ONCE) as pool:
        columns = dict(zip(files, pool.map(columns_of, files), strict=True))
    first, *others = sorted(files)
    for other in others:
        shown = shown_as(other), shown_as(first)
        if set(columns[other]) != set(columns[first]):
            raise SourceError(
                f"{shown[0]} and {shown[1]} have different columns. Give files with the same columns, or one at a time."
            )
        if drifting := next((name for name, kind in columns[first].items() if columns[other][name] != kind), None):
            raise SourceError(
                f'column "{drifting}" is of one type in {shown[1]} and of another in {shown[0]}. Write all files with one '
                "type, or give them one at a time."
            )


def literal_path(url: str) -> str:
    """A file's URL as a path that Spark does not take for a pattern."""
    return re.sub(r"([\[\]{}*?\\])", r"\\\1", unquote(url))


def format_of(name: str) -> str | None:
    """The format that a name ends in, its compression aside."""
    stem = name.rstrip("/").lower()
    while stem.endswith(PACKED):
        stem = stem[: stem.rindex(".")]
    return FORMATS.get(os.path.splitext(stem)[1])


def kind_of(type: str) -> str:
    """The kind of a type: decimal, of decimal(10,2)."""
    return type.partition("(")[0].partition("<")[0]


def check_types(rows: SparkRows, columns: Sequence[str]) -> None:
    """Refuse columns that hold no single value a row, or that Spark does not tell apart, before anything is charged."""
    with retold_opening("the DataFrame"):
        kinds = dict(rows.frame.dtypes)
        exact = str(rows.session.conf.get("spark.sql.caseSensitive", "false")).lower() == "true"
    for name in columns:
        if not exact and any(other.lower() == name.lower() for other in rows.names if other != name):
            raise SchemaError(
                f'another column is called like "{name}" but for capital letters, and Spark takes the two for one. Rename one '
                "of them, or set spark.sql.caseSensitive=true."
            )
        kind = kind_of(kinds[name])
        if kind not in READABLE:
            raise SchemaError(
                f'column "{name}" is of type {kind} on Spark, and one number or text a row is needed. '
                "Select its parts into columns of their own first."
            )
