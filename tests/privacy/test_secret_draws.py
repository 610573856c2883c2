"""Secret samples: the rate that is charged, batches drawn independently, and the same answer for the same batch."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from cloister.privacy.secret_draws import SecretDraw, secret_draw
from tests.chisquare import chi_square_ok, independent_ok

RATE = Fraction(1, 4)
NOBODY = np.zeros(1_000, dtype=np.uint64)
Keep = Callable[[int], np.ndarray]  # what is kept of the batch at a place


def kept(keep: Keep, places: range) -> np.ndarray:
    return np.concatenate([keep(place) for place in places]).astype(np.int64)


def fresh() -> Keep:
    draw = secret_draw(RATE)
    return lambda place: draw.keep(NOBODY, place)


def test_a_draw_keeps_at_its_rate() -> None:
    """Over many batches rows are kept at the rate that is charged, by a chi-square test at 1e-6."""
    counts = np.bincount(kept(fresh(), range(300)), minlength=2)
    assert chi_square_ok(counts, [1 - float(RATE), float(RATE)])


def neighbours_are_independent(keep: Keep) -> bool:
    return independent_ok(kept(keep, range(0, 300, 2)), kept(keep, range(1, 300, 2)))


def test_batches_are_drawn_independently() -> None:
    """What is kept of a batch says nothing about its neighbour, near or in another partition, at 1e-6."""
    near, far = fresh(), fresh()
    assert neighbours_are_independent(near)
    assert independent_ok(kept(far, range(150)), kept(far, range(1 << 64, (1 << 64) + 150)))


def test_a_draw_that_forgets_the_place_is_caught() -> None:
    """A planted bug: every two batches share their bits."""
    draw = secret_draw(RATE)
    assert not neighbours_are_independent(lambda place: draw.keep(NOBODY, place // 2))


def test_the_same_batch_gets_the_same_answer_whatever_is_in_it() -> None:
    """A task that is run twice draws the same; the rows themselves play no part; another sample is another draw."""
    draw = secret_draw(RATE)
    others = np.arange(1_000, dtype=np.uint64)
    assert np.array_equal(draw.keep(NOBODY, 7), draw.keep(others, 7))
    assert not np.array_equal(draw.keep(NOBODY, 7), secret_draw(RATE).keep(NOBODY, 7))


def test_only_a_seeded_draw_looks_at_identities() -> None:
    """Under seeded noise the place plays no part: engines cut rows into different batches."""
    draw = SecretDraw(RATE, bytes(range(32)), seeded=True)
    identities = np.arange(1_000, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert np.array_equal(draw.keep(identities, 1), draw.keep(identities, 2))
