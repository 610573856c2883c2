"""Rounds of local recoding against plain counts, and their outcome against what compiled loops made of the same tables."""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching import round_search
from cloister.anonymization.searching.localize import Localization, localize
from cloister.anonymization.searching.round_search import RoundSearch, mixed
from cloister.schema.hierarchies import Hierarchy
from tests.anonymization.adult import adult
from tests.test_package import loaded_by

TUPLES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40)
# two levels a column: the value, or everything
LEVELS = [[[0, 1, 2, 3], [9, 9, 9, 9]], [[4, 5, 6], [8, 8, 8]], [[10, 11], [12, 12]]]
VECTORS = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)], np.int16)


def plain_classes(tuples: NDArray[np.int32], counts: NDArray[np.int64], vector: list[int], k: int) -> list[int]:
    """The class of each tuple under a recoding, numbered as they come; -1 in a class below k."""
    names = [tuple(LEVELS[j][level][row[j]] for j, level in enumerate(vector)) for row in tuples.tolist()]
    sizes = Counter[tuple[int, ...]]()
    for name, count in zip(names, counts.tolist(), strict=True):
        sizes[name] += count
    numbers: dict[tuple[int, ...], int] = {}
    return [numbers.setdefault(name, len(numbers)) if sizes[name] >= k else -1 for name in names]


@settings(max_examples=150, deadline=None)
@given(TUPLES, st.integers(1, 6), st.floats(0, 0.9), st.integers(1, 4), st.integers(0, 2**32 - 1))
def test_every_round_is_that_of_plain_counts(
    tuples: list[tuple[int, int, int]], k: int, share: float, at_once: int, seed: int
) -> None:
    """Round by round, the first recoding with rows enough is found, and so are its classes, however many are tried at once."""
    random = np.random.default_rng(seed)
    codes = np.unique(np.array(tuples, np.int32), axis=0)
    counts = random.integers(0, 4, len(codes))
    keys = mixed(np.concatenate([np.ravel(levels) for levels in LEVELS]))
    widths = np.array([4, 3, 2])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(round_search, "_MOST_AT_ONCE", at_once)
        patch.setattr(round_search, "_KEPT_NUMBERS", int(random.integers(0, 200)))
        search = RoundSearch(codes, counts, keys, np.array([0, 8, 14, 18]), widths, VECTORS, k)
        left, start = np.arange(len(codes)), 0
        while counts[left].any():
            wanted = int(np.ceil(share * counts[left].sum()))
            labels = np.empty(len(left), np.int64)
            at, classes = search.advance(left, start, wanted, labels)
            for tried in range(start, len(VECTORS)):
                expected = np.array(plain_classes(codes[left], counts[left], VECTORS[tried].tolist(), k))
                finished = int(counts[left][expected >= 0].sum())
                if finished and finished >= wanted:
                    break
            else:
                assert at == len(VECTORS)
                return
            assert at == tried
            assert labels.tolist() == expected.tolist()
            assert classes == labels.max() + 1
            left, start = left[(labels < 0) | (random.random(len(left)) < 0.2)], at + 1  # a guard may keep some


def made_table(seed: int) -> CountedTable:
    """A table of 4,000 rows, one to six columns and trees of three levels."""
    random = np.random.default_rng(seed)
    trees = []
    for leaves in (2 + 28 * random.random(1 + int(6 * random.random()))).astype(int).tolist():
        a, b = (2 + 4 * random.random(2)).astype(int).tolist()
        trees.append(Hierarchy.from_paths([(f"{i}", f"a{i % (a * b)}", f"b{i % a}", "*") for i in range(leaves)]))
    codes = np.column_stack([(tree.leaves * random.random(4000) ** 3).astype(np.int32) for tree in trees])
    tuples, counts = np.unique(codes, axis=0, return_counts=True)
    return CountedTable(TupleCounts(tuples, counts), trees, [f"c{j}" for j in range(len(trees))])


def digest(found: Localization) -> str:
    """A few characters that stand for all of a recoding and what it does to the table."""
    made = found.recoding
    numbers = [found.labels, made.keys, made.members, made.classes]
    words = repr([column.labels for column in made.columns])
    return hashlib.sha256(b"".join(part.astype("<i8").tobytes() for part in numbers) + words.encode()).hexdigest()[:16]


@pytest.mark.parametrize(
    ("seed", "k", "expected"),
    [
        (0, 2, "79c075aeac27405d"),
        (0, 5, "819d7ba31c64a517"),
        (0, 20, "32324baae24013ae"),
        (1, 2, "6fc5803d0d385205"),
        (1, 5, "509334c842d054ab"),
        (1, 20, "38bab9682db67de8"),
        (2, 2, "2ae9930c77d66bf1"),
        (2, 5, "e83390295b8c6322"),
        (2, 20, "95c847863b23c8da"),
        (3, 2, "ffa517132b327f15"),
        (3, 5, "ffa517132b327f15"),
        (3, 20, "ffa517132b327f15"),
        (4, 2, "46b409cb14010412"),
        (4, 5, "5a0d131d609350b0"),
        (4, 20, "7f56d16f7b21dcc1"),
        (5, 2, "1cb36f86733f5309"),
        (5, 5, "88d3e59f1146e82e"),
        (5, 20, "483d1c17752b49b3"),
    ],
)
def test_made_tables_are_recoded_as_before(seed: int, k: int, expected: str) -> None:
    """Made-up tables are recoded as the compiled loops recoded them that this search replaced."""
    assert digest(localize(made_table(seed), k)) == expected


@pytest.mark.parametrize(
    ("k", "expected"), [(2, "31b6740848909752"), (5, "8c814866ed0f3506"), (10, "61cc319b3eb9a3c3"), (50, "c497877f0ff8af89")]
)
def test_adult_is_recoded_as_before(k: int, expected: str) -> None:
    """Adult is recoded as the compiled loops recoded it that this search replaced."""
    table = adult()
    assert digest(localize(CountedTable(table.rows, table.trees, table.names), k)) == expected


def test_local_recoding_loads_no_compiler() -> None:
    """A search for a local recoding loads neither numba nor what numba loads."""
    code = """
import numpy as np
from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.localize import localize
from cloister.schema.hierarchies import flat
rows = TupleCounts(np.arange(300, dtype=np.int32)[:, None], np.arange(300) % 7)
localize(CountedTable(rows, [flat([str(i) for i in range(300)])], ["x"]), 5)
"""
    assert not {"numba", "scipy"} & loaded_by(code)


def test_publishing_a_small_csv_loads_neither_pandas_nor_numba(tmp_path: Path) -> None:
    """A table with hierarchies, in another dialect, goes through every station without what is costly to load."""
    (tmp_path / "x.csv").write_text("a;b;c\n" + "".join(f"{i % 3};{i % 2};word {i % 5}\n" for i in range(60)))
    trees = tmp_path / "trees"
    trees.mkdir()
    (trees / "a.csv").write_text("0;*\n1;*\n2;*\n")
    (trees / "b.csv").write_text("0;*\n1;*\n")
    code = f"""
import cloister as cl
model = cl.TopDownSpecialization(k=3, quasi=["a", "b"], hierarchies={str(trees)!r})
model.publish({str(tmp_path / "x.csv")!r}, {str(tmp_path / "out.csv")!r})
"""
    assert not {"numba", "pandas", "scipy"} & loaded_by(code)
