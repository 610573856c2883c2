"""Labels as ranges of leaves."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from cloister.errors import SchemaError
from cloister.risks.fingerprints import fingerprints_of, spans
from cloister.risks.label_domains import LabelDomain, make_label_domain
from cloister.risks.tuples import Values
from cloister.schema.cell_values import texts
from cloister.schema.hierarchies import Hierarchy, intervals
from tests.anonymization.tables import trees


def values(*words: str | None) -> Values:
    """Cells as a fold would see them."""
    known = texts(pa.array(words, pa.string()))
    marks = fingerprints_of(known)
    order = np.argsort(marks)
    low, high = spans(known)
    return Values(marks[order], low[order], high[order])


def ranges(domain: LabelDomain, word: str | None) -> list[int]:
    """What one label covers."""
    return domain.ranges(values(word))[0].tolist()


def test_numbers_without_a_hierarchy() -> None:
    """Values are leaves in their order; intervals cover what lies in them; a null is a leaf of its own."""
    domain = make_label_domain("age", None, values("30", "20", "25", None))
    assert domain.leaves == 4
    assert [ranges(domain, word) for word in ("20", "[20, 30)", "[20, 30]", "*", None)] == [
        [0, 1], [0, 2], [0, 3], [0, 4], [3, 4],
    ]  # fmt: skip
    assert domain.loss(np.array([[0, 1], [0, 2], [0, 4]])).tolist() == [0, 1 / 3, 1]
    assert domain.penalty(np.array([[0, 1], [0, 2], [0, 4], [3, 4]])).tolist() == [0, 0.5, 1, 0]


def test_words_without_a_hierarchy() -> None:
    """A word or everything."""
    domain = make_label_domain("town", None, values("Lima", "Quito"))
    assert ranges(domain, "*") == [0, 2]
    assert np.diff(ranges(domain, "Lima")) == 1
    assert domain.penalty(np.array([[0, 1], [0, 2]])).tolist() == [0, 1]


def test_intervals_as_a_hierarchy() -> None:
    """Raw numbers fall into the leaves of a tree of intervals, and its labels are found by their text."""
    domain = make_label_domain("age", intervals(0, 40, width=10), values("3", "39.5", "40"))
    assert [ranges(domain, word) for word in ("3", "39.5", "40", "[0, 20)", "*", "[10, 20)")] == [
        [0, 1], [3, 4], [3, 4], [0, 2], [0, 4], [1, 2],
    ]  # fmt: skip


@given(trees())
def test_every_label_of_a_tree_covers_its_leaves(tree: Hierarchy) -> None:
    """The range of a node is as long as its leaves are many, and holds the ranges of its children."""
    domain = make_label_domain("x", tree, values("v0"))
    size = (domain.nodes[:, 1] - domain.nodes[:, 0]).tolist()
    assert size == tree.size.tolist()
    for node, above in enumerate(tree.parent[:-1].tolist()):
        assert domain.nodes[above, 0] <= domain.nodes[node, 0]
        assert domain.nodes[node, 1] <= domain.nodes[above, 1]
    assert sorted(domain.nodes[: tree.leaves, 0].tolist()) == list(range(tree.leaves))


def test_a_label_that_means_nothing_is_told_without_its_text() -> None:
    """The error names the column and how many, and what to do."""
    domain = make_label_domain("town", None, values("Lima", "Quito"))
    with pytest.raises(SchemaError, match="1 of 2 different labels") as told:
        domain.ranges(values("Lima", "secret-label"))
    assert "secret" not in str(told.value)


@pytest.mark.parametrize("word", ["19", "[90, 99]", "[30, 20]"])
def test_an_interval_without_values_is_told(word: str) -> None:
    """A label that no value of the original has is not one of it."""
    with pytest.raises(SchemaError, match="age"):
        ranges(make_label_domain("age", None, values("20", "30")), word)
