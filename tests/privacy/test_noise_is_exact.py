"""How exact the samplers are, computed from the probabilities they compare with and not from draws."""

from __future__ import annotations

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
import pytest

from cloister.kernels import Change, Sensitivity
from cloister.privacy import noise, samplers_python
from cloister.privacy.expansions import geometric_expansion, root_expansion
from cloister.privacy.mechanisms import calibrate
from cloister.privacy.mechanisms.split_tree import SplitTree

COUNTS = Sensitivity(({"counts": Change(1, 1)},))
SCALES = [
    Fraction(1, 1000),
    Fraction(1, 178),
    Fraction(1, 64),
    Fraction(1, 30),
    Fraction(1, 3),
    Fraction(1),
    Fraction(50, 7),
    Fraction(2**20),
    Fraction(2**50),
]
CONTEXT = Context(prec=150, Emin=-999_999, Emax=999_999)


def odds(scale: Fraction) -> list[Fraction]:
    """By how much each binary digit of a drawn size, and then one step above all digits, multiplies its probability."""
    rows = [Fraction(int.from_bytes(row.tobytes(), "big"), 2**256) for row in geometric_expansion(scale)]
    return [*(row / (1 - row) for row in rows[:-1]), rows[-1]]


def ratio(chances: list[Fraction], size: int) -> Fraction:
    """P(size + 1) / P(size) of a drawn size, as the loops draw it."""
    digits = len(chances) - 1

    def weight(value: int) -> Fraction:
        product = chances[-1] ** (value >> digits)
        for digit in range(digits):
            product *= chances[digit] if value >> digit & 1 else 1
        return product

    return weight(size + 1) / weight(size)


def keeps_epsilon(chances: list[Fraction], scale: Fraction) -> bool:
    """Whether neighbouring sizes have probabilities within exp(1/scale), to 140 digits: carries of every length are tried."""
    least = Fraction(CONTEXT.exp(CONTEXT.divide(Decimal(-scale.denominator), Decimal(scale.numerator))))
    least *= 1 - Fraction(1, 10**140)  # what 150 digits may be off
    digits = len(chances) - 1
    sizes = {0, 1, 2, 5, *(2**digit - 1 for digit in range(1, digits + 3)), *(2**digit for digit in range(digits + 3))}
    return all(least <= ratio(chances, size) <= 1 / least for size in sizes)


@pytest.mark.parametrize("scale", SCALES, ids=str)
def test_laplace_noise_keeps_its_epsilon_exactly(scale: Fraction) -> None:
    """Not up to 2**-256 of probability: the ratio itself, also where the noise is hardly ever other than 0."""
    assert keeps_epsilon(odds(noise.widened(scale)), scale)


@pytest.mark.parametrize("scale", [Fraction(1, 178), Fraction(1, 3), Fraction(2**20)], ids=str)
def test_noise_that_is_not_widened_is_caught(scale: Fraction) -> None:
    """Drawn at the scale itself, rounded probabilities pass epsilon; at 1/178 the noise is always 0."""
    chances = odds(scale)
    assert chances == [0] if scale == Fraction(1, 178) else not keeps_epsilon(chances, scale)


def test_the_widening_is_far_below_what_can_be_seen() -> None:
    """It is a part of 2**80, and at scales below 1/64 a draw other than 0 still comes once in 2**91 times."""
    assert noise.widened(Fraction(5)) - 5 < Fraction(1, 2**76)
    assert odds(noise.widened(Fraction(1, 10**6)))[-1] > Fraction(1, 2**93)


def test_no_mechanism_has_noise_that_vanishes() -> None:
    """At epsilon 178 and more a step costs what its noise is worth, and says so."""
    for epsilon in (178, 10**6):
        mechanism = calibrate(COUNTS, Fraction(epsilon))
        assert mechanism.event("a", COUNTS).cost().epsilon == 64
        assert mechanism.deviation()["counts"] > 0
        tree = SplitTree.spending(Fraction(epsilon), COUNTS, 4)
        assert tree.scale >= noise.SMALLEST_SCALE


def test_a_gaussian_draw_makes_as_many_comparisons_and_trials_as_its_bound_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stated error counts 9 comparisons and 8 trials a draw; 20,000 draws make fewer, by more than 30 standard errors."""
    calls = dict.fromkeys(("less", "bernoulli"), 0)
    for name in calls:
        whole = getattr(samplers_python, name)

        def counted(*args: object, name: str = name, whole: object = whole) -> object:
            calls[name] += 1
            return whole(*args)  # type: ignore[operator]

        monkeypatch.setattr(samplers_python, name, counted)
    out = np.empty(20_000, dtype=np.int64)
    random = np.frombuffer(np.random.default_rng(1).bytes(40 * out.size), dtype=np.uint8)
    done, _ = samplers_python.gaussian(root_expansion(), 1000, 0, random, out, 0)
    assert done == out.size
    assert 2 < calls["less"] / done < 8
    assert 2 < calls["bernoulli"] / done < 7


def test_bytes_that_decide_the_rounding_are_drawn() -> None:
    """A deviate that lies on the edge of two results after 8 bytes is drawn on until one of them is certain."""
    edge = bytes([128] + [0] * 7)  # 1/2 of sigma 1: rounds up, unless a byte were taken off
    assert samplers_python.rounded(0, bytearray(edge), 1, 0, b"", 0) == (1, 0)
    below = bytes(
        [127] + [255] * 7
    )  # a little less than 1/2, or 1/2: the ninth byte decides nothing, the last does not come
    value, used = samplers_python.rounded(0, bytearray(below), 1, 0, bytes([255, 254]), 0)
    assert (value, used) == (0, 2)
