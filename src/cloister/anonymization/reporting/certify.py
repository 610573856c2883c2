"""Fill the certificate of a k-anonymous table: its guarantee, its facts, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping

from cloister.anonymization.reporting.notes import usual_notes
from cloister.anonymization.reporting.summary import TableSummary
from cloister.anonymization.request import Request
from cloister.privacy.release import Release, Syntactic
from cloister.vault import Holder

__all__ = ["certify"]


def certify(request: Request, summary: TableSummary, table: Holder, files: Mapping[str, str]) -> Release:
    """The certificate of a table that was written as a request asks; `files` are the hashes of what was written."""
    return Release(
        kind="k-anonymous table",
        guarantee=Syntactic(request.k, request.unit_words, request.guards_in_words),
        events=(),
        parameters=request.parameters,
        result=summary.as_dict(),
        seeded=table.is_seeded,
        ledger=table.in_ledger,
        notes=(*notes_of(request, summary), *table.notes),
        files=dict(files),
    )


def notes_of(request: Request, summary: TableSummary) -> tuple[str, ...]:
    """What a reader of the certificate should know: above all, what is not protected."""
    notes = usual_notes(
        untouched=summary.untouched,
        pseudonyms=summary.pseudonyms,
        is_diverse=any(guard.covers_homogeneity for guard in request.guards),
        is_local=request.scope == "local",
        is_shuffled=request.shuffle,
        schema=request.schema,
    )
    notes += dict.fromkeys(guard.note for guard in request.guards if guard.note is not None)
    notes.append(
        "The number of suppressed rows and the information lost are exact facts of the holder's table, removed rows "
        "included. Where they should not be known, do not pass the certificate on with the table."
    )
    return tuple(notes)
