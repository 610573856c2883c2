"""Guards against a plain count on random classes, and on small classes worked out by hand."""

from __future__ import annotations

import dataclasses
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloister.anonymization.counting.tuple_counts import TupleCounts
from cloister.anonymization.searching import guards
from cloister.anonymization.searching.guards import Closeness, Diversity, EntropyDiversity, KAnonymity, KMap
from cloister.errors import UsageError
from cloister.risks import class_measures
from tests.anonymization.searching import guards_by_hand as counting

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 4), st.integers(0, 6)), min_size=1, max_size=60)


def histogram(rows: list[tuple[int, int, int]], *, people: bool = False) -> tuple[np.ndarray, int, TupleCounts]:
    """Classes, sensitive values and, where people count, persons as labels and a histogram."""
    tuples, counts = np.unique(np.array(rows), axis=0, return_counts=True)
    _, labels = np.unique(tuples[:, 0], return_inverse=True)
    parts = TupleCounts(
        tuples[:, :1].astype(np.int32),
        counts,
        sensitive=tuples[:, 1:2].astype(np.int32),
        persons=tuples[:, 2] if people else None,
    )
    return labels, int(labels.max()) + 1, parts


@given(ROWS)
def test_persons_are_counted_once(rows: list[tuple[int, int, int]]) -> None:
    """k-anonymity over persons agrees with a plain count."""
    labels, classes, parts = histogram(rows, people=True)
    fewest = counting.fewest_persons([row[0] for row in rows], [row[2] for row in rows])
    assert guards.distinct_persons(labels, classes, parts).min() == fewest
    assert KAnonymity(fewest).passes(labels, classes, parts).all()
    assert not KAnonymity(fewest + 1).passes(labels, classes, parts).all()


@given(ROWS)
def test_diversity(rows: list[tuple[int, int, int]]) -> None:
    """Distinct l-diversity agrees with a plain count."""
    labels, classes, parts = histogram(rows)
    fewest = counting.fewest_values([row[0] for row in rows], [row[1] for row in rows])
    assert Diversity(fewest).passes(labels, classes, parts).all()
    assert not Diversity(fewest + 1).passes(labels, classes, parts).all()


@given(ROWS)
def test_entropy_diversity(rows: list[tuple[int, int, int]]) -> None:
    """Entropy l-diversity agrees with a plain count."""
    labels, classes, parts = histogram(rows)
    lowest = counting.lowest_entropy([row[0] for row in rows], [row[1] for row in rows])
    assert EntropyDiversity(math.exp(lowest)).passes(labels, classes, parts).all()
    assert not EntropyDiversity(math.exp(lowest) * 1.001).passes(labels, classes, parts).all()


@given(ROWS, st.booleans())
def test_closeness(rows: list[tuple[int, int, int]], is_ordered: bool) -> None:
    """t-closeness agrees with a plain count, for both distances."""
    labels, classes, parts = histogram(rows)
    far = counting.farthest([row[0] for row in rows], [row[1] for row in rows], is_ordered=is_ordered)
    assert Closeness(min(far, 1.0), is_ordered=is_ordered).passes(labels, classes, parts).all()
    if far > 0.001:
        assert not Closeness(far - 0.001, is_ordered=is_ordered).passes(labels, classes, parts).all()


@given(ROWS)
def test_diversity_of_people(rows: list[tuple[int, int, int]]) -> None:
    """With people l-diversity never passes where l - 1 values name one of everybody's; with one value each it is exact."""
    labels, classes, parts = histogram(rows, people=True)
    fewest = counting.fewest_to_name([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    assert not Diversity(fewest + 1).passes(labels, classes, parts).all()
    first: dict[int, int] = {}
    alike = [(label, first.setdefault(person, value), person) for label, value, person in rows]
    labels, classes, parts = histogram(alike, people=True)
    exact = counting.fewest_values([row[0] for row in alike], [row[1] for row in alike])
    assert Diversity(exact).passes(labels, classes, parts).all()
    assert not Diversity(exact + 1).passes(labels, classes, parts).all()


@given(ROWS)
def test_entropy_of_people(rows: list[tuple[int, int, int]]) -> None:
    """With people everybody counts once, with the value of theirs that most people of the class have."""
    labels, classes, parts = histogram(rows, people=True)
    lowest = counting.lowest_entropy_of_people([row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])
    assert EntropyDiversity(math.exp(lowest)).passes(labels, classes, parts).all()
    assert not EntropyDiversity(math.exp(lowest) * 1.001).passes(labels, classes, parts).all()


@given(ROWS, st.booleans())
def test_closeness_of_people(rows: list[tuple[int, int, int]], is_ordered: bool) -> None:
    """With people everybody weighs 1 in a class and in the table, shared equally by their values."""
    labels, classes, parts = histogram(rows, people=True)
    columns = tuple([row[at] for row in rows] for at in range(3))
    far = counting.farthest_of_people(*columns, is_ordered=is_ordered)
    assert Closeness(min(far + 1e-9, 1.0), is_ordered=is_ordered).passes(labels, classes, parts).all()
    if far > 0.001:
        assert not Closeness(far - 0.001, is_ordered=is_ordered).passes(labels, classes, parts).all()


def test_a_blank_is_no_diverse_value() -> None:
    """Flu and a blank are one value; two diseases and a blank are two."""
    codes, ones = np.zeros((3, 1), np.int32), np.ones(3, np.int64)
    labels = np.array([0, 0, 0])
    for values, fewest in (([0, 2, 2], 1), ([0, 1, 2], 2), ([2, 2, 2], 0)):
        for persons in (None, np.arange(3)):
            rows = TupleCounts(codes, ones, np.array(values, np.int32)[:, None], persons=persons, meanings=((0, 1, 2),))
            assert not Diversity(fewest + 1).passes(labels, 1, rows).any()
            assert not EntropyDiversity(fewest + 1.1).passes(labels, 1, rows).any()
            assert fewest == 0 or Diversity(fewest).passes(labels, 1, rows).all()


@settings(max_examples=30)
@given(ROWS)
def test_tables_in_parts(rows: list[tuple[int, int, int]]) -> None:
    """Counting a few classes at a time gives what counting all at once gives."""
    labels, classes, parts = histogram(rows)
    assert parts.sensitive is not None
    values = parts.sensitive[:, 0]
    whole = guards.distinct_values(labels, classes, values, parts.counts)
    cells, class_measures._CELLS = class_measures._CELLS, 5
    try:
        assert guards.distinct_values(labels, classes, values, parts.counts).tolist() == whole.tolist()
    finally:
        class_measures._CELLS = cells


def test_ordered_distance_by_hand() -> None:
    """Nine incomes, a class of the three lowest: moving them over the rest costs 0.375 (Li et al. 2007, section 5)."""
    labels = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    values = np.arange(9, dtype=np.int32)
    ones = np.ones(9, np.int64)
    far = guards.distances(labels, 2, values, ones, np.full(9, 1 / 9), is_ordered=True)
    assert far[0] == pytest.approx(0.375)


def test_a_population_is_needed_for_k_map() -> None:
    """k-map without a population is refused in words."""
    with pytest.raises(UsageError, match="population"):
        KMap(2).passes(np.zeros(1, np.int64), 1, TupleCounts(np.zeros((1, 1), np.int32), np.ones(1, np.int64)))


def test_a_sensitive_column_is_needed_for_diversity() -> None:
    """l-diversity without a sensitive column is refused in words."""
    with pytest.raises(UsageError, match="sensitive"):
        Diversity(2).passes(np.zeros(1, np.int64), 1, TupleCounts(np.zeros((1, 1), np.int32), np.ones(1, np.int64)))


@pytest.mark.parametrize(
    "make", [lambda: KAnonymity(0), lambda: Diversity(0), lambda: EntropyDiversity(0.5), lambda: Closeness(1.5)]
)
def test_senseless_guards_are_refused(make: object) -> None:
    """A guard that means nothing is refused when it is written down."""
    with pytest.raises(UsageError):
        make()  # type: ignore[operator]


def test_every_registered_guard_is_a_parameter_and_makes_itself() -> None:
    """A parameter of the registry is one of the estimator's, and the guard that it makes says what others ask of it."""
    import cloister as cl

    parameters = cl.TopDownSpecialization().get_params()
    for name, parameter in guards.GUARDS.items():
        assert name in parameters
        guard = parameter.make(1, 0, False)
        assert isinstance(guard, guards.ClassGuard)
        assert (guard.column is not None) == parameter.is_sensitive
        assert guard.counts_on_output or guard.counts_on_table


def test_every_registered_guard_is_a_flag() -> None:
    """The command line has a flag of the parameter's name."""
    from cloister.cli.anonymize import Guarding

    assert guards.GUARDS.keys() <= {field.name for field in dataclasses.fields(Guarding)}


def test_every_guard_of_sensitive_values_is_counted_by_hand() -> None:
    """The random tables of other tests are searched and published with each of them, against a plain count."""
    sensitive = {name: parameter for name, parameter in guards.GUARDS.items() if parameter.is_sensitive}
    assert counting.BOUNDS.keys() == sensitive.keys()
    assert counting.BY_HAND.keys() == {type(parameter.make(1, 0, False)) for parameter in sensitive.values()}


def test_a_guard_of_ones_own_needs_only_passes() -> None:
    """A plain guard is counted on the output, looks at no sensitive column, and keeps its words."""

    class AtMost:
        """At most so many rows in every class."""

        def passes(self, labels: np.ndarray, classes: int, rows: TupleCounts) -> np.ndarray:
            return guards.sizes(labels, classes, rows.counts) <= 3

        def __str__(self) -> str:
            return "at most 3 rows"

    guard = guards.as_class_guard(AtMost())
    assert (str(guard), guard.column, guard.covers_homogeneity) == ("at most 3 rows", None, False)
    assert (guard.counts_on_output, guard.counts_on_table, guard.note) == (True, False, None)
    labels, classes, parts = histogram([(0, 0, 0), (1, 0, 1), (1, 1, 2), (1, 1, 3), (1, 2, 4)])
    assert guard.passes(labels, classes, parts).tolist() == [True, False]


def test_a_guard_states_all_digits_of_its_number() -> None:
    """Rounded, a certificate would promise more than was held; what is no number is refused in a sentence."""
    assert str(Closeness(1 / 3)).startswith("t-closeness, t = 0.3333333333333333,")
    assert str(EntropyDiversity(1.9999997)) == "entropy l-diversity, l = 1.9999997"
    assert str(EntropyDiversity(2)) == "entropy l-diversity, l = 2"
    assert Closeness(Decimal("0.3")).t == 0.3  # type: ignore[arg-type]
    for wrong in ("0.3", None, True, [0.3], float("nan")):
        with pytest.raises(UsageError, match="t must be a number"):
            Closeness(wrong)  # type: ignore[arg-type]
        with pytest.raises(UsageError, match="l must be a number"):
            EntropyDiversity(wrong)  # type: ignore[arg-type]
