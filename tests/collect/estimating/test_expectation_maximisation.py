"""The default estimator: its laws, its limits, and its quality on Adult."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

from cloister.collect.estimating.expectation_maximisation import expectation_maximisation
from cloister.collect.estimating.inversion import invert
from cloister.collect.estimating.kronecker import Transition
from cloister.collect.estimating.likelihood_ascent import Ascent
from cloister.collect.estimating.loglinear import dependent_pairs, fit_margins, margin, outer_product
from cloister.collect.protocols.channel import Channel, channel_for
from cloister.errors import UsageError
from tests.real_data import real

WHOLE = ((0, 1, 2),)
PAIRS = ((0, 1), (0, 2), (1, 2))


def channels_of(shape: tuple[int, ...], epsilon: Fraction = Fraction(1)) -> list[Channel]:
    return [channel_for(epsilon, size) for size in shape]


def reported(answers: np.ndarray, epsilon: Fraction, seed: int) -> np.ndarray:
    """Reports to a table of true counts: each cell's people report by the dense law of their cell, axis by axis."""
    random = np.random.default_rng(seed)
    table = answers
    for axis, channel in enumerate(channels_of(answers.shape, epsilon)):
        law = Transition([channel])
        rows = np.moveaxis(table, axis, -1)  # (..., size)
        moved = sum(random.multinomial(rows[..., value], law(np.eye(channel.size)[value])) for value in range(channel.size))
        table = np.moveaxis(moved, -1, axis)
    return table


def dependent_table(total: int = 20_000) -> np.ndarray:
    """Three questions, of which the first two nearly always agree."""
    shares = np.full((4, 4, 3), 0.1 / 48)
    shares[np.arange(4), np.arange(4)] += 0.9 / 12
    return np.random.default_rng(5).multinomial(total, shares.ravel()).reshape(4, 4, 3)


def distance(estimate: np.ndarray, truth: np.ndarray) -> float:
    """Total variation."""
    return float(0.5 * np.abs(estimate / estimate.sum() - truth / truth.sum()).sum())


@pytest.mark.parametrize("cliques", [WHOLE, PAIRS, ((0,), (1,), (2,))], ids=["whole", "pairs", "independent"])
def test_no_step_lowers_the_likelihood(cliques):
    """Every step, plain or longer, leaves the reports at least as likely as before."""
    counts = reported(dependent_table(2_000), Fraction(1), 0).astype(float)
    ascent = Ascent(counts, Transition(channels_of(counts.shape)), np.full(counts.shape, 1 / counts.size))
    likelihoods = [ascent.likelihood]
    for rounds in range(1, 60):
        ascent.advance(cliques, 3 * rounds, 10_000)
        likelihoods.append(ascent.likelihood)
    assert min(np.diff(likelihoods)) >= -1e-9 * abs(likelihoods[0])


def test_a_plain_round_is_the_textbook_one():
    """The first round from equal shares is f * P'(c / P f) / n."""
    counts = reported(dependent_table(2_000), Fraction(1), 0).astype(float)
    transition = Transition(channels_of(counts.shape))
    equal = np.full(counts.shape, 1 / counts.size)
    ascent = Ascent(counts, transition, equal)
    ascent.advance(WHOLE, 1, 10)
    np.testing.assert_allclose(ascent.shares, equal * transition(counts / transition(equal)) / counts.sum(), rtol=1e-12)


def test_the_unbiased_estimate_is_a_fixed_point_where_it_is_possible():
    """Shares that explain the reports exactly are not moved."""
    shape = (3, 4, 2)
    channels = channels_of(shape, Fraction(2))
    counts = reported(np.full(shape, 4_000), Fraction(2), 1)
    unbiased = invert(counts, channels) / counts.sum()
    assert unbiased.min() > 0
    ascent = Ascent(counts.astype(float), Transition(channels), unbiased)
    ascent.advance(WHOLE, 50, 100)
    np.testing.assert_allclose(ascent.shares, unbiased, rtol=1e-9)


def test_fitting_margins_reaches_them():
    """Cycles of proportional fitting end at the margins of the target."""
    target = dependent_table() / 20_000
    table = np.full(target.shape, 1 / target.size)
    for _ in range(500):
        table = fit_margins(table, target, PAIRS)
    for pair in PAIRS:
        np.testing.assert_allclose(margin(table, pair), margin(target, pair), atol=1e-6)


def test_a_longer_step_stays_in_the_model():
    """Steps of the model of independence end at a product of its margins."""
    counts = reported(dependent_table(2_000), Fraction(1), 0).astype(float)
    ascent = Ascent(counts, Transition(channels_of(counts.shape)), np.full(counts.shape, 1 / counts.size))
    ascent.advance(((0,), (1,), (2,)), 200, 1_000)
    product = outer_product([margin(ascent.shares, (axis,)).ravel() for axis in range(3)])
    np.testing.assert_allclose(ascent.shares, product, rtol=1e-9)


def test_only_dependent_pairs_are_modelled():
    """Of three questions of 20 values the two that agree are the only pair whose reports show it."""
    answers = np.zeros((20, 20, 20), dtype=np.int64)  # 361 degrees of freedom: by chance the bound of 722 is out of reach
    answers[np.arange(20), np.arange(20)] = 100
    assert dependent_pairs(reported(answers, Fraction(3), 0)) == ((0, 1),)


@pytest.mark.parametrize("shape", [(2,), (50,), (100, 3), (4, 5, 3), (2,) * 10], ids=str)
@pytest.mark.parametrize("epsilon", [Fraction(1, 1000), Fraction(1), Fraction(1000)], ids=str)
@pytest.mark.parametrize("people", [1, 5, 3_000])
def test_the_estimate_is_possible(shape, epsilon, people):
    """Whatever the domain, epsilon and number of people: no cell below 0, the right sum, and no warning."""
    answers = np.random.default_rng(2).multinomial(people, np.full(np.prod(shape), 1 / np.prod(shape))).reshape(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = expectation_maximisation(reported(answers, epsilon, 3), channels_of(shape, epsilon))
    assert estimate.counts.min() >= 0
    assert estimate.counts.sum() == pytest.approx(people)


@pytest.mark.parametrize("shape", [(3,), (3, 4), (3, 4, 2)], ids=str)
def test_no_reports_are_no_people(shape):
    """Without reports every cell is 0, and the rule says why."""
    estimate = expectation_maximisation(np.zeros(shape, dtype=np.int64), channels_of(shape))
    assert (estimate.counts.shape, estimate.counts.any(), estimate.rule) == (shape, False, "There are no reports.")


def test_true_reports_come_back():
    """At an epsilon so large that nobody lies the estimate is the reports, whatever the model says."""
    counts = dependent_table()
    estimate = expectation_maximisation(counts, channels_of(counts.shape, Fraction(100)))
    np.testing.assert_allclose(estimate.counts, counts, atol=1e-6)


def test_it_can_be_repeated():
    """The same reports give the same estimate."""
    counts = reported(dependent_table(), Fraction(1), 4)
    one, two = (expectation_maximisation(counts, channels_of(counts.shape)) for _ in range(2))
    np.testing.assert_array_equal(one.counts, two.counts)


def test_structure_of_three_questions_is_found():
    """An answer that is the parity of two others shows in no pair, and the stage of the whole table finds it."""
    odd = np.indices((2, 2, 2)).sum(axis=0) % 2
    answers = np.where(odd, 0, 10_000)
    estimate = expectation_maximisation(reported(answers, Fraction(2), 6), channels_of((2, 2, 2), Fraction(2)))
    assert distance(estimate.counts, answers) < 0.05  # independence has 0.5


def test_sparse_tables_are_emptied():
    """People in 30 of 1,000 cells are found there, and not spread over the cells around."""
    random = np.random.default_rng(8)
    answers = np.zeros(1_000, dtype=np.int64)
    answers[random.choice(1_000, 30, replace=False)] = random.multinomial(10_000, np.full(30, 1 / 30))
    answers = answers.reshape(10, 10, 10)
    estimate = expectation_maximisation(reported(answers, Fraction(3), 9), channels_of(answers.shape, Fraction(3)))
    assert "with emptying" in estimate.rule
    assert distance(estimate.counts, answers) < 0.05


def test_progress_is_told():
    """Each stage says where it is."""
    counts = reported(dependent_table(), Fraction(1), 4)
    lines: list[str] = []
    expectation_maximisation(counts, channels_of(counts.shape), progress=lines.append)
    assert [any(line.startswith(stage) for line in lines) for stage in ("independent", "dependent", "whole")] == [True] * 3


def test_a_table_of_other_questions_is_refused():
    """A table whose axes are not those of the channels is an error."""
    with pytest.raises(UsageError):
        expectation_maximisation(np.zeros((3, 4), dtype=np.int64), channels_of((4, 3)))


@pytest.mark.parametrize(("epsilon", "most"), [(1, 0.30), (2, 0.17), (3, 0.10)])
def test_adult_is_estimated_well(epsilon, most):
    """Five attributes of Adult, 3,780 cells: the median distance of three simulations is within the line of its epsilon."""
    rows = [line.strip().split(", ") for line in real("adult.data").read_text().splitlines() if line.strip()]
    codes = [np.unique([row[column] for row in rows], return_inverse=True)[1] for column in (1, 5, 7, 8, 9)]
    truth = np.zeros([int(code.max()) + 1 for code in codes], dtype=np.int64)
    np.add.at(truth, tuple(codes), 1)
    channels = channels_of(truth.shape, Fraction(epsilon))
    estimates = [expectation_maximisation(reported(truth, Fraction(epsilon), seed), channels) for seed in range(3)]
    assert np.median([distance(estimate.counts, truth) for estimate in estimates]) <= most
