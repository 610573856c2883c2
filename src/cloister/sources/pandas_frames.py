"""pandas frames: each column is read by its dtype, and a column of Python objects cell by cell.

Privacy
-------
pandas itself chooses the dtype of a column by its cells where nobody states one: one text among numbers makes a column of
objects. So a number or a text reads the same in a column of its own type and in one of objects (`python_cells`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from cloister.sources.class_facts import is_a, of_pandas
from cloister.sources.in_memory import ArraySource, Objects, array_column, is_plain, rows_only
from cloister.sources.python_cells import cell_column, raw_text_column, text_column
from cloister.sources.sound_batches import sound_column
from cloister.sources.source import BATCH_ROWS, check_scales, distinct, nested_names, present, text_names

__all__ = ["FrameSource", "frame_column", "from_frame", "is_arrow", "is_frame"]


@dataclass(frozen=True)
class FrameSource:
    """A pandas frame. A column becomes Arrow when it is first asked for, by its dtype."""

    frame: Any
    names: tuple[str, ...]
    in_memory: bool = True
    objects: Objects = text_column
    _columns: dict[str, pa.ChunkedArray] = field(default_factory=dict, repr=False)

    def keeping_kinds(self) -> FrameSource:
        """The same rows, in which the cells of a column of objects keep their kinds."""
        return FrameSource(self.frame, self.names, objects=cell_column)

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns whose dtype says that they hold text, or does not say that they hold numbers.

        A Categorical is one of them whatever its categories are: those come from the rows as often as not.
        """
        return text_names(self._schema())

    @property
    def untold(self) -> tuple[str, ...]:
        """The columns whose dtype does not say what they hold: Python objects and categories."""
        return tuple(name for name in self.names if _declared(self._cells(name)) is None)

    @property
    def nested(self) -> tuple[str, ...]:
        """The columns that hold lists or structs, by their dtype."""
        return nested_names(self._schema())

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows; columns of Python objects are read as text, cell by cell."""
        for name in present(self.names, columns):
            if name not in self._columns:
                self._columns[name] = frame_column(self._cells(name), self.objects)
        if not columns:
            return iter([rows_only(len(self.frame))])
        chosen = pa.table([self._columns[name] for name in columns], names=list(columns))
        return iter(chosen.to_batches(max_chunksize=BATCH_ROWS))

    def _schema(self) -> pa.Schema:
        """What the dtypes say; text where they say nothing."""
        return pa.schema([(name, _declared(self._cells(name)) or pa.large_string()) for name in self.names])

    def _cells(self, name: str) -> Any:
        return self.frame.iloc[:, self.names.index(name)]


def is_frame(data: object) -> bool:
    """Whether this is a pandas frame, of a class made from it too."""
    return is_a(data, of_pandas("DataFrame"))


def from_frame(frame: Any) -> ArraySource | FrameSource:
    """A source over a pandas frame; what a class made from it adds is not asked."""
    if type(frame) is not of_pandas("DataFrame"):
        frame = of_pandas("DataFrame")(frame)
    names = distinct([str(name) for name in frame.columns], "the data frame")
    kinds = set(frame.dtypes)
    check_scales((name, kind.pyarrow_dtype) for name, kind in zip(names, frame.dtypes, strict=True) if is_arrow(kind))
    if len(kinds) == 1 and is_plain(kinds.pop()):
        return ArraySource(frame.to_numpy(), names)  # pandas keeps such a frame as one array: no copy
    return FrameSource(frame, names)


def is_arrow(kind: object) -> bool:
    """Whether a dtype of pandas is a type of Arrow."""
    return type(kind) is of_pandas("ArrowDtype")


def _declared(cells: Any) -> pa.DataType | None:
    """The type that a dtype of pandas means, found without a row; None for Python objects and categories."""
    if str(cells.dtype) in ("object", "category"):
        return None
    try:
        kind = pa.array(cells.iloc[:0], from_pandas=True).type
        return None if isinstance(kind, pa.BaseExtensionType) else kind  # periods and intervals are read as objects
    except (pa.ArrowException, TypeError, ValueError, NotImplementedError):
        return None


def frame_column(cells: Any, objects: Objects) -> pa.Array | pa.ChunkedArray:
    """A column of a pandas frame, by its dtype."""
    if is_plain(cells.dtype):
        return array_column(cells.to_numpy(), objects)
    if str(cells.dtype) == "category":
        categories = [*cells.cat.categories, None]  # the code of a missing one is -1
        return objects(categories[code] for code in cells.cat.codes)
    kind = _declared(cells)
    if kind is None:
        return objects(cells)
    try:
        return sound_column(pa.array(cells, kind, from_pandas=True), objects is cell_column)
    except (pa.ArrowException, TypeError, ValueError, OverflowError):
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
            return pa.array([_scalar(cell, kind) for cell in cells], kind)  # one by one, to the same type
        return raw_text_column(cells, kind) if objects is cell_column else text_column(cells).cast(kind)


def _scalar(cell: object, kind: pa.DataType) -> Any:
    """A cell that its column's type can hold, or None."""
    try:
        return pa.scalar(cell, kind, from_pandas=True).as_py()
    except Exception:  # a cell may be any Python object
        return None
