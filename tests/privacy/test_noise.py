"""The samplers draw what they say, exactly; statistical tests fail by chance once in a million runs."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import norm

from cloister.errors import UsageError
from cloister.privacy import noise
from tests.chisquare import Law, chi_square_ok, draws_ok, each_column_ok, independent_ok, two_sample_ok

N = 400_000
Draw = Callable[[int], NDArray[np.int64]]

LAPLACE_SCALES = [Fraction(1, 3), Fraction(1), Fraction(7, 2), Fraction(1000), Fraction(10**12)]
SIGMAS = [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(1000), Fraction(10**12)]


def laplace_law(scale: Fraction) -> Law:
    """P(X <= x) of the discrete Laplace distribution."""
    s = float(scale)

    def law(x: NDArray[np.float64]) -> NDArray[np.float64]:
        tail = np.exp(-np.where(x < 0, -x, x + 1) / s) / (1 + np.exp(-1 / s))
        return np.asarray(np.where(x < 0, tail, 1 - tail), dtype=np.float64)

    return law


def geometric_law(scale: Fraction) -> Law:
    """P(X <= x) of the geometric distribution."""
    return lambda x: np.where(x < 0, 0.0, -np.expm1(-(np.maximum(x, 0) + 1) / float(scale)))


def gaussian_law(sigma: Fraction) -> Law:
    """P(X <= x) of a normal of deviation sigma, rounded to the nearest integer."""
    return lambda x: np.asarray(norm.cdf((x + 0.5) / float(sigma)), dtype=np.float64)


# --- The distributions -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_laplace_draws_have_their_exact_law(scale: Fraction) -> None:
    """Discrete Laplace draws pass a chi-square test at 1e-6 against the exact probabilities."""
    assert draws_ok(noise.laplace(scale, N), laplace_law(scale))


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_laplace_scale_off_by_five_percent_is_caught(scale: Fraction) -> None:
    """The check of the Laplace law refuses a scale 5% too small; below scale 1 it is the rare tail that shows."""
    assert not draws_ok(noise.laplace(scale * Fraction(19, 20), N), laplace_law(scale))


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_geometric_draws_have_their_exact_law(scale: Fraction) -> None:
    """Geometric draws pass a chi-square test at 1e-6 against the exact probabilities."""
    assert draws_ok(noise.geometric(scale, N), geometric_law(scale))


@pytest.mark.parametrize("scale", LAPLACE_SCALES)
def test_geometric_scale_off_by_five_percent_is_caught(scale: Fraction) -> None:
    """The check of the geometric law refuses a scale 5% too small."""
    assert not draws_ok(noise.geometric(scale * Fraction(19, 20), N), geometric_law(scale))


@pytest.mark.parametrize("sigma", SIGMAS)
def test_gaussian_draws_have_their_exact_law(sigma: Fraction) -> None:
    """Rounded normal draws pass a chi-square test at 1e-6 against differences of the normal distribution function."""
    assert draws_ok(noise.gaussian(sigma, N), gaussian_law(sigma))


@pytest.mark.parametrize("sigma", SIGMAS)
def test_gaussian_sigma_off_by_five_percent_is_caught(sigma: Fraction) -> None:
    """The check of the normal law refuses a sigma 5% too small."""
    assert not draws_ok(noise.gaussian(sigma * Fraction(19, 20), N), gaussian_law(sigma))


def test_gaussian_reaches_the_tails() -> None:
    """Draws beyond three and four sigma are as frequent as a normal's, at 1e-6."""
    draws = np.abs(noise.gaussian(Fraction(10**6), 4 * N))
    edges = np.array([3.0, 3.5, 4.0])
    observed = np.bincount(np.searchsorted(edges * 10**6, draws), minlength=4)
    assert chi_square_ok(observed, np.diff(2 * norm.cdf(edges) - 1, prepend=0.0, append=1.0))


@pytest.mark.parametrize("scale", [Fraction(1, 100), Fraction(1, 2), Fraction(7, 2), Fraction(1000)])
def test_choices_have_their_exact_law(scale: Fraction) -> None:
    """An index is chosen with probability proportional to exp(score / scale), by a chi-square test at 1e-6."""
    scores = np.array([0, -1, 3, 2, 3, -40], dtype=np.int64)
    weights = np.exp((scores - 3) / float(scale))
    chosen = noise.choose(np.tile(scores, (N // 4, 1)), scale)
    assert chi_square_ok(np.bincount(chosen, minlength=6), weights / weights.sum())


def test_choices_with_a_scale_off_by_five_percent_are_caught() -> None:
    """The check of the choices refuses a scale 5% too small."""
    scores = np.array([0, -1, 3, 2, 3, -40], dtype=np.int64)
    weights = np.exp((scores - 3) / 3.5)
    chosen = noise.choose(np.tile(scores, (N, 1)), Fraction(7, 2) * Fraction(19, 20))
    assert not chi_square_ok(np.bincount(chosen, minlength=6), weights / weights.sum())


def test_each_row_is_chosen_by_its_own_scores() -> None:
    """With a small scale the best index of each row is chosen, also when int64 cannot hold a row's range."""
    extremes = np.iinfo(np.int64)
    scores = np.array([[5, 0, 0], [0, 5, 0], [extremes.min, 0, extremes.max], [extremes.max, 0, extremes.min]])
    np.testing.assert_array_equal(noise.choose(scores, Fraction(1, 100)), [0, 1, 2, 0])


@pytest.mark.parametrize("bound", [2, 6, 100, 257, 2**40, 2**63])
def test_integers_are_uniform(bound: int) -> None:
    """Uniform integers fall into equal parts of their range equally often, by a chi-square test at 1e-6."""
    parts = bound if bound <= 257 else 128
    cells = noise.integers(bound, N) // (bound // parts)
    assert chi_square_ok(np.bincount(cells, minlength=parts), np.full(parts, 1 / parts))


def test_a_remainder_instead_of_a_rejection_is_caught() -> None:
    """The check of uniform integers refuses bytes taken modulo 100."""
    biased = np.frombuffer(os.urandom(N), dtype=np.uint8) % 100
    assert not chi_square_ok(np.bincount(biased, minlength=100), np.full(100, 0.01))


@pytest.mark.parametrize("keyed", [False, True])
@pytest.mark.parametrize("rate", [Fraction(1, 2**12), Fraction(1, 4), Fraction(3 * 2**30 + 1, 2**32)])
def test_a_secret_sample_has_its_rate(rate: Fraction, keyed: bool) -> None:
    """Rows are kept with the probability asked for, by a chi-square test at 1e-6."""
    kept = int(noise.keep(rate, 2 * N, noise.secret()[0] if keyed else None).sum())
    assert chi_square_ok([2 * N - kept, kept], [1 - float(rate), float(rate)])


def test_a_rate_off_by_five_percent_is_caught() -> None:
    """The check of the sample refuses a rate 5% too large."""
    kept = int(noise.keep(Fraction(17_203, 2**16), 2 * N).sum())
    assert not chi_square_ok([2 * N - kept, kept], [0.75, 0.25])


def test_rates_zero_and_one_keep_nothing_and_everything() -> None:
    """The ends of the range of rates are exact."""
    for key in (None, noise.secret()[0]):
        assert not noise.keep(Fraction(0), 1000, key).any()
        assert noise.keep(Fraction(1), 1000, key).all()


def shuffle_counts(shuffle: Draw) -> NDArray[np.int64]:
    """How often each of the 24 orders of four things comes up."""
    index = {order: i for i, order in enumerate(permutations(range(4)))}
    return np.bincount([index[tuple(shuffle(4).tolist())] for _ in range(12_000)], minlength=24)


def test_permutations_are_uniform() -> None:
    """All 24 orders of four things come up equally often, by a chi-square test at 1e-6."""
    assert chi_square_ok(shuffle_counts(noise.permutation), np.full(24, 1 / 24))


def test_the_naive_shuffle_is_caught() -> None:
    """The check of permutations refuses the shuffle that swaps each place with any other."""

    def naive(size: int) -> NDArray[np.int64]:
        order = np.arange(size)
        for i, j in enumerate(noise.integers(size, size)):
            order[[i, j]] = order[[j, i]]
        return order

    assert not chi_square_ok(shuffle_counts(naive), np.full(24, 1 / 24))


def test_a_permutation_holds_everything_once() -> None:
    """A long permutation is a permutation."""
    np.testing.assert_array_equal(np.sort(noise.permutation(100_000)), np.arange(100_000))


def test_sigma_is_rounded_up() -> None:
    """A sigma below the finest that can be told apart is not taken for none."""
    assert np.count_nonzero(noise.gaussian(Fraction(1, 2**60), 10)) == 0
    with noise.seeded(1):
        above = noise.gaussian(Fraction(2**70 + 1, 2**40), 1000)
    with noise.seeded(1):
        at = noise.gaussian(Fraction(2**70, 2**40), 1000)
    assert (np.abs(above) >= np.abs(at)).all()


# --- Every coordinate, independently ---------------------------------------------------------------------------------


def test_every_coordinate_gets_noise() -> None:
    """Each of eight coordinates has the Laplace law by itself."""
    assert each_column_ok(noise.laplace(Fraction(3), N).reshape(-1, 8), laplace_law(Fraction(3)))


def test_one_coordinate_without_noise_is_caught() -> None:
    """The check by coordinates refuses noise that skips the last of eight."""
    draws = noise.laplace(Fraction(3), N).reshape(-1, 8)
    draws[:, 7] = 0
    assert not each_column_ok(draws, laplace_law(Fraction(3)))


@pytest.mark.parametrize("sampler", [noise.laplace, noise.geometric, noise.gaussian])
def test_neighbouring_draws_are_independent(sampler: Callable[[Fraction, int], NDArray[np.int64]]) -> None:
    """A draw tells nothing about the next one, by a chi-square test of independence at 1e-6."""
    draws = sampler(Fraction(20), N)
    assert independent_ok(draws[:-1:2], draws[1::2])


def test_draws_that_share_their_bytes_are_caught() -> None:
    """The check of independence refuses a draw that takes a tenth of its size from the one before."""
    draws = noise.laplace(Fraction(20), N)
    draws[1::2] += draws[:-1:2] // 10
    assert not independent_ok(draws[:-1:2], draws[1::2])


# --- Agreement with an independent implementation --------------------------------------------------------------------


def opendp_noise(kind: str, scale: float, size: int) -> NDArray[np.int64]:
    """Noise drawn by OpenDP's discrete Laplace or discrete Gaussian measurement."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    domain = dp.vector_domain(dp.atom_domain(T="i64"))
    if kind == "laplace":
        measurement = dp.m.make_laplace(domain, dp.l1_distance(T="i64"), scale=scale)
    else:
        measurement = dp.m.make_gaussian(domain, dp.l2_distance(T="i64"), scale=scale)
    return np.array(measurement([0] * size), dtype=np.int64)


@pytest.mark.parametrize("scale", [1, 50])
def test_laplace_agrees_with_opendp(scale: int) -> None:
    """Discrete Laplace draws and OpenDP's pass a two-sample test at 1e-6."""
    assert two_sample_ok(noise.laplace(Fraction(scale), N), opendp_noise("laplace", scale, N // 8))


def test_gaussian_agrees_with_opendp_at_a_large_sigma() -> None:
    """Where rounded and discrete Gaussian are the same to 1e-7, draws and OpenDP's pass a two-sample test at 1e-6."""
    assert two_sample_ok(noise.gaussian(Fraction(1000), N), opendp_noise("gaussian", 1000, N // 8))


def test_another_law_than_opendps_is_caught() -> None:
    """The two-sample test refuses a scale 5% too small."""
    # with N // 8 of OpenDP's draws one run in thirty was not caught
    assert not two_sample_ok(noise.laplace(Fraction(95, 2), N), opendp_noise("laplace", 50, N // 2))


# --- Cutting the stream of bytes -------------------------------------------------------------------------------------

SAMPLERS: dict[str, Draw] = {
    "laplace": lambda size: noise.laplace(Fraction(5), size),
    "geometric": lambda size: noise.geometric(Fraction(5), size),
    "gaussian": lambda size: noise.gaussian(Fraction(5), size),
    "choose": lambda size: noise.choose(np.tile(np.arange(5), (size, 1)), Fraction(1)),
    "keep": lambda size: noise.keep(Fraction(1, 4), size).astype(np.int64),
    "integers": lambda size: noise.integers(1000, size),
    "permutation": noise.permutation,
}


@pytest.mark.parametrize("name", ["laplace", "geometric", "gaussian", "choose"])
@pytest.mark.parametrize("chunk", [8, 40, 1000])
def test_draws_do_not_depend_on_how_their_bytes_arrive(name: str, chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A draw that runs out of bytes goes on where it was: a stream gives the same draws however it is cut."""
    with noise.seeded(3):
        expected = SAMPLERS[name](1500)
    monkeypatch.setattr(noise, "CHUNK", chunk)
    with noise.seeded(3):
        np.testing.assert_array_equal(SAMPLERS[name](1500), expected)


# --- Entropy ---------------------------------------------------------------------------------------------------------


def repeats_after_fork(draw: Draw) -> bool:
    """Whether a forked child draws what its parent draws next."""
    draw(100)  # whatever the sampler keeps for later, it has now
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(writer, draw(100).tobytes())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        theirs = np.frombuffer(pipe.read(), dtype=np.int64)
    os.waitpid(child, 0)
    assert theirs.size == 100
    return bool((theirs == draw(100)).all())


class Buffered:
    """A sampler with the bug: it keeps random bytes for the next call, and a fork copies them."""

    def __init__(self) -> None:
        self.bytes = b""

    def __call__(self, size: int) -> NDArray[np.int64]:
        if len(self.bytes) < 8 * size:
            self.bytes += os.urandom(2**16)
        taken, self.bytes = self.bytes[: 8 * size], self.bytes[8 * size :]
        return np.frombuffer(taken, dtype=np.int64)


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_fork_does_not_repeat_the_draws(name: str) -> None:
    """Parent and child draw different values after a fork."""
    assert not repeats_after_fork(SAMPLERS[name])


def test_a_sampler_that_repeats_after_a_fork_is_caught() -> None:
    """The check of forks refuses a sampler that keeps bytes from call to call."""
    assert repeats_after_fork(Buffered())


@pytest.mark.parametrize("name", SAMPLERS)
def test_draws_never_repeat_unless_seeded(name: str) -> None:
    """Two calls in a row draw different values."""
    assert (SAMPLERS[name](1000) != SAMPLERS[name](1000)).any()


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seed_repeats_the_draws(name: str) -> None:
    """The same seed gives the same draws, another seed gives others."""
    drawn = []
    for seed in (1, 1, 2):
        with noise.seeded(seed):
            drawn.append(SAMPLERS[name](1000))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()


def test_a_seed_goes_on_from_call_to_call() -> None:
    """Under one seed the second call does not repeat the first."""
    with noise.seeded(1):
        assert (noise.laplace(Fraction(50), 100) != noise.laplace(Fraction(50), 100)).any()


def test_seeding_shows_and_ends() -> None:
    """is_seeded is true inside the block, in every thread, and false after it, also when the block fails."""
    seen: list[bool] = []

    def fail() -> None:
        with noise.seeded(1):
            thread = threading.Thread(target=lambda: seen.append(noise.is_seeded()))
            thread.start()
            thread.join()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert seen == [True]
    assert not noise.is_seeded()


def test_seeding_twice_is_refused() -> None:
    """A seeded block inside another is refused, and the outer one stays seeded."""
    with noise.seeded(1):
        with pytest.raises(UsageError, match="seeded already"), noise.seeded(2):
            pass
        assert noise.is_seeded()


def test_threads_draw_different_values() -> None:
    """Seeded or not, threads that draw at once do not get the same bytes."""
    drawn: list[NDArray[np.int64]] = []
    with noise.seeded(1):
        threads = [threading.Thread(target=lambda: drawn.append(noise.laplace(Fraction(10**6), 1000))) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({draws.tobytes() for draws in drawn}) == 4


def test_importing_noise_does_not_load_numba() -> None:
    """numba is loaded by the first draw and not before."""
    code = "import sys, cloister.privacy.noise; sys.exit('numba' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


# --- The ends of the range -------------------------------------------------------------------------------------------


def test_noise_wraps_around_without_loss() -> None:
    """Noise added to the largest int64 wraps around, and taking the value off again gives the noise."""
    top = np.full(1000, np.iinfo(np.int64).max)
    draws = noise.laplace(Fraction(10**12), 1000)
    np.testing.assert_array_equal((top + draws) - top, draws)


@pytest.mark.parametrize("name", ["laplace", "geometric"])
def test_the_largest_scale_works(name: str) -> None:
    """At scale 2**50 draws have the size that they should, and none has wrapped around."""
    draws = np.abs(getattr(noise, name)(Fraction(2**50), 10_000).astype(np.float64))
    assert 0.9 < draws.mean() / 2**50 < 1.1
    assert draws.max() < 2**56


def test_the_largest_sigma_works() -> None:
    """At sigma 2**50 draws have the law of a normal."""
    assert draws_ok(noise.gaussian(Fraction(2**50), N), gaussian_law(Fraction(2**50)))


@pytest.mark.parametrize("name", SAMPLERS)
def test_nothing_can_be_drawn(name: str) -> None:
    """A size of zero gives an empty array."""
    assert SAMPLERS[name](0).shape == (0,)


REFUSED: dict[str, Callable[[], object]] = {
    "no scale": lambda: noise.laplace(Fraction(0), 1),
    "negative scale": lambda: noise.geometric(Fraction(-1), 1),
    "huge scale": lambda: noise.laplace(Fraction(2**50 + 1), 1),
    "float scale": lambda: noise.laplace(0.5, 1),  # type: ignore[arg-type]
    "no sigma": lambda: noise.gaussian(Fraction(0), 1),
    "huge sigma": lambda: noise.gaussian(Fraction(2**50 + 1), 1),
    "float sigma": lambda: noise.gaussian(1.0, 1),  # type: ignore[arg-type]
    "negative size": lambda: noise.laplace(Fraction(1), -1),
    "negative sample": lambda: noise.keep(Fraction(1, 2), -1),
    "negative permutation": lambda: noise.permutation(-1),
    "a third": lambda: noise.keep(Fraction(1, 3), 1),
    "finer than 2**-32": lambda: noise.keep(Fraction(1, 2**33), 1),
    "rate above 1": lambda: noise.keep(Fraction(3, 2), 1),
    "float rate": lambda: noise.keep(0.5, 1),  # type: ignore[arg-type]
    "no bound": lambda: noise.integers(0, 1),
    "huge bound": lambda: noise.integers(2**63 + 1, 1),
    "flat scores": lambda: noise.choose(np.zeros(3, dtype=np.int64), Fraction(1)),
    "float scores": lambda: noise.choose(np.zeros((1, 3)), Fraction(1)),  # type: ignore[arg-type]
    "no candidates": lambda: noise.choose(np.zeros((3, 0), dtype=np.int64), Fraction(1)),
    "negative seed": lambda: noise.seeded(-1).__enter__(),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_makes_no_sense_is_refused(what: str) -> None:
    """A scale, rate, bound, size or shape out of range is a UsageError, never a wrong draw."""
    with pytest.raises(UsageError):
        REFUSED[what]()
