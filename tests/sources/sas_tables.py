"""Tables of SAS (.sas7bdat) for tests: ReadStat writes them, and pyreadstat, which it comes with, has no function for it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from pathlib import Path
from typing import Any

__all__ = ["write_sas_table"]

_STRING, _DOUBLE = 0, 5
_WRITE = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)


def _library() -> Any:
    import pyreadstat._readstat_writer as writer

    library = ctypes.CDLL(writer.__file__)
    library.readstat_writer_init.restype = library.readstat_add_variable.restype = ctypes.c_void_p
    return library


def write_sas_table(path: Path, formats: dict[str, str | None], rows: Sequence[Sequence[float | bytes | None]]) -> Path:
    """A table whose columns have these formats, text where one begins with $; None is a missing number."""
    library, out = _library(), bytearray()

    def take(data: int, length: int, _: Any) -> int:
        out.extend(ctypes.string_at(data, length))
        return length

    keep = _WRITE(take)
    writer = ctypes.c_void_p(library.readstat_writer_init())
    library.readstat_set_data_writer(writer, keep)
    columns = []
    for name, form in formats.items():
        is_text = form is not None and form.startswith("$")
        added = library.readstat_add_variable(
            writer, name.encode(), _STRING if is_text else _DOUBLE, ctypes.c_size_t(16 if is_text else 8)
        )
        columns.append(ctypes.c_void_p(added))
        if form is not None:
            library.readstat_variable_set_format(columns[-1], form.encode())
    assert library.readstat_begin_writing_sas7bdat(writer, None, ctypes.c_long(len(rows))) == 0
    for row in rows:
        library.readstat_begin_row(writer)
        for column, cell in zip(columns, row, strict=True):
            if cell is None:
                library.readstat_insert_missing_value(writer, column)
            elif isinstance(cell, bytes):
                library.readstat_insert_string_value(writer, column, cell)
            else:
                library.readstat_insert_double_value(writer, column, ctypes.c_double(cell))
        assert library.readstat_end_row(writer) == 0
    assert library.readstat_end_writing(writer) == 0
    library.readstat_writer_free(writer)
    path.write_bytes(out)
    return path
