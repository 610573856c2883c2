"""Arrow arrays in plain layouts: without dictionaries, runs or views, which not every file holds and Arrow cannot always filter.

What a frame holds as text may be a `string_view` (Polars), a dictionary (pandas), or runs of equal values. The cells are the
same in all of them.
"""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cloister.schema.arrow_numpy import from_numbers
from cloister.schema.cell_values import shared_values

__all__ = ["different_cells", "plain_cells", "plain_type"]


def plain_type(kind: pa.DataType) -> pa.DataType:
    """The type of the same values stored one by one, without a dictionary, runs or views at any depth.

    A type that a Python program defines is its storage: other programs do not know it.

    >>> plain_type(pa.dictionary(pa.int32(), pa.string_view()))
    DataType(string)
    """
    types = pa.types
    if types.is_string_view(kind) or types.is_binary_view(kind):
        return pa.string() if types.is_string_view(kind) else pa.binary()
    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return plain_type(kind.value_type)
    if isinstance(kind, pa.BaseExtensionType):
        inner = plain_type(kind.storage_type)
        return inner if isinstance(kind, pa.ExtensionType) or inner != kind.storage_type else kind
    if types.is_struct(kind):
        return pa.struct([_inside(kind.field(i)) for i in range(kind.num_fields)])
    if types.is_map(kind):
        return pa.map_(_inside(kind.key_field), _inside(kind.item_field), kind.keys_sorted)
    if types.is_fixed_size_list(kind):
        return pa.list_(_inside(kind.value_field), kind.list_size)
    for is_list, make in (
        (types.is_list, pa.list_),
        (types.is_large_list, pa.large_list),
        (types.is_list_view, pa.list_view),
        (types.is_large_list_view, pa.large_list_view),
    ):
        if is_list(kind):
            return make(_inside(kind.value_field))
    return kind


def _inside(part: pa.Field) -> pa.Field:
    return part.with_type(plain_type(part.type)).remove_metadata()  # which a file would keep in its footer


def plain_cells(cells: pa.Array) -> pa.Array:
    """The same cells in their `plain_type`."""
    kind = plain_type(cells.type)
    if kind == cells.type:
        return cells
    if shared := shared_values(cells):
        values = plain_cells(shared[0])
        return pa.concat_arrays([values, pa.nulls(1, values.type)]).take(from_numbers(shared[1]))
    if isinstance(cells, pa.ExtensionArray):
        return plain_cells(cells.storage)
    try:
        return pc.cast(cells, kind)
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):  # Arrow cannot cast some types: value by value
        return pa.array(cells.to_pylist(), kind)


def different_cells(cells: pa.Array) -> pa.Array:
    """The different cells of a column, in a type that Arrow computes with.

    >>> different_cells(pa.array(["a", "b", "a"], pa.string_view())).to_pylist()
    ['a', 'b']
    """
    if shared := shared_values(cells):
        held = pc.unique(from_numbers(shared[1]))  # a dictionary may have values that no row holds
        values = plain_cells(shared[0])
        return different_cells(pa.concat_arrays([values, pa.nulls(1, values.type)]).take(held))
    if isinstance(cells, pa.ExtensionArray):
        return different_cells(cells.storage)
    cells, kind = plain_cells(cells), cells.type
    if pa.types.is_decimal(kind) and kind.bit_width < 128:  # of which Arrow lists no distinct values
        cells = cells.cast(pa.decimal128(kind.precision, kind.scale))
    return pc.unique(cells)
