"""What can be told from results of paper 003: attacks that must refute, and the same on sound forms, which must not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cloister.papers.claim_attacks import attack_outputs
from cloister.papers.dedp_kmeans.attacks import ATTACKS, COLUMNS, outlier_tables, range_tables, start_attack
from cloister.papers.dedp_kmeans.counted_evaluations import kmeans_rounds
from cloister.papers.dedp_kmeans.distance_attack import recover_records
from cloister.papers.dedp_kmeans.paper import PAPER
from cloister.papers.dedp_kmeans.partition_workers import Workers, partial_sums
from cloister.papers.paper_items import RunEffort

QUICK = RunEffort(is_quick=True)


def rows_of(task_name: str) -> dict[str, float]:
    """The values of a quick task of the attacks, by form."""
    task = next(task for task in ATTACKS.tasks(QUICK) if task.name == task_name)
    return {row.form: row.value or 0.0 for row in task.work()}


def test_tables_differ_in_one_row() -> None:
    """Neighbours by adding a row."""
    for one, two in (outlier_tables(1.0), outlier_tables(0.1), range_tables()):
        assert len(two) == len(one) + 1
        np.testing.assert_array_equal(two[:-1], one)


def test_the_evolved_start_is_refuted() -> None:
    """One far row moves the best start as a whole; noise that is calibrated for sums and counts does not hide that."""
    outputs = [start_attack(table, 1.0, 300, 1000 * i) for i, table in enumerate(outlier_tables(1.0))]
    row = attack_outputs(
        "start", "as printed", (outputs[0], outputs[1]), claimed=1.0, epsilon=math.inf, source="section 5.4"
    )
    assert row.value is not None
    assert row.value > 2


def test_the_same_table_twice_is_not_refuted() -> None:
    """The attack finds nothing where there is nothing."""
    table = outlier_tables(1.0)[0]
    outputs = [start_attack(table, 1.0, 300, 1000 * i) for i in range(2)]
    row = attack_outputs(
        "start", "as printed", (outputs[0], outputs[1]), claimed=1.0, epsilon=math.inf, source="section 5.4"
    )
    assert row.value is not None
    assert row.value < 1


def test_the_sound_start_is_not_refuted() -> None:
    """Evolution over a released grid, under the same attack."""
    assert rows_of("start evolved on rows, epsilon 1, sound")["sound"] <= 1.0


@pytest.mark.parametrize(
    ("name", "is_refuted"),
    [
        ("scaling by the rows' own range", True),
        ("noise for each number by itself", True),
        ("noise for sums and count together", False),
    ],
)
def test_noisy_rounds(name: str, is_refuted: bool) -> None:
    """Epsilon 1 holds for one round whose noise covers sums and count together, and for no other reading."""
    found = rows_of(name)
    assert (found["as printed"] > found["printed"]) == is_refuted
    assert found["as printed"] <= COLUMNS + 1


def test_distances_to_enough_centres_give_the_record() -> None:
    """d + 1 centres in general position are enough, d are not."""
    random = np.random.default_rng(0)
    records, centers = random.random((20, 5)), random.random((6, 5))
    distances = np.sqrt(((records[:, None] - centers[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(recover_records(centers, distances), records, atol=1e-9)
    assert np.abs(recover_records(centers[:5], distances[:, :5]) - records).max() > 0.01


def test_partitions_add_up() -> None:
    """Two worker processes give the sums and counts of all rows."""
    random = np.random.default_rng(0)
    rows, centers = random.random((101, 3)), random.random((4, 3))
    with Workers(rows, 2) as workers:
        sums, counts = workers.round(centers)
    whole_sums, whole_counts = partial_sums(rows, centers)
    np.testing.assert_allclose(sums, whole_sums)
    np.testing.assert_array_equal(counts, whole_counts)
    np.testing.assert_array_equal(
        counts, np.bincount(((rows[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1), minlength=4)
    )


def test_errors_of_kmeans_rounds_fall() -> None:
    """One look at all rows each, and the last changes nothing."""
    points = np.random.default_rng(0).random((200, 2))
    errors = kmeans_rounds(points, points[:3])
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] == pytest.approx(errors[-2], rel=0.05)


def test_tasks_have_names_of_their_own() -> None:
    """In both efforts, so that a run can be resumed."""
    for effort in (QUICK, RunEffort()):
        names = [(item.name, task.name) for item in PAPER.items for task in item.tasks(effort)]
        assert len(set(names)) == len(names)
