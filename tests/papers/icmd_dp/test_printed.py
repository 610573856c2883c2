"""Paper 004 as printed, against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cloister.papers.icmd_dp.printed import (
    AS_CLAIMED,
    AS_IN_FIGURE_3,
    ONLY_PARALLEL_PRINTED,
    ends_of,
    group_centroids,
    groups_along,
    icmd,
    icmd_dp,
    icmd_dp_numbers,
    icmd_groups,
    noise_by_attribute,
    noise_on_each_record,
    publish_cmd,
)
from cloister.papers.icmd_dp.unit_rows import UnitRows, read_unit_rows, unit_schema, unit_table
from cloister.privacy.guarantees import Claimed
from cloister.schema import Category, Number, Schema
from cloister.schema.column import Column
from cloister.vault import Unprotected

SCHEMA = Schema((Column("age", Number(bounds=(20.0, 60.0))), Column("sex", Category(("f", "m")))))
PEOPLE = {"age": [20, 30, 40, 60], "sex": ["f", "f", "m", "m"]}


def held(cells: np.ndarray) -> Unprotected[UnitRows]:
    """A made-up table of numbers, as printed forms take it."""
    return read_unit_rows(unit_table(cells), unit_schema(cells.shape[1]))


def test_rows_are_read_on_a_scale_of_their_bounds() -> None:
    """Numbers from 0 to 1, categories as places in their domain, an unknown value behind the last."""
    rows = read_unit_rows(PEOPLE | {"sex": ["f", "f", "m", "x"]}, SCHEMA).value
    assert rows.numbers[:, 0].tolist() == [0.0, 0.25, 0.5, 1.0]
    assert rows.codes[:, 0].tolist() == [0, 0, 1, 2]


def test_distances_are_those_of_definitions_3_to_5() -> None:
    """Absolute differences of scaled numbers, and 1 for a category that differs."""
    rows = read_unit_rows(PEOPLE, SCHEMA).value
    assert rows.distances(rows.numbers[0], rows.codes[0]).tolist() == [0.0, 0.25, 1.5, 2.0]


def test_the_ends_are_the_farthest_record_and_the_one_farthest_from_it() -> None:
    """The centre is (0.4375, f): the record (1, m) is 1.5625 from it, and (0, f) is farthest from that."""
    assert ends_of(read_unit_rows(PEOPLE, SCHEMA).value) == (3, 0)


def test_groups_are_taken_from_both_ends() -> None:
    """Seven rows in groups of two: the ends leave three, which are a group by themselves (step 3)."""
    assert groups_along(np.arange(7.0), 2).tolist() == [0, 0, 2, 2, 2, 1, 1]


def test_few_that_are_left_join_the_nearer_group() -> None:
    """Seven rows in groups of three: the one in the middle is nearer to the lower end (step 4)."""
    assert groups_along(np.array([0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 9.0]), 3).tolist() == [0, 0, 0, 0, 1, 1, 1]


@pytest.mark.parametrize(("rows", "k"), [(1, 1), (5, 9), (12, 3), (13, 3), (14, 3), (17, 3), (100, 7)])
def test_every_group_has_k_rows_and_less_than_two_k(rows: int, k: int) -> None:
    """But where there are fewer than 2k rows, which are one group."""
    sizes = np.bincount(groups_along(np.random.default_rng(rows).random(rows), k))
    assert sizes.sum() == rows
    assert sizes.min() >= min(k, rows)
    assert sizes.max() < 2 * k or rows < 2 * k


def test_centroids_are_means_and_most_common_values() -> None:
    """Definition 6, with the mode for categories."""
    found = group_centroids(read_unit_rows(PEOPLE, SCHEMA).value, np.array([0, 0, 1, 1]))
    assert found.means[:, 0].tolist() == [0.125, 0.75]
    assert found.modes[:, 0].tolist() == [0, 1]


def test_icmd_and_cmd_publish_the_centroids_in_the_place_of_their_records() -> None:
    """Two groups of two, whose middle both algorithms find."""
    for published in (icmd(read_unit_rows(PEOPLE, SCHEMA), 2), publish_cmd(PEOPLE, SCHEMA, 2)):
        assert published.value.numbers[:, 0].tolist() == [0.125, 0.125, 0.75, 0.75]
        assert published.value.codes[:, 0].tolist() == [0, 0, 1, 1]
        assert isinstance(published.release_.guarantee, Claimed)


def test_the_printed_noise_is_that_of_one_group_or_of_all() -> None:
    """100 rows in groups of 20: 1/20 of a range at epsilon 1 (section 2.2), or five times that."""
    rows = held(np.zeros((100, 3))).value
    assert AS_CLAIMED.scale(rows, 20, 1.0) == 0.05
    assert AS_IN_FIGURE_3.scale(rows, 20, 1.0) == 0.25
    assert AS_CLAIMED.proved(rows, 20, 1.0) == pytest.approx(100 * 3 * 20)
    assert ONLY_PARALLEL_PRINTED.proved(rows, 20, 1.0) == math.inf


def test_noise_has_the_scale_that_is_said() -> None:
    """The mean of |Laplace| is its scale: 40,000 draws are off by less than 3%."""
    rows = held(np.full((40, 1), 0.5))
    noisy = icmd_dp_numbers(rows, 20, 2.0, 1, 1_000, AS_CLAIMED).value
    assert np.abs(noisy - 0.5).mean() == pytest.approx(1 / 40, rel=0.03)


def test_a_record_draws_noise_of_its_own_and_a_repaired_group_once() -> None:
    """As printed all records differ; with one draw a group they are as many as groups."""
    rows = held(np.linspace(0, 1, 12)[:, None])
    assert len(np.unique(icmd_dp(rows, 3, 1.0, 0).value.numbers)) == 12
    assert len(np.unique(icmd_dp(rows, 3, 1.0, 0, ONLY_PARALLEL_PRINTED).value.numbers)) == 4


def test_categories_follow_the_shares_of_their_group() -> None:
    """With little noise the common value is drawn, with much of it any."""
    rows = read_unit_rows({"age": [20] * 400, "sex": ["f"] * 400}, SCHEMA)
    drawn = {epsilon: icmd_dp(rows, 400, epsilon, 0).value.codes.mean() for epsilon in (1.0, 1e-6)}
    assert drawn[1.0] == 0.0
    assert drawn[1e-6] == pytest.approx(0.5, abs=0.1)


def test_plain_noise_keeps_a_category_as_often_as_the_exponential_mechanism() -> None:
    """Of two values one is kept with e^(eps / 2) / (e^(eps / 2) + 1): 0.8808 at epsilon 4."""
    rows = read_unit_rows({"age": [20] * 20_000, "sex": ["f"] * 20_000}, SCHEMA)
    kept = 1 - noise_on_each_record(rows, 4.0, 0).value.codes.mean()
    assert kept == pytest.approx(math.exp(2) / (math.exp(2) + 1), abs=0.01)


def test_attributes_by_themselves_have_groups_of_their_own() -> None:
    """A row may be in the low group of one column and in the high one of another."""
    _, groups = noise_by_attribute(held(np.array([[0.0, 1.0], [0.1, 0.2], [0.9, 0.1], [1.0, 0.9]])), 2, 1.0, 0, 3).value
    assert groups.tolist() == [[0, 1], [0, 0], [1, 0], [1, 1]]


def test_every_printed_form_is_stamped_as_claimed() -> None:
    """With the number of the paper, and the word that it is not private."""
    rows = held(np.random.default_rng(0).random((20, 2)))
    for result in (icmd_dp(rows, 5, 1.0, 0), noise_by_attribute(rows, 5, 1.0, 0, 2), noise_on_each_record(rows, 1.0, 0)):
        guarantee = result.release_.guarantee
        assert isinstance(guarantee, Claimed)
        assert guarantee.paper == "004"
        assert "NOT PRIVATE" in str(result.release_)


def test_a_farthest_record_exchanges_the_groups() -> None:
    """What the paper calls insensitive: groups that differ in one record. One replaced record exchanges more."""
    cloud = np.random.default_rng(0).uniform(0.1, 0.9, (39, 2))
    one, two = (icmd_groups(held(np.concatenate([[corner], cloud])).value, 10) for corner in ([0.0, 0.0], [1.0, 0.0]))
    changed = [min((one == group).sum(), ((one == group) != (two == other)).sum()) for group in (0, 1) for other in (0, 1)]
    assert min(changed) > 2
