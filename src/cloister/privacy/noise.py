"""Exact samplers over the operating system's randomness: the only place where noise and secret choices come from.

Nothing here is computed in floating point. A probability is known by its binary expansion, and random bits are
compared with it, so what comes out has the distribution that the proofs speak of: no gaps, no rounding, no period.

Few draws are made in Python's integers, many by compiled loops, from the same bytes and with the same results: so the
choice, which follows `kernels.loops.choose`, is about time alone.

Entropy is asked of the operating system anew at each call and forgotten at its end: a process that forks does not
repeat itself. `seeded` puts a repeatable generator in its place, for tests; what is released then protects nobody.

Privacy
-------
Every Bernoulli trial is exact to 2**-256, and uniform integers are exact.

Laplace noise is pure, exactly. Its trials have probabilities of at least 2**-93 (`SMALLEST_SCALE`), so their odds are right
up to a factor of 1 +- 2**-162, and the ratio of two neighbouring values, which at most 57 of them make, up to 1 +- 2**-156.
Drawing at a scale that is larger by a factor of 1 + 2**-80 (`widened`) takes off more: 2**-81 / scale, at least 2**-131.

A Gaussian draw lies within (sigma + 32) 2**-256 of its law in total variation, below 2**-205 for the largest sigma. On average
a draw makes fewer than 9 comparisons of a fresh uniform deviate of 256 bits, each in doubt with probability 2**-256, and fewer
than 8 trials; and the deviate's 256 bits leave the rounding in doubt with probability at most (sigma + 1) 2**-256. `accounting`
adds that to delta.

The time that a call takes depends on what it draws and is not part of the guarantee.

References
----------
C. Canonne, G. Kamath, T. Steinke: The Discrete Gaussian for Differential Privacy, 2020 (the discrete Laplace).
C. F. F. Karney: Sampling exactly from the normal distribution, ACM Transactions on Mathematical Software 42, 2016.
F. McSherry, K. Talwar: Mechanism design via differential privacy, 2007.
"""

from __future__ import annotations

import hashlib
import os
import threading
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from itertools import accumulate
from math import ceil
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.kernels.loops.choose import Effort, can_compile
from cloister.privacy.band_weights import BANDS, band_weights, band_width
from cloister.privacy.expansions import geometric_expansion, root_expansion

__all__ = [
    "choose",
    "choose_in_run",
    "gaussian",
    "geometric",
    "geometric_of",
    "integers",
    "is_seeded",
    "keep",
    "laplace",
    "permutation",
    "secret",
    "seeded",
    "seeded_since",
    "seeding_mark",
    "widened",
    "words",
]

LARGEST_SCALE = 2**50  # of Laplace and geometric noise: a draw that wraps around int64 has probability below 2**-8000
LARGEST_SIGMA = 2**50
SMALLEST_SCALE = Fraction(1, 64)  # at scale 1/178 a draw other than 0 is less likely than 2**-256: there would be no noise
WIDENING = 1 + Fraction(1, 2**80)
RATE_UNIT = 2**32  # rates of secret samples are multiples of 1 / RATE_UNIT
CHUNK = 2**18  # bytes asked of the operating system at a time: they stay in the cache while they are used

TRIES = 16  # of `choose_in_run`, each of which succeeds with a probability of at least 1/e
MOST_BYTES = 2**20  # that Python turns into draws in 0.1 to 0.3 s; loading numba and the compiled samplers takes 0.5 s

_effort = Effort(MOST_BYTES)
_lock = threading.Lock()
_repeatable: np.random.Generator | None = None
_seeded_blocks = 0


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """Make every draw of this process repeatable while the block runs, in all of its threads. For tests only.

    Parameters
    ----------
    seed : int
        Not negative. The same seed and the same calls in the same order give the same draws.

    Privacy
    -------
    None: who knows or guesses the seed can take the noise off again. `is_seeded` says so, for the stamp on the release.

    Examples
    --------
    >>> with seeded(1):
    ...     first = laplace(Fraction(10), 5)
    >>> with seeded(1):
    ...     again = laplace(Fraction(10), 5)
    >>> bool((first == again).all())
    True
    """
    global _repeatable, _seeded_blocks
    if seed < 0:
        raise UsageError(f"a seed cannot be negative, and {seed} is; take 0 or more")
    with _lock:
        if _repeatable is not None:
            raise UsageError("noise is seeded already; leave the outer block before you seed it again")
        _repeatable = np.random.Generator(np.random.Philox(seed))
        _seeded_blocks += 1
    try:
        yield
    finally:
        _repeatable = None


def is_seeded() -> bool:
    """Whether draws are repeatable now, and hence protect nobody.

    Privacy
    -------
    A release made while this is true must be stamped NOT PRIVATE.
    """
    return _repeatable is not None


def seeding_mark() -> int:
    """A mark of this moment, for `seeded_since`."""
    blocks = _seeded_blocks  # read first: a block that begins meanwhile is one more
    return -1 if _repeatable is not None else blocks


def seeded_since(mark: int) -> bool:
    """Whether noise was seeded at any moment since the mark, in any thread, drawn or not: a release meanwhile protects nobody.

    An observer need not draw to hand out exact values, and it comes with seeded noise.
    """
    return _repeatable is not None or _seeded_blocks != mark


def laplace(scale: Fraction, size: int, *, size_is_secret: bool = False) -> NDArray[np.int64]:
    """Draw from the discrete Laplace distribution, P(x) proportional to exp(-|x| / scale) on the integers.

    Parameters
    ----------
    scale : Fraction
        Above 0 and at most 2**50; one below 1/64 counts as 1/64.
    size : int
        How many independent draws.
    size_is_secret : bool, default False
        The number of draws follows from rows. Then it does not decide which loops are loaded, which can be seen from
        outside.

    Privacy
    -------
    Added to integers of L1 sensitivity s it gives epsilon = s / scale, delta = 0.

    References
    ----------
    Canonne, Kamath, Steinke 2020, algorithm 2, with the magnitude drawn digit by digit as `geometric` does.
    """
    expansion = geometric_expansion(widened(scale))
    return _draw("geometric", (expansion, True), size, 1.1 * (len(expansion) + 1), size_is_secret)


def geometric(scale: Fraction, size: int, *, size_is_secret: bool = False) -> NDArray[np.int64]:
    """Draw from the geometric distribution P(x) = (1 - a) a**x on x = 0, 1, 2, ..., where a = exp(-1 / scale).

    Its binary digits are independent: digit i is 1 with probability 1 / (1 + exp(2**i / scale)). Above the digits drawn
    so, the distribution is geometric again and is drawn by counting successes: nothing is cut off.

    The parameters are those of `laplace`.

    Privacy
    -------
    One-sided: alone it protects nothing. It is the tail of `laplace` above a threshold, and the trial behind `choose`.
    """
    return geometric_of(geometric_expansion(widened(scale)), size, size_is_secret=size_is_secret)


def geometric_of(expansion: NDArray[np.uint8], size: int, *, size_is_secret: bool = False) -> NDArray[np.int64]:
    """Draw from a geometric distribution of any ratio, by the expansion of its binary digits (`expansions`).

    Privacy
    -------
    As `geometric`.
    """
    return _draw("geometric", (expansion, False), size, 1.01 * len(expansion), size_is_secret)


def gaussian(sigma: Fraction, size: int) -> NDArray[np.int64]:
    """Draw round(sigma Z), where Z is exactly standard normal. It is *not* the discrete Gaussian.

    Parameters
    ----------
    sigma : Fraction
        Above 0 and at most 2**50. It is rounded up to a multiple of 2**-32: the noise is never less than was asked for.
    size : int
        How many independent draws.

    Privacy
    -------
    Integers plus round(sigma Z) are the rounding of integers plus sigma Z, hence post-processing: the accounting of the
    continuous Gaussian holds. What is left of inexactness adds (1 + e**epsilon) 2**-205 a draw to delta.

    References
    ----------
    Karney 2016, algorithms N and B.
    """
    if not isinstance(sigma, Fraction) or not 0 < sigma <= LARGEST_SIGMA:
        raise UsageError(
            f"Gaussian noise needs a sigma that is a Fraction above 0 and at most 2**50, not {sigma}; "
            "spend more on this step or use a coarser grid"
        )
    high, low = divmod(ceil(sigma * 2**32), 2**32)
    return _draw("gaussian", (root_expansion(), high, low), size, 21)


def choose(scores: NDArray[np.int64], scale: Fraction) -> NDArray[np.int64]:
    """Choose an index in each row of scores, with probability proportional to exp(score / scale), exactly.

    The exponential mechanism by rejection: a uniform candidate is accepted when a geometric draw reaches as far as it
    lies behind the row's best.

    Parameters
    ----------
    scores : array of int64, shape (g, c)
    scale : Fraction
        Above 0 and at most 2**50.

    Returns
    -------
    array of int64, shape (g,)

    Privacy
    -------
    A choice costs epsilon = 2 s / scale when one row of the table moves each score by at most s, and s / scale when it
    moves them all the same way, as counts under add-remove neighbours.

    References
    ----------
    McSherry and Talwar 2007.
    """
    if scores.ndim != 2 or scores.shape[1] == 0 or scores.dtype != np.int64:
        raise UsageError(
            f"scores must be int64 of shape (choices, candidates) with at least one candidate, "
            f"not {scores.dtype} of shape {scores.shape}"
        )
    expansion = geometric_expansion(widened(scale))
    # A difference of two int64 may need 64 bits: unsigned, it is right even when the subtraction wraps around.
    best = scores.max(axis=1, keepdims=True)  # (g, 1)
    gaps = best.view(np.uint64) - np.ascontiguousarray(scores).view(np.uint64)  # (g, c)
    return _draw("choose", (expansion, gaps), len(scores), 4.0 * scores.shape[1])


def choose_in_run(gaps: NDArray[np.int64], widths: NDArray[np.int64], scale: Fraction) -> tuple[int, int]:
    """Choose one of very many candidates, with probability proportional to exp(-gap / scale), exactly.

    Candidates come in runs of equal gaps, so that a grid of millions of them costs what its different values cost.

    Parameters
    ----------
    gaps : array of int64, shape (r,)
        How far each run lies behind the best one: not negative, and one is 0.
    widths : array of int64, shape (r,)
        How many candidates each run has, at least 1.
    scale : Fraction
        Above 0 and at most 2**50.

    Returns
    -------
    run, place : int
        Which run, and which of its candidates, counted from 0.

    Privacy
    -------
    As `choose`. By rejection (`band_weights`): each candidate's probability is proportional to its own weight up to a factor of
    1 +- 2**-155, with nothing cut off, which `widened` makes up for as it does for `laplace`.
    """
    if gaps.shape != widths.shape or gaps.ndim != 1 or not gaps.size or gaps.min() != 0 or widths.min() < 1:
        raise UsageError("runs of candidates need gaps from 0 on, as many widths of at least 1, and at least one run")
    wide = widened(scale)
    width, weights = band_width(wide), band_weights(wide)
    bands = np.minimum(gaps // width, BANDS)
    sizes = np.zeros(BANDS + 1, dtype=np.int64)
    np.add.at(sizes, bands, widths)
    ends = list(accumulate(int(size) * weight for size, weight in zip(sizes, weights, strict=True)))
    while True:
        for reach in geometric(scale, TRIES).tolist():  # drawn together: how many are needed is not public
            band = bisect_right(ends, _below(ends[-1]))
            runs = np.flatnonzero(bands == band)
            past = np.cumsum(widths[runs])
            chosen = int(integers(int(sizes[band]), 1)[0])
            at = int(np.searchsorted(past, chosen, side="right"))
            run = int(runs[at])
            if reach >= int(gaps[run]) - band * width:
                return run, chosen - int(past[at] - widths[run])


def keep(rate: Fraction, size: int, key: bytes | None = None) -> NDArray[np.bool_]:
    """Draw the secret Poisson sample: True with probability rate, independently for each of size rows.

    Parameters
    ----------
    rate : Fraction
        From 0 to 1, a multiple of 2**-32.
    size : int
        How many rows.
    key : bytes, optional
        What `secret` gave, followed by the place of the rows: the bits are then SHAKE-256 of it, the same however often a
        worker that failed draws them again. One place, one call.

    Privacy
    -------
    What runs on the sample costs less on the table only while nobody learns who is in it, nor how many are. With a key the
    draws are as good as independent to whoever cannot break SHAKE-256, as those of the operating system rest on its cipher.
    """
    if not isinstance(rate, Fraction) or not 0 <= rate <= 1 or RATE_UNIT % rate.denominator:
        raise UsageError(
            f"the rate of a secret sample must be a Fraction from 0 to 1 and a multiple of 2**-32, not {rate}; "
            "round it down to one"
        )
    threshold = int(rate * RATE_UNIT)
    if key is not None:
        bits = hashlib.shake_256(key).digest(4 * _checked_size(size))
        return np.frombuffer(bits, dtype="<u4") < np.uint64(threshold)
    out = np.empty(_checked_size(size), dtype=np.bool_)
    step = CHUNK // 4
    for start in range(0, size, step):
        part = out[start : start + step]
        np.less(np.frombuffer(_entropy(4 * part.size), dtype=np.uint32), threshold, out=part)
    return out


def secret() -> tuple[bytes, bool]:
    """Draw 256 bits that nobody can guess, and say whether they are seeded, so that everybody can.

    Privacy
    -------
    They are for this process and its workers alone, for as long as one draw takes.
    """
    source = _repeatable  # one look: another thread may seed the noise, or stop seeding it, at any time
    return _entropy_of(source, 32), source is not None


def integers(bound: int, size: int) -> NDArray[np.int64]:
    """Draw uniformly from 0, 1, ..., bound - 1.

    Parameters
    ----------
    bound : int
        From 1 to 2**63.
    size : int
        How many independent draws.

    Privacy
    -------
    Exact: as many bits as bound - 1 has, drawn again while they are not below bound.
    """
    if not 1 <= bound <= 2**63:
        raise UsageError(f"uniform integers need a bound from 1 to 2**63, not {bound}")
    out = np.empty(_checked_size(size), dtype=np.int64)
    mask = np.uint64((1 << (bound - 1).bit_length()) - 1)
    largest = np.uint64(bound - 1)
    done = 0
    while done < size:
        wanted = min(CHUNK // 8, 2 * (size - done))
        words = np.frombuffer(_entropy(8 * wanted), dtype=np.uint64) & mask
        words = words[words <= largest][: size - done]
        out[done : done + words.size] = words.view(np.int64)
        done += words.size
    return out


def words(size: int) -> NDArray[np.uint64]:
    """Draw uniform integers of 64 bits.

    Privacy
    -------
    Exact: the system's bytes as they come. Compared with an integer they make any probability that is a multiple of 2**-64.
    """
    return np.frombuffer(_entropy(8 * _checked_size(size)), dtype=np.uint64)


def permutation(size: int) -> NDArray[np.int64]:
    """Draw a secret order of 0, 1, ..., size - 1, all orders equally likely.

    Parameters
    ----------
    size : int
        How many things to put in order.

    Privacy
    -------
    Exact: random 64-bit keys are sorted, and drawn again when two are equal.
    """
    _checked_size(size)
    while True:
        keys = np.frombuffer(_entropy(8 * size), dtype=np.uint64)
        order = np.argsort(keys)
        ranked = keys[order]
        if not (ranked[1:] == ranked[:-1]).any():
            return order.astype(np.int64, copy=False)


def _below(bound: int) -> int:
    """Draw uniformly from 0, 1, ..., bound - 1, however large the bound is: bits are drawn again while they are not below it."""
    bits = (bound - 1).bit_length()
    while True:
        drawn = int.from_bytes(_entropy(8 * ceil(bits / 64)), "little") & ((1 << bits) - 1)
        if drawn < bound:
            return drawn


def _entropy(count: int) -> bytes:
    """Fresh random bytes; nothing is kept back for the next call, so a fork cannot share them."""
    return _entropy_of(_repeatable, count)


def _entropy_of(source: np.random.Generator | None, count: int) -> bytes:
    if source is None:
        return os.urandom(count)
    with _lock:
        return source.bytes(count)


def _draw(
    loop: str, arguments: tuple[Any, ...], size: int, expected: float, size_is_secret: bool = False
) -> NDArray[np.int64]:
    """Run a loop of `samplers` over fresh bytes until all draws are made; expected: about how many bytes one takes."""
    out = np.empty(_checked_size(size), dtype=np.int64)
    fill = getattr(_samplers(None if size_is_secret else ceil(size * expected)), loop)
    done, unused = 0, b""
    while done < size:
        # Whole words, so that a seeded stream does not depend on how it is cut.
        wanted = 8 * ceil(min(CHUNK, (size - done) * expected + 64) / 8)
        random = unused + _entropy(wanted)
        done, used = fill(*arguments, np.frombuffer(random, dtype=np.uint8), out, done)
        unused = random[used:]
    return out


def _samplers(bytes_used: int | None) -> ModuleType:
    """The loops for draws that eat about so many bytes, a public number: both kinds make the same draws, one without numba.

    None: the number is secret, and must not decide.
    """
    if can_compile() if bytes_used is None else _effort.pays_to_compile(bytes_used):
        from cloister.privacy import samplers

        return samplers
    from cloister.privacy import samplers_python

    return samplers_python


def _checked_size(size: int) -> int:
    if size < 0:
        raise UsageError(f"cannot draw {size} values; ask for 0 or more")
    return size


def _checked_scale(scale: Fraction) -> Fraction:
    if not isinstance(scale, Fraction) or not 0 < scale <= LARGEST_SCALE:
        raise UsageError(
            f"noise needs a scale that is a Fraction above 0 and at most 2**50, not {scale}; "
            "spend more on this step or use a coarser grid"
        )
    return scale


def widened(scale: Fraction) -> Fraction:
    """The scale at which Laplace noise is drawn: a little more than asked for, and never so small that it would vanish.

    Privacy
    -------
    Makes up for probabilities that are rounded to 256 binary places, so that the epsilon holds exactly.
    """
    return max(_checked_scale(scale), SMALLEST_SCALE) * WIDENING
