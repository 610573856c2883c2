"""A publication without its output: all that `publish_table` would do and refuse, and nothing is written."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cloister.anonymization.counting.nearly_unique import check_confirmed, nearly_unique
from cloister.anonymization.publish import search_table
from cloister.anonymization.reporting.outcome import TableOutcome, find_outcome
from cloister.anonymization.reporting.summary import TableSummary, summarize
from cloister.anonymization.request import Request
from cloister.anonymization.searching.guards import KAnonymity
from cloister.anonymization.writing.recount import check_output, plan_output
from cloister.anonymization.writing.rewriting import format_of, make_rewriting
from cloister.parameters import check_progress
from cloister.report import notebook, terminal
from cloister.report.document import Document, Section, Sentence
from cloister.sinks import check_free_with_certificate

__all__ = ["DryRun", "dry_run"]

_NOTHING = "Nothing was written. The rows were read for the holder; where the table has a name, the ledger says so."


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a publication would do to a table.

    Privacy
    -------
    Exact numbers, for the holder.
    """

    summary: TableSummary
    outcome: TableOutcome
    scope: str
    scope_reason: str  # why it is global, where nobody named a scope

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {"scope": self.scope, "would_publish": self.summary.as_dict(), "for_the_holder": self.outcome.as_dict()}

    def describe(self) -> Document:
        """What would be published, what it would lose and risk."""
        first, *others = self.summary.describe().sections
        reason = (Sentence(self.scope_reason),) if self.scope_reason else ()
        would = Section((*reason, *first.blocks), heading=f"Would be published, by {self.scope} recoding")
        return Document(
            (would, *others, *self.outcome.describe().sections, Section((Sentence(_NOTHING),))),
            title="Dry run of a k-anonymous table",
        )

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def dry_run(
    request: Request,
    X: Any,
    out: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> DryRun:
    """What `publish_table` would do; refused is what it would refuse.

    Privacy
    -------
    Through the holder's door: the ledger records it when the table has a name.
    """
    progress = check_progress(progress)
    if out is not None:
        format = format_of(out, format)
        check_free_with_certificate(out)
    found = search_table(request, X, f"dry run of a {request.purpose}", format, progress)
    table, fitted, result = found.opened.table, found.opened.request, found.result
    rewriting = make_rewriting(
        result.recoding, table.types(table.names), fitted.dropped, fitted.pseudonyms, fitted.key, format or "parquet",
        fitted.sensitive,
    )  # fmt: skip
    plan = plan_output(result.recoding, found.counted.rows, result.labels)
    check_output(plan.classes, plan, [KAnonymity(fitted.k), *fitted.guards])
    unique = nearly_unique(
        table, found.untouched, found.counted.rows.total, fitted.person, fitted.schema, result.recoding, found.record_names
    )
    check_confirmed(unique, fitted.keep_unique)
    progress("weighing")
    outcome = find_outcome(found.opened, found.counted, result, plan.classes, found.seconds)
    summary = summarize(found.opened, result, rewriting, plan, plan.classes)
    return DryRun(summary, outcome, fitted.scope, fitted.scope_reason)
