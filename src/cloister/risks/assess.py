"""Measuring the risk of a table and, against its original, what it no longer says: the walk from a request to a report."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.errors import UsageError, by_door
from cloister.parameters import check_path
from cloister.risks.certified_data import certificate_of, check_decimals, names_of_release
from cloister.risks.label_domains import wants_spans
from cloister.risks.measures import Reidentification, check_threshold, reidentification, sensitive_risk
from cloister.risks.original import Unordered, compare_with_original
from cloister.risks.paired_rows import PairedRows
from cloister.risks.population import people_in_classes
from cloister.risks.risk_report import RiskReport
from cloister.risks.risk_request import Hierarchies, RiskRequest, listed_names, read_request
from cloister.risks.rows.compare_rows import ComparedTables, compare_rows
from cloister.risks.rows.made_up_alone import MadeUpRiskReport
from cloister.risks.rows.rows_report import RowsReport
from cloister.risks.rows.rows_request import DRAWN, RowsComparison, compared_origin, stated_rows
from cloister.risks.singling_out import Combination, single_out
from cloister.risks.tuples import TOGETHER, Tuples, count_tuples
from cloister.schema import Schema
from cloister.sources.stated_names import names_stated
from cloister.vault import EngineChoice, Holder, Vault, open_data

__all__ = ["RiskReport", "RowsReport", "assess"]

PURPOSE = "risk of re-identification"


def assess(
    data: Any,
    quasi: Sequence[str] | str | None = None,
    *,
    against: Any = None,
    sensitive: Sequence[str] | str = (),
    target: str | None = None,
    population: Any = None,
    hierarchies: Hierarchies | None = None,
    threshold: float = 0.2,
    search: int | None = None,
    schema: Schema | str | os.PathLike[str] | None = None,
    as_rows: bool | None = None,
    control: Any = None,
    all_rows: bool = False,
    engine: EngineChoice = None,
    table: str | None = None,
    ledger: Any = None,
) -> RiskReport | RowsReport:
    """Measure the risk of a table and, against its original, its information loss.

    Parameters
    ----------
    data : path, DataFrame, Arrow table, NumPy array
        The table that might leave the building: raw, or anonymized with labels such as ``[20, 30)`` and ``*``.
    quasi : sequence of str, optional
        Columns that others may know. Default: those the schema calls so; without one, the combination of up to three columns
        that singles out the most rows is looked for.
    against : path, DataFrame, ..., optional
        The original that `data` was made of: then information loss is measured too.
    sensitive : sequence of str
        Columns whose values must not be learned: l and t are measured. Default: those the schema calls so.
    target : str, optional
        With `against`: a column that a classifier should predict from the quasi-identifiers.
    population : path, DataFrame, ..., optional
        A table of everybody whom the rows may be about, for the journalist's risk and k-map.
    hierarchies : directory, or mapping from columns to hierarchies or files, optional
        What the labels stand for. Without one, values are words or numbers of the original.
    threshold : float
        From which probability on, exclusive, a row is at risk.
    search : int, optional
        Also list which combinations of up to so many columns single people out.
    schema : Schema or path, optional
        Roles, hierarchies, how cells are written, and the unit: then people are counted, not rows.
    as_rows : bool, optional
        With `against`: compare rows that were averaged or made up, and not labels. Default: where the certificate beside `data`
        says that they were. `quasi` then names the columns to compare; without it all are that both tables have.
    control : path, DataFrame, ..., optional
        With rows: others of the same kind that were not in the table, beside which linkage and distances are shown.
    all_rows : bool
        With rows: measure distances for every original row, and not for 5,000 of them.
    engine : name of an engine, such as "local" or "spark", or Spark, optional
    table, ledger : optional
        The table's name in the ledger, where it is recorded that its holder saw exact numbers.

    Returns
    -------
    RiskReport, or RowsReport where rows are compared

    Privacy
    -------
    Holder-only: the numbers are exact. Nothing here is a private release.

    Examples
    --------
    >>> import pyarrow as pa
    >>> people = pa.table({"age": [31, 31, 40, 40, 52], "sex": ["f", "f", "m", "m", "f"]})
    >>> report = assess(people, ["age", "sex"])
    >>> report.risk.k, report.risk.unique, report.risk.marketer
    (1, 0.2, 0.6)
    """
    facts = schema if schema is None or isinstance(schema, Schema) else Schema.from_toml(check_path(schema, "schema"))
    check_threshold(threshold)
    if target is not None and against is None:
        raise UsageError(
            "a classifier is compared with the original's. Give the original too "
            f"({by_door('against=', '--against')}), or drop the target."
        )
    stated = stated_rows(data)
    origin = compared_origin(
        stated,
        against,
        as_rows,
        has_row_flags=control is not None or all_rows,
        has_label_flags=any(map(is_stated, (sensitive, search, population, hierarchies))),
    )
    if origin is not None:
        drawn = None if all_rows else DRAWN
        wanted = RowsComparison(tuple(listed_names(quasi)) or None, target, drawn, origin, facts, stated.averaged)
        compared = ComparedTables.open(data, against, control, request=wanted, engine=engine, table=table, ledger=ledger)
        return compare_rows(compared, wanted)
    tables = RiskTables.open(data, against, population, schema=facts, engine=engine, table=table, ledger=ledger)
    request = read_request(
        tables.table.names, facts, quasi=quasi, sensitive=sensitive, target=target, search=search, hierarchies=hierarchies,
        nested=getattr(tables.rows, "nested", ()),
    )  # fmt: skip
    tables.check(request)
    tables.table.record()
    counted = count_classes(tables, request)
    report = measure_classes(tables, counted, threshold)
    if tables.original_rows is None:
        return MadeUpRiskReport.of(report) if stated.origin == "made up" else report
    original = tables.hold(tables.original_rows)
    unordered = [each.engine_title for each in (original, tables.table) if not each.keeps_order]
    pairs = Unordered(unordered[0]) if unordered else PairedRows(tables.original_rows, tables.rows)
    may_be_rows = certificate_of(data) is None  # which would say so
    return compare_with_original(report, request, counted.tuples, original, pairs, counted.spanned, may_be_rows=may_be_rows)


def is_stated(value: Any) -> bool:
    """Whether something was given: what it is, an array for one, is checked where it is read."""
    return value is not None and not (isinstance(value, str | tuple | list) and not value)


@dataclass(frozen=True, slots=True, eq=False)
class RiskTables:
    """The tables that a report is about: opened, and no row read yet."""

    table: Holder
    rows: Any
    original_rows: Any  # None: there is none
    population_rows: Any
    engine: EngineChoice

    @classmethod
    def open(
        cls,
        data: Any,
        against: Any,
        population: Any,
        *,
        schema: Schema | None,
        engine: EngineChoice,
        table: str | None,
        ledger: Any,
    ) -> RiskTables:
        """Open the table, and its original and population where there are some."""
        table = table if table is not None else schema.table if schema is not None else None
        stated = names_stated(schema)
        if against is not None:
            check_decimals(data)
        rows = open_data(data, engine, names_of_release(data, stated))
        original, everybody = (None if each is None else open_data(each, engine, stated) for each in (against, population))
        holder = Vault.holding(rows, purpose=PURPOSE, engine=engine, table=table, ledger=ledger)
        return cls(holder, rows, original, everybody, engine)

    def check(self, request: RiskRequest) -> None:
        """Refuse a request for columns that the original or the population lacks."""
        if self.original_rows is not None:
            request.check_original(self.original_rows.names)
        if self.population_rows is not None:
            request.check_population(self.population_rows.names)

    def hold(self, rows: Any) -> Holder:
        """One of the other tables in the hands of the holder."""
        return Vault.holding(rows, purpose=PURPOSE, engine=self.engine)


@dataclass(frozen=True, slots=True, eq=False)
class CountedClasses:
    """The tuples of a table, and its classes for somebody who knows some of the columns."""

    request: RiskRequest
    tuples: Tuples
    known: tuple[str, ...]
    labels: NDArray[np.int64]  # the class of each tuple
    number: int
    spanned: tuple[str, ...]  # columns whose labels are read as numbers or days
    combinations: tuple[Combination, ...]
    notes: tuple[str, ...]


def count_classes(tables: RiskTables, request: RiskRequest) -> CountedClasses:
    """Count the table, once, and find the classes that the report is about."""
    is_compared = tables.original_rows is not None or tables.population_rows is not None
    spanned = tuple(name for name in request.quasi if is_compared and wants_spans(request.trees.get(name)))
    # where columns are neither compared nor combined, it only matters whether all of them are equal
    together = () if is_compared or request.search else request.quasi
    tuples = count_tuples(
        tables.table, request.columns, spanned=spanned, valued=request.sensitive, person=request.person,
        together=together, kinds=request.kinds,
    )  # fmt: skip
    notes = list(request.notes)
    combinations = _combinations(tuples.narrowed(request.quasi), request.search, notes) if request.search else ()
    known = request.quasi if request.is_quasi_named else _worst(request.quasi, combinations, notes)
    labels, number = tuples.classes([TOGETHER] if together else known)
    return CountedClasses(request, tuples, known, labels, number, spanned, combinations, tuple(notes))


def measure_classes(tables: RiskTables, counted: CountedClasses, threshold: float) -> RiskReport:
    """The report on the classes of a table, before it is compared with an original."""
    request, tuples, labels, number = counted.request, counted.tuples, counted.labels, counted.number
    people = "rows" if request.person is None else "people"
    risk = _risk(tables, counted, threshold)
    notes = list(counted.notes)
    if risk.outside:
        notes.append(
            f"{risk.outside:,} {people} are in classes of which the population holds fewer people than the table: it is not the "
            "population of this table, and the journalist's risk is only as good as it is."
        )
    learned, members = [], tuples.members(labels)
    for column in request.sensitive:
        values, coded = tuples.sensitive(column, request.kinds.get(column))
        learned.append(sensitive_risk(column, labels, number, values, members, is_ordered=coded.is_quantity))
    return RiskReport(counted.known, people, risk, tuple(learned), counted.combinations, notes=tuple(notes))


def _risk(tables: RiskTables, counted: CountedClasses, threshold: float) -> Reidentification:
    """How likely somebody is to be recognised; against the population, if there is one."""
    request, tuples, known = counted.request, counted.tuples, counted.known
    sizes, members = tuples.sizes(counted.labels, counted.number), tuples.members(counted.labels)
    if tables.population_rows is None:
        return reidentification(sizes, threshold=threshold, members=members)
    holder = tables.hold(tables.population_rows)
    person = request.person if request.person in holder.names else None
    population = count_tuples(holder, known, spanned=counted.spanned, person=person, kinds=request.kinds)
    meant = people_in_classes(tuples, population, known, request.trees, request.kinds)
    return reidentification(sizes, threshold=threshold, population=meant, people=population.people, members=members)


def _combinations(tuples: Tuples, most: int, notes: list[str]) -> tuple[Combination, ...]:
    """The combinations that single out most, and a note if long ones are not among them."""
    worst = single_out(tuples, most)
    longest = max((len(each.columns) for each in worst), default=0)
    if worst and longest < min(most, len(tuples.names)):
        notes.append(f"no combination of more than {longest} columns is listed: longer ones add nothing, or are too many.")
    return worst


def _worst(columns: tuple[str, ...], combinations: tuple[Combination, ...], notes: list[str]) -> tuple[str, ...]:
    """The columns that the report is about, when no quasi-identifiers were named; a note says so."""
    subject = (
        "the combination of columns that singles out the most rows"
        if combinations
        else "all columns: no combination of a few singles anybody out"
    )
    notes.append(f"no quasi-identifiers were named, so this page is about {subject}.")
    return combinations[0].columns if combinations else columns
