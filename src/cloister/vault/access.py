"""How the vault gets at rows: engines for its doors, and nothing of the rows left in the frames of an error."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from traceback import clear_frames
from types import TracebackType
from typing import Any

from cloister.column_names import missing_column
from cloister.encode import Encoding
from cloister.engines.base import Backend, Engine
from cloister.errors import SchemaError
from cloister.schema.unit import Unit

__all__ = ["empty_frames", "find_columns", "make_engine", "pass_over", "row_notes"]


def make_engine(
    data: Any, encoding: Encoding, backend: Backend, unit: Unit | None = None, once: bool = False, as_text: bool = False
) -> Engine:
    """An engine over the data, whose columns are all there and hold one value a row.

    `once`: the rows are gone through one time only. `as_text`: columns of Python objects are texts throughout, so that they
    can be written down; otherwise each of their cells is read by its own kind.
    """
    return backend.make_engine(find_columns(data, encoding, backend, unit, as_text), encoding, unit, once)


def find_columns(data: Any, encoding: Encoding, backend: Backend, unit: Unit | None = None, as_text: bool = False) -> Any:
    """The opened data, whose columns are all there and hold one value a row; no row is read."""
    opened = backend.open_data(data)
    if not as_text and hasattr(opened, "keeping_kinds"):
        opened = opened.keeping_kinds()
    wanted = [*encoding.columns, *([unit.column] if unit else [])]
    missing = [name for name in wanted if name not in opened.names]
    if missing:
        raise missing_column(missing[0], opened.names, wanted)
    nested = [name for name in wanted if name in getattr(opened, "nested", ())]
    if nested:
        raise SchemaError(
            f'column "{nested[0]}" holds lists or structs, and one number or text a row is needed. Select its parts into '
            "columns of their own first."
        )
    unsafe = [name for name in wanted if name in getattr(opened, "unsafe", ())]
    if unsafe:
        raise SchemaError(
            f'column "{unsafe[0]}" holds decimals stored as bytes of any number, or moments in ORC, and one cell that '
            "does not fit ends the reading. Write the file anew as Parquet, with decimals of one width, as pyarrow writes them."
        )
    if unit and unit.column in getattr(opened, "rounded", ()):
        raise SchemaError(
            f'the unit "{unit.column}" is a column of moments that are stored more finely than they are read, so that two people '
            "could be taken for one. Name people by a number or a text, or write the file anew with 64-bit timestamps and use "
            "the local engine."
        )
    ambiguous = [name for name in wanted if name in getattr(opened, "ambiguous", ())]
    if ambiguous:
        raise SchemaError(
            f'column "{ambiguous[0]}" is also the path of a part of another column, and Arrow reads both. Rename one of them.'
        )
    absent = [name for name in wanted if name in getattr(opened, "absent", ())]
    if absent:
        raise SchemaError(
            f'column "{absent[0]}" is missing in a file of the dataset. Write all files with the same columns, or leave the '
            "file out."
        )
    return opened


def row_notes(opened: Any) -> tuple[str, ...]:
    """What a certificate says of rows that come of a query, a plan or a program.

    One for which a guarantee per row would not protect anybody is refused.

    Only private releases ask: a holder may read the rows of any query.
    """
    notes: tuple[str, ...] = opened.check_per_row() if hasattr(opened, "check_per_row") else ()
    return notes


@contextmanager
def pass_over(data: Any, encoding: Encoding, backend: Backend, as_text: bool = True, once: bool = True) -> Iterator[Engine]:
    """An engine for one pass over the rows, or for several, closed afterwards."""
    engine = make_engine(data, encoding, backend, once=once, as_text=as_text)
    try:
        yield engine
    except BaseException as error:
        empty_frames(error.__traceback__)
        raise
    finally:
        engine.close()


def empty_frames(trace: TracebackType | None) -> None:
    """Empty the frames that an error came through: a crash reporter would print the rows in them."""
    if not os.environ.get("CLOISTER_DEBUG"):
        clear_frames(trace)
