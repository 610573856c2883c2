"""Fill the certificate of a k-anonymous table: its guarantee, its facts, and what a reader should know."""

from __future__ import annotations

from collections.abc import Mapping

from cloister.anonymization.counting.nearly_unique import NONE_UNIQUE, UniqueColumns
from cloister.anonymization.reporting.notes import usual_notes
from cloister.anonymization.reporting.summary import TableSummary
from cloister.anonymization.request import Request
from cloister.privacy.release import Release, Syntactic
from cloister.vault import Holder

__all__ = ["KIND", "certify"]

KIND = "k-anonymous table"

NO_DECIMALS: Mapping[str, str] = {}


def certify(
    request: Request,
    summary: TableSummary,
    table: Holder,
    files: Mapping[str, str],
    unique: UniqueColumns = NONE_UNIQUE,
    decimals: Mapping[str, str] = NO_DECIMALS,
) -> Release:
    """The certificate of a table that was written as a request asks.

    `files` are the hashes of what was written, `unique` the published columns that may name single rows, `decimals` how
    numbers are written, where that is not as in the input (`Holder.write_decimals`).
    """
    return Release(
        kind=KIND,
        guarantee=Syntactic(request.k, request.unit_words, request.guards_in_words),
        events=(),
        parameters={**request.parameters, **decimals},
        result=summary.as_dict(),
        seeded=table.is_seeded,
        ledger=table.in_ledger,
        notes=(*notes_of(request, summary, unique), *table.notes),
        files=dict(files),
    )


def notes_of(request: Request, summary: TableSummary, unique: UniqueColumns = NONE_UNIQUE) -> tuple[str, ...]:
    """What a reader of the certificate should know: above all, what is not protected."""
    notes = usual_notes(
        untouched=summary.untouched,
        pseudonyms=summary.pseudonyms,
        is_diverse=any(guard.covers_homogeneity for guard in request.guards),
        is_local=request.scope == "local",
        is_guarded=bool(request.guards),
        is_shuffled=request.shuffle,
        schema=request.schema,
        unique=unique,
    )
    if any(guard.column is not None for guard in request.guards):
        notes.append(_counted(request.person))
    notes += dict.fromkeys(guard.note for guard in request.guards if guard.note is not None)
    notes.append(
        "The number of suppressed rows and the information lost are exact facts of the holder's table, removed rows "
        "included. Where they should not be known, do not pass the certificate on with the table."
    )
    return tuple(notes)


def _counted(person: str | None) -> str:
    """What the guards of sensitive values counted."""
    if person is None:
        return "The guards of sensitive values count rows. A blank is not a diverse value; in t-closeness it is a value."
    return (
        f'The guards of sensitive values count people (column "{person}"), not rows. l-diversity: whoever names fewer than l '
        "values has not named one of everybody's in a class. Entropy l-diversity: everybody counts with the value of theirs "
        "that most people of the class have. t-closeness: everybody weighs 1, shared by their values. A blank is not a diverse "
        "value; in t-closeness it is a value."
    )
