"""Top-down specialization as printed: equations by hand, the steps of a small table, and its sound counterpart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from cloister.papers.leteo.printed_specialization import INFORMATION, READINGS, Information, Reading, entropy
from cloister.papers.leteo.printed_specialization import specialize_as_printed as specialize
from cloister.papers.leteo.pupil_tables import K, cached_pupils, copied, published, pupil_trees
from cloister.privacy.guarantees import Claimed
from cloister.schema.hierarchies import Hierarchy, flat

PLACES = Hierarchy.from_paths([("a", "letter", "*"), ("b", "letter", "*"), ("1", "digit", "*"), ("2", "digit", "*")])
TREES = {"place": PLACES, "sex": flat(["F", "M"])}


def table(**counts: int) -> pa.Table:
    """Rows by place and sex: ``a_F=3`` is three women at a."""
    rows = [tuple(name.removeprefix("_").split("_")) for name, count in counts.items() for _ in range(count)]
    return pa.table({"place": [row[0] for row in rows], "sex": [row[1] for row in rows]})


def test_entropy_by_hand() -> None:
    """Half and two quarters have 1.5 bits: 0.5 + 0.5 + 0.5; over rows the half, of two rows, counts twice."""
    sizes = np.array([2, 1, 1])
    assert entropy(sizes, by_row=False) == pytest.approx(1.5)
    assert entropy(sizes, by_row=True) == pytest.approx(2 * 0.5 + 0.5 + 0.5)


def test_a_table_that_is_anonymous_stays_as_it_is() -> None:
    """Where every tuple occurs k times the end is the table itself, however the gain is read."""
    rows = table(a_F=3, b_M=4, _1_F=3, _2_M=5)
    for information in INFORMATION:
        for reading in READINGS:
            found = specialize(rows, TREES, 3, information, reading).value
            assert found.losses == {"place": 0.0, "sex": 0.0}
            assert (found.smallest, found.classes, found.removed) == (3, 4, 0)


def test_steps_by_hand() -> None:
    """k 4: places can be parted, or sexes, not both; places tell 1 bit and cost 8 rows of anonymity, sexes 0.81 and 12."""
    rows = table(a_F=6, a_M=2, _1_F=6, _1_M=2)
    meant = specialize(rows, TREES, 4, "entropy", "as meant").value
    assert meant.steps[0] == "*"
    assert meant.losses == {"place": 0.0, "sex": 1.0}
    # the printed sign takes what tells least for the anonymity that it costs: -0.81 / (1 + 12) is above -1 / (1 + 8)
    reversed_ = specialize(rows, TREES, 4, "entropy", "printed sign").value
    assert reversed_.losses["sex"] == 0.0
    assert reversed_.losses["place"] == 1.0


def test_rare_tuples_are_left_out_first() -> None:
    """A single row that stands in the way of all others is removed, and counts as lost in every column."""
    rows = table(a_F=5, b_M=5, _1_F=1)
    with_it, without = (specialize(rows, TREES, 5, fewest=fewest).value for fewest in (1, 2))
    assert with_it.removed == 0
    assert with_it.loss > without.loss
    assert without.removed == 1
    assert without.losses == {"place": pytest.approx(1 / 11), "sex": pytest.approx(1 / 11)}
    assert without.kept.tolist() == list(range(10))


@pytest.mark.parametrize("information", INFORMATION)
@pytest.mark.parametrize("reading", READINGS)
def test_counting_tuples_once_changes_nothing(information: Information, reading: Reading) -> None:
    """Rows one by one, as on Spark, or different tuples with their counts: the same steps and labels, and k holds."""
    rows = cached_pupils(4_000)
    once, each = (
        specialize(rows, pupil_trees(), K, information, reading, 2, counts_once=way).value for way in (True, False)
    )
    assert once.steps == each.steps
    assert np.array_equal(once.labels, each.labels)
    assert np.unique(once.labels, axis=0, return_counts=True)[1].min() == once.smallest >= K


def test_as_meant_it_is_the_projects_own_search() -> None:
    """Without rows left out the corrected gains lose what the sound form loses."""
    rows = cached_pupils(8_000)
    for gain in INFORMATION:
        ours = published(rows, gain=gain, scope="global").outcome_.losses
        assert specialize(rows, pupil_trees(), K, gain).value.losses == pytest.approx(ours)


def test_copies_look_alike() -> None:
    """Ten copies of any table are 10-anonymous: nothing is lost, and nobody is protected."""
    rows = copied(cached_pupils(500), K)
    found = specialize(rows, pupil_trees(), K).value
    assert (found.loss, found.smallest) == (0.0, K)


def test_it_is_claimed_and_not_private() -> None:
    """k is a property of the table; the stamp says that no epsilon is proved."""
    release = specialize(table(a_F=3), TREES, 2).release_
    assert isinstance(release.guarantee, Claimed)
    assert "no epsilon" in str(release.guarantee)
    assert release.status == "claimed, NOT PRIVATE"
