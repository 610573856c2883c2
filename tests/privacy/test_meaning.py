"""What a budget means in numbers."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import pytest

import cloister as cl
from cloister.errors import UsageError
from cloister.privacy.meaning import WORLDS, Posterior, attacks, epsilons_of_rho, posteriors, read_releases
from cloister.schema import Neighbours

RO, AR = Neighbours.REPLACE_ONE, Neighbours.ADD_REMOVE


def test_several_releases_beside_what_is_printed() -> None:
    """Three at rho 0.05 among 10,001: certainty, where the paper's formula gives 12,500."""
    row = Posterior.of(cl.Identifiability(0.05, 10_001).epsilon, 10_001, RO, 3)
    assert row.after == pytest.approx(0.05, abs=1e-12)
    assert row.composed == pytest.approx(1 - 6.86e-5, abs=1e-6)
    assert Decimal(row.printed) == 12500
    assert row.as_dict() == {"worlds": 10_001, "before": 1 / 10_001, "epsilon": float(row.epsilon), "after": row.after}


def test_one_release_is_its_own_composition() -> None:
    """And the printed bound is its rho."""
    for row in posteriors(cl.PureDP(1), RO) or []:
        assert row.composed == row.after == pytest.approx(float(row.printed), rel=1e-3)


def test_the_stated_worlds_are_among_those_shown() -> None:
    """Of both parts of a mixed table, too; with a delta there is no bound at all."""
    assert [row.worlds for row in posteriors(cl.Identifiability(0.5, 31), RO) or []] == sorted({*WORLDS, 31})
    mixed = cl.Identifiability.mixed((0.05, 77), (0.7, 3))
    assert {3, 77} < {row.worlds for row in posteriors(mixed, RO) or []}
    assert posteriors(cl.ApproxDP(1, 1e-6), AR) is None


def test_a_rho_without_worlds_is_several_epsilons() -> None:
    """One for each number of worlds among which it is more than a blind guess."""
    rows = epsilons_of_rho(Fraction(1, 10))
    assert [row.worlds for row in rows] == [100, 1_000, 10_001, 1_000_000]
    assert all(row.after == pytest.approx(0.1, abs=1e-12) for row in rows)


def test_what_the_best_attacker_finds() -> None:
    """Replace-one asks one question; under add-remove one value in place of another costs twice, and (1 + e^epsilon) delta."""
    assert [round(attack["true_positives"], 4) for attack in attacks(cl.PureDP(1), RO)] == [0.1359]
    assert [round(attack["true_positives"], 4) for attack in attacks(cl.PureDP(1), AR)] == [0.1359, 0.3695]
    with_delta = attacks(cl.ApproxDP(1, "0.001"), AR)
    assert [round(attack["true_positives"], 4) for attack in with_delta] == [0.1369, 0.3732]
    assert attacks(cl.PureDP("0.5"), RO, 2) == attacks(cl.PureDP(1), RO)
    assert attacks(cl.ApproxDP(60, "1e-20"), AR)[1]["true_positives"] == 1


@pytest.mark.parametrize("releases", [0, -1, 10**6])
def test_a_number_of_releases_that_nobody_makes_is_refused(releases: int) -> None:
    """Before it fills the memory; the largest allowed one is computed."""
    with pytest.raises(UsageError, match="number of releases"):
        read_releases(releases)
    assert Decimal(Posterior.of(Fraction(100), 10**18, RO, read_releases(10_000)).printed) > Decimal("1e+100000")
