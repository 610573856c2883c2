"""How many people of a population share the published values of each class of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError
from cloister.risks.fingerprints import EVERYTHING
from cloister.risks.label_domains import LabelDomain, make_label_domain, other_label
from cloister.risks.tuples import Tuples, Values, joined
from cloister.schema import Kind
from cloister.schema.hierarchies import Hierarchy

__all__ = ["people_in_classes"]

_CELLS = 50_000_000  # classes times people's tuples at a time
_MOST = 20_000_000_000  # in all


def people_in_classes(
    table: Tuples,
    population: Tuples,
    quasi: Sequence[str],
    trees: Mapping[str, Hierarchy],
    column_kinds: Mapping[str, Kind] | None = None,
) -> NDArray[np.int64]:
    """The people of the population whom each class of the table may mean, by the order of `Tuples.classes`.

    Notes
    -----
    A label means every value that it covers: itself, what lies under it in the hierarchy or between the ends of an interval,
    and everything for ``*``; an interval in which the population has nobody means nobody. Under local recoding one person may
    be meant by several classes. People with a value that the hierarchy lacks are meant by none: that errs on the side of risk.
    """
    labels, number = table.classes(quasi)
    first = np.zeros(number, np.int64)
    first[labels[::-1]] = np.arange(len(labels))[::-1]
    column_kinds = column_kinds or {}
    if all(_are_raw(table.values[table.column(name)], trees.get(name), column_kinds.get(name)) for name in quasi):
        return _equal(table, population, quasi, first)
    kind_of, kinds = population.classes(quasi)
    first_of_kind = np.zeros(kinds, np.int64)
    first_of_kind[kind_of[::-1]] = np.arange(len(kind_of))[::-1]
    if number * kinds > _MOST:
        raise UsageError(
            f"{number:,} classes and {kinds:,} kinds of people are too many to compare. Give a coarser table or population."
        )
    people = np.zeros(number, np.int64)
    domains = [_domain(name, trees.get(name), column_kinds.get(name), table, population) for name in quasi]
    for start in range(0, number, max(1, _CELLS // kinds)):
        part = first[start : start + max(1, _CELLS // kinds)]
        meant = np.ones((len(part), kinds), bool)
        for name, domain in zip(quasi, domains, strict=True):
            in_table, in_population = table.column(name), population.column(name)
            label, cell = (
                domain.meant(table.values[in_table], "the population"),
                domain.ranges(population.values[in_population], strict=False),
            )
            covers = (label[:, None, 0] <= cell[None, :, 0]) & (cell[None, :, 1] <= label[:, None, 1])
            meant &= covers[np.ix_(table.codes[part, in_table], population.codes[first_of_kind, in_population])]
        people[start : start + len(part)] = _meant_people(meant, population, kind_of)
    return people


def _meant_people(meant: NDArray[np.bool_], population: Tuples, kind_of: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many people each class means, of which it means some kinds; a person of several kinds counts once."""
    if population.persons is None:
        weights = population.sizes(kind_of, meant.shape[1]).astype(np.float64)
        return (meant @ weights).astype(np.int64)  # exact: below 2**53
    return np.array([len(np.unique(population.persons[row[kind_of]])) for row in meant], np.int64)


def _are_raw(values: Values, tree: Hierarchy | None, kind: Kind | None) -> bool:
    """Whether every cell means itself alone."""
    is_wide = values.low is not None and values.high is not None and bool((values.low < values.high).any())
    return tree is None and not is_wide and not np.isin(values.fingerprints, _general_labels(kind)).any()


def _general_labels(kind: Kind | None) -> list[int]:
    """The labels that stand for more than themselves, but for intervals: * and, where the schema says so, "(other)"."""
    other = other_label(kind)
    return [int(EVERYTHING)] if other is None else [int(EVERYTHING), other]


def _domain(name: str, tree: Hierarchy | None, kind: Kind | None, table: Tuples, population: Tuples) -> LabelDomain:
    """The leaves are what either of the two holds."""
    table_values, population_values = table.values[table.column(name)], population.values[population.column(name)]
    if tree is not None:
        return make_label_domain(name, tree, population_values, table_values, kind)
    single = ~np.isin(table_values.fingerprints, _general_labels(kind))
    if table_values.low is not None and table_values.high is not None:
        single &= ~(table_values.low < table_values.high)
    marks, place = np.unique(
        np.concatenate([population_values.fingerprints, table_values.fingerprints[single]]), return_index=True
    )
    if population_values.low is None or table_values.low is None:
        return make_label_domain(name, None, Values(marks), table_values, kind)
    ends = np.concatenate([population_values.low, table_values.low[single]])[place]
    return make_label_domain(name, None, Values(marks, ends, ends), table_values, kind)


def _equal(table: Tuples, population: Tuples, quasi: Sequence[str], first: NDArray[np.int64]) -> NDArray[np.int64]:
    """People with the same cells, when every cell means itself."""
    columns, widths = [], []
    for name in quasi:
        in_table, in_population = table.column(name), population.column(name)
        marks = np.concatenate([table.values[in_table].fingerprints, population.values[in_population].fingerprints])
        known, renamed = np.unique(marks, return_inverse=True)
        table_codes, population_codes = np.split(renamed.astype(np.int32), [len(table.values[in_table])])
        columns.append(
            np.concatenate([table_codes[table.codes[first, in_table]], population_codes[population.codes[:, in_population]]])
        )
        widths.append(len(known))
    both, number = joined(columns, widths, len(first) + len(population.codes))
    return population.sizes(both[len(first) :], number)[both[: len(first)]]
