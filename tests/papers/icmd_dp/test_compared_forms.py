"""Measures, neighbouring tables and attacks of paper 004, and its sound form taken apart."""

from __future__ import annotations

import numpy as np
import pytest

from cloister.microdata.private.private_microdata import PrivateMicrodata
from cloister.papers.claim_attacks import attack_outputs
from cloister.papers.icmd_dp.adult_release import AdultRelease
from cloister.papers.icmd_dp.attacks import ATTACKS, centroid_slope, projected
from cloister.papers.icmd_dp.figure_settings import described, figure_tasks, k_of, planned_releases
from cloister.papers.icmd_dp.insensitive_sums import insensitive_steps, insensitive_sums
from cloister.papers.icmd_dp.nearest_rows import link_both_ways, link_own_rows, nearest_rows
from cloister.papers.icmd_dp.neighbour_rows import NeighbourRows, alternating_rows, joined_rows, one_group, turned_rows
from cloister.papers.icmd_dp.paper import PAPER
from cloister.papers.icmd_dp.printed import AS_CLAIMED, group_centroids, icmd_dp_numbers, icmd_groups
from cloister.papers.icmd_dp.unit_rows import UnitRows, unit_schema
from cloister.papers.paper_items import RunEffort
from cloister.privacy.mechanisms import Laplace
from cloister.testing import seeded_noise

PAIRS = (one_group(9), alternating_rows(7, 5), turned_rows(10), joined_rows(8))


def rows_of(numbers: list[float], codes: list[int]) -> UnitRows:
    """Rows of one number and one category of three values."""
    return UnitRows(np.array(numbers)[:, None], np.array(codes)[:, None], (3,))


def test_nearest_rows_are_those_of_all_pairs() -> None:
    """As counted one by one, with ties."""
    random = np.random.default_rng(0)
    some, others = (UnitRows(random.random((n, 2)), random.integers(0, 3, (n, 2)), (3, 3)) for n in (20, 30))
    squares = ((some.numbers[:, None] - others.numbers) ** 2).sum(axis=2) + (some.codes[:, None] != others.codes).sum(axis=2)
    found = nearest_rows(some, others)
    assert found.squares == pytest.approx(squares.min(axis=1))
    assert (found.places == squares.argmin(axis=1)).all()


def test_tied_rows_are_counted() -> None:
    """Two records that are alike are as near."""
    found = nearest_rows(rows_of([0.5], [0]), rows_of([0.4, 0.4, 0.9], [0, 0, 0]))
    assert found.tied.tolist() == [2]


def test_linkage_of_what_was_not_changed_is_certain() -> None:
    """Every record is its own nearest, and a group of two is guessed in half of the cases."""
    rows = rows_of([0.0, 0.3, 0.6, 0.9], [0, 0, 1, 1])
    assert link_own_rows(rows, rows, np.arange(4)) == 1.0
    assert link_both_ways(nearest_rows(rows, rows), rows, rows).tolist() == [1.0] * 4
    pairs = rows_of([0.15, 0.15, 0.75, 0.75], [0, 0, 1, 1])
    assert link_own_rows(pairs, rows, np.arange(4)) == pytest.approx(0.5)


@pytest.mark.parametrize("pair", PAIRS)
def test_neighbours_differ_in_one_row(pair: NeighbourRows) -> None:
    """And keep their size."""
    assert len(pair.one) == len(pair.two)
    assert (pair.one != pair.two).any(axis=1).sum() == 1


def test_the_sound_form_is_that_of_private_microdata() -> None:
    """One run of the vectorised draws gives the means that the public class releases with the same noise."""
    pair = alternating_rows(5, 3)
    table = pair.tables[0]
    model = PrivateMicrodata("1", "insensitive", k=3, schema=pair.schema, neighbours="replace-one", random_state=0)
    with seeded_noise(7):
        released = model.sample(table).table
    rows = np.unique(np.column_stack([column.to_numpy() for column in released.columns]), axis=0)
    means = np.unique(insensitive_sums(table, pair.schema, 3, "1").released(1, 7)[0].round(6), axis=0)
    assert rows == pytest.approx(means, abs=1e-4)


def test_an_alternating_table_moves_all_groups() -> None:
    """By more than 80% of what is possible, along the public order and along the printed one."""
    groups, k = 25, 5
    pair = alternating_rows(groups, k)
    one, two = (insensitive_sums(table, pair.schema, k, "1") for table in pair.tables)
    printed = [group_centroids(held.value, icmd_groups(held.value, k)).means for held in pair.held]
    for before, after in ((one.means, two.means), printed):
        assert np.abs(before - after).sum(axis=0).min() > 0.8 * groups / k
    assert one.cost(two) <= 1.0


def test_the_noise_at_200_is_ten_ranges() -> None:
    """30,000 rows of 14 columns, k 200, epsilon 1: 14 x 150 / 200."""
    _, steps = insensitive_steps(unit_schema(14), 30_000, 200, "1")
    assert isinstance(steps.means, Laplace)
    scale = float(steps.means.scales["sums"]) / 200 / (2 * steps.sums.halves[0])
    assert scale == pytest.approx(10.5)


@pytest.mark.parametrize("pair", PAIRS)
def test_no_pair_costs_the_sound_form_more_than_its_epsilon(pair: NeighbourRows) -> None:
    """The distance of the sums over the scale of their noise is at most 1."""
    one, two = (insensitive_sums(table, pair.schema, pair.k, "1") for table in pair.tables)
    assert one.cost(two) <= 1.0 + 1e-9


def test_attacks_refute_the_printed_form_and_not_the_sound_one() -> None:
    """All of the quick run; the bounds are far apart."""
    rows = [row for task in ATTACKS.tasks(RunEffort(is_quick=True))[:3] for row in task.work()]
    printed = [row.value for row in rows if row.form == "as printed"]
    sound = [row.value for row in rows if row.form == "sound"]
    assert min(value or 0.0 for value in printed) > 3.0
    assert max(value or 0.0 for value in sound) <= 1.0
    assert len(ATTACKS.finds(rows)) == 3


def test_published_attributes_show_their_groups() -> None:
    """One replaced row makes two different rows to four, whatever the noise."""
    rows = list(ATTACKS.tasks(RunEffort(is_quick=True))[3].work())
    values = {row.form: row.value for row in rows}
    assert values["as printed"] is not None
    assert values["as printed"] > 3.0
    assert values["sound"] == 0.0


def test_an_attack_finds_nothing_between_equal_tables() -> None:
    """Planted the other way: a table and itself are not told apart."""
    pair = one_group(21)
    outputs = [icmd_dp_numbers(pair.held[0], 21, 1.0, seed, 2_000, AS_CLAIMED).value for seed in (0, 1)]
    line = projected((outputs[0], outputs[1]), (pair.one, pair.two))
    found = attack_outputs("nothing", "as printed", line, claimed=1.0, epsilon=1.0, source="none")
    assert found.value is not None
    assert found.value < 0.2


def test_the_slope_does_not_know_which_group_is_which() -> None:
    """Exchanged centroids have the same slope."""
    means = np.array([[[0.2, 0.3], [0.8, 0.9]], [[0.8, 0.9], [0.2, 0.3]]])
    assert centroid_slope(means)[:, 0] == pytest.approx([0.6, 0.6])


def test_plans_have_tasks_of_different_names_and_few_of_them_in_a_quick_run() -> None:
    """Every item, in both efforts."""
    for item in PAPER.items:
        names = [[task.name for task in item.tasks(RunEffort(is_quick=quick))] for quick in (False, True)]
        assert all(len(set(each)) == len(each) for each in names)
        assert len(names[1]) <= len(names[0])
    assert figure_tasks(RunEffort(), lambda found: {}, "figure 1")[0].name


def test_every_release_is_described() -> None:
    """Sound ones with the epsilon that is claimed, printed ones with more."""
    for what in planned_releases(RunEffort(is_quick=True)):
        setting, form, claimed, epsilon = described(what)
        assert (k_of(setting) or 0) == what.k
        assert (form == "sound") == what.is_sound
        if what.is_sound:
            assert epsilon == float(what.epsilon)
        elif claimed is not None:
            assert epsilon is not None
            assert epsilon >= claimed
    assert described(AdultRelease("each record", 10, "1"))[3] == 14.0
