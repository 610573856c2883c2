"""Types of columns whose cells no text tells apart: they are refused by name before rows are counted or written."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from cloister.column_names import flag_hint
from cloister.errors import SchemaError
from cloister.schema.plain_arrays import plain_type
from cloister.sources.source import nested_names

__all__ = ["check_have_text", "has_text"]


def has_text(kind: pa.DataType) -> bool:
    """Whether the cells of a type have a text of their own: durations, intervals and identifiers in raw bytes have none.

    >>> has_text(pa.string_view()), has_text(pa.duration("s")), has_text(pa.uuid())
    (True, False, False)
    """
    if nested_names(pa.schema([("", kind)])):
        return False
    kind = plain_type(kind)
    if isinstance(kind, pa.BaseExtensionType):
        return has_text(kind.storage_type) and not pa.types.is_fixed_size_binary(kind.storage_type)
    return not (pa.types.is_duration(kind) or pa.types.is_interval(kind))


def check_have_text(types: pa.Schema, names: Sequence[str]) -> None:
    """Refuse the first of some columns whose cells have no text."""
    for name in names:
        kind = types.field(name).type
        if not has_text(kind):
            is_nested = nested_names(pa.schema([("", kind)]))
            what = "lists or structs" if is_nested else f"{plain_type(kind)}, which has no text"
            raise SchemaError(
                f'column "{name}" holds {what}. Give it one number or text a row first, or drop it '
                f"({flag_hint('--identifiers', [name])})."
            )
