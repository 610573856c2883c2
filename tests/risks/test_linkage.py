"""Record linkage, a population, a classifier and the search of combinations on tables small enough to work out."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.errors import SchemaError, UsageError
from cloister.risks.assess import assess
from tests.risks.tables import PEOPLE, PUBLISHED, TOWN


def test_an_untouched_table_is_linked_whole() -> None:
    """Every row finds itself."""
    found = assess(PEOPLE, ["age", "town"], against=PEOPLE).linkage
    assert found is not None
    assert found.linked == 1


def test_a_class_shares_the_chance() -> None:
    """Rows find their class, and in a class of f rows one in f is right."""
    found = assess(PUBLISHED, ["age", "town"], against=PEOPLE, hierarchies={"town": TOWN}).linkage
    assert found is not None
    assert found.linked == pytest.approx((2 * 1 / 2 + 4 * 1 / 4) / 6)
    assert (found.tried, found.standard_error) == (6, 0)


def test_stars_link_by_chance() -> None:
    """Where nothing is left, a guess is as good."""
    stars = pa.table({name: ["*"] * 6 for name in PEOPLE.column_names})
    found = assess(stars, ["age", "town"], against=PEOPLE).linkage
    assert found is not None
    assert found.linked == pytest.approx(found.by_chance)


def test_overlapping_labels_pull_to_the_narrower() -> None:
    """Under local recoding a row is nearest to the narrowest label that covers it, which need not be its own."""
    original = pa.table({"town": ["Lima", "Lima", "Quito", "Quito"]})
    published = pa.table({"town": ["Lima", "South", "South", "Quito"]})
    found = assess(published, ["town"], against=original, hierarchies={"town": TOWN}).linkage
    assert found is not None
    assert found.linked == pytest.approx((1 + 0 + 0 + 1) / 4)


def test_shuffled_rows_are_not_linked() -> None:
    """Which row is which is not known then, and the page says so."""
    found = assess(PUBLISHED.take([5, 4, 3, 2, 1, 0]), ["age", "town"], against=PEOPLE, hierarchies={"town": TOWN})
    assert found.linkage is None
    assert any("order" in note for note in found.notes)


def test_a_population_of_the_published_labels() -> None:
    """A label means everybody under it."""
    crowd = pa.table(
        {"age": [22, 23, 25, 40, 41, 99], "town": ["Havana", "Havana", "Lima", "Lima", "Quito", "Quito"], "other": range(6)}
    )
    found = assess(PUBLISHED, ["age", "town"], population=crowd, hierarchies={"town": TOWN}).risk
    assert found.population == 6
    assert found.k_map == 2
    assert found.outside == 4


def test_a_raw_population() -> None:
    """Raw values mean themselves, in whatever file and type."""
    crowd = pa.table({"age": ["21", "21", "24", "24", "24", "33", "38", "52", "57"]})
    found = assess(PEOPLE, ["age"], population=crowd).risk
    assert found.k_map == 1
    assert found.marketer == pytest.approx((1 / 2 + 1 / 3 + 4) / 6)


def test_people_whom_no_label_describes_do_not_count() -> None:
    """A town that the hierarchy lacks makes nobody safer."""
    crowd = pa.table({"town": ["Havana"] * 3 + ["Lima"] * 5 + ["Elsewhere"] * 9})
    found = assess(PUBLISHED, ["town"], population=crowd, hierarchies={"town": TOWN}).risk
    assert (found.k_map, found.population, found.outside) == (3, 17, 0)


def test_streams_that_can_be_read_once() -> None:
    """Rows that come as a stream are compared like any others."""
    stream = pa.RecordBatchReader.from_batches(PUBLISHED.schema, PUBLISHED.to_batches())
    original = pa.RecordBatchReader.from_batches(PEOPLE.schema, PEOPLE.to_batches())
    found = assess(stream, ["age", "town"], against=original, hierarchies={"town": TOWN})
    assert found == assess(PUBLISHED, ["age", "town"], against=PEOPLE, hierarchies={"town": TOWN})


@settings(max_examples=30, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from("ab")), min_size=1, max_size=30))
def test_a_table_is_its_own_population(rows: list[tuple[int, str]]) -> None:
    """Then the journalist knows no less than the prosecutor, also by way of covering labels."""
    table = pa.table({"x": [row[0] for row in rows], "y": [row[1] for row in rows]})
    found = assess(table, ["x", "y"], population=table).risk
    assert found.k_map == found.k
    assert found.marketer == pytest.approx(found.prosecutor_average)
    starred = table.set_column(1, "y", pa.array(["*"] * len(rows)))
    covered = assess(starred, ["x", "y"], population=table).risk
    assert covered.k_map == covered.k
    assert covered.outside == 0


def test_a_classifier_learns_what_is_there() -> None:
    """A class that follows from a column is learned from it, and not from a star."""
    random = np.random.default_rng(0)
    age = random.integers(0, 100, 2000)
    table = pa.table({"age": age, "old": np.where(age >= 50, "yes", "no")})
    halves = table.set_column(0, "age", pa.array(np.where(age >= 50, "[50, 99]", "[0, 50)")))
    stars = table.set_column(0, "age", pa.array(["*"] * 2000))
    fine = assess(halves, ["age"], against=table, target="old").learning
    none = assess(stars, ["age"], against=table, target="old").learning
    assert fine is not None
    assert none is not None
    assert fine.accuracy == 1
    assert fine.original > 0.97
    assert none.accuracy == pytest.approx(none.majority, abs=0.02)
    assert fine.kept > 0.97


def test_combinations_that_single_out() -> None:
    """Neither column singles anybody out, both together do; a third that adds nothing is not told."""
    rows = [(x, y) for x in range(4) for y in range(4)] * 1
    table = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows], "same": ["s"] * len(rows)})
    found = assess(table, ["x", "y", "same"], search=3).combinations
    assert [each.columns for each in found] == [("x", "y")]
    assert found[0].unique == 1


def test_without_quasi_identifiers_the_worst_combination_is_found() -> None:
    """The page is about it, and says so."""
    rows = [(x, y) for x in range(4) for y in range(4)]
    table = pa.table({"x": [x for x, _ in rows], "y": [y for _, y in rows], "same": ["s"] * len(rows)})
    found = assess(table)
    assert found.quasi == ("x", "y")
    assert found.risk.unique == 1
    assert any("no quasi-identifiers" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"quasi": ["age", "no"]}, "no column"),
        ({"quasi": ["age"], "sensitive": ["age"]}, "at once"),
        ({"quasi": ["age"], "target": "illness"}, "original"),
        ({"quasi": ["age"], "target": "age", "against": PEOPLE}, "predicted"),
        ({"quasi": ["age"], "threshold": 2.0}, "threshold"),
        ({"quasi": ["age"], "hierarchies": "no/such/folder"}, "directory"),
        ({"quasi": ["age"], "search": 0}, "search"),
        ({"quasi": ["age"], "search": "2"}, "search"),
        ({"quasi": ["age"], "threshold": "0.2"}, "threshold"),
        ({"quasi": ["age"], "target": 5, "against": PEOPLE}, "target"),
        ({"quasi": ["age"], "hierarchies": 5}, "hierarchies"),
        ({"quasi": ["age"], "hierarchies": {"age": 5}}, "hierarchy"),
        ({"quasi": ["age"], "against": PEOPLE.select(["town"])}, "no column"),
    ],
)
def test_senseless_questions_are_refused(options: dict[str, object], told: str) -> None:
    """In words, before anything is reported."""
    with pytest.raises((SchemaError, UsageError), match=told) as error:
        assess(PEOPLE, **options)  # type: ignore[arg-type]
    assert "Havana" not in str(error.value)
