"""The loops of `samplers` in Python's integers: the same draws from the same bytes, without loading numba.

A draw here takes a few microseconds, so it is for small jobs (`noise` has the rule). Both
use the same bytes in the same order and give the same draws, which a test compares one by one. The arguments and what is
returned are documented in `samplers`.

Bytes that run out in the middle of a draw raise IndexError; the draw then repeats itself on the same bytes and more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Bytes = NDArray[np.uint8]
Draws = NDArray[np.int64]

DEVIATE = 32  # bytes of a uniform deviate at most: they are drawn as far as they are needed
FIRST_BYTES = 8  # of the deviate that is scaled; more only where they decide the rounding
LARGEST_WHOLE = 100  # of a normal deviate; to pass it has probability below 2**-7000


def bernoulli(row: bytes, random: bytes, at: int) -> tuple[bool, int]:
    """Say yes with the probability whose binary expansion is that row."""
    for bound in row:
        byte = random[at]
        at += 1
        if byte != bound:
            return byte < bound, at
    return False, at


def below(bound: int, random: bytes, at: int) -> tuple[int, int]:
    """Draw uniformly from 0..bound-1: as many bits as bound - 1 has, again until they are below it."""
    bits = (bound - 1).bit_length()
    size, mask = (bits + 7) // 8, (1 << bits) - 1
    while True:
        if at + size > len(random):
            raise IndexError
        value = int.from_bytes(random[at : at + size], "big") & mask
        at += size
        if value < bound:
            return value, at


def magnitude(rows: Sequence[bytes], random: bytes, at: int) -> tuple[int, int]:
    """Draw one geometric value: independent binary digits, and above them a run of successes."""
    value, weight = 0, 1
    for row in rows[:-1]:
        byte, bound = random[at], row[0]
        if byte == bound:  # once in 256 times
            one, at = bernoulli(row, random, at)
        else:
            one = byte < bound
            at += 1
        if one:
            value += weight
        weight += weight
    more, at = bernoulli(rows[-1], random, at)
    while more:
        value += weight
        more, at = bernoulli(rows[-1], random, at)
    return value, at


def geometric(expansion: Bytes, signed: bool, random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with geometric draws; with a sign they are discrete Laplace."""
    rows, stream = [row.tobytes() for row in expansion], random.tobytes()
    at = start = 0
    try:
        while done < out.size:
            start = at
            negative = False
            if signed:
                negative = bool(stream[at] & 1)
                at += 1
            value, at = magnitude(rows, stream, at)
            if negative and value == 0:
                continue  # there is one zero: a second, negative one would make it twice as likely
            out[done] = wrapped(-value if negative else value)
            done += 1
    except IndexError:
        return done, start
    return done, at


def wrapped(value: int) -> int:
    """As int64 holds it: a value that does not fit wraps around, as it does compiled (`noise.LARGEST_SCALE`)."""
    return (value + 2**63) % 2**64 - 2**63


def reaches(rows: Sequence[bytes], gap: int, random: bytes, at: int) -> tuple[bool, int]:
    """Say whether a geometric draw is at least the gap, drawing its digits from the highest, only while they matter."""
    digits = len(rows) - 1
    for _ in range(gap >> digits):
        more, at = bernoulli(rows[digits], random, at)
        if not more:
            return False, at
    more, at = bernoulli(rows[digits], random, at)
    if more:
        return True, at
    for digit in range(digits - 1, -1, -1):
        one, at = bernoulli(rows[digit], random, at)
        if one != bool(gap >> digit & 1):
            return one, at
    return True, at


def choose(expansion: Bytes, gaps: NDArray[np.uint64], random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with the index chosen in each row, index j with probability proportional to P(geometric >= gap j)."""
    rows, stream = [row.tobytes() for row in expansion], random.tobytes()
    at = start = 0
    try:
        while done < out.size:
            start = at
            index, at = below(gaps.shape[1], stream, at)
            accepted, at = reaches(rows, int(gaps[done, index]), stream, at)
            if accepted:
                out[done] = index
                done += 1
    except IndexError:
        return done, start
    return done, at


def less(left: bytearray, right: bytearray, random: bytes, at: int) -> tuple[bool, int]:
    """Say whether one uniform deviate is less than another, drawing their bytes as far as needed and keeping them."""
    for place in range(DEVIATE):
        for deviate in (left, right):
            if len(deviate) == place:
                deviate.append(random[at])
                at += 1
        if left[place] != right[place]:
            return left[place] < right[place], at
    return False, at


def decays(whole: int, deviate: bytearray, random: bytes, at: int) -> tuple[bool, int]:
    """Say yes with probability exp(-x (2 whole + x) / (2 whole + 2)), x being the deviate: Karney 2016, algorithm B."""
    even = True
    older = deviate
    while True:
        newer = bytearray()
        falls, at = less(newer, older, random, at)
        if not falls:
            return even, at
        part, at = below(2 * whole + 2, random, at)
        if part > 2 * whole:
            return even, at
        if part == 2 * whole:
            passes, at = less(bytearray(), deviate, random, at)
            if not passes:
                return even, at
        even = not even
        older = newer


def normal(root: bytes, deviate: bytearray, random: bytes, at: int) -> tuple[int, int]:
    """Try for the size of a standard normal, whole + deviate: Karney 2016, algorithm N; whole is -1 for a refusal."""
    whole = 0
    more, at = bernoulli(root, random, at)
    while more and whole <= LARGEST_WHOLE:
        whole += 1
        more, at = bernoulli(root, random, at)
    if whole > LARGEST_WHOLE:
        return -1, at
    for _ in range(whole * (whole - 1)):
        more, at = bernoulli(root, random, at)
        if not more:
            return -1, at
    for _ in range(whole + 1):
        more, at = decays(whole, deviate, random, at)
        if not more:
            return -1, at
    return whole, at


def scaled(whole: int, fraction: bytes | bytearray, high: int, low: int, rest: int) -> int:
    """Round sigma (whole + fraction), half upwards, for sigma = high + low / 2**32, in long integers.

    rest : 0, or 1 for a fraction that is one unit of its last byte larger
    """
    bits = 8 * len(fraction)
    product = ((high << 32) + low) * ((whole << bits) + int.from_bytes(fraction, "big") + rest)
    shift = 32 + bits
    return (product + (1 << (shift - 1))) >> shift


def rounded(whole: int, deviate: bytearray, high: int, low: int, random: bytes, at: int) -> tuple[int, int]:
    """Round sigma (whole + deviate), drawing the deviate's bytes until whatever follows cannot change the result."""
    while True:
        if len(deviate) >= FIRST_BYTES:
            value = scaled(whole, deviate, high, low, 0)
            if len(deviate) == DEVIATE or value == scaled(whole, deviate, high, low, 1):
                return value, at
        deviate.append(random[at])
        at += 1


def gaussian(root: Bytes, high: int, low: int, random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with round(sigma Z) for sigma = high + low / 2**32 and Z standard normal."""
    row, stream = root.tobytes(), random.tobytes()
    at = start = 0
    try:
        while done < out.size:
            start = at
            deviate = bytearray()
            whole, at = normal(row, deviate, stream, at)
            if whole < 0:
                continue
            value, at = rounded(whole, deviate, high, low, stream, at)
            sign = stream[at]
            at += 1
            out[done] = -value if sign & 1 else value
            done += 1
    except IndexError:
        return done, start
    return done, at
