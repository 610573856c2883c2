"""Cells as integers: equal exactly where their texts are, whatever the type, the batch or the file."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.errors import SchemaError, UsageError
from cloister.risks.fingerprints import CellKeys, Fingerprints, fingerprint, fingerprints_of, spans
from cloister.risks.tuples import TOGETHER, Tuples, count_tuples, joined
from cloister.vault import Vault

WORDS = st.lists(st.one_of(st.none(), st.text(max_size=30), st.sampled_from(["a", "b", "*", "7"])), min_size=1, max_size=40)


def counted(table: object, *names: str, **options: object) -> Tuples:
    """The tuples of a table."""
    return count_tuples(Vault.holding(table, purpose="test"), names, **options)  # type: ignore[arg-type]


@settings(max_examples=200)
@given(st.lists(st.text(min_size=1), max_size=30))
def test_different_texts_have_different_fingerprints(words: list[str]) -> None:
    """As many fingerprints as texts."""
    assert len(set(fingerprints_of(pa.array(words, pa.string())).tolist())) == len(set(words))


def mixed_plainly(word: str) -> int:
    """The same hash in plain Python: eight bytes at a time, low bytes first."""

    def mixed(state: int) -> int:
        state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        state = (state ^ (state >> 27)) * 0x94D049BB133111EB % 2**64
        return state ^ (state >> 31)

    golden, data = 0x9E3779B97F4A7C15, word.encode()
    state = mixed((len(data) + golden) % 2**64)
    for start in range(0, len(data), 8):
        state = mixed(((state ^ int.from_bytes(data[start : start + 8], "little")) + golden) % 2**64)
    return state - 2**64 if state >= 2**63 else state


@given(st.text(alphabet="ab\u00e9\U0001f600", min_size=1, max_size=40))
def test_a_fingerprint_depends_on_the_bytes_alone(word: str) -> None:
    """The same on every machine, so that it stands for its text on Spark's workers and in another file too."""
    assert fingerprint(word) == mixed_plainly(word)


@given(WORDS)
def test_slices_do_not_matter(words: list[str | None]) -> None:
    """A cell's integers depend on that cell alone."""
    encoding = Fingerprints.over(["x"], ["x"])
    whole = pa.RecordBatch.from_pydict({"x": pa.array(words, pa.string())})
    keys = CellKeys(encoding.width).keys(encoding.encode(whole))
    one_by_one = [CellKeys(encoding.width).keys(encoding.encode(whole.slice(i, 1)))[0].tolist() for i in range(len(words))]
    assert keys.tolist() == one_by_one


def test_types_do_not_matter() -> None:
    """A number, its text and a dictionary of texts are one value; nulls and blanks are another."""
    same = [
        pa.array([7, 8, None]),
        pa.array([7.0, 8.0, None]),
        pa.array(["7", " 8 ", ""]),
        pa.array(["7", "8", None]).dictionary_encode(),
        pa.array(["7", "8", None], pa.large_string()),
    ]
    encoding = Fingerprints.over(["x"])
    keys = [encoding.encode(pa.RecordBatch.from_pydict({"x": cells})).codes.tolist() for cells in same]
    assert all(each == keys[0] for each in keys)


@given(WORDS, st.lists(st.integers(0, 3), min_size=40, max_size=40))
def test_counts_agree_with_a_plain_count(words: list[str | None], numbers: list[int]) -> None:
    """Classes of a table are those of its texts."""
    rows = list(zip(((word or "").strip() for word in words), numbers, strict=False))
    table = pa.table({"word": pa.array(words, pa.string()), "number": numbers[: len(words)]})
    found = counted(table, "word", "number")
    labels, number = found.classes(["word", "number"])
    assert sorted(found.sizes(labels, number).tolist()) == sorted(Counter(rows).values())
    whole = counted(table, together=["word", "number"])
    assert sorted(whole.sizes(*whole.classes([TOGETHER])).tolist()) == sorted(Counter(rows).values())


def test_spans_are_read() -> None:
    """Numbers, intervals, dates and the star; words are no numbers."""
    low, high = spans(pa.array(["3", "[2, 5)", "[2, 5]", "*", "1970-01-03", "[1970-01-02, 1970-01-05)", "x", None]))
    assert low[:6].tolist() == [3, 2, 2, -np.inf, 2, 1]
    assert high[[0, 2, 3, 4]].tolist() == [3, 5, np.inf, 2]
    assert 4.999 < high[1] < 5
    assert 3.999 < high[5] < 4
    assert np.isnan([low[6], low[7], high[6]]).all()


def test_open_ends_are_read() -> None:
    """Intervals without an end reach to infinity, of numbers and of days; an open lower end leaves its number out."""
    low, high = spans(pa.array(["(-inf, 20)", "[60, inf)", "(-inf, inf)", "[1970-01-03, inf)", "(2, 5]", "(a, inf)"]))
    assert low[:4].tolist() == [-np.inf, 60, -np.inf, 2]
    assert high[1:5].tolist() == [np.inf, np.inf, np.inf, 5]
    assert 19.999 < high[0] < 20
    assert 2 < low[4] < 2.001
    assert np.isnan(low[5])


def test_people_are_counted_once() -> None:
    """With a person column classes count people."""
    table = pa.table({"x": ["a", "a", "a", "b"], "who": [1, 1, 2, 1]})
    found = counted(table, "x", person="who")
    assert sorted(found.sizes(*found.classes(["x"])).tolist()) == [1, 2]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 900)), max_size=30))
def test_joined_codes_are_dense(rows: list[tuple[int, int]]) -> None:
    """One code for each combination, without a gap, by either way of finding them."""
    codes = np.array(rows, np.int32).reshape(-1, 2)
    labels, number = joined([codes[:, 0], codes[:, 1]], [4, 901], len(codes))
    assert sorted(set(labels.tolist())) == list(range(number))
    assert number == len(set(rows))
    assert len({(label, row) for label, row in zip(labels.tolist(), rows, strict=True)}) == number


def test_a_column_that_is_not_there_is_told() -> None:
    """A typo is a fault of usage."""
    with pytest.raises(SchemaError, match='no column "y"'):
        counted(pa.table({"x": [1]}), "y")


def test_a_table_without_rows_is_refused() -> None:
    """There is no risk to measure."""
    with pytest.raises(UsageError, match="no rows"):
        counted(pa.table({"x": pa.array([], pa.string())}), "x")


def test_a_column_of_lists_is_refused() -> None:
    """Cells that cannot be told apart would look safe."""
    with pytest.raises(SchemaError, match='"x" holds lists'):
        counted(pa.table({"x": [[1], [2]]}), "x")


@pytest.mark.parametrize(
    "kind", [pa.bool_(), pa.int8(), pa.uint64(), pa.float16(), pa.float32(), pa.decimal128(25, 2), pa.date32(), pa.time32("s"),
             pa.timestamp("us", "UTC"), pa.binary(), pa.string_view(), pa.dictionary(pa.int8(), pa.string())]
)  # fmt: skip
def test_any_type_is_told_apart(kind: pa.DataType) -> None:
    """Two values and a null are three classes, whatever the type."""
    made = pa.array([0, 1, None], pa.int32())
    if kind == pa.float16():
        cells = pa.array(np.array([0, 1], np.float16))
        cells = pa.chunked_array([cells, pa.nulls(1, kind)]).combine_chunks()
    elif kind == pa.binary() or pa.types.is_dictionary(kind) or kind == pa.string_view():
        cells = pa.array(["a", "b", None]).cast(kind)
    elif kind == pa.timestamp("us", "UTC"):
        cells = made.cast(pa.int64()).cast(kind)
    elif kind == pa.bool_() or pa.types.is_decimal(kind):
        cells = pa.array([False, True, None] if kind == pa.bool_() else [0, 1, None]).cast(kind)
    else:
        cells = made.cast(kind)
    assert counted(pa.table({"x": cells}), "x").classes(["x"])[1] == 3
