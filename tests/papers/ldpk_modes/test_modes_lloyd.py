"""The central baseline as printed: its scale, what it costs, and that an attack refutes it where the sound form stands."""

from __future__ import annotations

from math import exp

import numpy as np
import pytest

from cloister.papers.claim_attacks import attack_outputs
from cloister.papers.ldpk_modes.attacks import ATTACKS, attack_centres, attack_counts, neighbouring_cells
from cloister.papers.ldpk_modes.cut_tables import held_cells
from cloister.papers.ldpk_modes.modes_lloyd import modes_lloyd, needed_scale, printed_scale, spent
from cloister.papers.paper_items import RunEffort


@pytest.mark.parametrize("epsilon", [1e-9, 0.1, 1.0, 2.0, 50.0])
def test_the_printed_scale_is_never_above_1(epsilon: float) -> None:
    """So that T rounds cost at least m T, whatever epsilon is."""
    assert printed_scale(8, 5, epsilon) <= 1
    assert spent(8, 5, epsilon) >= 40


def test_the_cost_is_that_of_the_scale() -> None:
    """m 8, T 5, epsilon 0.1: 40 e^(0.1/13); at the scale that epsilon needs, 40 moves of 1 cost epsilon."""
    assert spent(8, 5, 0.1) == pytest.approx(40 * exp(0.1 / 13))
    assert 8 * 5 / needed_scale(8, 5, 0.1) == pytest.approx(0.1)


def test_counts_are_noisy_by_the_printed_scale() -> None:
    """One cluster: the counts of each round are the exact ones and Laplace noise, whose mean size is its scale."""
    held = held_cells({"a": [0] * 30 + [1] * 10, "b": [1] * 40}, (2, 3))
    found = modes_lloyd(held, 1, 1, 0.5, 0, runs=40_000).value
    noise = found.noisy_counts[:, 0, 0] - [30, 10, 0, 40, 0]
    assert np.abs(noise).mean() == pytest.approx(printed_scale(2, 1, 0.5), rel=0.02)
    assert abs(noise.mean()) < 0.02
    assert (found.centres == [0, 1]).all()


def test_clusters_that_lie_apart_are_found() -> None:
    """Rows of two kinds, far more than the noise: whatever start has them both ends there."""
    held = held_cells({name: [0] * 300 + [1] * 200 for name in "abcd"}, (2, 2, 2, 2))
    found = modes_lloyd(held, 2, 5, 1.0, 3, runs=50).value.centres
    both = [sorted(run.tolist()) == [[0] * 4, [1] * 4] for run in found]
    assert np.mean(both) > 0.5


def test_a_run_that_stays_draws_no_more() -> None:
    """After the centres did not change, nothing is drawn: the algorithm's own rule."""
    held = held_cells({"a": [0] * 500, "b": [1] * 500}, (2, 2))
    drawn = modes_lloyd(held, 1, 5, 1.0, 0, runs=20).value.noisy_counts
    assert (drawn[:, 2:] == 0).all()


def test_a_start_from_rows_is_made_of_rows() -> None:
    """The other reading: with no room for another start both kinds are found in every run; of it nothing is proved."""
    held = held_cells({name: [0] * 300 + [1] * 200 for name in "abcd"}, (2, 2, 2, 2))
    result = modes_lloyd(held, 2, 5, 1.0, 3, runs=50, from_rows=True)
    assert all(sorted(run.tolist()) == [[0] * 4, [1] * 4] for run in result.value.centres)
    assert "proved: nothing" in str(result.release_.guarantee)


def test_the_tables_differ_by_one_row() -> None:
    """The attacked tables are neighbours, one row more or less."""
    without, with_one = neighbouring_cells()
    move = with_one.value - without.value
    assert move.sum() == 1
    assert np.abs(move).sum() == 1


def test_the_attack_refutes_the_printed_claim() -> None:
    """Noisy counts and centres alone both show far more than epsilon 0.1."""
    counts, centres = attack_counts(4000), attack_centres(20_000)
    assert float(counts.value or 0) > 4
    assert float(centres.value or 0) > 1
    assert counts.epsilon == centres.epsilon == pytest.approx(spent(8, 5, 0.1))


def test_the_attack_does_not_refute_the_noise_that_is_needed() -> None:
    """The same counts with the scale m T / epsilon: the claim stands."""
    random = np.random.default_rng(0)
    exact = [np.tile([10.0, 10.0 + more], 8) for more in (0, 1)]
    one, two = (5 * counts + random.laplace(0, needed_scale(8, 5, 1.0), (4000, 5, 16)).sum(axis=1) for counts in exact)
    found = attack_outputs("needed noise", "sound", (one, two), claimed=1.0, epsilon=1.0, source="a test")
    assert found.value is not None
    assert found.value <= 1


def test_the_exact_audit_of_the_sound_form_holds() -> None:
    """On the same two tables the program needs no more than its epsilon, and the printed noise needs forty."""
    task = next(task for task in ATTACKS.tasks(RunEffort(is_quick=True)) if task.name == "exactly")
    values = {row.form: row.value for row in task.work()}
    assert values["as printed"] > 40
    assert values["sound"] <= 1
