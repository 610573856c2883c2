"""All that a result holds, as plain values that can be compared: no array is abbreviated, and no attribute is left out.

A result is taken apart as `pickle` would do it, besides its attributes. What cannot be taken apart (an open file, a generator, an
object whose state only its own library sees) is `Incomparable`: whoever gets it may see rows that an audit does not.

A class, a function or a module is named where whoever imports its module finds it under that name. One that was made on the way
may hold rows itself, so it is taken apart too; so is what lies behind a view of an array.
"""

from __future__ import annotations

import hashlib
import pickle
import struct
import sys
from types import (
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any
from weakref import ReferenceType

import numpy as np
import pyarrow as pa

from cloister.privacy.release import Release

__all__ = ["Incomparable", "contents_of"]

PICKLING = 4  # the protocol by which objects are taken apart
SLOTS = (  # of a class: where attributes are kept and which C code reads them, not what they are
    MemberDescriptorType,
    GetSetDescriptorType,
    WrapperDescriptorType,
    MethodDescriptorType,
    ClassMethodDescriptorType,
)
REFERENCES = (FunctionType, MethodType, ReferenceType, MappingProxyType, property, staticmethod, classmethod)
CLASS_NOISE = ("__dict__", "__weakref__", "_abc_impl")  # of a class: what Python keeps for itself
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
        if isinstance(value, type) and is_importable(value):
            return "type", value.__module__, value.__qualname__
        if isinstance(value, ModuleType):
            if sys.modules.get(value.__name__) is not value:
                raise Incomparable("module that was made")
            return "module", value.__name__
        if id(value) in self._met:
            return "met", self._met[id(value)][0]
        self._met[id(value)] = len(self._met), value
        if isinstance(value, type):
            return "made class", self.of_class(value)
        return self.of(kind), self.of_parts(value)

    def of_parts(self, value: Any) -> object:
        """What a value of several parts holds."""
        if type(value) is Release:
            said = value.kind, value.guarantee, value.events, dict(value.parameters), dict(value.result), value.notes
            return self.of((*said, value.seeded, dict(value.files), value.holder_files))
        if isinstance(value, np.ndarray | np.generic | np.dtype):
            return self.of_numpy(value)
        if isinstance(value, pa.Table | pa.RecordBatch | pa.Array | pa.ChunkedArray):
            return self.of_arrow(value)
        if type(value) in (list, tuple):
            return [self.of(part) for part in value]
        if type(value) is dict:
            return [(self.of(key), self.of(part)) for key, part in value.items()]
        if isinstance(value, set | frozenset):
            return sorted(repr(ResultInventory().of(part)) for part in value), self.of_attributes(value)
        if isinstance(value, REFERENCES):
            return self.of_reference(value)
        if isinstance(value, BaseException):
            return self.of_error(value)
        return self.of_reduced(value), self.of_attributes(value)

    def of_numpy(self, value: Any) -> object:
        """A type, or an array with whatever was attached to it."""
        if isinstance(value, np.dtype):
            return self.of_dtype(value)
        return self.of_array(value), self.of_attributes(value)

    def of_array(self, array: Any) -> object:
        """Its type, its shape, and every value; of a view, all that is behind it."""
        base = getattr(array, "base", None)
        values = np.asarray(array)
        facts = self.of_dtype(values.dtype), values.shape, values.strides, None if base is None else self.of(base)
        if values.dtype.hasobject:
            return facts, [self.of(part) for part in values.ravel().tolist()]
        return facts, hashlib.sha256(values.tobytes()).hexdigest()

    def of_dtype(self, dtype: np.dtype[Any]) -> object:
        """What it is called, and what was attached to it or to a field of it."""
        fields = [(name, *facts[1:], self.of_dtype(facts[0])) for name, facts in (dtype.fields or {}).items()]
        inner = None if dtype.subdtype is None else self.of_dtype(dtype.subdtype[0])
        return repr(dtype), self.of(dict(dtype.metadata or {})), fields, inner

    def of_arrow(self, data: Any) -> object:
        """Every value, and of a slice the whole that it is of; otherwise the bytes below may differ where a value is missing."""
        if isinstance(data, pa.ChunkedArray):
            return str(data.type), [self.of_arrow(chunk) for chunk in data.chunks]
        if isinstance(data, pa.Array):
            words = self.of_arrow(data.dictionary) if isinstance(data, pa.DictionaryArray) else None
            is_slice = data.offset or data.get_total_buffer_size() > data.nbytes
            behind = [buffer and hashlib.sha256(buffer).hexdigest() for buffer in data.buffers()] if is_slice else None
            return str(data.type), self.of(data.to_pylist()), words, behind
        fields = [[field.name, str(field.type), field.metadata] for field in data.schema]
        return self.of(fields), self.of(data.schema.metadata), [self.of_arrow(column) for column in data.columns]

    def of_class(self, kind: type) -> object:
        """A class that was made on the way: what it is called, what it inherits, and what stands in it."""
        named = {name: part for name, part in vars(kind).items() if name not in CLASS_NOISE and not isinstance(part, SLOTS)}
        bases = [self.of(base) for base in (type(kind), *kind.__bases__)]
        return kind.__qualname__, bases, [(name, self.of(part)) for name, part in named.items()]

    def of_error(self, error: BaseException) -> object:
        """An error with those that it came of; the frames behind one that was raised hold whatever they worked on."""
        if error.__traceback__ is not None:
            raise Incomparable("traceback")
        behind = error.__cause__, error.__context__
        return self.of_reduced(error), self.of_attributes(error), self.of(behind)

    def of_reference(self, value: Any) -> object:
        """What a function, a method, a property or a weak reference leads to."""
        if isinstance(value, FunctionType):
            return self.of_function(value)
        if isinstance(value, MethodType):
            return self.of(value.__func__), self.of(value.__self__)
        if isinstance(value, MappingProxyType):
            return self.of(dict(value))
        if isinstance(value, property):
            return self.of((value.fget, value.fset, value.fdel))
        if isinstance(value, staticmethod | classmethod):
            return self.of(value.__func__)
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
        if isinstance(reduced, str):  # a name that its module has
            module = pickle.whichmodule(value, reduced)  # type: ignore[attr-defined]  # it is not in the stubs
            if found_under(module, reduced) is not value:
                raise Incomparable(type(value).__name__)
            return reduced
        made, arguments, state, *items = (*reduced, None, None, None)[:5]
        return (
            made.__qualname__ if is_importable(made) else self.of(made),
            self.of(tuple(arguments)),
            self.of(state),
            [None if some is None else self.of(list(some)) for some in items],
        )


def is_importable(value: Any) -> bool:
    """Whether whoever imports the module of a class or a function finds it there: it is no other on another table."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    return isinstance(module, str) and isinstance(name, str) and found_under(module, name) is value


def found_under(module: str, name: str) -> Any:
    """What a module that is loaded holds under a name; None: nothing."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def slots_of(kind: type) -> list[str]:
    """The attributes that a class keeps in slots, as they are read."""
    slots = kind.__dict__.get("__slots__", ())
    names = [slots] if isinstance(slots, str) else list(slots)
    hidden = f"_{kind.__name__.lstrip('_')}"
    mangled = [f"{hidden}{name}" if name.startswith("__") and not name.endswith("__") else name for name in names]
    return [name for name in mangled if name not in ("__dict__", "__weakref__")]
