"""Comparing a release of rows with its original: the walk from two tables to a report."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.column_names import missing_column
from cloister.kernels.distinct_values import DistinctValues
from cloister.risks.certified_data import check_decimals, names_of_release
from cloister.risks.fingerprints import fingerprint
from cloister.risks.rows.closest_records import NearestRecords, closeness, draw_rows, look_up
from cloister.risks.rows.excess_nearness import excess_nearness
from cloister.risks.rows.impossible_rows import impossible_rows
from cloister.risks.rows.kept_means import kept_means
from cloister.risks.rows.kept_shares import MOST_CELLS, MOST_COLUMNS, KeptShares, kept_shares
from cloister.risks.rows.kept_ties import correlations, cramers_v
from cloister.risks.rows.released_reading import columns_of_a_release, read_as_released
from cloister.risks.rows.row_error import squared_error
from cloister.risks.rows.row_linkage import RowLinkage, beside_control, row_linkage
from cloister.risks.rows.row_tables import RowTable, lay_out
from cloister.risks.rows.rows_pictures import make_page, pictured_columns
from cloister.risks.rows.rows_report import Origin, RowsReport
from cloister.risks.rows.rows_request import RowsComparison
from cloister.risks.rows.trained_models import train_models
from cloister.risks.tuples import Tuples, count_tuples
from cloister.schema import Category, Kind
from cloister.schema.cell_format import PLAIN
from cloister.sources.stated_names import names_stated
from cloister.vault import EngineChoice, Holder, Vault, open_data

__all__ = ["ComparedTables", "compare_rows"]

PURPOSE = "comparison of rows"
PEOPLE_NOTE = (
    "people have several rows here, by the unit of the schema, and the figures are about rows: somebody with many of them is "
    "found more often than a row. There is no group linkage for that reason."
)
MOST_NAMED = 2_000  # words of a column, for pictures


@dataclass(frozen=True, slots=True, eq=False)
class ComparedTables:
    """The tables of a comparison: opened, and no row read yet."""

    released: Holder
    original: Holder
    control: Holder | None
    columns: tuple[str, ...]
    not_compared: tuple[str, ...]
    kinds: Mapping[str, Kind]
    origin: Origin = "not known"

    @classmethod
    def open(
        cls,
        release: Any,
        original: Any,
        control: Any = None,
        *,
        request: RowsComparison,
        engine: EngineChoice = None,
        table: str | None = None,
        ledger: Any = None,
    ) -> ComparedTables:
        """Open the tables and choose the columns; what does not fit is refused before a row is read."""
        schema = request.schema
        table = table if table is not None else schema.table if schema is not None else None
        stated = names_stated(schema)
        check_decimals(release)
        after = open_data(release, engine, names_of_release(release, stated))
        before = open_data(original, engine, stated)
        others = None if control is None else open_data(control, engine, stated)
        nested = {name for rows in (after, before) for name in getattr(rows, "nested", ())}
        columns = request.columns_of(after.names, before.names, nested)
        for name in columns:
            if others is not None and name not in others.names:
                raise missing_column(name, others.names, columns, of="the control")
        everything = dict.fromkeys([*before.names, *after.names])
        return cls(
            Vault.holding(after, purpose=PURPOSE, engine=engine, table=table, ledger=ledger),
            Vault.holding(before, purpose=PURPOSE, engine=engine),
            None if others is None else Vault.holding(others, purpose=PURPOSE, engine=engine),
            columns,
            tuple(name for name in everything if name not in columns),
            {column.name: column.kind for column in schema.columns} if schema is not None else {},
            request.origin,
        )

    def count(self) -> list[Tuples]:
        """The different rows of the original, of the release and of the control, read alike."""
        self.released.record()
        holders = [self.original, self.released, *([] if self.control is None else [self.control])]
        counted = [count_tuples(holder, self.columns, valued=self.columns, kinds=self.kinds) for holder in holders]
        original, released, *control = counted
        as_released = self._columns_as_released(released)
        return [
            read_as_released(original, self.kinds, as_released),
            released,
            *(read_as_released(each, self.kinds, as_released) for each in control),
        ]

    def _columns_as_released(self, released: Tuples) -> Collection[str]:
        """The columns whose original is read as a private release reads it: of made-up rows all, of averaged none."""
        if self.origin == "not known":
            return columns_of_a_release(released, self.kinds)
        return self.columns if self.origin == "made up" else ()


def compare_rows(tables: ComparedTables, request: RowsComparison) -> RowsReport:
    """Compare rows that were averaged or made up with their original.

    Privacy
    -------
    Holder-only: the numbers are exact. Nothing here is a private release.
    """
    before, after, *others = lay_out(tables.count(), tables.columns, tables.kinds)
    control = others[0] if others else None
    models = train_models(before, after, request.target, control) if request.target is not None else None
    some = draw_rows(before, request.drawn)
    near = [look_up(some, after), *(look_up(draw_rows(each, request.drawn), after) for each in others)]
    shares = kept_shares(before, after)
    return RowsReport(
        rows=before.rows,
        released_rows=after.rows,
        released_records=len(after),
        tried=some.rows,
        columns=tables.columns,
        not_compared=tables.not_compared,
        origin=request.origin,
        error=squared_error(before, near[0]),
        linkage=_linkage(request, (before, after, control), some, near[0]),
        closeness=closeness(near[0], before.rows),
        shares=shares,
        correlations=correlations(before, after),
        cramers_v=cramers_v(before, after),
        impossible=impossible_rows(before, after),
        averaged=request.averaged,
        means=kept_means(before, after),
        **({} if control is None else _beside_control(before, control, near)),
        models=models,
        notes=(*([PEOPLE_NOTE] if request.counts_people else []), *_notes(before, shares, control)),
        page=make_page(before, after, shares, near, _words(tables, before, shares, request.target), request.target),
    )


def _linkage(
    request: RowsComparison, tables: tuple[RowTable, RowTable, RowTable | None], some: RowTable, near: NearestRecords
) -> RowLinkage:
    """Linkage of the original with the release; that of groups over the averaged columns alone."""
    before, after, control = tables
    averaged, names = None, {column.name for column in before.columns}
    has_groups = request.origin != "made up" and not request.counts_people
    if has_groups and request.averaged is not None and not names <= set(request.averaged):
        has_groups = bool(names & set(request.averaged))
        if has_groups:  # other columns tell the rows of a group apart
            averaged = look_up(some.narrowed(request.averaged), after.narrowed(request.averaged))
    beside = None if control is None else beside_control(before, control, after, request.drawn)
    return row_linkage(before, some, near, after, is_made_up=not has_groups, control=beside, averaged=averaged)


def _beside_control(original: RowTable, control: RowTable, near: Sequence[NearestRecords]) -> dict[str, Any]:
    """What the control adds to a report."""
    return {
        "control_rows": control.rows,
        "control_closeness": closeness(near[1], control.rows),
        "control_shares": kept_shares(original, control),
        "control_impossible": impossible_rows(original, control),
        "excess": excess_nearness(near[0], near[1]),
    }


def _notes(original: RowTable, shares: KeptShares, control: RowTable | None) -> tuple[str, ...]:
    """What could not be compared as one would expect."""
    notes = []
    if control is not None and original.has_same_rows(control):
        notes.append(
            "the control holds the same rows as the original, so nothing can exceed it. Give rows that were not in the table."
        )
    by_reason: dict[str, list[str]] = {}
    for column in original.columns:
        if column.note:
            by_reason.setdefault(column.note, []).append(column.name)
    for reason, names in by_reason.items():
        notes.append(f"compared as words, equal or not, because {reason}: {', '.join(names)}.")
    if shares.skipped:
        notes.append(
            f"{shares.skipped:,} pairs of columns were not compared: they have more than {MOST_CELLS:,} cells, or come after "
            f"the first {MOST_COLUMNS} columns."
        )
    return tuple(notes)


def _words(tables: ComparedTables, original: RowTable, shares: KeptShares, target: str | None) -> dict[str, dict[int, str]]:
    """The texts of the words that pictures show, by column and code."""
    shown = [column for column in pictured_columns(original.columns, shares, target) if not column.is_number]
    if not shown:
        return {}
    names = tuple(column.name for column in shown)
    forms = tuple(tables.kinds[name].form if name in tables.kinds else PLAIN for name in names)
    listed = tables.original.distinct(DistinctValues(names, (MOST_NAMED,) * len(names), forms)).value
    words: dict[str, dict[int, str]] = {name: {} for name in names}
    # the schema's own words first: "(other)" is not to be named after one of the values that it stands for
    stated = [(place, text) for place, name in enumerate(names) for text in _stated_words(tables.kinds.get(name))]
    found = zip(listed["column"].to_pylist(), listed["text"].to_pylist(), strict=True)
    for place, text in [*stated, *found]:
        if text is None:
            continue
        column, mark = shown[place], fingerprint(text)
        at = int(np.searchsorted(column.marks, mark))
        if at < len(column.marks) and column.marks[at] == mark:
            words[column.name].setdefault(int(column.codes[at]), text)
    return words


def _stated_words(kind: Kind | None) -> tuple[str, ...]:
    return kind.cells if isinstance(kind, Category) else ()
