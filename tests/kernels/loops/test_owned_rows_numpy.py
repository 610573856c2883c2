"""The NumPy loops over owned rows give the bits of the compiled ones, and both those of `hashlib` and of a plain sort."""

from __future__ import annotations

import inspect
from hashlib import blake2b

import numpy as np
import pyarrow as pa
import pytest

from cloister.encode import Encoded
from cloister.kernels.loops import owned_rows, owned_rows_numpy
from cloister.kernels.per_unit import people

NAMES = ["", " ", "a", "ab ", "\x1fa", "\x7f", "é", "aé", "\xa0a", *("y" * length for length in range(1, 140)), "z" * 300]


def test_every_compiled_loop_has_a_plain_twin() -> None:
    """A twin has the name and the arguments of its compiled loop."""
    for name in ("hash_names", "mix_cells", "smallest_rows"):
        compiled, plain = getattr(owned_rows, name), getattr(owned_rows_numpy, name)
        signature = inspect.signature(getattr(compiled, "py_func", compiled))
        assert list(signature.parameters) == list(inspect.signature(plain).parameters)


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view(), pa.binary(), pa.large_binary()])
def test_names_are_hashed_alike(kind: pa.DataType) -> None:
    """Of texts and bytes, of one block and more, with blanks, nulls and letters beyond ASCII, in slices too."""
    cells = pa.array([None, *NAMES, None], pa.string()).cast(kind)
    for some in (cells, cells[1:], cells[5:20], cells[:0], pa.nulls(3, kind)):
        assert np.array_equal(people(some, owned_rows), people(some, owned_rows_numpy))


def test_a_name_is_hashed_as_hashlib_does() -> None:
    """BLAKE2b of 16 bytes over a mark and the text: numbers, dates and texts, one by one."""
    days = pa.array([0, 20_000, None], pa.date32())
    for cells in (pa.array([0, -7, 10**18, None]), pa.array([0.5, 3.0, None]), days, pa.array(["ann", "7", None])):
        texts = [text or "" for text in cells.cast(pa.string()).to_pylist()]
        names = [b"+" + text.removesuffix(".0").encode() if text else b"" for text in texts]
        expected = np.frombuffer(b"".join(blake2b(name, digest_size=16).digest() for name in names), "<u8").reshape(-1, 2)
        assert np.array_equal(people(cells, owned_rows), expected)
        assert np.array_equal(people(cells, owned_rows_numpy), expected)


@pytest.mark.parametrize("seed", range(30))
def test_the_same_rows_count(seed: int) -> None:
    """Hashes and chosen rows agree to the last bit: with ties of halves of owners, of hashes and of whole rows, and crowds."""
    random = np.random.default_rng(seed)
    n, d, c = int(random.integers(0, 600)), int(random.integers(0, 4)), int(random.integers(0, 3))
    owners = random.integers(0, [2, 40][seed % 2], (n, 2)).astype(np.uint64)  # crowds, and few rows each
    reach = [2, 2**31 - 1][seed % 3 == 0]  # equal rows, and any bytes
    numbers = random.integers(-reach, reach, (n, d), endpoint=True).astype(np.int32)
    codes = random.integers(0, 3, (n, c)).astype(np.int32)
    limit = int(random.integers(1, 8))
    states = []
    for loops in (owned_rows, owned_rows_numpy):
        states.append(owners[:, 0].copy())
        loops.mix_cells(states[-1], numbers, codes)
    assert np.array_equal(*states)
    for hashes in (states[0], states[0] % np.uint64(3)):  # the second has rows that were made to share a hash
        kept = [loops.smallest_rows(owners, hashes, numbers, codes, limit) for loops in (owned_rows, owned_rows_numpy)]
        assert np.array_equal(*kept)
        assert kept[0].tolist() == by_hand(owners, hashes, Encoded(numbers, codes), limit)


def by_hand(owners: np.ndarray, hashes: np.ndarray, rows: Encoded, limit: int) -> list[int]:
    """The rows that count, by a sort of Python."""

    def place(row: int) -> tuple[object, ...]:
        cells = rows.numbers[row].astype("<i4").tobytes() + rows.codes[row].astype("<i4").tobytes()
        return *owners[row].tolist(), int(hashes[row]), cells, row

    taken: dict[tuple[int, ...], int] = {}
    kept = []
    for row in sorted(range(len(owners)), key=place):
        person = tuple(owners[row].tolist())
        taken[person] = taken.get(person, 0) + 1
        if taken[person] <= limit:
            kept.append(row)
    return kept
