"""What a reader of a syntactic certificate should know: above all, what is not protected."""

from __future__ import annotations

from collections.abc import Sequence

from cloister.anonymization.counting.nearly_unique import NONE_UNIQUE, UniqueColumns
from cloister.anonymization.searching.guards import sensitive_guards
from cloister.schema import Role, Schema
from cloister.schema.drafts import role_of_name

__all__ = ["AS_THEY_ARE", "usual_notes"]

AS_THEY_ARE = "Published as they are: "  # begins the note of columns that nothing was done to


def usual_notes(
    *,
    untouched: Sequence[str],
    pseudonyms: Sequence[str],
    is_diverse: bool = False,
    is_local: bool = False,
    is_guarded: bool = False,
    is_shuffled: bool = False,
    schema: Schema | None = None,
    unique: UniqueColumns = NONE_UNIQUE,
) -> list[str]:
    """One sentence or two for everything that k does not cover.

    Parameters
    ----------
    untouched : sequence of str
        Columns that are published as they are.
    pseudonyms : sequence of str
        Columns that are published as keyed hashes.
    is_diverse : bool
        Whether a guard looks at sensitive values.
    is_local : bool
        Whether labels overlap.
    is_guarded : bool
        Whether more than k had to hold: then what was not published finer tells more.
    is_shuffled : bool
        Whether the rows are in an order that tells nothing about their order in the input.
    schema : Schema, optional
        What the columns are known to be.
    unique : UniqueColumns
        Columns among the untouched that may name single rows.
    """
    notes = []
    if not is_diverse:
        notes.append(
            "Homogeneity is not covered: where all rows of a class share a value of another column, it is known of each "
            f"of them. Ask for {sensitive_guards('or')}."
        )
    notes += [
        "Background knowledge is not covered: who knows more of a person than the quasi-identifiers, or that somebody is "
        "not in the table, may single out a row or a value.",
        "Several releases are not covered: another table about the same people can be joined with this one, and their "
        "classes may overlap in fewer than k. No epsilon covers what left in this way.",
    ]
    if is_local:
        notes.append(
            "Local recoding gives more away than global: published values overlap, and who knows the procedure may argue "
            "from what was not published finer (minimality and downcoding attacks)."
        )
    elif is_guarded:
        notes.append(
            "Minimality attacks are not covered: who knows the procedure and its guards may argue from what was not published "
            "finer that a finer class would have broken a guard, and so what its rows hold."
        )
    if untouched:
        notes.append(
            f"{AS_THEY_ARE}{', '.join(untouched)}. They are taken for unknown to whoever looks for "
            "somebody; a column that others may know belongs among the quasi-identifiers."
        )
    quasi = {column.name for column in schema.columns if column.role is Role.QUASI} if schema is not None else set()
    notes += [
        f'Column "{name}" is a quasi-identifier in the schema and was published as it is.'
        for name in untouched
        if name in quasi
    ]
    notes += [
        f'Column "{name}" is named like an identifier and was not dropped.'
        for name in untouched
        if role_of_name(name) is Role.IDENTIFIER
    ]
    notes += [
        f'The values of column "{name}" are nearly unique: whoever knows one of them finds its row, whatever k is.'
        for name in unique.counted
    ]
    notes += [
        f'Column "{name}" is named like a number of people and was not dropped: it keeps the rows of somebody together, and '
        "whoever knows one of its values finds them, whatever k is."
        for name in unique.records
    ]
    notes += [
        f'The lists or structs of column "{name}" were not counted: whoever knows one of them may find its row, whatever k is.'
        for name in unique.nested
    ]
    if pseudonyms:
        notes.append(
            f"Pseudonyms ({', '.join(pseudonyms)}) keep the rows of a person together, and whoever has the key can name "
            "everybody. Keep it apart from the table, or destroy it. k holds for single rows, not for the rows that a "
            "pseudonym links: together they may be like those of nobody else."
        )
    if not is_shuffled:
        notes.append(
            "Rows keep the order of the input: who knows that order, or a table in the same one, knows whose a row is. "
            "Where it may be known, shuffle them."
        )
    return notes
