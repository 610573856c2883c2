"""Damage for files and texts: flipped bits, lost and doubled parts, deep nesting, huge numbers, other types."""

from __future__ import annotations

import random

BIG = (b"1e9999999", b"-1e9999999", b"9" * 5000, b"1e-9999999", b"NaN", b"-Infinity", b"0x" + b"f" * 3000, b"1/0", b"-0")
TYPES = (
    b"null",
    b"true",
    b"[]",
    b"{}",
    b'""',
    b"-1",
    b"0.5",
    b'"x"',
    b"[[]]",
    b'{"a": 1}',
    b"2024-02-30",
    b"\xff\xfe",
    b"\x00",
)
NESTS = (b"[" * 3000, b'{"a":' * 3000, b"]" * 50, b"(" * 500, b"." * 2000)
BYTES = (0, 0xFF, 0x7F, 0x80, 0x22, 0x0A)
WORDS = (2**31 - 1, 2**63 - 1, 2**40, -1, -(2**63), 2**32)


def damaged(raw: bytes, rng: random.Random) -> bytes:
    """A file with one to sixteen faults of one kind; footers and heads are hit more often than the middle."""
    out = bytearray(raw)
    kind = rng.randrange(10)
    for _ in range(rng.choice([1, 1, 1, 1, 2, 4, 16])):
        if not out:
            return b""
        at = _place(len(out), rng)
        if kind < 3:
            out[at] = (out[at] ^ 1 << rng.randrange(8), rng.choice(BYTES), rng.randrange(256))[kind]
        elif kind == 3:  # a part doubled over another
            begin, size = rng.randrange(len(out)), rng.randrange(1, 40)
            out[at : at + size] = out[begin : begin + size]
        elif kind == 4:
            del out[at : at + rng.randrange(1, 60)]
        elif kind == 5:
            out[at : at + 8] = rng.choice(WORDS).to_bytes(8, "little", signed=True)
        elif kind == 6:
            return bytes(out[:at])
        elif kind == 7:
            begin = rng.randrange(len(out))
            out[at:at] = out[begin : begin + rng.randrange(1, 400)]
        else:
            _replace_token(out, at, rng)
    return bytes(out)


def _place(size: int, rng: random.Random) -> int:
    end = rng.random()
    if end < 0.25:
        return max(0, size - 1 - rng.randrange(min(size, 700)))
    return rng.randrange(min(size, 300)) if end < 0.4 else rng.randrange(size)


def _replace_token(out: bytearray, at: int, rng: random.Random) -> None:
    """A number, a quoted text or a bracket becomes something else."""
    end = at
    while end < len(out) and end - at < 40 and chr(out[end]) not in ',:;\n]} "':
        end += 1
    out[at:end] = rng.choice(rng.choice([BIG, TYPES, NESTS]))
