"""Attacks on paper 000: what must be refuted is, and what is sound is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cloister.papers.claim_attacks import attack_outputs
from cloister.papers.di_clustering.attacked_claims import AttackedClaim, attacked_claims
from cloister.papers.di_clustering.attacks import printed_rows
from cloister.testing import audit

CLAIMS = attacked_claims()
RUNS = 60_000


@pytest.mark.parametrize("attacked", CLAIMS, ids=lambda attacked: attacked.setting)
def test_the_printed_form_is_refuted(attacked: AttackedClaim) -> None:
    """The bound passes the claim, and not what is proved of what is run."""
    claim, found = printed_rows(attacked, RUNS)
    assert found.value is not None
    assert claim.value == attacked.claimed
    assert attacked.claimed < found.value <= attacked.proved


@pytest.mark.parametrize("attacked", CLAIMS, ids=lambda attacked: attacked.setting)
def test_tables_are_neighbours(attacked: AttackedClaim) -> None:
    """One row is replaced: what rho is about."""
    lists = [table.to_pylist() if hasattr(table, "to_pylist") else table.tolist() for table in attacked.tables]
    assert len(lists[0]) == len(lists[1])
    assert sum(one != two for one, two in zip(*lists, strict=True)) == 1


@pytest.mark.parametrize("attacked", [CLAIMS[0], CLAIMS[3], CLAIMS[6]], ids=lambda attacked: attacked.setting)
def test_the_sound_form_is_not(attacked: AttackedClaim) -> None:
    """An exact replay finds no more than its epsilon."""
    found = audit(attacked.sound, attacked.tables)
    assert found.holds
    assert found.largest_loss <= attacked.sound_epsilon * (1 + 1e-9)


def test_enough_noise_is_not_refuted() -> None:
    """Planted the other way round: sums with the noise that a moving row needs keep their claim."""
    random = np.random.default_rng(0)
    shift = np.array([1.0, -0.8])
    one, two = (random.laplace(0, 2.0, (RUNS, 2)) + place for place in (0.0, shift))
    row = attack_outputs("sums", "sound", (one, np.asarray(two)), claimed=1.0, epsilon=1.0, source="section 6.1")
    assert row.value is not None
    assert row.value <= 1.0


def test_nothing_is_proved_of_exact_sizes() -> None:
    """Their epsilon is infinite, that of sums and of categories alone is not."""
    proved = {attacked.setting: attacked.proved for attacked in CLAIMS}
    assert proved["size one or two"] == math.inf
    assert proved["7 category columns"] == pytest.approx(7 * 0.8473, abs=1e-3)
