"""Measuring the risk of a table and, against its original, what it no longer says: the questions and who answers them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cloister.errors import SchemaError, UsageError
from cloister.risks.label_domains import LabelDomain, make_label_domain, wants_spans
from cloister.risks.learning import classifier_accuracy
from cloister.risks.linkage import Linkage, record_linkage
from cloister.risks.loss import information_loss
from cloister.risks.measures import check_threshold, reidentification, sensitive_risk
from cloister.risks.paired_rows import PUBLISHED, PairedRows
from cloister.risks.population import people_in_classes
from cloister.risks.risk_report import RiskReport
from cloister.risks.singling_out import Combination, single_out
from cloister.risks.tuples import TOGETHER, Tuples, count_tuples
from cloister.schema import Category, Role, Schema
from cloister.schema.hierarchies import Hierarchy, find_hierarchies, read_hierarchy
from cloister.vault import Holder, Spark, Vault, open_data

__all__ = ["RiskReport", "assess"]

PURPOSE = "risk of re-identification"
SEARCHED = 3  # columns of a combination, when nobody says which columns others may know

Hierarchies = str | os.PathLike[str] | Mapping[str, Hierarchy | str | os.PathLike[str]]


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
    engine: str | Spark | None = None,
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
        Also tell which combinations of up to so many columns single people out.
    schema : Schema or path, optional
        Roles, hierarchies, and the unit: then people are counted, not rows.
    engine : {"local", "spark"} or Spark, optional
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
    >>> found = assess(people, ["age", "sex"])
    >>> found.risk.k, found.risk.unique, found.risk.marketer
    (1, 0.2, 0.6)
    """
    facts = Schema.from_toml(schema) if isinstance(schema, (str, os.PathLike)) else schema
    check_threshold(threshold)
    if target is not None and against is None:
        raise UsageError(
            "a classifier is compared with the original's. Give the original too (--against), or drop the target."
        )
    name = table if table is not None else facts.table if facts is not None else None
    rows = open_data(data, engine)
    before, crowd = (None if each is None else open_data(each, engine) for each in (against, population))
    holder = Vault.holding(rows, purpose=PURPOSE, engine=engine, table=name, ledger=ledger)
    wanted, hidden = _names(quasi) or _of_role(facts, Role.QUASI), _names(sensitive)
    hidden = hidden or [name for name in _of_role(facts, Role.SENSITIVE) if name in holder.names]
    person = facts.unit if facts is not None and facts.unit in holder.names else None
    is_searched = not wanted
    if is_searched:
        barred = {*_of_role(facts, Role.IDENTIFIER), *hidden, target, person}
        wanted, search = [name for name in holder.names if name not in barred], search or SEARCHED
    _check(wanted, hidden, target, holder.names)
    for other in (before, crowd):
        if other is not None and not is_searched:
            _present([*wanted, *([target] if target and other is before else [])], other.names)
    trees = _hierarchies(hierarchies, facts, wanted)
    compared = before is not None or crowd is not None
    spanned = [name for name in wanted if compared and wants_spans(trees.get(name))]
    whole = wanted if not compared and not search else []  # only equal or not matters then
    columns = [*wanted, *hidden, *([target] if target else [])]
    holder.record()
    tuples = count_tuples(holder, columns, spanned=[*spanned, *hidden], person=person, together=whole)
    notes: list[str] = []
    found = _searched(_narrowed(tuples, wanted), search, notes) if search else ()
    if is_searched:
        wanted = list(found[0].columns) if found else wanted
        told = (
            "the combination of columns that singles out the most rows"
            if found
            else "all columns: no few single anybody out"
        )
        notes.append(f"no quasi-identifiers were named, so this page is about {told}.")
    labels, number = tuples.classes([TOGETHER] if whole else wanted)
    people, everybody = None, None
    if crowd is not None:
        held = count_tuples(Vault.holding(crowd, purpose=PURPOSE, engine=engine), wanted, spanned=spanned)
        people, everybody = people_in_classes(tuples, held, wanted, trees), held.rows
    risk = reidentification(tuples.sizes(labels, number), threshold=threshold, population=people, people=everybody)
    if risk.outside:
        notes.append(
            f"{risk.outside:,} rows are in classes of which the population holds fewer people than the table: it is not the "
            "population of this table, and the journalist's risk is only as good as it is."
        )
    secrets = []
    for each in hidden:
        j = tuples.column(each)
        secrets.append(sensitive_risk(each, labels, number, tuples.codes[:, j], tuples.counts, tuples.values[j].order))
    report = RiskReport(tuple(wanted), "rows" if person is None else "people", risk, tuple(secrets), found)
    if before is not None:
        original = Vault.holding(before, purpose=PURPOSE, engine=engine)
        has_order = original.spark is None and holder.spark is None
        beside = PairedRows(before, rows) if has_order else None
        report = _compared(report, tuples, original, beside, target, trees, spanned, notes)
    return replace(report, notes=tuple(notes))


def _searched(tuples: Tuples, most: int, notes: list[str]) -> tuple[Combination, ...]:
    """The combinations that single out most, and a note if long ones are not among them."""
    found = single_out(tuples, most)
    longest = max((len(each.columns) for each in found), default=0)
    if found and longest < min(most, len(tuples.names)):
        notes.append(f"no combination of more than {longest} columns is told: longer ones add nothing, or are too many.")
    return found


def _compared(
    report: RiskReport,
    tuples: Tuples,
    original: Holder,
    beside: PairedRows | None,
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
        notes.append("record linkage was not tried: the numbers of rows differ, and which is which is not known.")
    elif beside is None:
        notes.append("record linkage was not tried: rows have no order on Spark.")
    else:
        linkage = _linked(beside, domains, [name for name in quasi if name in spanned])
        if linkage is None:
            notes.append("record linkage was not tried: the rows are not in the order of the original.")
    learning = classifier_accuracy(tuples, before, domains, target) if target else None
    return replace(report, loss=lost, linkage=linkage, learning=learning)


def _linked(both: PairedRows, domains: Sequence[LabelDomain], spanned: Sequence[str]) -> Linkage | None:
    """Record linkage; None if some row is not covered by the published row in its place."""
    names = [domain.name for domain in domains]
    holder = Vault.holding(both, purpose=PURPOSE)
    wide = [*spanned, *(PUBLISHED + name for name in spanned)]
    tuples = count_tuples(holder, [*names, *(PUBLISHED + name for name in names)], spanned=wide)
    for domain in domains:
        here, there = tuples.column(domain.name), tuples.column(PUBLISHED + domain.name)
        cell = domain.ranges(tuples.values[here])[tuples.codes[:, here]]
        label = domain.ranges(tuples.values[there])[tuples.codes[:, there]]
        if ((label[:, 0] > cell[:, 0]) | (label[:, 1] < cell[:, 1])).any():
            return None
    return record_linkage(tuples, domains)


def _narrowed(tuples: Tuples, names: Sequence[str]) -> Tuples:
    """The same rows with some of the columns."""
    places = [tuples.column(name) for name in names]
    return Tuples(
        tuple(names), tuples.codes[:, places], tuple(tuples.values[j] for j in places), tuples.counts, tuples.persons
    )


def _names(columns: Sequence[str] | str | None) -> list[str]:
    if columns is None:
        return []
    listed = columns.split(",") if isinstance(columns, str) else list(columns)
    return list(dict.fromkeys(name.strip() for name in listed if name.strip()))


def _of_role(schema: Schema | None, role: Role) -> list[str]:
    return [column.name for column in schema.columns if column.role is role] if schema is not None else []


def _check(quasi: Sequence[str], sensitive: Sequence[str], target: str | None, names: Sequence[str]) -> None:
    _present([*quasi, *sensitive, *([target] if target else [])], names)
    both = [name for name in sensitive if name in quasi]
    if both:
        raise UsageError(f'column "{both[0]}" cannot be known to others and sensitive at once. Take it off one list.')
    if target in quasi:
        raise UsageError(f'column "{target}" is what should be predicted: take it off the quasi-identifiers.')


def _present(wanted: Sequence[str], names: Sequence[str]) -> None:
    for name in wanted:
        if name not in names:
            raise SchemaError(f'the data has no column "{name}". Its columns: {", ".join(names[:20])}.')


def _hierarchies(given: Hierarchies | None, schema: Schema | None, quasi: Sequence[str]) -> dict[str, Hierarchy]:
    """The hierarchy of each column that has one."""
    found: dict[str, Hierarchy | str | os.PathLike[str]] = {}
    for column in schema.columns if schema is not None else ():
        if isinstance(column.kind, Category) and column.kind.hierarchy is not None:
            found[column.name] = column.kind.hierarchy
    if isinstance(given, Mapping):
        found |= given
    elif given is not None:
        found |= find_hierarchies(Path(given), quasi)
    return {
        name: tree if isinstance(tree, Hierarchy) else read_hierarchy(tree) for name, tree in found.items() if name in quasi
    }
