"""What a published table no longer says against its original: information loss, record linkage, what a classifier learns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from cloister.risks.label_domains import LabelDomain, make_label_domain
from cloister.risks.learning import classifier_accuracy
from cloister.risks.linkage import Linkage, record_linkage
from cloister.risks.loss import information_loss
from cloister.risks.paired_rows import PUBLISHED, PairedRows
from cloister.risks.risk_report import RiskReport
from cloister.risks.risk_request import RiskRequest
from cloister.risks.tuples import Tuples, count_tuples
from cloister.vault import Holder, Vault

__all__ = ["Unordered", "compare_with_original"]

PURPOSE = "information loss"


@dataclass(frozen=True, slots=True)
class Unordered:
    """Why rows cannot be paired with those they were made of: an engine, by its title, that keeps no order."""

    engine: str


def compare_with_original(
    report: RiskReport,
    request: RiskRequest,
    published: Tuples,
    original: Holder,
    pairs: PairedRows | Unordered,
    spanned: Sequence[str],
    *,
    may_be_rows: bool,
) -> RiskReport:
    """The report with what was lost against the original, and notes on what could not be measured."""
    quasi, target, notes = report.quasi, request.target, list(report.notes)
    before = count_tuples(original, [*quasi, *([target] if target else [])], spanned=spanned, kinds=request.kinds)
    domains = [
        replace(
            make_label_domain(
                name,
                request.trees.get(name),
                before.values[before.column(name)],
                published.values[published.column(name)],
                request.kinds.get(name),
            ),
            may_be_rows=may_be_rows,
        )
        for name in quasi
    ]
    lost = information_loss(published, before, domains)
    if lost.rows > lost.original_rows:
        notes.append("the table has more rows than the original: is it really the one that it was made of?")
    linkage = None
    if lost.rows != lost.original_rows:
        notes.append("record linkage was not tried: the numbers of rows differ, so rows cannot be paired.")
    elif isinstance(pairs, Unordered):
        notes.append(f"record linkage was not tried: rows have no order on {pairs.engine}.")
    else:
        linkage = _linked(pairs, request, domains, [name for name in quasi if name in spanned])
        if linkage is None:
            notes.append("record linkage was not tried: the rows are not in the order of the original.")
    learning = classifier_accuracy(published, before, domains, target) if target else None
    return replace(report, loss=lost, linkage=linkage, learning=learning, notes=tuple(notes))


def _linked(
    pairs: PairedRows, request: RiskRequest, domains: Sequence[LabelDomain], spanned: Sequence[str]
) -> Linkage | None:
    """Record linkage; None if some row is not covered by the published row in its place."""
    names = [domain.name for domain in domains]
    holder = Vault.holding(pairs, purpose=PURPOSE)
    wide = [*spanned, *(PUBLISHED + name for name in spanned)]
    kinds = {**request.kinds, **{PUBLISHED + name: kind for name, kind in request.kinds.items()}}
    tuples = count_tuples(holder, [*names, *(PUBLISHED + name for name in names)], spanned=wide, kinds=kinds)
    for domain in domains:
        original, published = tuples.column(domain.name), tuples.column(PUBLISHED + domain.name)
        cell = domain.ranges(tuples.values[original])[tuples.codes[:, original]]
        label = domain.ranges(tuples.values[published])[tuples.codes[:, published]]
        if ((label[:, 0] > cell[:, 0]) | (label[:, 1] < cell[:, 1])).any():
            return None
    return record_linkage(tuples, domains)
