"""The samplers in Python's integers make the draws of the compiled ones, draw for draw and byte for byte."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.privacy import noise, samplers, samplers_python
from cloister.privacy.expansions import geometric_expansion, root_expansion
from cloister.privacy.mechanisms.survivors import skip_expansion

SCALES = [
    Fraction(1, 50),
    Fraction(1, 3),
    Fraction(1),
    Fraction(7, 2),
    Fraction(12_345, 7),
    Fraction(2**20),
    Fraction(2**50),
]
SIGMAS = [(0, 1), (0, 2**31), (1, 0), (3, 77), (1000, 0), (2**40, 0), (2**50, 0)]
LOOPS = {
    **{f"laplace {scale}": ("geometric", (geometric_expansion(scale), True)) for scale in SCALES},
    **{f"geometric {scale}": ("geometric", (geometric_expansion(scale), False)) for scale in SCALES},
    "skips": ("geometric", (skip_expansion(Fraction(20), 400), False)),
    **{f"gaussian {high}, {low}": ("gaussian", (root_expansion(), high, low)) for high, low in SIGMAS},
}


def run(module: object, loop: str, arguments: tuple, random: np.ndarray, size: int, done: int = 0) -> tuple:
    """What a loop makes of some bytes: how far it came, what it used, and its draws."""
    out = np.zeros(size, dtype=np.int64)
    reached = getattr(module, loop)(*arguments, random, out, done)
    return *(int(number) for number in reached), out[: reached[0]].tolist()


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("seed", range(4))
def test_the_draws_are_the_same(name: str, seed: int) -> None:
    """From the same bytes come the same draws, as many of them, with as many bytes used up, also when they run out."""
    loop, arguments = LOOPS[name]
    generator = np.random.default_rng(seed)
    for count in (0, 1, 7, 60, 1000, 20_000):
        random = np.frombuffer(generator.bytes(count), dtype=np.uint8)
        assert run(samplers, loop, arguments, random, 300) == run(samplers_python, loop, arguments, random, 300)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_unlikely_bytes_give_the_same_draws(data: st.DataObject) -> None:
    """Bytes near the expansions and at the extremes: ties, long runs and refusals, which random bytes seldom reach."""
    name = data.draw(st.sampled_from(sorted(LOOPS)))
    loop, arguments = LOOPS[name]
    likely = sorted({int(byte) for byte in arguments[0][:, :3].ravel()} | {0, 1, 255})
    random = np.array(data.draw(st.lists(st.sampled_from(likely), max_size=400)), dtype=np.uint8)
    size = data.draw(st.integers(1, 30))
    assert run(samplers, loop, arguments, random, size) == run(samplers_python, loop, arguments, random, size)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("candidates", [1, 2, 3, 300])
def test_the_choices_are_the_same(scale: Fraction, candidates: int) -> None:
    """Indices chosen by score agree too, whatever the gaps between the scores."""
    generator = np.random.default_rng(candidates)
    gaps = (generator.exponential(float(scale), (50, candidates)) * 2).astype(np.uint64)
    gaps[:, 0] = 0
    arguments = (geometric_expansion(scale), gaps)
    for count in (5, 500, 100_000):
        random = np.frombuffer(generator.bytes(count), dtype=np.uint8)
        assert run(samplers, "choose", arguments, random, 50) == run(samplers_python, "choose", arguments, random, 50)


@settings(deadline=None)  # the first call may compile
@given(
    st.integers(0, 100),
    st.binary(min_size=1, max_size=32),
    st.integers(0, 2**50),
    st.integers(0, 2**32 - 1),
    st.integers(0, 1),
)
def test_scaling_agrees(whole: int, fraction: bytes, high: int, low: int, rest: int) -> None:
    """Long integers round as the 64-bit pieces do."""
    compiled = samplers.scaled(whole, np.frombuffer(fraction, dtype=np.uint8), high, low, rest)
    assert samplers_python.scaled(whole, fraction, high, low, rest) == compiled


DRAWS = """
import sys
from fractions import Fraction
{before}
from cloister.privacy import noise
with noise.seeded(5):
    drawn = [noise.laplace(Fraction(1000), 50).tolist(), noise.gaussian(Fraction(77, 3), 50).tolist()]
    drawn += [noise.geometric(Fraction(9), 300).tolist()]
print(drawn, "numba" in sys.modules)
"""


def drawn(before: str) -> tuple[str, bool]:
    """Seeded draws of a fresh interpreter, and whether it loaded numba."""
    done = subprocess.run([sys.executable, "-c", DRAWS.format(before=before)], check=True, capture_output=True, text=True)
    text, _, loaded = done.stdout.strip().rpartition(" ")
    return text, loaded == "True"


def test_a_seed_gives_the_same_draws_with_and_without_numba() -> None:
    """Few draws load no numba, and whether it was loaded does not change what is drawn."""
    without, loaded = drawn("")
    assert not loaded
    assert drawn("import numba") == (without, True)


def test_many_draws_are_compiled() -> None:
    """More bytes than Python should eat go to the compiled loops."""
    assert drawn("from cloister.privacy import noise; noise.laplace(Fraction(1000), 100_000)")[1]
    assert noise.MOST_BYTES < 1_000_000 * 16
