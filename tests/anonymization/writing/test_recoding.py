"""Recodings: JSON both ways, rows rewritten, rows that it does not know."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.count_table import CountedTable
from cloister.anonymization.counting.scale import Scale
from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching.localize import localize
from cloister.anonymization.searching.specialize import specialize
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import UsageError
from cloister.schema.hierarchies import flat
from tests.anonymization.tables import Table, tables

# sex a/b and a number that is null once in a while
ROWS = TupleCounts(np.array([[0, 0], [0, 1], [1, 1], [1, 2]], np.int32), np.array([5, 5, 5, 5]))
COLUMNS = [flat(["a", "b"]), Scale(np.array([10.0, 20.0]), has_null=True, bounds=(10.0, 20.0), step=10.0)]


@settings(max_examples=40, deadline=None)
@given(tables(), st.integers(1, 4), st.booleans())
def test_json_both_ways(table: Table, k: int, is_local: bool) -> None:
    """A recoding read back classifies every row as before, and writes the same JSON."""
    try:
        find = localize if is_local else specialize
        recoding = find(CountedTable(table.histogram(), table.columns, table.names), k).recoding
    except UsageError:
        return
    again = Recoding.from_json(recoding.to_json())
    assert again.to_json() == recoding.to_json()
    assert table.classify(again).tolist() == table.classify(recoding).tolist()


def test_rewrite() -> None:
    """Quasi-identifiers become labels in their places, a null stays a null, other columns are untouched."""
    recoding = specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding
    batch = pa.record_batch({"id": [1, 2, 3], "age": [10.0, 20.0, None], "sex": ["a", " b", "b"]})
    assert recoding.rewriter()(batch).to_pydict() == {"id": [1, 2, 3], "age": ["10", "20", None], "sex": ["a", "b", "b"]}


def test_unknown_rows_are_suppressed() -> None:
    """A value that the recoding does not know, and a tuple that no class holds, are removed."""
    recoding = specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding
    batch = pa.record_batch({"sex": ["a", "c", "a", "b"], "age": [10.0, 10.0, None, 10.0]})
    assert recoding.rewriter()(batch).to_pydict() == {"sex": ["a"], "age": ["10"]}


def test_new_numbers_fall_into_their_interval() -> None:
    """A number between two known ones, or beyond them, is published as the interval that holds it."""
    rows = TupleCounts(np.array([[0], [1], [2], [3]], np.int32), np.array([3, 2, 3, 2]))
    recoding = specialize(CountedTable(rows, [Scale(np.array([1.0, 2.0, 5.0, 9.0]))], ["x"]), 5).recoding
    batch = pa.record_batch({"x": ["1.5", "4.9", "5", "9", "0", "10"]})
    low, high = "(-inf, 5)", "[5, inf)"
    assert recoding.rewriter()(batch).to_pydict() == {"x": [low, low, high, high, low, high]}


def test_batches_do_not_matter() -> None:
    """A row is published alike whatever batch it is in."""
    rewrite = specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding.rewriter()
    batch = pa.record_batch({"sex": ["a", "b", "a", "b"], "age": ["10", "", "20", "20"]})
    single = [rewrite(batch.slice(row, 1)).to_pydict() for row in range(4)]
    whole = rewrite(batch).to_pydict()
    assert [part["age"][0] for part in single] == whole["age"]


def test_a_single_value_does_not_stand_for_others() -> None:
    """A number beside a value that is published by itself is suppressed: the recoding does not know it."""
    recoding = specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding
    batch = pa.record_batch({"sex": ["a", "a", "a", "b"], "age": [9.0, 10.0, 15.0, 21.0]})
    assert recoding.rewriter()(batch).to_pydict() == {"sex": ["a"], "age": ["10"]}


def test_infinite_edges_are_strict_json() -> None:
    """Open ends are written in a way that every reader of JSON understands, and read back."""
    rows = TupleCounts(np.array([[0], [1], [2], [3]], np.int32), np.array([3, 2, 3, 2]))
    recoding = specialize(CountedTable(rows, [Scale(np.array([1.0, 2.0, 5.0, 9.0]))], ["x"]), 5).recoding
    text = recoding.to_json()
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert Recoding.from_json(text).columns[0].edges.tolist() == [-np.inf, 5, np.inf]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"kind": "recoding", "version": 1}', '{"kind": "release", "version": 2}'])
def test_other_files_are_refused(text: str) -> None:
    """What is not a recoding is refused in one sentence."""
    with pytest.raises(UsageError, match="recoding"):
        Recoding.from_json(text)


def broken_recodings() -> dict[str, dict[str, object]]:
    """Recodings without a hash that make no sense, by what is wrong with them."""
    recoding = json.loads(specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding.to_json())
    recoding = {key: value for key, value in recoding.items() if key not in ("sha256", "untouched", "table")}
    recoding |= {"version": 2}
    sex, age = recoding["columns"]
    return {
        "unknown key": {**recoding, "drops": ["name"]},
        "missing key": {key: value for key, value in recoding.items() if key != "dropped"},
        "a text for a list": {**recoding, "dropped": "name"},
        "numbers for names": {**recoding, "dropped": [1]},
        "no column": {**recoding, "columns": []},
        "a column twice": {**recoding, "columns": [sex, {**age, "name": "sex"}]},
        "an unknown key of a column": {**recoding, "columns": [{**sex, "x": 1}, age]},
        "a class without a label": {**recoding, "classes": [[9, 9]] * len(recoding["classes"])},
        "a negative class": {**recoding, "members": [-1] * len(recoding["members"])},
        "ragged keys": {**recoding, "keys": [[0], [0, 1]]},
        "huge codes": {**recoding, "keys": [[2**40, 0]]},
        "fractions": {**recoding, "keys": [[0.5, 0.5]] * len(recoding["keys"])},
        "falling edges": {**recoding, "columns": [sex, {**age, "edges": [9, 8, 7]}]},
        "a code beyond the labels": {**recoding, "columns": [{**sex, "of": [0, 7]}, age]},
        "neither texts nor edges": {**recoding, "columns": [{**sex, "leaves": None}, age]},
        "a true for a number": {**recoding, "columns": [{**sex, "null": True}, age]},
    }


@pytest.mark.parametrize("fault", broken_recodings())
def test_a_recoding_that_makes_no_sense_is_refused(fault: str) -> None:
    """Also where there is no hash: every code has its label, and every key is known."""
    with pytest.raises(UsageError, match="not a recoding"):
        Recoding.from_json(json.dumps(broken_recodings()[fault]))


@settings(max_examples=150)
@given(st.data())
def test_no_changed_byte_goes_unseen(data: st.DataObject) -> None:
    """One character changed anywhere in a recoding: it is refused, or it is the same recoding."""
    recoding = specialize(CountedTable(ROWS, COLUMNS, ["sex", "age"]), 5).recoding
    text = recoding.to_json()
    at = data.draw(st.integers(0, len(text) - 1))
    changed = text[:at] + data.draw(st.characters(min_codepoint=32, max_codepoint=126)) + text[at + 1 :]
    try:
        again = Recoding.from_json(changed)
    except UsageError:
        return
    assert again.to_json() == text
