"""Compiled loops that turn random bytes into exact draws.

Every loop eats a stream of uniform bytes that its caller supplies and holds no state of its own. A loop is called as
``loop(..., random, out, done)``: it writes draws from ``out[done]`` on and returns ``(done, used)``, how far it got and
how many bytes it has used up. When the bytes run out in the middle of a draw, ``used`` points to where that draw began:
the caller puts more bytes *behind the unused ones* and calls again, and the draw repeats itself on the same bytes.
Starting it over on other bytes would favour values that need few of them.

A Bernoulli(p) compares random bytes with the binary expansion of p, 32 bytes long: the first byte decides but for one
time in 256, then the next one is looked at.

This module loads numba. `samplers_python` has the same loops without it, for small jobs; `noise` chooses.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.compiled import compiled
from cloister.privacy.samplers_python import DEVIATE, FIRST_BYTES, LARGEST_WHOLE, Bytes, Draws

# A byte becomes int(np.int64(byte)): compiled, a bare int() stays unsigned, and unsigned with signed makes a float.


@compiled()
def take(random: Bytes, at: int) -> tuple[int, int]:
    """Take the next byte. Past the end it reads 255, a refusal to every Bernoulli, so that no run goes on for ever.

    The caller sees from ``at > random.size`` that the draw does not count.
    """
    return (int(np.int64(random[at])) if at < random.size else 255), at + 1


@compiled()
def bernoulli(expansion: Bytes, row: int, random: Bytes, at: int) -> tuple[bool, int]:
    """Say yes with the probability whose binary expansion is that row.

    expansion : IN (rows, 32)
    """
    for place in range(expansion.shape[1]):
        byte, at = take(random, at)
        bound = int(np.int64(expansion[row, place]))
        if byte != bound:
            return byte < bound, at
    return False, at


@compiled()
def below(bound: int, random: Bytes, at: int) -> tuple[int, int]:
    """Draw uniformly from 0..bound-1: as many bits as bound - 1 has, again until they are below it."""
    mask = bound - 1
    for shift in (1, 2, 4, 8, 16, 32):
        mask |= mask >> shift
    while at <= random.size:
        value = 0
        rest = mask
        while rest > 0:
            byte, at = take(random, at)
            value = value << 8 | byte
            rest >>= 8
        value &= mask
        if value < bound:
            return value, at
    return 0, at


@compiled()
def magnitude(expansion: Bytes, random: Bytes, at: int) -> tuple[int, int]:
    """Draw one geometric value: independent binary digits, and above them a run of successes.

    expansion : IN (digits + 1, 32), the probabilities of the digits, lowest first, and last that of going on above them
    """
    digits = expansion.shape[0] - 1
    value = 0
    for digit in range(digits):
        one, at = bernoulli(expansion, digit, random, at)
        value |= int(one) << digit
    more, at = bernoulli(expansion, digits, random, at)
    while more:
        value += 1 << digits
        more, at = bernoulli(expansion, digits, random, at)
    return value, at


@compiled()
def geometric(expansion: Bytes, signed: bool, random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with geometric draws; with a sign they are discrete Laplace.

    expansion : IN (digits + 1, 32); signed : IN; random : IN (bytes,); out : OUT (n,)
    """
    at = 0
    while done < out.size:
        start = at
        sign = 0
        if signed:
            sign, at = take(random, at)
        value, at = magnitude(expansion, random, at)
        if at > random.size:
            return done, start
        if sign & 1:
            if value == 0:
                continue  # there is one zero: a second, negative one would make it twice as likely
            value = -value
        out[done] = value
        done += 1
    return done, at


@compiled()
def reaches(expansion: Bytes, gap: np.uint64, random: Bytes, at: int) -> tuple[bool, int]:
    """Say whether a geometric draw is at least the gap, drawing its digits from the highest, only while they matter.

    expansion : IN (digits + 1, 32)
    """
    digits = expansion.shape[0] - 1
    above = gap >> np.uint64(digits)
    while above > np.uint64(0):  # not a range, which takes its end for signed
        more, at = bernoulli(expansion, digits, random, at)
        if not more:
            return False, at
        above -= np.uint64(1)
    more, at = bernoulli(expansion, digits, random, at)
    if more:
        return True, at
    for digit in range(digits - 1, -1, -1):
        one, at = bernoulli(expansion, digit, random, at)
        wanted = (gap >> np.uint64(digit)) & np.uint64(1) == np.uint64(1)
        if one != wanted:
            return one, at
    return True, at


@compiled()
def choose(expansion: Bytes, gaps: NDArray[np.uint64], random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with the index chosen in each row, index j with probability proportional to P(geometric >= gap j).

    expansion : IN (digits + 1, 32); gaps : IN (n, c), 0 at each row's best; random : IN (bytes,); out : OUT (n,)
    """
    at = 0
    while done < out.size:
        start = at
        index, at = below(gaps.shape[1], random, at)
        accepted, at = reaches(expansion, gaps[done, index], random, at)
        if at > random.size:
            return done, start
        if accepted:
            out[done] = index
            done += 1
    return done, at


@compiled()
def less(deviates: Bytes, known: Draws, left: int, right: int, random: Bytes, at: int) -> tuple[bool, int]:
    """Say whether one uniform deviate is less than another, drawing their bytes as far as needed and keeping them.

    deviates : IN/OUT (slots, 16), bytes from the highest; known : IN/OUT (slots,), how many of them are drawn
    """
    for place in range(deviates.shape[1]):
        for slot in (left, right):
            if known[slot] == place:
                byte, at = take(random, at)
                deviates[slot, place] = byte
                known[slot] += 1
        if deviates[left, place] != deviates[right, place]:
            return deviates[left, place] < deviates[right, place], at
    return False, at


@compiled()
def decays(whole: int, deviates: Bytes, known: Draws, random: Bytes, at: int) -> tuple[bool, int]:
    """Say yes with probability exp(-x (2 whole + x) / (2 whole + 2)), x being deviate 0: Karney 2016, algorithm B.

    Counts how long x > z1 > z2 > ... goes on when each step must also pass with probability
    (2 whole + x) / (2 whole + 2): the count is even with the probability wanted. Deviates 1 and 2 take turns as z, 3
    serves the extra test.
    """
    even = True
    older, newer = 0, 1
    while True:
        known[newer] = 0
        falls, at = less(deviates, known, newer, older, random, at)
        if not falls:
            return even, at
        part, at = below(2 * whole + 2, random, at)
        if part > 2 * whole:
            return even, at
        if part == 2 * whole:
            known[3] = 0
            passes, at = less(deviates, known, 3, 0, random, at)
            if not passes:
                return even, at
        even = not even
        older, newer = newer, 3 - newer


@compiled()
def normal(root: Bytes, deviates: Bytes, known: Draws, random: Bytes, at: int) -> tuple[int, int]:
    """Try for the size of a standard normal, whole + deviate 0: Karney 2016, algorithm N; whole is -1 for a refusal.

    root : IN (1, 32), the expansion of exp(-1/2)
    """
    whole = 0
    more, at = bernoulli(root, 0, random, at)
    while more and whole <= LARGEST_WHOLE:
        whole += 1
        more, at = bernoulli(root, 0, random, at)
    if whole > LARGEST_WHOLE:
        return -1, at
    for _ in range(whole * (whole - 1)):
        more, at = bernoulli(root, 0, random, at)
        if not more:
            return -1, at
    known[0] = 0
    for _ in range(whole + 1):
        more, at = decays(whole, deviates, known, random, at)
        if not more:
            return -1, at
    return whole, at


@compiled()
def scaled(whole: int, fraction: Bytes, high: int, low: int, rest: int) -> int:
    """Round sigma (whole + fraction), half upwards, for sigma = high + low / 2**32.

    Multiplies byte by byte from the lowest, dropping eight bits at each step. The floor of a floor is the floor of all,
    so the result is exact; nothing passes 2**63 while high <= 2**50 and whole <= 2**7.

    fraction : IN (bytes,), from the highest; rest : 0, or 1 for a fraction that is one unit of its last byte larger
    """
    upper, lower = rest * high, rest * low  # the running product is upper * 2**32 + lower
    for place in range(fraction.size - 1, -1, -1):
        byte = int(np.int64(fraction[place]))
        lower += byte * low
        upper += byte * high + (lower >> 32)
        lower = (upper & 0xFF) << 24 | (lower & 0xFFFFFFFF) >> 8
        upper >>= 8
    return whole * high + upper + ((whole * low + lower + (1 << 31)) >> 32)


@compiled()
def rounded(whole: int, deviates: Bytes, known: Draws, high: int, low: int, random: Bytes, at: int) -> tuple[int, int]:
    """Round sigma (whole + deviate 0), drawing the deviate's bytes until whatever follows cannot change the result."""
    while True:
        if known[0] >= FIRST_BYTES:
            fraction = deviates[0, : known[0]]
            value = scaled(whole, fraction, high, low, 0)
            if known[0] == DEVIATE or value == scaled(whole, fraction, high, low, 1):
                return value, at
        byte, at = take(random, at)
        deviates[0, known[0]] = byte
        known[0] += 1


@compiled()
def gaussian(root: Bytes, high: int, low: int, random: Bytes, out: Draws, done: int) -> tuple[int, int]:
    """Fill with round(sigma Z) for sigma = high + low / 2**32 and Z standard normal.

    root : IN (1, 32), the expansion of exp(-1/2); random : IN (bytes,); out : OUT (n,)
    """
    deviates = np.zeros((4, DEVIATE), dtype=np.uint8)
    known = np.zeros(4, dtype=np.int64)
    at = 0
    while done < out.size:
        start = at
        whole, at = normal(root, deviates, known, random, at)
        if whole >= 0:
            value, at = rounded(whole, deviates, known, high, low, random, at)
            sign, at = take(random, at)
            if at <= random.size:
                out[done] = -value if sign & 1 else value
                done += 1
        if at > random.size:
            return done, start
    return done, at
