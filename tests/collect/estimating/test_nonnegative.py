"""Tables that are possible: not below 0, and with the right sum."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cloister.collect.estimating.nonnegative import clip_and_renormalise, norm_sub

estimates = arrays(np.float64, st.integers(1, 40), elements=st.floats(-1e4, 1e4))


@given(estimates, st.integers(1, 10**6))
def test_norm_sub_is_possible(estimate, total):
    """The result has no negative cell and the sum that was asked for."""
    possible = norm_sub(estimate, total)
    assert possible.min() >= 0
    assert possible.sum() == pytest.approx(total, rel=1e-9)


@given(estimates, st.integers(1, 10**6))
def test_norm_sub_takes_the_same_from_every_cell_that_stays(estimate, total):
    """Cells above 0 have all lost the same, and those at 0 had no more to lose."""
    possible = norm_sub(estimate, total)
    lost = (estimate - possible)[possible > 0]
    assert np.ptp(lost) <= 1e-6
    assert (estimate[possible == 0] <= lost.max() + 1e-6).all()


def test_norm_sub_keeps_the_shape():
    """A joint table comes back with its axes."""
    assert norm_sub(np.ones((2, 3)), 6.0).shape == (2, 3)


def test_norm_sub_of_nobody_is_nothing():
    """A sum of 0 leaves every cell at 0."""
    assert not norm_sub(np.array([1.0, -1.0]), 0).any()


def test_clipping_is_as_the_paper_prints_it():
    """Negative cells become 0, and the others are scaled to the sum and rounded up."""
    np.testing.assert_array_equal(clip_and_renormalise(np.array([[5.0, -2.0], [2.0, 1.0]]), 7), [[5, 0], [2, 1]])


def test_clipping_a_table_without_a_positive_cell_shares_equally():
    """Where nothing can be scaled every cell gets the same whole number, without a warning."""
    np.testing.assert_array_equal(clip_and_renormalise(np.array([-5.0, -2.0, 0.0]), 7), [3, 3, 3])
