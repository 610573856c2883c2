"""The compiled loops compare, round and refill as they say."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from cloister.privacy import expansions, samplers
from tests.chisquare import draws_ok


@settings(deadline=None)  # the first call may compile
@given(
    whole=st.integers(0, 100),
    fraction=st.binary(min_size=1, max_size=32),
    sigma=st.integers(1, 2**82),
    rest=st.integers(0, 1),
)
def test_scaling_rounds_as_long_integers_do(whole: int, fraction: bytes, sigma: int, rest: int) -> None:
    """round(sigma (whole + fraction)) in 64-bit pieces is what Python's long integers give."""
    bits = 8 * len(fraction)
    exact = sigma * ((whole << bits) + int.from_bytes(fraction, "big") + rest)
    high, low = divmod(sigma, 2**32)
    got = samplers.scaled(whole, np.frombuffer(fraction, dtype=np.uint8), high, low, rest)
    assert got == (exact + (1 << (bits + 31))) >> (bits + 32)


def test_a_tie_is_settled_by_the_next_byte() -> None:
    """A Bernoulli whose first byte equals the expansion's looks at the second, and a deviate keeps what it drew."""
    expansion = np.array([[128, 5] + [0] * 30], dtype=np.uint8)
    assert samplers.bernoulli(expansion, 0, np.array([128, 4], dtype=np.uint8), 0) == (True, 2)
    assert samplers.bernoulli(expansion, 0, np.array([128, 6], dtype=np.uint8), 0) == (False, 2)
    deviates, known = np.zeros((2, 16), dtype=np.uint8), np.zeros(2, dtype=np.int64)
    assert samplers.less(deviates, known, 0, 1, np.array([7, 7, 3, 9], dtype=np.uint8), 0) == (True, 4)
    assert samplers.less(deviates, known, 0, 1, np.array([0], dtype=np.uint8), 0) == (True, 0)
    np.testing.assert_array_equal(deviates[:, :2], [[7, 3], [7, 9]])


def test_starting_a_draw_over_on_other_bytes_is_caught() -> None:
    """The check of the law refuses a refill that throws begun draws away: those of large values are longer."""
    out = np.empty(20_000, dtype=np.int64)
    done = 0
    while done < out.size:
        random = np.frombuffer(os.urandom(24), dtype=np.uint8)
        done, _ = samplers.gaussian(expansions.root_expansion(), 1000, 0, random, out, done)
    assert not draws_ok(out, lambda x: np.asarray(norm.cdf((x + 0.5) / 1000), dtype=np.float64))
