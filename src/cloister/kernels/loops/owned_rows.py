"""Whose rows they are, and which of them count: compiled loops.

The hash of a name is BLAKE2b with a digest of 128 bits, as `hashlib` has it; names of up to one block are hashed here, all
others are left to `hashlib`. The arguments are documented here, also for the twins in `owned_rows_numpy`.

References
----------
M.-J. Saarinen, J.-P. Aumasson: The BLAKE2 Cryptographic Hash and Message Authentication Code (MAC). RFC 7693, 2015.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import I32, I64, U8, U64
from cloister.kernels.loops.compiled import compiled

LONGEST = 127  # bytes of a name that make one block of 128 with their mark
FEW = 12  # rows that are put in order by insertion: about as many as count of one person

Word = np.uint64
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S24, S27, S30, S31, S32, S16, S40, S48, S63, S1 = (np.uint64(bits) for bits in (24, 27, 30, 31, 32, 16, 40, 48, 63, 1))

IV = np.array(  # RFC 7693, 2.6: the initial values of SHA-512
    [
        0x6A09E667F3BCC908,
        0xBB67AE8584CAA73B,
        0x3C6EF372FE94F82B,
        0xA54FF53A5F1D36F1,
        0x510E527FADE682D1,
        0x9B05688C2B3E6C1F,
        0x1F83D9ABFB41BD6B,
        0x5BE0CD19137E2179,
    ],
    dtype=np.uint64,
)
PARAMETERS = np.uint64(0x01010010)  # RFC 7693, 2.5: a digest of 16 bytes, no key, one leaf
SIGMA = (
    np.array(  # RFC 7693, 2.7: which words of the block a round takes; unsigned, so that no index is checked for its sign
        [
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
            [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
            [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
            [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
            [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
            [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
            [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
            [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
            [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
            [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
            [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
        ],
        dtype=np.uint64,
    )
)


@compiled()
def mixed_words(a: Word, b: Word, c: Word, d: Word, x: Word, y: Word) -> tuple[Word, Word, Word, Word]:
    """RFC 7693, 3.1: four words of the state with two words of the block mixed in."""
    a = a + b + x
    d ^= a
    d = (d >> S32) | (d << S32)
    c = c + d
    b ^= c
    b = (b >> S24) | (b << S40)
    a = a + b + y
    d ^= a
    d = (d >> S16) | (d << S48)
    c = c + d
    b ^= c
    b = (b >> S63) | (b << S1)
    return a, b, c, d


@compiled()
def hashed_block(m: U64, length: int) -> tuple[Word, Word]:
    """The first 128 bits of BLAKE2b of one block, which is the first and the last; m : IN (16,)."""
    h0 = IV[0] ^ PARAMETERS
    v0, v1, v2, v3, v4, v5, v6, v7 = h0, IV[1], IV[2], IV[3], IV[4], IV[5], IV[6], IV[7]
    v8, v9, v10, v11, v12, v13, v14, v15 = IV[0], IV[1], IV[2], IV[3], IV[4] ^ Word(length), IV[5], ~IV[6], IV[7]
    for r in range(12):
        s = SIGMA[r]
        v0, v4, v8, v12 = mixed_words(v0, v4, v8, v12, m[s[0]], m[s[1]])
        v1, v5, v9, v13 = mixed_words(v1, v5, v9, v13, m[s[2]], m[s[3]])
        v2, v6, v10, v14 = mixed_words(v2, v6, v10, v14, m[s[4]], m[s[5]])
        v3, v7, v11, v15 = mixed_words(v3, v7, v11, v15, m[s[6]], m[s[7]])
        v0, v5, v10, v15 = mixed_words(v0, v5, v10, v15, m[s[8]], m[s[9]])
        v1, v6, v11, v12 = mixed_words(v1, v6, v11, v12, m[s[10]], m[s[11]])
        v2, v7, v8, v13 = mixed_words(v2, v7, v8, v13, m[s[12]], m[s[13]])
        v3, v4, v9, v14 = mixed_words(v3, v4, v9, v14, m[s[14]], m[s[15]])
    return h0 ^ v0 ^ v8, IV[1] ^ v1 ^ v9


@compiled()
def is_bare(letters: U8, start: int, end: int) -> bool:
    """Whether a text is ASCII without blanks around it: then its bytes are its name."""
    if letters[start] <= 32 or letters[end - 1] <= 32:
        return False
    others = 0
    for place in range(start, end):
        others += letters[place] > 127
    return others == 0


@compiled()
def hash_names(letters: U8, ends: I64, mark: int, bare: bool, owners: U64, left: I64) -> int:
    """Write the hash of each name that is at most one block, and the places of all others; returns how many others there are.

    A name is the mark and the bytes of a cell; the name of an empty cell is empty.

    letters : IN the bytes of all cells; ends : IN (n + 1,) where cells begin and end; mark : IN a byte
    bare : IN whether texts that are not ASCII, or have blanks around them, are others
    owners : OUT (n, 2); left : OUT (n,) places of the others
    """
    count = 0
    block = np.zeros(16, dtype=np.uint64)
    for i in range(len(ends) - 1):
        start, end = ends[i], ends[i + 1]
        length = end - start
        if length > LONGEST or (bare and length > 0 and not is_bare(letters, start, end)):
            left[count] = i
            count += 1
            continue
        block[:] = Word(0)
        if length > 0:
            block[0] = Word(mark)
            for place in range(length):
                at = place + 1
                block[at >> 3] |= Word(letters[start + place]) << Word(8 * (at & 7))
            length += 1
        owners[i, 0], owners[i, 1] = hashed_block(block, length)
    return count


@compiled()
def mix_cells(state: U64, numbers: I32, codes: I32) -> None:
    """Mix the cells of each row into its state.

    state : IN/OUT (n,); numbers : IN (n, d); codes : IN (n, c)
    """
    n, d = numbers.shape
    c = codes.shape[1]
    for i in range(n):
        word = state[i]
        place = GOLDEN
        for j in range(d + c):
            place += GOLDEN
            cell = numbers[i, j] if j < d else codes[i, j - d]
            word ^= Word(np.int64(cell)) + place
            word ^= word >> S30
            word *= MIX_1
            word ^= word >> S27
            word *= MIX_2
            word ^= word >> S31
        state[i] = word


@compiled()
def order_of_bytes(one: int, other: int, cells: I32) -> int:
    """Which of two rows comes first by its bytes, the lowest of each cell first: -1, 1, or 0 where they are equal."""
    for j in range(cells.shape[1]):
        if cells[one, j] != cells[other, j]:
            for shift in (0, 8, 16, 24):
                a, b = (cells[one, j] >> shift) & 255, (cells[other, j] >> shift) & 255
                if a != b:
                    return -1 if a < b else 1
    return 0


@compiled()
def precedes(one: int, other: int, owners: U64, hashes: U64, numbers: I32, codes: I32) -> bool:
    """Whether a row comes before another one, both of which have the same first half of an owner."""
    if owners[one, 1] != owners[other, 1]:
        return bool(owners[one, 1] < owners[other, 1])
    if hashes[one] != hashes[other]:
        return bool(hashes[one] < hashes[other])
    first = order_of_bytes(one, other, numbers)
    if first == 0:
        first = order_of_bytes(one, other, codes)
    return first < 0 or (first == 0 and one < other)


@compiled()
def sort_few(order: I64, owners: U64, hashes: U64, numbers: I32, codes: I32) -> None:
    """Put a few rows in order, by insertion; order : IN/OUT."""
    for i in range(1, len(order)):
        row = order[i]
        j = i
        while j > 0 and precedes(row, order[j - 1], owners, hashes, numbers, codes):
            order[j] = order[j - 1]
            j -= 1
        order[j] = row


@compiled()
def sort_many(order: I64, owners: U64, hashes: U64, numbers: I32, codes: I32) -> None:
    """Put many rows in order, by a heap: the time is the same for rows made to be slow to sort; order : IN/OUT."""
    n = len(order)
    for step in range(n // 2 + n - 1):
        if step < n // 2:  # the heap is built
            root, size = n // 2 - 1 - step, n
        else:  # the last row goes behind the heap
            size = n - 1 - (step - n // 2)
            order[0], order[size] = order[size], order[0]
            root = 0
        row = order[root]
        while 2 * root + 1 < size:
            child = 2 * root + 1
            if child + 1 < size and precedes(order[child], order[child + 1], owners, hashes, numbers, codes):
                child += 1
            if not precedes(row, order[child], owners, hashes, numbers, codes):
                break
            order[root] = order[child]
            root = child
        order[root] = row


@compiled()
def keep_first(order: I64, owners: U64, hashes: U64, numbers: I32, codes: I32, max_rows: int) -> int:
    """Put the first rows of each person to the front, in order; returns how many they are.

    order : IN/OUT (n,) by the first half of the owners
    """
    n, count, start = len(order), 0, 0
    while start < n:
        end = start + 1
        while end < n and owners[order[end], 0] == owners[order[start], 0]:
            end += 1
        if end - start > FEW:
            sort_many(order[start:end], owners, hashes, numbers, codes)
        elif end - start > 1:
            sort_few(order[start:end], owners, hashes, numbers, codes)
        begin = start
        second = owners[order[start], 1]
        for i in range(start, end):
            row = order[i]
            if owners[row, 1] != second:
                second = owners[row, 1]
                begin = i
            if i - begin < max_rows:
                order[count] = row
                count += 1
        start = end
    return count


def smallest_rows(owners: U64, hashes: U64, numbers: I32, codes: I32, max_rows: int) -> NDArray[np.intp]:
    """The rows that count, person by person: of each the `max_rows` with the smallest hashes, ties by the bytes of the rows.

    owners : IN (n, 2); hashes : IN (n,); numbers : IN (n, d); codes : IN (n, c)
    """
    order = np.argsort(np.ascontiguousarray(owners[:, 0]))
    return order[: keep_first(order, owners, hashes, numbers, codes, max_rows)]
