"""The unbiased estimate against the dense matrices that it never writes out."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest

from cloister.collect.estimating import kronecker
from cloister.collect.estimating.inversion import invert, standard_errors
from cloister.collect.protocols.channel import Channel, channel_for
from cloister.errors import UsageError

SHAPES = [(2,), (5,), (70,), (2, 3), (4, 2, 3), (8, 9, 2), (3, 70, 2), (2, 2, 2, 2, 2, 2, 2)]


def channels_of(shape: tuple[int, ...], epsilon: Fraction = Fraction(1)) -> list[Channel]:
    return [channel_for(epsilon + Fraction(axis, 2), size) for axis, size in enumerate(shape)]


def dense(channels: list[Channel]) -> np.ndarray:
    """The whole transition matrix, from the exact probabilities."""

    def matrix(channel: Channel) -> np.ndarray:
        square = np.full((channel.size, channel.size), float(channel.lie))
        np.fill_diagonal(square, float(channel.truth))
        return square

    return reduce(np.kron, [matrix(channel) for channel in channels])


def reports_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(3).integers(0, 50, shape)


@pytest.mark.parametrize("shape", SHAPES)
def test_inverse_is_that_of_the_dense_matrix(shape):
    """Undoing the channels axis by axis gives what the inverse of the whole matrix gives."""
    counts, channels = reports_of(shape), channels_of(shape)
    expected = np.linalg.solve(dense(channels), counts.ravel().astype(float)).reshape(shape)
    np.testing.assert_allclose(invert(counts, channels), expected, rtol=1e-9, atol=1e-7)


def test_small_blocks_change_nothing(monkeypatch):
    """A table that is worked on in many blocks has the same estimate as one that fits into a block."""
    shape = (3, 70, 8, 9)
    counts, channels = reports_of(shape), channels_of(shape)
    whole = invert(counts, channels)
    monkeypatch.setattr(kronecker, "BLOCK", 100)
    np.testing.assert_allclose(invert(counts, channels), whole, rtol=1e-9, atol=1e-6)


def test_the_estimate_is_unbiased_exactly():
    """Over all reports that two people can give, weighted by their probabilities, the mean estimate is the truth."""
    shape = (2, 3)
    channels = channels_of(shape)
    chances = dense(channels)
    truth, mean = np.zeros(6), np.zeros(6)
    truth[[1, 5]] += 1
    for first, second in product(range(6), repeat=2):
        counts = np.zeros(6, dtype=np.int64)
        np.add.at(counts, [first, second], 1)
        mean += chances[first, 1] * chances[second, 5] * invert(counts.reshape(shape), channels).ravel()
    np.testing.assert_allclose(mean, truth, atol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_standard_errors_are_those_of_the_dense_covariance(shape):
    """The variances are the diagonal of the covariance of the reports, carried through the dense inverse."""
    counts, channels = reports_of(shape), channels_of(shape)
    inverse = np.linalg.inv(dense(channels))
    reports = counts.ravel().astype(float)
    covariance = inverse @ (np.diag(reports) - np.outer(reports, reports) / reports.sum()) @ inverse.T
    np.testing.assert_allclose(standard_errors(counts, channels).ravel() ** 2, np.diag(covariance), rtol=1e-8, atol=1e-6)


def test_a_marginal_of_the_estimate_is_the_estimate_of_the_marginal():
    """Reports can be summed before or after the channels are undone."""
    shape = (4, 2, 3)
    counts, channels = reports_of(shape), channels_of(shape)
    marginal = invert(counts.sum(axis=1), [channels[0], channels[2]])
    np.testing.assert_allclose(marginal, invert(counts, channels).sum(axis=1), atol=1e-8)


def test_true_reports_come_back():
    """At an epsilon so large that nobody lies the estimate is the reports, without an error."""
    channels = [channel_for(Fraction(500), size) for size in (3, 4)]
    counts = reports_of((3, 4))
    np.testing.assert_allclose(invert(counts, channels), counts, atol=1e-12)


def test_no_reports_are_no_people():
    """Without reports estimate and standard errors are 0."""
    channels = channels_of((3, 4))
    nothing = np.zeros((3, 4), dtype=np.int64)
    assert not invert(nothing, channels).any()
    assert not standard_errors(nothing, channels).any()


def test_the_reports_are_left_alone():
    """The table of reports is not written to."""
    counts = reports_of((3, 4))
    before = counts.copy()
    invert(counts, channels_of((3, 4)))
    standard_errors(counts, channels_of((3, 4)))
    np.testing.assert_array_equal(counts, before)


def test_a_table_of_other_questions_is_refused():
    """A table whose axes are not those of the channels is an error that names both shapes."""
    with pytest.raises(UsageError, match=r"\(3, 4\).*\(4, 3\)"):
        invert(reports_of((3, 4)), channels_of((4, 3)))
