"""What a reader of the certificate of a microaggregated table should know: above all, what is not protected."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.microdata.microaggregation.centroids import PublishedColumn
from cloister.microdata.microaggregation.request import MicroaggregationRequest
from cloister.schema import Role
from cloister.schema.drafts import is_record_name, role_of_name

__all__ = ["aggregation_notes", "is_like_identifier", "keep_warning"]


def aggregation_notes(
    request: MicroaggregationRequest, published: Sequence[PublishedColumn], dropped: Sequence[str]
) -> tuple[str, ...]:
    """One sentence or two for everything that k does not cover, and for what was done to blanks and other columns."""
    notes = [
        "Homogeneity is not covered: where all rows of a group share a value, of a microaggregated column or of another, it is "
        "known of each of them.",
        "A mean of few rows gives away an outlier roughly, and exactly to whoever knows the other rows of its group; a mode is "
        "the value of at least one row.",
        "Background knowledge is not covered: who knows more of a person than the microaggregated columns, or that somebody is "
        "not in the table, may single out a row or a value.",
        "Several releases are not covered: another table about the same people can be compared with this one, mean by mean. No "
        "epsilon covers what left in this way.",
    ]
    if blank := [column.name for column in published if column.has_blanks and column.kind != "category"]:
        notes.append(
            f"Columns with blanks: {', '.join(blank)}. A mean is that of the known cells of a group; where fewer than half of "
            "its rows, or fewer than two, have one, the whole group is blank."
        )
    if request.sensitive:
        notes.append(
            f"Sensitive columns are published as they are: {', '.join(request.sensitive)}. No diversity of their values in a "
            "group is promised."
        )
    if request.keep:
        notes.append(
            f"Published as they are: {', '.join(request.keep)}. They are taken for unknown to whoever looks for somebody; a "
            "column that others may know belongs among the microaggregated ones."
        )
    for name in (*request.sensitive, *request.keep):
        if is_like_identifier(request, name):
            notes.append(
                f'Column "{name}" is an identifier, or is named like one, and was not dropped: it may name single rows.'
            )
    if dropped:
        notes.append(f"Not published: {', '.join(dropped)}.")
    notes.append(
        "The figures of what was lost are exact facts of the holder's table. Where they should not be known, do not pass the "
        "certificate on with the table."
    )
    return tuple(notes)


def is_like_identifier(request: MicroaggregationRequest, name: str) -> bool:
    """Whether the schema calls a column an identifier, or does not describe it and its name sounds like one."""
    if request.schema is not None and name in request.schema:
        return request.schema[name].role is Role.IDENTIFIER
    return role_of_name(name) is Role.IDENTIFIER or is_record_name(name)


def keep_warning(request: MicroaggregationRequest) -> str | None:
    """What to warn of while columns ride along; None: there is nothing that the user has not called sensitive."""
    if not request.keep:
        return None
    like = [name for name in request.keep if is_like_identifier(request, name)]
    more = f" {', '.join(like)} may name single rows." if like else ""
    return f"columns are published as they are, outside of k: {', '.join(request.keep)}.{more}"
