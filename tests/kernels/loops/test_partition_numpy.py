"""The NumPy loops of a search against the compiled ones: the same numbers, to the last bit, cut for cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.put_on_grid import put_on_grid
from cloister.anonymization.searching import cuts
from cloister.anonymization.searching.cuts import Workspace
from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.specialize import specialize
from cloister.errors import UsageError
from tests.anonymization.adult import adult
from tests.anonymization.tables import Table, tables


@settings(max_examples=60, deadline=None)
@given(
    tables(),
    st.integers(1, 4),
    st.sampled_from(["loss", "distance", "class"]),
    st.integers(0, 4),
    st.randoms(use_true_random=False),
)
def test_every_cut_of_a_random_walk_is_weighed_alike(table: Table, k: int, gain: str, allowed: int, random: object) -> None:
    """From the root down, the candidates of a cut and the classes after a step do not depend on the loops."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cuts, "pays_to_partition_compiled", lambda work: False)
        grid = put_on_grid(CountedTable(table.histogram(), table.columns, [str(j) for j in range(len(table.columns))]), k)
        work = Workspace(grid.rows, grid.columns, k, [], Gain(gain), allowed)
        cut = work.root()
        while cut is not None:
            assert cut.by_code is not None
            same = replace(cut, by_code=None)
            plain, compiled = work.weigh(cut), work.weigh(same)
            for name in ("block", "way", "lost", "information", "score", "is_open"):
                assert np.array_equal(getattr(plain, name), getattr(compiled, name)), name
            usable = np.flatnonzero(plain.is_open)
            if not len(usable):
                return
            i = int(usable[random.randrange(len(usable))])  # type: ignore[attr-defined]
            step = (int(plain.block[i]), int(plain.way[i]), float(plain.information[i]), int(plain.lost[i]))
            cut, other = work.take(cut, *step), work.take(same, *step)
            assert (cut is None) == (other is None)
            if cut is not None and other is not None:
                assert np.array_equal(cut.rows, other.rows)
                assert np.array_equal(cut.starts, other.starts)
                assert (cut.lost, cut.worth, cut.mark) == (other.lost, other.worth, other.mark)


@pytest.mark.parametrize("gain", ["loss", "distance"])
def test_adult_is_specialized_alike(gain: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole search on Adult ends in the same recoding and the same classes."""
    table = adult()
    counted = CountedTable(table.rows, table.trees, table.names)
    ends = []
    for pays in (True, False):
        monkeypatch.setattr(cuts, "pays_to_partition_compiled", lambda work, pays=pays: pays)
        ends.append(specialize(counted, 10, gain=gain, suppression=0.02))
    assert ends[0].recoding.to_json() == ends[1].recoding.to_json()
    assert np.array_equal(ends[0].labels, ends[1].labels)


def test_a_lost_class_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: counts by code that are not split with their classes do not go unnoticed."""
    table = adult()
    monkeypatch.setattr(cuts, "pays_to_partition_compiled", lambda work: False)
    right = specialize(CountedTable(table.rows, table.trees, table.names), 10, gain="loss")
    monkeypatch.setattr(
        cuts.partition_numpy, "split_counts", lambda by_code, *rest: by_code[np.zeros(len(rest[-1]) - 1, int)]
    )
    try:
        wrong = specialize(CountedTable(table.rows, table.trees, table.names), 10, gain="loss")
    except UsageError:
        return
    assert wrong.recoding.to_json() != right.recoding.to_json()
