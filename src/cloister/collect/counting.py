"""How many reports there are of each kind: counts of data that is private already, by any engine, the same numbers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from math import comb, prod, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.collect.collection import Collection
from cloister.collect.protocols import AnswerProtocol
from cloister.collect.reports import OUTSIDE, CheckedReports, read_reports
from cloister.encode import Encoding
from cloister.kernels.report_tables import REFUSED, ReportKeys, ReportTables
from cloister.vault import EngineChoice, Vault

__all__ = ["MOST_CELLS", "ReportCounts", "count_answers", "count_reports"]

MOST_CELLS = 2**24  # of a joint distribution: 8 questions of 8 values; an array of so many numbers takes 128 MB
MOST_TABLE_CELLS = 2**22  # of all marginals together, where the joint is too large
MOST_TABLES = 5_000
HIGHEST_ORDER = 3
CARRIED = 0.25  # the largest expected total variation, from noise alone, of a marginal that reports can carry

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ReportCounts:
    """Counts of reports.

    Attributes
    ----------
    reports : how many were counted
    refused : how many were not, by reason
    values : of each question, how many answers name each value
    joint : the table of all joined questions; None where it has too many cells
    tables : where it has, the marginals that the reports carry, by the names of their questions
    """

    reports: int
    refused: Mapping[str, int]
    values: Mapping[str, Counts]
    joint: Counts | None
    tables: Mapping[tuple[str, ...], Counts]


@dataclass(frozen=True, slots=True)
class ReportColumns:
    """Where the codes of each question stand among those of a report: public facts."""

    collection: Collection
    protocols: Mapping[str, AnswerProtocol]

    @property
    def encoding(self) -> Encoding:
        """How reports become codes."""
        return Encoding(categories=tuple(coder for name, each in self.protocols.items() for coder in each.coders(name)))

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many codes each column of codes has."""
        return tuple(size for protocol in self.protocols.values() for size in protocol.sizes)

    def columns(self, name: str) -> tuple[int, ...]:
        """The columns of codes that a question has; one, where it is joined with others."""
        first = 0
        for other, protocol in self.protocols.items():
            if other == name:
                return tuple(range(first, first + len(protocol.sizes)))
            first += len(protocol.sizes)
        raise KeyError(name)

    def table(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The columns that the table of some joined questions crosses."""
        return tuple(self.columns(name)[0] for name in names)

    def shape(self, names: tuple[str, ...]) -> tuple[int, ...]:
        """The shape of that table."""
        return tuple(len(self.collection.question(name).values) for name in names)


def count_answers(collection: Collection, reports: CheckedReports) -> ReportCounts:
    """Count the answers to each question by itself, which is quick however many questions there are."""
    layout = ReportColumns(collection, collection.answering())
    values, counted, refused = count_values(layout, reports, tuple(layout.protocols), None)
    return ReportCounts(counted, {OUTSIDE: refused} if refused else {}, values, None, {})


def count_reports(
    collection: Collection, reports: Any, *, engine: EngineChoice = None, progress: Callable[[str], None] = lambda _: None
) -> ReportCounts:
    """Count the reports of a collection: one pass for the joint distribution, two where its cells are too many."""
    source = read_reports(collection, reports)
    layout = ReportColumns(collection, collection.answering())
    joined = tuple(question.name for question in collection.joined)
    is_small = bool(joined) and collection.cells <= MOST_CELLS
    progress("counting reports")
    joint: Counts | None = None
    counted = refused = 0
    values: dict[str, Counts] = {}
    if is_small:
        joint, refused = count_joint(layout, source, joined, engine)
        counted = int(joint.sum())
        for axis, name in enumerate(joined):
            values[name] = joint.sum(axis=tuple(other for other in range(joint.ndim) if other != axis), dtype=np.int64)
    if missing := tuple(name for name in layout.protocols if name not in values):
        progress("counting answers to each question")
        each, counted, refused = count_values(layout, source, missing, engine)
        values.update(each)
    tables: dict[tuple[str, ...], Counts] = {}
    if not is_small and len(joined) > 1:
        wanted = carried_tables(collection, joined, counted)
        progress(f"counting {len(wanted)} tables")
        kernel = ReportTables(layout.sizes, tuple(map(layout.table, wanted)))
        summary = Vault.public(source, layout.encoding, kernel, engine)
        tables = {names: summary[f"table {i}"] for i, names in enumerate(wanted)}
    reasons = {OUTSIDE: refused} if refused else {}
    if isinstance(source, CheckedReports):
        reasons |= source.refused
    return ReportCounts(counted, reasons, {name: values[name] for name in layout.protocols}, joint, tables)


def count_joint(layout: ReportColumns, source: Any, names: tuple[str, ...], engine: EngineChoice) -> tuple[Counts, int]:
    """The table of all joined questions, and how many reports were refused."""
    keyed = Vault.public_keys(source, layout.encoding, ReportKeys(layout.sizes, layout.table(names)), engine)
    is_sound = keyed.keys[:, 0] != REFUSED
    shape = layout.shape(names)
    joint = np.zeros(prod(shape), dtype=np.int64)
    joint[keyed.keys[is_sound, 0]] = keyed.counts[is_sound]
    return joint.reshape(shape), int(keyed.counts[~is_sound].sum())


def count_values(
    layout: ReportColumns, source: Any, names: tuple[str, ...], engine: EngineChoice
) -> tuple[dict[str, Counts], int, int]:
    """How many answers name each value of some questions, and how many reports were counted and refused."""
    columns = [column for name in names for column in layout.columns(name)]
    kernel = ReportTables(layout.sizes, tuple((column,) for column in columns))
    summary = Vault.public(source, layout.encoding, kernel, engine)
    by_column = {column: summary[f"table {i}"] for i, column in enumerate(columns)}
    counts = {
        name: layout.protocols[name].value_counts([by_column[column] for column in layout.columns(name)]) for name in names
    }
    return counts, int(summary["table 0"].sum()), int(summary["refused"][0])


def carried_tables(collection: Collection, names: tuple[str, ...], reports: int) -> list[tuple[str, ...]]:
    """The marginals that so many reports carry: pairs, and all of a higher order while noise alone stays small in each.

    The order follows from the number of reports and public facts. Pairs are there since rows are made from them; the smallest
    ones, where all would be too many.
    """
    wanted: list[tuple[str, ...]] = []
    left = MOST_TABLE_CELLS
    sizes = {question.name: len(question.values) for question in collection.joined}
    for order in range(2, min(HIGHEST_ORDER, len(names)) + 1):
        if comb(len(names), order) > 100 * MOST_TABLES:
            break
        tables = sorted(combinations(names, order), key=lambda table: prod(sizes[name] for name in table))
        cells = np.cumsum([prod(sizes[name] for name in table) for table in tables])
        fitting = min(int(np.searchsorted(cells, left, side="right")), MOST_TABLES - len(wanted))
        is_whole = fitting == len(tables)
        if order > 2 and not (
            is_whole and all(expected_distance(collection, table, reports) <= CARRIED for table in tables)
        ):
            break
        wanted += tables[:fitting]
        left -= int(cells[fitting - 1]) if fitting else 0
    return wanted


def expected_distance(collection: Collection, names: tuple[str, ...], reports: int) -> float:
    """About the total variation that noise alone gives the unbiased marginal of some questions, at most 1."""
    cells, variance = 1, 1.0
    for channel in collection.channels(names):
        cells *= channel.size
        lie = float(channel.lie)
        # the mean over cells of the squared inverse, applied to shares that are spread evenly
        variance *= ((1 - lie) ** 2 + (channel.size - 1) * lie**2) / (channel.contrast**2 * channel.size)
    return min(1.0, 0.4 * cells * sqrt(variance / max(1, reports)))  # 0.4 = half of E|Z|
