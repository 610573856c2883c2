"""Measuring the risk of a table and, against its original, what it no longer says: the walk from a request to a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from cloister.errors import UsageError
from cloister.parameters import check_path
from cloister.risks.label_domains import LabelDomain, make_label_domain, wants_spans
from cloister.risks.learning import classifier_accuracy
from cloister.risks.linkage import Linkage, record_linkage
from cloister.risks.loss import information_loss
from cloister.risks.measures import check_threshold, reidentification, sensitive_risk
from cloister.risks.paired_rows import PUBLISHED, PairedRows
from cloister.risks.population import people_in_classes
from cloister.risks.risk_report import RiskReport
from cloister.risks.risk_request import Hierarchies, read_hierarchies, read_request
from cloister.risks.singling_out import Combination, single_out
from cloister.risks.tuples import TOGETHER, Tuples, count_tuples
from cloister.schema import Schema
from cloister.schema.hierarchies import Hierarchy
from cloister.sources.stated_names import StatedNames
from cloister.vault import EngineChoice, Holder, Vault, open_data

__all__ = ["RiskReport", "assess"]

PURPOSE = "risk of re-identification"


@dataclass(frozen=True, slots=True)
class Unordered:
    """Why rows cannot be paired with those they were made of: an engine, by its title, that keeps no order."""

    engine: str


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
    engine: EngineChoice = None,
    table: str | None = None,
    ledger: Any = None,
) -> RiskReport:
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
        Roles, hierarchies, and the unit: then people are counted, not rows.
    engine : name of an engine, such as "local" or "spark", or Spark, optional
    table, ledger : optional
        The table's name in the ledger, where it is recorded that its holder saw exact numbers.

    Returns
    -------
    RiskReport

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
            "a classifier is compared with the original's. Give the original too (--against), or drop the target."
        )
    name = table if table is not None else facts.table if facts is not None else None
    stated = StatedNames(schema=None if facts is None else facts.names)
    rows = open_data(data, engine, stated)
    original_rows, population_rows = (
        None if each is None else open_data(each, engine, stated) for each in (against, population)
    )
    holder = Vault.holding(rows, purpose=PURPOSE, engine=engine, table=name, ledger=ledger)
    request = read_request(holder.names, facts, quasi=quasi, sensitive=sensitive, target=target, search=search)
    if original_rows is not None:
        request.check_original(original_rows.names)
    if population_rows is not None:
        request.check_population(population_rows.names)
    trees = read_hierarchies(hierarchies, facts, request.quasi)
    is_compared = original_rows is not None or population_rows is not None
    spanned = [name for name in request.quasi if is_compared and wants_spans(trees.get(name))]
    # where columns are neither compared nor combined, it only matters whether all of them are equal
    together = () if is_compared or request.search else request.quasi
    holder.record()
    tuples = count_tuples(
        holder, request.columns, spanned=[*spanned, *request.sensitive], person=request.person, together=together
    )
    notes: list[str] = []
    combinations = _combinations(tuples.narrowed(request.quasi), request.search, notes) if request.search else ()
    known = request.quasi if request.is_quasi_named else _worst(request.quasi, combinations, notes)
    people, everybody = None, None
    if population_rows is not None:
        population_tuples = count_tuples(
            Vault.holding(population_rows, purpose=PURPOSE, engine=engine), known, spanned=spanned
        )
        people, everybody = people_in_classes(tuples, population_tuples, known, trees), population_tuples.rows
    labels, number = tuples.classes([TOGETHER] if together else known)
    risk = reidentification(tuples.sizes(labels, number), threshold=threshold, population=people, people=everybody)
    if risk.outside:
        notes.append(
            f"{risk.outside:,} rows are in classes of which the population holds fewer people than the table: it is not the "
            "population of this table, and the journalist's risk is only as good as it is."
        )
    learned = []
    for column in request.sensitive:
        j = tuples.column(column)
        learned.append(sensitive_risk(column, labels, number, tuples.codes[:, j], tuples.counts, tuples.values[j].order))
    counted = "rows" if request.person is None else "people"
    report = RiskReport(tuple(known), counted, risk, tuple(learned), combinations)
    if original_rows is not None:
        original = Vault.holding(original_rows, purpose=PURPOSE, engine=engine)
        unordered = [each.engine_title for each in (original, holder) if not each.keeps_order]
        pairs = Unordered(unordered[0]) if unordered else PairedRows(original_rows, rows)
        report = _compared(report, tuples, original, pairs, target, trees, spanned, notes)
    return replace(report, notes=tuple(notes))


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


def _compared(
    report: RiskReport,
    tuples: Tuples,
    original: Holder,
    pairs: PairedRows | Unordered,
    target: str | None,
    trees: Mapping[str, Hierarchy],
    spanned: Sequence[str],
    notes: list[str],
) -> RiskReport:
    """The report with what was lost against the original."""
    quasi = report.quasi
    before = count_tuples(original, [*quasi, *([target] if target else [])], spanned=spanned)
    domains = [
        make_label_domain(name, trees.get(name), before.values[before.column(name)], tuples.values[tuples.column(name)])
        for name in quasi
    ]
    lost = information_loss(tuples, before, domains)
    if lost.rows > lost.original_rows:
        notes.append("the table has more rows than the original: is it really the one that it was made of?")
    linkage = None
    if lost.rows != lost.original_rows:
        notes.append("record linkage was not tried: the numbers of rows differ, so rows cannot be paired.")
    elif isinstance(pairs, Unordered):
        notes.append(f"record linkage was not tried: rows have no order on {pairs.engine}.")
    else:
        linkage = _linked(pairs, domains, [name for name in quasi if name in spanned])
        if linkage is None:
            notes.append("record linkage was not tried: the rows are not in the order of the original.")
    learning = classifier_accuracy(tuples, before, domains, target) if target else None
    return replace(report, loss=lost, linkage=linkage, learning=learning)


def _linked(pairs: PairedRows, domains: Sequence[LabelDomain], spanned: Sequence[str]) -> Linkage | None:
    """Record linkage; None if some row is not covered by the published row in its place."""
    names = [domain.name for domain in domains]
    holder = Vault.holding(pairs, purpose=PURPOSE)
    wide = [*spanned, *(PUBLISHED + name for name in spanned)]
    tuples = count_tuples(holder, [*names, *(PUBLISHED + name for name in names)], spanned=wide)
    for domain in domains:
        original, published = tuples.column(domain.name), tuples.column(PUBLISHED + domain.name)
        cell = domain.ranges(tuples.values[original])[tuples.codes[:, original]]
        label = domain.ranges(tuples.values[published])[tuples.codes[:, published]]
        if ((label[:, 0] > cell[:, 0]) | (label[:, 1] < cell[:, 1])).any():
            return None
    return record_linkage(tuples, domains)
