"""What every source can do, and the checks that all of them share."""

from __future__ import annotations

import errno
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol, runtime_checkable

import pyarrow as pa

from cloister.column_names import missing_column
from cloister.errors import DataError, SourceError, out_of_memory, raise_alone

__all__ = [
    "BATCH_ROWS",
    "Source",
    "TypedSource",
    "check_scales",
    "distinct",
    "nested_names",
    "present",
    "retold",
    "text_names",
]

_MOST_SCALE = {32: 9, 64: 18, 128: 38, 256: 76}  # places of a decimal of so many bits that Arrow can write, to either side
BATCH_ROWS = 65_536  # at most so many rows a batch: a batch of 8 numbers a row fits a core's cache


@runtime_checkable
class Source(Protocol):
    """Rows that can be read as a stream of record batches, as often as needed."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    @property
    def in_memory(self) -> bool:
        """Whether the rows are in memory already, so that an engine may keep them encoded."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, with these columns in this order; a missing column raises before the first batch."""
        ...


@runtime_checkable
class TypedSource(Protocol):
    """Rows whose types are known before one is read."""

    def types(self, columns: Sequence[str]) -> pa.Schema:
        """The types of some columns; a missing column raises."""
        ...


def text_names(schema: pa.Schema) -> tuple[str, ...]:
    """The columns whose type says that they hold something else than numbers: text, bytes, lists."""
    kinds = [(field.name, field.type) for field in schema]
    return tuple(name for name, kind in kinds if not _is_number(kind.value_type if pa.types.is_dictionary(kind) else kind))


def nested_names(schema: pa.Schema) -> tuple[str, ...]:
    """The columns that hold no single value a row: lists, structs, maps, unions, and what wraps them."""
    return tuple(field.name for field in schema if _is_nested(field.type))


def check_scales(columns: Iterable[tuple[str, pa.DataType]]) -> None:
    """Refuse decimals with more places than Arrow writes: it has no number, and one and the same text, for all of them."""
    for name, kind in columns:
        if _is_beyond_scale(kind):
            raise SourceError(
                f'column "{name}" is of the type {kind}, with more places than Arrow can write. Convert it to decimals of fewer '
                "places or to floats, or drop it."
            )


def _is_beyond_scale(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _is_beyond_scale(kind.storage_type)
    if pa.types.is_dictionary(kind):
        return _is_beyond_scale(kind.value_type)
    if pa.types.is_decimal(kind):
        return bool(abs(kind.scale) > _MOST_SCALE[kind.bit_width])
    return any(_is_beyond_scale(kind.field(place).type) for place in range(kind.num_fields))


def _is_nested(kind: pa.DataType) -> bool:
    if isinstance(kind, pa.BaseExtensionType):
        return _is_nested(kind.storage_type)
    if pa.types.is_dictionary(kind) or pa.types.is_run_end_encoded(kind):
        return _is_nested(kind.value_type)
    return bool(pa.types.is_nested(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_primitive(kind) or pa.types.is_decimal(kind) or isinstance(kind, pa.BaseExtensionType))


def distinct(names: Sequence[str], what: str) -> tuple[str, ...]:
    """The names, or an error that says which two columns share one.

    The error gives positions, not names: the first line of a file without a header is data.
    """
    first: dict[str, int] = {}
    for place, name in enumerate(names, 1):
        if first.setdefault(name, place) != place:
            raise SourceError(
                f"{what}: columns {first[name]} and {place} have the same name. Rename one of them"
                " (or add a header line, if the file has none)."
            )
    return tuple(names)


def present(names: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The wanted columns, or an error that names the first one that is not there."""
    known = set(names)
    for name in wanted:
        if name not in known:
            raise missing_column(name, names, wanted)
    return list(wanted)


@contextmanager
def retold(shown: str) -> Iterator[None]:
    """Replace what Arrow raises about a broken file by an error of ours: its own messages may quote a field."""
    try:
        yield
    except MemoryError:  # Arrow's is one too
        raise_alone(out_of_memory(f"{shown} was read"))
    except PermissionError:
        raise_alone(SourceError(f"{shown}: you may not read this file. Ask for permission, or give another one."))
    except (pa.ArrowException, OSError, EOFError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.ENOMEM:
            raise_alone(out_of_memory(f"{shown} was read"))
        raise_alone(DataError(f"{shown}: the file breaks while it is read; it may be damaged or incomplete. Get it anew."))
