"""The attacks on paper 001 refute what is false, and nothing that is sound; the page of its items is made of their rows."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pytest

import cloister as cl
from cloister.papers.claim_attacks import attack_outputs
from cloister.papers.leteo.attacks import CROWD, EPSILON, attack_sizes, attack_two_cells, sound_cell_draws
from cloister.papers.leteo.class_attacks import looked_up, smallest_joint
from cloister.papers.leteo.constant_bias import constant_bias_depths, worst_constant_loss, worst_growing_loss
from cloister.papers.leteo.guarded_split import posterior_of_small_group
from cloister.papers.leteo.paper import PAPER
from cloister.papers.leteo.rows_scaling import growth
from cloister.papers.paper_items import RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.testing import audit


def test_the_exact_number_of_rows_is_told() -> None:
    """One row more makes the printed grid finer: its claim of epsilon 1 is refuted."""
    found = attack_sizes(100)
    assert found.value is not None
    assert found.value > 1.5
    assert found.epsilon == math.inf


def test_a_changed_row_costs_twice() -> None:
    """Both cells pay at both levels: above the claimed 1, and no more than the 2 that are proved."""
    found = attack_two_cells(200_000)
    assert found.value is not None
    assert 1.5 < found.value <= 2.0 == found.epsilon


def test_the_same_attack_spares_noise_that_is_large_enough() -> None:
    """Half the epsilon in the printed rules is a sound grid for replaced rows: epsilon 1 is not refuted."""
    found = attack_two_cells(200_000, epsilon=EPSILON / 2)
    assert found.value is not None
    assert found.value <= EPSILON


def test_the_sound_grid_is_asked_for_the_right_cells() -> None:
    """With hardly any noise each of its cells shows its own rows."""
    rows = np.arange(100) % 8 + 1
    assert np.abs(sound_cell_draws(rows, 100.0, 1, 0)[0, :, 1] - rows).max() < 1


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_the_sound_grid_keeps_its_epsilon(neighbours: str) -> None:
    """Exactly, on the tables of the attack."""
    places = np.array([[0.05, 0.05]] * CROWD + [[0.95, 0.95]] * CROWD)
    other = places[1:] if neighbours == "add-remove" else np.vstack([places[1:], places[-1:]])
    found = audit(lambda table: cl.synopsis(table, 1, (0, 1), neighbours=neighbours), (places, other))
    assert found.holds
    assert found.largest_loss <= 1 + 1e-9


def test_a_constant_bias_adds_up_and_a_growing_one_does_not() -> None:
    """40 levels of 1/3 each are 13.3; with a growing bias the worst shape stays below 1 at any depth."""
    assert worst_constant_loss(40) == pytest.approx(40 / 3)
    assert worst_growing_loss(10, range(12)) <= worst_growing_loss(20, range(12)) + 1e-12 <= 1


def test_sampling_refutes_the_constant_bias() -> None:
    """Already a hundred thousand runs find more than the epsilon of PrivTree's noise."""
    one, two = (constant_bias_depths(rows, 0, 40, 100_000, seed).value[:, None] for rows, seed in ((1, 0), (0, 1)))
    found = attack_outputs("s", "as printed", (one, two), claimed=1, epsilon=40 / 3, source="none")
    assert found.value is not None
    assert found.value > 1.5


def test_hashes_are_looked_up() -> None:
    """A plain hash of a number is found by hashing numbers; a keyed one is not."""
    plain = [hashlib.sha256(str(number).encode()).hexdigest() for number in (3, 99)]
    assert looked_up(plain, range(10)) == 0.5
    assert looked_up([hashlib.sha256(b"key3").hexdigest()], range(10)) == 0.0


def test_two_releases_cross() -> None:
    """Each column alone has classes of two, both together of one."""
    assert smallest_joint([0, 0, 1, 1]) == smallest_joint([0, 1, 0, 1]) == 2
    assert smallest_joint([0, 0, 1, 1], [0, 1, 0, 1]) == 1


def test_what_was_not_split_tells() -> None:
    """3 and 5 people, 3 ill: whole only where the 3 are all well (10 worlds) or all ill (1 world): 1/11 and not 3/8."""
    believed, known = posterior_of_small_group(3, 5, 3)
    assert believed == pytest.approx(3 / 8)
    assert known == pytest.approx(1 / 11)


def test_growth_is_the_power() -> None:
    """Seconds that double with the rows grow with the power 1."""
    rows = [
        ReproducedRow(f"x{t}: {t * 1000:,} rows", "sound", "s", t / 7, "section 3.3", epsilon=math.inf) for t in (1, 2, 4)
    ]
    assert growth(rows, "sound", "s") == pytest.approx(1)
    assert growth(rows[:1], "sound", "s") is None


def test_tasks_have_names_of_their_own() -> None:
    """In both efforts, and the quick one has fewer."""
    for item in PAPER.items:
        quick, whole = (item.tasks(RunEffort(is_quick=is_quick)) for is_quick in (True, False))
        assert len({task.name for task in whole}) == len(whole) >= len(quick)
