"""All that a result holds, as plain values that can be compared: no array is abbreviated, and no attribute is left out.

A result is taken apart as `pickle` would do it, besides its attributes. What cannot be taken apart (an open file, a generator, an
object whose state only its own library sees) is `Incomparable`: whoever gets it may see rows that an audit does not.
"""

from __future__ import annotations

import hashlib
import struct
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any
from weakref import ReferenceType

import numpy as np
import pyarrow as pa

from cloister.privacy.release import Release

__all__ = ["Incomparable", "contents_of"]

PICKLING = 4  # the protocol by which objects are taken apart
EXACT = (bool, int, str, bytes, type(None), type(Ellipsis), type(NotImplemented))


class Incomparable(Exception):
    """A result holds something that cannot be looked into; the message is its type."""


def contents_of(result: Any) -> object:
    """The contents of a result: equal for two results only if nothing that they hold differs.

    Of a certificate it is what was released: the entry in a ledger and the signature are other ones each time.

    Raises
    ------
    Incomparable
    """
    try:
        return ResultInventory().of(result)
    except RecursionError:
        raise Incomparable(type(result).__name__) from None


class ResultInventory:
    """One walk through a result; an object that was met before is named by its number, so that circles end."""

    def __init__(self) -> None:
        self._met: dict[int, tuple[int, Any]] = {}  # with the object: its id is its own as long as it lives

    def of(self, value: Any) -> object:
        """The contents of one value, with its type."""
        kind = type(value)
        if kind in EXACT:
            return kind.__name__, value
        if kind is float:
            return "float", struct.pack("<d", value)  # nan is itself, and -0.0 is not 0.0
        if isinstance(value, type):
            return "type", value.__module__, value.__qualname__
        if isinstance(value, ModuleType):
            return "module", value.__name__
        if id(value) in self._met:
            return "met", self._met[id(value)][0]
        self._met[id(value)] = len(self._met), value
        return f"{kind.__module__}.{kind.__qualname__}", self.of_parts(value)

    def of_parts(self, value: Any) -> object:
        """What a value of several parts holds."""
        if isinstance(value, Release):
            said = value.kind, value.guarantee, value.events, dict(value.parameters), dict(value.result), value.notes
            return self.of((*said, value.seeded))
        if isinstance(value, np.ndarray | np.generic):
            return self.of_array(np.asarray(value)), self.of_attributes(value)
        if isinstance(value, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
            return self.of_arrow(value)
        if type(value) in (list, tuple):
            return [self.of(part) for part in value]
        if type(value) is dict:
            return [(self.of(key), self.of(part)) for key, part in value.items()]
        if isinstance(value, set | frozenset):
            return sorted(repr(ResultInventory().of(part)) for part in value), self.of_attributes(value)
        if isinstance(value, FunctionType | MethodType | ReferenceType):
            return self.of_reference(value)
        return self.of_reduced(value), self.of_attributes(value)

    def of_array(self, array: Any) -> object:
        """Its type, its shape, and every value."""
        facts = repr(array.dtype), array.shape
        if array.dtype.hasobject:
            return facts, [self.of(part) for part in array.ravel().tolist()]
        return facts, hashlib.sha256(array.tobytes()).hexdigest()

    def of_arrow(self, data: Any) -> object:
        """Every value; the bytes below may differ where a value is missing."""
        if isinstance(data, pa.Array | pa.ChunkedArray):
            return str(data.type), self.of(data.to_pylist())
        fields = [[field.name, str(field.type), field.metadata] for field in data.schema]
        return self.of(fields), self.of(data.schema.metadata), [self.of(column.to_pylist()) for column in data.columns]

    def of_reference(self, value: Any) -> object:
        """What a function, a method or a weak reference leads to."""
        if isinstance(value, FunctionType):
            return self.of_function(value)
        if isinstance(value, MethodType):
            return self.of(value.__func__), self.of(value.__self__)
        return self.of(value())

    def of_function(self, function: FunctionType) -> object:
        """Its code, and what that may read besides its arguments, other than the names of its module."""
        cells = [cell.cell_contents for cell in function.__closure__ or () if cell != type(cell)()]
        read = function.__defaults__, function.__kwdefaults__, cells, vars(function)
        return self.of_code(function.__code__), self.of(read)

    def of_code(self, code: CodeType) -> object:
        """Its instructions, with the constants and the functions inside."""
        constants = [self.of_code(part) if isinstance(part, CodeType) else self.of(part) for part in code.co_consts]
        return code.co_qualname, code.co_code, code.co_names, constants

    def of_attributes(self, value: Any) -> object:
        """Its attributes, in slots too: what an object says of itself to `pickle` may leave some out."""
        slots = [name for kind in type(value).__mro__ for name in slots_of(kind)]
        named = {**{name: getattr(value, name) for name in slots if hasattr(value, name)}, **getattr(value, "__dict__", {})}
        return [(name, self.of(named[name])) for name in sorted(named)]

    def of_reduced(self, value: Any) -> object:
        """What `pickle` would write down."""
        try:
            reduced = value.__reduce_ex__(PICKLING)
        except Exception:
            raise Incomparable(type(value).__name__) from None
        if isinstance(reduced, str):
            return reduced
        made, arguments, state, *items = (*reduced, None, None, None)[:5]
        return (
            getattr(made, "__qualname__", repr(type(made))),
            self.of(tuple(arguments)),
            self.of(state),
            [None if some is None else self.of(list(some)) for some in items],
        )


def slots_of(kind: type) -> list[str]:
    """The attributes that a class keeps in slots, as they are read."""
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    hidden = f"_{kind.__name__.lstrip('_')}"
    mangled = [f"{hidden}{name}" if name.startswith("__") and not name.endswith("__") else name for name in names]
    return [name for name in mangled if name not in ("__dict__", "__weakref__")]
