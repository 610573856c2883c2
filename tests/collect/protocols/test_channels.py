"""The exact probabilities of every report of every answer, and samplers that are wrong and must be caught."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest

from cloister.collect.protocols import RandomizedResponse, UnaryEncoding, channel_for, protocol_of
from cloister.collect.protocols.channel import UNIT, lie_units
from cloister.errors import UsageError
from cloister.privacy import noise
from cloister.schema.numerals import decimal_context
from tests.collect.protocols.law_bounds import are_within_bounds

EPSILONS = [Fraction(1, 1000), Fraction(1, 10), Fraction(1), Fraction(3), Fraction(20), Fraction(44), Fraction(100)]
VALUES = ("a", "b", "c")


def power(epsilon: Fraction) -> Fraction:
    """e**epsilon to 80 digits."""
    context = decimal_context(80)
    return Fraction(context.exp(context.divide(epsilon.numerator, epsilon.denominator)))


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("size", [2, 3, 9, 1000])
def test_the_odds_never_pass_e_to_the_epsilon(epsilon: Fraction, size: int) -> None:
    """p / q is at most e**epsilon, and as near to it as multiples of 2**-64 allow; the truth is never the less likely."""
    channel = channel_for(epsilon, size)
    assert channel.truth / channel.lie <= power(epsilon)
    nearer = Fraction(channel.lie_units - 1, UNIT)
    assert nearer == 0 or 1 / nearer - (size - 1) > power(epsilon)
    assert channel.truth >= channel.lie


@pytest.mark.parametrize("size", [2, 3, 9])
@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_every_integer_of_the_draw_leads_where_it_should(
    monkeypatch: pytest.MonkeyPatch, size: int, epsilon: Fraction
) -> None:
    """The 2**64 integers fall into intervals, whose ends are tried: exactly Q for each lie, all others for the truth."""
    protocol = RandomizedResponse.of(tuple(map(str, range(size))), epsilon)
    lie = protocol.channel.lie_units
    edges = [edge for i in range(size - 1) for edge in (i * lie, (i + 1) * lie - 1)] + [(size - 1) * lie, UNIT - 1]
    for true in range(size):
        others = [value for value in range(size) if value != true]
        wanted = [value for value in others for _ in range(2)] + [true, true]
        monkeypatch.setattr(noise, "words", lambda count, drawn=edges: np.array(drawn, dtype=np.uint64))
        assert protocol.perturb_codes(np.full(len(edges), true)).tolist() == wanted


def joint_law(truth: tuple[int, ...], epsilon: Fraction, size: int) -> dict[tuple[int, ...], float]:
    """The probability of each report of some answers, all of one size."""
    channel = channel_for(epsilon, size)
    return {
        sent: float(np.prod([float(channel.truth if a == b else channel.lie) for a, b in zip(truth, sent, strict=True)]))
        for sent in product(range(size), repeat=len(truth))
    }


Sampler = Callable[[tuple[int, ...], int], np.ndarray]


def sound(truth: tuple[int, ...], draws: int) -> np.ndarray:
    """Each answer through its own channel."""
    protocol = RandomizedResponse.of(VALUES, Fraction(1))
    return np.stack([protocol.perturb_codes(np.full(draws, code)) for code in truth], axis=1)


def last_as_it_is(truth: tuple[int, ...], draws: int) -> np.ndarray:
    """A planted bug: the last answer is not perturbed."""
    sent = sound(truth, draws)
    sent[:, -1] = truth[-1]
    return sent


def too_true(truth: tuple[int, ...], draws: int) -> np.ndarray:
    """A planted bug: the truth is sent 5% more often than it should."""
    sent = sound(truth, draws)
    back = np.random.default_rng(0).random(sent.shape) < 0.05
    return np.where(back, np.array(truth), sent)


def law_holds(sampler: Sampler, draws: int = 200_000) -> bool:
    """Whether every cell of every pair of answers and report is as frequent as it should, at an error of 1e-6 in all."""
    truths = list(product(range(3), repeat=2))
    for truth in truths:
        law = joint_law(truth, Fraction(1), 3)
        sent = sampler(truth, draws)
        counts = np.bincount(sent[:, 0] * 3 + sent[:, 1], minlength=9)
        cells = [int(counts[first * 3 + second]) for first, second in law]
        if not are_within_bounds(cells, law.values(), draws, len(truths) * len(law)):
            return False
    return True


def test_each_pair_of_answers_and_report_has_its_probability() -> None:
    """Bounds for every cell of a small domain; two samplers with bugs are caught."""
    assert law_holds(sound)
    assert not law_holds(last_as_it_is)
    assert not law_holds(too_true)


@pytest.mark.parametrize(("size", "questions"), [(2, 2), (3, 2), (2, 4), (4, 3)])
def test_the_sampler_of_the_paper_is_the_same_law(size: int, questions: int) -> None:
    """Drawing how many answers change first, then which, then to what, gives each report the product of its channels."""
    odds = power(Fraction(1))
    whole = sum(odds**j * comb(questions, j) * (size - 1) ** (questions - j) for j in range(questions + 1))
    truth = (0,) * questions
    for sent in product(range(size), repeat=questions):
        changed = sum(a != b for a, b in zip(truth, sent, strict=True))
        distance = odds ** (questions - changed) * comb(questions, changed) * (size - 1) ** changed / whole  # equation 4
        which = Fraction(1, len(list(combinations(range(questions), changed))))
        to_what = Fraction(1, (size - 1) ** changed)
        product_law = Fraction(1) / (odds + size - 1) ** questions * odds ** (questions - changed)
        assert distance * which * to_what == product_law


def test_bits_have_their_probabilities_and_keep_epsilon() -> None:
    """The true bit is 1 half of the time, the others with q, at an error of 1e-6; (1 - q) / q is at most e**epsilon."""
    protocol = UnaryEncoding.of(tuple(map(str, range(20))), Fraction(1))
    lie = Fraction(protocol.lie_units, UNIT)
    assert (1 - lie) / lie <= power(Fraction(1))
    draws = 100_000
    counts = protocol.perturb_bits(np.full(draws, 7)).sum(axis=0)
    chances = [0.5 if place == 7 else float(lie) for place in range(20)]
    assert are_within_bounds(counts.tolist(), chances, draws, 20)


def test_bits_come_back_from_text() -> None:
    """What is written as hexadecimal is counted as the same bits, for domains that fill their last byte or not."""
    for size in (2, 8, 9, 17):
        protocol = UnaryEncoding.of(tuple(map(str, range(size))), Fraction(1))
        texts = protocol.perturb(np.arange(50) % size)
        assert all(map(protocol.is_answer, texts))
        import pyarrow as pa

        tables = [np.bincount(c.look_up(pa.array(texts)), minlength=256) for c in protocol.coders("q")]
        bits = [[int(text[2 * (v // 8) : 2 * (v // 8) + 2], 16) >> (v % 8) & 1 for v in range(size)] for text in texts]
        assert protocol.value_counts(tables).tolist() == np.sum(bits, axis=0).tolist()


def test_texts_that_no_client_sends() -> None:
    """Bits beyond the domain, other lengths, capitals and other letters are no answers, in JSON and in a column alike."""
    import pyarrow as pa

    protocol = UnaryEncoding.of(tuple(map(str, range(9))), Fraction(1))
    for text in ("", "ff", "ff02", "FF00", "ff0", "ff000", "zz00", "ff 01"):
        assert not protocol.is_answer(text), text
        assert any(coder.look_up(pa.array([text]))[0] == 256 for coder in protocol.coders("q")), text
    assert protocol.is_answer("ff01")
    for cell in (pa.array([None], pa.string()), pa.array([b"\xff\xfe"]), pa.array([5]), pa.array([[1]])):
        assert any(coder.look_up(cell)[0] == 256 for coder in protocol.coders("q"))


def test_the_smaller_variance_is_picked() -> None:
    """auto takes randomized response below 3 e**epsilon + 2 values, and bits from there on."""
    for epsilon, first in ((Fraction(1), 11), (Fraction(2), 25)):
        assert protocol_of(tuple(map(str, range(first - 1))), epsilon).name == "randomized-response"
        assert protocol_of(tuple(map(str, range(first))), epsilon).name == "unary"


def test_shares_are_unbiased() -> None:
    """From expected counts each protocol gives the true shares back."""
    truth = np.array([0.5, 0.3, 0.2])
    response = RandomizedResponse.of(VALUES, Fraction(1))
    seen = float(response.channel.lie) + truth * response.channel.contrast
    assert np.allclose(response.shares((seen * 10**9).astype(np.int64), 10**9), truth, atol=1e-7)
    bits = UnaryEncoding.of(VALUES, Fraction(1))
    lie = bits.lie_units / UNIT
    assert np.allclose(bits.shares(((lie + truth * (0.5 - lie)) * 10**9).astype(np.int64), 10**9), truth, atol=1e-7)


@pytest.mark.parametrize("digits", [3, 28])
def test_a_program_that_rounds_its_own_decimals_changes_nothing(digits: int) -> None:
    """Whatever the thread's context is, and for epsilons whose e**epsilon lies a hair beside a multiple of 2**-64."""
    import decimal

    with decimal.localcontext() as mine:
        mine.prec = digits
        mine.traps[decimal.Inexact] = digits == 3
        lies = {step: lie_units(Fraction(step, 100), 3) for step in range(1, 500)}
    for step, lie in lies.items():
        exact = UNIT / (power(Fraction(step, 100)) + 3)
        assert exact <= lie < exact + 1
    context = decimal_context(90)
    for units in range(10**18, 10**18 + 40):  # chosen so that 1 / (e**epsilon + 1) is units and a little less, or more
        for side in (-1, 1):
            epsilon = Fraction(
                context.ln(context.divide(UNIT * 10**60, units * 10**60 + side)).quantize(
                    decimal.Decimal(10) ** -50, context=context
                )
            )
            wanted = UNIT / (power(epsilon) + 1)
            assert wanted <= lie_units(epsilon, 1) < wanted + 1


def test_no_epsilon_no_channel() -> None:
    """An epsilon of 0 or below, one value, and an epsilon at which nothing gets through are refused."""
    for epsilon, size in ((Fraction(0), 2), (Fraction(-1), 2), (Fraction(1), 1), (Fraction(1, 10**30), 3)):
        with pytest.raises(UsageError):
            channel_for(epsilon, size)
    assert lie_units(Fraction(10**6), 1) == 1
