"""People who have many rows (`schema.unit`): whose row it is, which rows count, and how far a person moves a summary.

Privacy
-------
With a unit the guarantee is per person. Of each person at most `max_rows` rows count, chosen by a hash of the person's name and
the encoded rows: other people play no part in the choice, nor does the order of the rows, their batches or the engine. So
whoever comes or goes moves a summary by their own rows alone, at most `max_rows` of them. Without the name, the same of two
rows would count for everybody who has both.
Rows without a readable identity count as one person together. Two people never become one: cells are told apart as they are
stored, not by what is left of them when text is repaired or a number rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.kernels.base import Change, Kernel, Move, Sensitivity, Summary
from cloister.kernels.loops.choose import owner_loops
from cloister.schema import Neighbours
from cloister.schema.arrow_numpy import from_numbers
from cloister.schema.cell_values import is_named_number, kinds_apart, shared_values, texts
from cloister.schema.unit import Unit

__all__ = ["PerUnit", "at_most", "first_rows", "for_unit", "owned_hashes", "people", "row_hashes"]

_GOLDEN = 0x9E3779B97F4A7C15
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_DAY = 86_400_000  # milliseconds


@dataclass(frozen=True, slots=True)
class PerUnit:
    """A kernel over rows of which each person has at most `max_rows`.

    Privacy: a person who is added or removed moves the summary by the sum of at most g moves of one row, so L1 norms grow
    g-fold and squared L2 norms g^2-fold. A person who is replaced may have another number of rows afterwards: a pair of
    rows is a replaced row, an odd one is an added or removed row; so moves of both relations are listed. Rows that move in
    different ways give a mix of the listed moves. What a mechanism charges is linear in a move, hence largest at one that
    is listed; for squared norms, |v_1 + ... + v_g|^2 <= g (|v_1|^2 + ... + |v_g|^2).
    """

    kernel: Kernel
    max_rows: int

    @property
    def parts(self) -> Mapping[str, tuple[int, ...]]:
        return self.kernel.parts

    def fold(self, rows: Encoded) -> Summary:
        return self.kernel.fold(rows)

    def sensitivity(self, neighbours: Neighbours) -> Sensitivity:
        moves = self.kernel.sensitivity(Neighbours.ADD_REMOVE).moves
        if neighbours is Neighbours.REPLACE_ONE:
            moves = (*self.kernel.sensitivity(Neighbours.REPLACE_ONE).moves, *moves)
        return Sensitivity(tuple(_times(move, self.max_rows) for move in moves))


def _times(move: Move, rows: int) -> Move:
    return {part: Change(rows * change.l1, rows * rows * change.l2_squared) for part, change in move.items()}


def for_unit(kernel: Kernel, unit: Unit | None) -> Kernel:
    """The kernel with the sensitivity of whom the guarantee protects: a row, or a person."""
    return kernel if unit is None else PerUnit(kernel, unit.max_rows)


def people(values: pa.Array, loops: ModuleType | None = None) -> NDArray[np.uint64]:
    """Whose row it is: 128 bits of a cryptographic hash of each cell's name, (n, 2).

    Two people with the same bits would share one bound; with 128 bits nobody can find such a pair. What a name is:

    - A text without blanks around it; a number, a date and a truth value are their texts (3, 3.0 and "3" are one person). A float
      is the number that the shortest text of 64 bits writes: 0.1 is "0.1", and 0.1 in 32 bits is 0.10000000149011612.
    - A moment with a zone is its instant, the same in all zones, and never a moment without one.
    - A text with bytes that are not UTF-8 is these bytes; repaired, it could be somebody else's name. Cells of type binary are
      bytes throughout: `b"ann"` is not "ann".
    - What has no text (a duration, a time that no calendar has) is its count of units.

    A null, an empty cell, a blank text and NaN are the same missing name: which of them a blank becomes depends on the reader
    of the file. `loops`: who hashes names; None: as it pays for a pass over all rows (`owner_loops`).
    """
    loops = loops or owner_loops()
    if shared := shared_values(values):  # a name is hashed once, however many rows share it
        return np.asarray(np.concatenate([people(shared[0], loops), _hashes([b""])])[shared[1]])
    if isinstance(values, pa.ExtensionArray):
        return people(values.storage, loops)
    if pa.types.is_union(values.type):
        kinds, places = kinds_apart(values)
        return np.asarray(np.concatenate([*(people(kind, loops) for kind in kinds), _hashes([])])[places])
    if is_named_number(values.type):
        return _of_distinct(values.field(1), lambda name: b"=" + name)
    if _is_bytes(values.type):
        return _of_cells(values, lambda name: name and b"-" + name, b"-", False, loops)
    if _is_text(values.type):
        return _of_cells(values, _text_name, b"+", True, loops)
    if pa.types.is_float32(values.type) or pa.types.is_float16(values.type):  # their own shortest texts are of other numbers
        return people(values.cast(pa.float64()), loops)
    if pa.types.is_timestamp(values.type) and values.type.tz is not None:  # as `sources.object_rules` names one
        step = _NANOSECONDS[values.type.unit]
        return _of_distinct(values.cast(pa.int64()).cast(pa.string()), lambda count: b"=moment %d" % (int(count) * step))
    owners = _of_cells(texts(values), lambda text: text and b"+" + text, b"+", False, loops)
    nameless = _without_text(values)
    if len(nameless):
        owners[nameless] = _hashes([_count_name(values[int(row)]) for row in nameless])
    return owners


def _of_cells(
    cells: pa.Array, name: Callable[[bytes], bytes], mark: bytes, bare: bool, loops: ModuleType
) -> NDArray[np.uint64]:
    """The hashes of cells of text or bytes: by a loop where a name is the mark and the cell, else by `hashlib`.

    `bare`: whether that holds of ASCII without blanks around it alone. An empty cell is the missing name.
    """
    cells = cells.cast(pa.large_binary(), safe=False).fill_null(b"")
    owners, left = np.empty((len(cells), 2), np.uint64), np.empty(len(cells), np.int64)
    _, ends, letters = cells.buffers()
    count = loops.hash_names(
        _frozen(letters, np.uint8),
        _frozen(ends, np.int64, cells.offset, len(cells) + 1) if len(cells) else _frozen(pa.py_buffer(bytes(8)), np.int64),
        mark[0],
        bare,
        owners,
        left,
    )
    if count == len(cells):
        return _of_distinct(cells, name)
    if count:
        owners[left[:count]] = _of_distinct(cells.take(from_numbers(left[:count])), name)
    return owners


def _frozen(buffer: pa.Buffer | None, kind: type, start: int = 0, count: int = -1) -> NDArray[Any]:
    """A part of a buffer as an array that cannot be written, whatever the buffer allows: a loop is compiled for one kind."""
    array: NDArray[Any] = np.empty(0, kind)
    if buffer is not None and buffer.size:
        array = np.frombuffer(buffer, kind, count, start * array.itemsize)
    array.flags.writeable = False
    return array


def _of_distinct(cells: pa.Array, name: Callable[[bytes], bytes]) -> NDArray[np.uint64]:
    """The hashes of cells of text or bytes, each of which is named once."""
    encoded = cells.cast(pa.large_binary(), safe=False).dictionary_encode()
    by_code = _hashes([*map(name, encoded.dictionary.to_pylist()), b""])
    codes = encoded.indices.cast(pa.int64()).fill_null(len(by_code) - 1).to_numpy(zero_copy_only=False)
    owners: NDArray[np.uint64] = by_code[codes]
    return owners


def _hashes(names: Sequence[bytes]) -> NDArray[np.uint64]:
    """Names as 128 bits, (n, 2); an empty one is the missing name."""
    hashes = b"".join(blake2b(name, digest_size=16).digest() for name in names)
    return np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)


def _text_name(cell: bytes) -> bytes:
    """What is hashed of a text: without blanks around it if it can be read, else its bytes, with a mark of their own."""
    try:
        text = cell.decode()
    except UnicodeDecodeError:
        return b"~" + cell
    bare = text.strip()
    return b"+" + (cell if len(bare) == len(text) else bare.encode()) if bare else b""


def _without_text(values: pa.Array) -> NDArray[np.intp]:
    """The places of cells that hold something which `texts` cannot write, or not all of; NaN holds nothing."""
    kind = values.type
    if pa.types.is_date64(kind):  # its text is a day, whatever the time
        cells = values.cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
        return np.flatnonzero(cells % _DAY)
    if pa.types.is_timestamp(kind) or pa.types.is_duration(kind) or pa.types.is_interval(kind):
        is_written = texts(values).is_valid().to_numpy(zero_copy_only=False)
        return np.flatnonzero(values.is_valid().to_numpy(zero_copy_only=False) & ~is_written)
    return np.empty(0, np.intp)


def _count_name(cell: pa.Scalar) -> bytes:
    """What is hashed of a cell that has no text: how many units it counts, alike in files that count in other units."""
    kind = cell.type
    if pa.types.is_interval(kind):
        return b"i%r" % (tuple(cell.as_py()),)
    unit = "ms" if pa.types.is_date64(kind) else kind.unit
    return b"%s %d" % (b"d" if pa.types.is_duration(kind) else b"t", cell.value * _NANOSECONDS[unit])


def _is_bytes(kind: pa.DataType) -> bool:
    is_sized = pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    return bool(is_sized or pa.types.is_binary_view(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def row_hashes(rows: Encoded) -> NDArray[np.uint64]:
    """A hash of each encoded row, the same wherever it is computed, (n,)."""
    return _mixed(np.full(len(rows), _GOLDEN, dtype=np.uint64), rows)


def owned_hashes(owners: NDArray[np.uint64], rows: Encoded) -> NDArray[np.uint64]:
    """A hash of each encoded row and whose it is, the same wherever it is computed, (n,).

    The owners are cryptographic hashes, (n, 2), so the order that they give to two rows is a fair coin of each person.
    """
    return _mixed(owners[:, 0] ^ np.uint64(_GOLDEN), rows)


def _mixed(state: NDArray[np.uint64], rows: Encoded) -> NDArray[np.uint64]:
    """One number a row, made from where it starts and the row's cells, (n,). The start is overwritten."""
    owner_loops().mix_cells(state, rows.numbers, rows.codes)
    return state


def first_rows(owners: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Where another person begins, in rows that lie person by person, (n,)."""
    begins = np.ones(len(owners), dtype=np.bool_)
    begins[1:] = (owners[1:, 0] != owners[:-1, 0]) | (owners[1:, 1] != owners[:-1, 1])  # faster than `any` over pairs
    return begins


def at_most(owners: NDArray[np.uint64], rows: Encoded, max_rows: int) -> NDArray[np.intp]:
    """The rows that count, person by person: of each person the `max_rows` with the smallest `owned_hashes`.

    Different rows that share a hash, which somebody may have made on purpose, come in the order of their bytes: arrival, and
    with it other people, never decides. The smallest of a union are the smallest among the smallest of its pieces, so
    pieces may be cut down before they meet.
    """
    loops = owner_loops()
    kept: NDArray[np.intp] = loops.smallest_rows(owners, owned_hashes(owners, rows), rows.numbers, rows.codes, max_rows)
    return kept
