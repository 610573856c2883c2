"""People who have many rows: whose row it is, which rows of a person count, and how far a person moves a summary.

Privacy
-------
With a unit the guarantee is per person. Of each person at most `max_rows` rows count, chosen by a hash of the encoded
rows themselves: other people play no part in the choice, nor does the order of the rows, their batches or the engine.
Rows without a readable identity count as one person together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.encode import Encoded
from cloister.errors import SchemaError
from cloister.kernels.base import Change, Kernel, Move, Sensitivity, Summary
from cloister.schema import Neighbours, Schema
from cloister.schema.cell_values import texts

__all__ = ["PerUnit", "Unit", "at_most", "first_rows", "for_unit", "people", "row_hashes", "rows_each", "unit_of", "whom"]

_GOLDEN = 0x9E3779B97F4A7C15
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@dataclass(frozen=True, slots=True)
class Unit:
    """Whom the guarantee protects: the people named in a column, each with at most so many rows."""

    column: str
    max_rows: int

    def __post_init__(self) -> None:
        if self.max_rows < 1:
            raise SchemaError("max_rows must be at least 1: how many rows of one person count.")

    def __str__(self) -> str:
        rows = "1 row" if self.max_rows == 1 else f"{self.max_rows:,} rows"
        return f'person (at most {rows} each, column "{self.column}")'


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


def unit_of(schema: Schema | None) -> Unit | None:
    """Whom a schema says the guarantee should protect; None: a row."""
    if schema is None or schema.unit is None:
        return None
    if schema.max_rows is None:
        raise SchemaError(
            f'the schema names the unit "{schema.unit}" but not how many rows of one person may count. Add max_rows = 5, or '
            "whatever suits the table: more rows keep more of the data and need more noise."
        )
    return Unit(schema.unit, schema.max_rows)


def whom(unit: Unit | None) -> str:
    """Whom the guarantee protects, in a sentence that stands in the certificate."""
    if unit is None:
        return (
            "The guarantee is per row: it protects each row of the table by itself. It protects a person as far as stated "
            "only if no person has more than one row; somebody with g rows is protected at g times this epsilon (and a delta "
            "that grows faster than that)."
        )
    rows = "1 row is" if unit.max_rows == 1 else f"{unit.max_rows:,} rows are"
    return (
        f'The guarantee is per person, as the column "{unit.column}" names people: however many rows somebody has, it protects '
        f"all of them together. At most {rows} used of each person; the others are left out of every number here. Rows "
        "without a name are treated as one person's, so people among them are not protected one by one."
    )


def rows_each(unit: Unit | None) -> int:
    """How many rows of one whom the guarantee protects may count."""
    return 1 if unit is None else unit.max_rows


def people(values: pa.Array) -> NDArray[np.uint64]:
    """Whose row it is: 128 bits of a cryptographic hash of each cell's text, (n, 2).

    Two people with the same bits would share one bound; with 128 bits nobody can find such a pair. A null and an empty text
    are the same nobody: which of the two a blank becomes depends on who reads the file.
    """
    encoded = texts(values).dictionary_encode()
    known = [b"+" + name.encode() if name else b"" for name in encoded.dictionary.to_pylist()]
    hashes = b"".join(blake2b(name, digest_size=16).digest() for name in [*known, b""])
    by_code = np.frombuffer(hashes, dtype="<u8").reshape(-1, 2)
    codes = encoded.indices.cast(pa.int64()).fill_null(len(known)).to_numpy(zero_copy_only=False)
    found: NDArray[np.uint64] = by_code[codes]
    return found


def row_hashes(rows: Encoded) -> NDArray[np.uint64]:
    """A hash of each encoded row, the same wherever it is computed, (n,)."""
    state = np.full(len(rows), _GOLDEN, dtype=np.uint64)
    place = _GOLDEN
    with np.errstate(over="ignore"):
        for block in (rows.numbers, rows.codes):
            for j in range(block.shape[1]):
                place = (place + _GOLDEN) % 2**64
                state ^= block[:, j].astype(np.int64).view(np.uint64) + np.uint64(place)
                state ^= state >> np.uint64(30)
                state *= _MIX_1
                state ^= state >> np.uint64(27)
                state *= _MIX_2
                state ^= state >> np.uint64(31)
    return state


def first_rows(owners: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Where another person begins, in rows that lie person by person, (n,)."""
    begins = np.ones(len(owners), dtype=np.bool_)
    begins[1:] = (owners[1:] != owners[:-1]).any(axis=1)
    return begins


def at_most(owners: NDArray[np.uint64], rows: Encoded, max_rows: int) -> NDArray[np.intp]:
    """The rows that count, person by person: of each person the `max_rows` with the smallest hashes.

    Different rows that share a hash, which somebody may have made on purpose, come in the order of their bytes: arrival, and
    with it other people, never decides. The smallest of a union are the smallest among the smallest of its pieces, so
    pieces may be cut down before they meet.
    """
    keys = [row_hashes(rows), owners[:, 1], owners[:, 0]]
    order = np.lexsort(keys)
    again = np.flatnonzero(np.all([key[order][1:] == key[order][:-1] for key in keys], axis=0))
    one, other = order[again], order[again + 1]
    if (rows.numbers[one] != rows.numbers[other]).any() or (rows.codes[one] != rows.codes[other]).any():
        cells = np.concatenate([as_bytes(rows.numbers), as_bytes(rows.codes)], axis=1)
        order = np.lexsort([*cells.T[::-1], *keys])
    begins = first_rows(owners[order])
    starts = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    kept: NDArray[np.intp] = order[np.arange(len(order)) - starts < max_rows]
    return kept


def as_bytes(array: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Each row as the bytes that it is moved in, (n, 4 d)."""
    return np.ascontiguousarray(array, dtype="<i4").view(np.uint8).reshape(len(array), 4 * array.shape[1])
