"""What files with typed columns share: they are read a few batches at a time, so that memory does not grow with the file."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, runtime_checkable

import pyarrow as pa

from cloister.errors import SourceError
from cloister.sources.file_sets import check_once, file_identity
from cloister.sources.places import Place
from cloister.sources.sound_batches import plain_batch
from cloister.sources.source import BATCH_ROWS, check_scales, distinct, nested_names, present, retold, text_names

__all__ = ["SYNOPSIS", "ColumnarReader", "ColumnarSource", "DatasetSource", "from_dataset", "open_columnar", "parts_by_name"]

SAFE_VIEWS = 24  # the first pyarrow whose datasets read views of text: 18 to 23 were seen to crash
SYNOPSIS = b"cloister.synopsis"  # the key in the metadata of a file that holds one


class ColumnarReader(Protocol):
    """How one format is read. A reader has no state: it is handed the opened file each time."""

    def schema(self, file: Any) -> pa.Schema:
        """The columns of the file and their types."""
        ...

    def batches(self, file: Any, columns: list[str], texts: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows of these columns in the order of the file; `texts` are the columns of the file that hold text."""
        ...


@runtime_checkable
class CarefulReader(Protocol):
    """A reader of a format that can store what Arrow does not read whatever the cells are."""

    def unsafe(self, file: Any) -> tuple[str, ...]:
        """The columns in which one cell may end the reading of all."""
        ...

    def ambiguous(self, file: Any) -> tuple[str, ...]:
        """The columns whose names are also paths of parts of others, which would be read with them."""
        ...

    def rounded(self, file: Any) -> tuple[str, ...]:
        """The columns of which two stored cells that differ may be read as one value."""
        ...


@dataclass(frozen=True)
class ColumnarSource:
    """A file whose columns have names and types."""

    place: Place
    reader: ColumnarReader
    stored: tuple[str, ...]  # the columns that the file itself holds
    texts: tuple[str, ...] = ()  # the columns whose type says that they hold text
    nested: tuple[str, ...] = ()  # the columns that hold lists or structs
    unsafe: tuple[str, ...] = ()  # the columns in which one cell may end the reading of all
    ambiguous: tuple[str, ...] = ()  # the columns whose names are also paths of parts of others
    rounded: tuple[str, ...] = ()  # the columns of which two stored cells that differ may be read as one value
    kinds: tuple[str, ...] = ()  # what each stored column holds, as far as files of one table must agree in it
    in_memory: bool = False
    keep_bytes: bool = False  # whether texts that are not UTF-8 are handed out as they are

    def keeping_kinds(self) -> ColumnarSource:
        """The same rows, in which texts that are not UTF-8 stay as they are."""
        return replace(self, keep_bytes=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the file, then those that the names of its folders hold."""
        return self.stored + tuple(name for name, _ in self.place.partition if name not in self.stored)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the file."""
        return self._batches(present(self.names, columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        folders = {name: self._folder_cell(value) for name, value in self.place.partition}
        stored = [name for name in names if name in self.stored]
        with retold(self.place.shown), self.place.open() as file:
            for unchecked in self.reader.batches(file, stored, self.texts):
                batch = plain_batch(unchecked, self.keep_bytes)
                for start in range(0, batch.num_rows, BATCH_ROWS):
                    rows = batch.slice(start, BATCH_ROWS)
                    for name in names:
                        if name not in self.stored:
                            rows = rows.append_column(name, pa.repeat(folders[name], len(rows)).view(pa.string()))
                    yield rows.select(names)

    def _folder_cell(self, value: bytes | None) -> pa.Scalar:
        """What the name of a folder says, as every text of the file is handed out."""
        if value is not None and not self.keep_bytes:
            value = value.decode("utf-8", "replace").encode()
        return pa.scalar(value, pa.binary())


@dataclass(frozen=True)
class DatasetSource:
    """A pyarrow dataset, read with little ahead."""

    dataset: Any
    ambiguous: tuple[str, ...] = ()  # as of files
    absent: tuple[str, ...] = ()  # the columns that some file lacks
    in_memory: bool = False
    keep_bytes: bool = False  # as of files

    def keeping_kinds(self) -> DatasetSource:
        """The same rows, in which texts that are not UTF-8 stay as they are."""
        return replace(self, keep_bytes=True)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the dataset."""
        return tuple(self.dataset.schema.names)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose type says that they hold text."""
        return text_names(self.dataset.schema)

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists or structs."""
        return nested_names(self.dataset.schema)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, in the order of the dataset."""
        return self._batches(present(self.names, columns))

    def _batches(self, names: list[str]) -> Iterator[pa.RecordBatch]:
        with retold("the dataset"):
            batches = self.dataset.to_batches(columns=names, batch_size=BATCH_ROWS, batch_readahead=2, fragment_readahead=1)
            yield from (plain_batch(batch, self.keep_bytes) for batch in batches)


def from_dataset(dataset: Any) -> DatasetSource:
    """A source over a pyarrow dataset, all of whose files have its columns and types.

    Arrow takes the types of CSV and JSON files from their first rows, and gives up in the middle of a pass where a file has a
    value that the dataset's type cannot hold. So such a dataset is refused before anything is charged.
    """
    from pyarrow.dataset import get_partition_keys  # there already where there is a dataset

    distinct(dataset.schema.names, "the dataset")
    check_scales((field.name, field.type) for field in dataset.schema)
    _check_views(dataset.schema)
    ambiguous: dict[str, None] = {}
    absent: dict[str, None] = {}
    with retold("the dataset"):
        check_once(piece for part in dataset.get_fragments() for piece in _pieces(part))
        for part in dataset.get_fragments():
            if getattr(getattr(part, "format", None), "default_extname", None) in ("csv", "json"):
                raise SourceError(
                    "a dataset of CSV or JSON files takes its types from the rows. Give the paths of the files in place of it."
                )
            kinds = {field.name: field.type for field in part.physical_schema}
            if "orc" in str(getattr(getattr(part, "format", None), "default_extname", None)):
                ambiguous |= parts_by_name(kinds)
            _check_stored_forms(part, kinds)
            if "parquet" in str(getattr(getattr(part, "format", None), "default_extname", None)):
                coded = [name for name, kind in kinds.items() if pa.types.is_dictionary(kind)]
                if coded:  # Arrow makes the codes anew, and gives up in the middle of a pass at a text that is not UTF-8
                    raise SourceError(
                        f'column "{coded[0]}" of the dataset is stored as codes, as a pandas Categorical is. Give the paths of '
                        "the files in place of the dataset."
                    )
            held = {*kinds, *get_partition_keys(part.partition_expression)}  # by the file, and by the names of its folders
            absent |= dict.fromkeys(name for name in dataset.schema.names if name not in held)
            for field in dataset.schema:
                if kinds.get(field.name, field.type) != field.type:
                    raise SourceError(
                        f'column "{field.name}" has another type in a file of the dataset than in its schema. Write all files '
                        "with one type, or give the paths of the files in place of the dataset."
                    )
    return DatasetSource(dataset, tuple(ambiguous), tuple(absent))


def _check_views(schema: pa.Schema) -> None:
    """Refuse, by their type, views of text in a dataset with a pyarrow that ends the process when it reads some."""
    views = [field.name for field in schema if field.type in (pa.string_view(), pa.binary_view())]
    if views and int(pa.__version__.partition(".")[0]) < SAFE_VIEWS:
        raise SourceError(
            f'column "{views[0]}" of the dataset holds views of text, which pyarrow before {SAFE_VIEWS} does not read safely. '
            "Give the paths of the files in place of the dataset, or install a newer pyarrow."
        )


def parts_by_name(kinds: dict[str, pa.DataType]) -> dict[str, None]:
    """The columns that Arrow takes for parts of others, by the dots in their names: in ORC it reads no cell of them."""
    nested = [f"{name}." for name, kind in kinds.items() if pa.types.is_nested(kind)]
    return dict.fromkeys(name for name in kinds if name.startswith(tuple(nested)))


def _check_stored_forms(part: Any, kinds: dict[str, pa.DataType]) -> None:
    """Refuse columns of which Arrow reads some cells as others, or stops at them: which of them there are is not looked at."""
    format = str(getattr(getattr(part, "format", None), "default_extname", None))
    moments = [name for name, kind in kinds.items() if pa.types.is_timestamp(kind)]
    if "orc" in format and moments:
        raise SourceError(
            f'column "{moments[0]}" of the dataset holds moments in ORC, of which those after 2262 cannot be read. Write the '
            "files as Parquet, or with dates in place of moments."
        )
    doubtful = [*moments, *(name for name, kind in kinds.items() if pa.types.is_decimal(kind))]
    if "parquet" in format and doubtful:
        stored = part.metadata.schema
        forms = {stored.column(place).path: stored.column(place).physical_type for place in range(len(stored))}
        if wrong := next((name for name in doubtful if forms.get(name) in ("INT96", "BYTE_ARRAY")), None):
            raise SourceError(
                f'column "{wrong}" of the dataset is stored as {forms[wrong]}, in which Arrow does not read every value. Give '
                "the paths of the files in place of the dataset."
            )


def _pieces(part: Any) -> Iterator[tuple[Hashable, str]]:
    """Which rows of which file a part of a dataset holds, as far as it says; a part may be some groups of a file's rows."""
    if path := getattr(part, "path", None):
        groups = getattr(part, "row_groups", None) or [None]
        yield from (((file_identity(part.filesystem, path), getattr(group, "id", None)), path) for group in groups)


def open_columnar(place: Place, reader: ColumnarReader) -> ColumnarSource:
    """A source over a file that `reader` can read; its schema is read."""
    with retold(place.shown), place.open() as file:
        schema = reader.schema(file)
        if SYNOPSIS in (schema.metadata or {}):
            raise SourceError(
                f"{place.shown} is a synopsis, whose cells are no rows of a table: it is released already, and using it costs "
                "nothing. Cluster it with: cloister cluster --synopsis FILE --k K --out DIR. Ask it with: cloister synopsis FILE "
                "and --suggest-k, --count or --sample. In Python: Synopsis.load."
            )
        names = distinct(schema.names, place.shown)  # a damaged name is no text
        distinct([*names, *(name for name, _ in place.partition if name not in names)], f"{place.shown} with its folders")
        check_scales((field.name, field.type) for field in schema)
        opened = ColumnarSource(place, reader, names, text_names(schema), nested_names(schema))
        if isinstance(reader, CarefulReader):
            opened = replace(
                opened, unsafe=reader.unsafe(file), ambiguous=reader.ambiguous(file), rounded=reader.rounded(file)
            )
    return replace(opened, kinds=tuple(_kind(field.type) for field in schema))


def _kind(type: pa.DataType) -> str:
    """What a column holds, as Spark would call it: how text is laid out and how finely time is counted does not matter."""
    if pa.types.is_dictionary(type):
        return _kind(type.value_type)
    if pa.types.is_large_string(type) or pa.types.is_string_view(type):
        return "string"
    if pa.types.is_large_binary(type) or pa.types.is_binary_view(type) or pa.types.is_fixed_size_binary(type):
        return "binary"
    if pa.types.is_timestamp(type):
        return "timestamp" if type.tz else "timestamp without zone"
    if pa.types.is_unsigned_integer(type):
        return "decimal128(20, 0)" if type.bit_width == 64 else f"int{2 * type.bit_width}"
    return str(type)
