"""What is asked about rows: whether a release is compared as rows at all, which columns, and for how many rows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cloister.column_names import missing_column
from cloister.errors import UsageError, by_door
from cloister.risks.certified_data import certificate_of
from cloister.risks.rows.rows_report import Origin
from cloister.schema import Role, Schema

__all__ = ["DRAWN", "RowsComparison", "StatedRows", "compared_origin", "stated_rows"]

DRAWN = 5_000  # original rows that distances are measured for
ORIGINS: dict[str, Origin] = {"microaggregated table": "averaged", "rows": "made up"}
"""What the rows of a release are, by the kind that its certificate states."""


@dataclass(frozen=True, slots=True)
class RowsComparison:
    """What should be compared, and how.

    Attributes
    ----------
    columns : what is compared; None: the columns that both tables have, identifiers of the schema aside
    target : a column that classifiers should predict
    drawn : original rows that distances are measured for; None: all
    origin : what the released rows are
    schema : how cells are read, and the bounds that distances are measured in
    averaged : the columns that were averaged in groups; None: not known, so all that are compared
    """

    columns: tuple[str, ...] | None = None
    target: str | None = None
    drawn: int | None = DRAWN
    origin: Origin = "not known"
    schema: Schema | None = None
    averaged: tuple[str, ...] | None = None

    @property
    def counts_people(self) -> bool:
        """Whether people have several rows, by the schema: figures about rows then say less about people."""
        return self.schema is not None and self.schema.unit is not None

    def columns_of(self, released: Sequence[str], original: Sequence[str], nested: Collection[str] = ()) -> tuple[str, ...]:
        """The columns to compare of tables that have these; a column that one of them lacks is refused if it was named."""
        named = [*(self.columns or ()), *([self.target] if self.target is not None else [])]
        described = [] if self.schema is None else [column.name for column in self.schema.columns]
        for names, of in ((released, "the release"), (original, "the original")):
            for name in named:
                if name not in names:
                    raise missing_column(name, names, named, described=described, of=of)
        if self.columns:
            return tuple(dict.fromkeys(named))
        left_out = set(nested)
        if self.schema is not None:
            left_out |= {column.name for column in self.schema.columns if column.role is Role.IDENTIFIER}
            left_out |= {self.schema.unit} if self.schema.unit is not None else set()
        compared = tuple(name for name in original if name in released and (name not in left_out or name == self.target))
        if not compared:
            raise UsageError(
                "the release and the original have no column in common that could be compared. Is it the right file?"
            )
        return compared


@dataclass(frozen=True, slots=True)
class StatedRows:
    """What a release of rows is, by the certificate beside it.

    Attributes
    ----------
    origin : what its rows are; None: there is no certificate, or it is one of another release
    averaged : the columns that were averaged; None: it does not say
    """

    origin: Origin | None = None
    averaged: tuple[str, ...] | None = None


def compared_origin(
    stated: StatedRows, against: Any, as_rows: bool | None, *, has_row_flags: bool, has_label_flags: bool
) -> Origin | None:
    """What the rows are that should be compared; None: the release is a table of labels, or there is no original.

    Parameters
    ----------
    stated : what the certificate beside the release says
    against : the original, if there is one
    as_rows : what was asked for; None: what the certificate says
    has_row_flags, has_label_flags : whether something was asked for that only a comparison of rows, or only one of labels, has
    """
    is_stated = as_rows is None and stated.origin is not None and not has_label_flags
    if not (as_rows or (is_stated and against is not None)):
        if has_row_flags:
            raise _row_flags_alone(has_original=against is not None, are_rows=is_stated)
        return None
    if against is None:
        raise UsageError(f"rows are compared with their original. Give that too: {_original_flag()}.")
    if has_label_flags:
        raise UsageError(
            "rows that were averaged or made up have no classes: drop the sensitive columns, the population, the hierarchies and "
            "the search."
        )
    return stated.origin or "not known"


def _row_flags_alone(*, has_original: bool, are_rows: bool) -> UsageError:
    """What to say of a control, or of all rows, where nothing is compared as rows: what is missing, and nothing else."""
    missing = [] if are_rows else [by_door("as_rows=True", "--as-rows")]
    missing += [] if has_original else [_original_flag()]
    return UsageError(
        by_door("control and all_rows are", "--control and --all-rows are")
        + f" for rows that are compared with their original: give {' and '.join(missing)} too."
    )


def _original_flag() -> str:
    return by_door("against=ORIGINAL", "--against FILE")


def stated_rows(data: Any) -> StatedRows:
    """What a release holds by the certificate beside it: one that can be read, and that names this file by its hash.

    Who wrote it is not asked: what it says decides which figures are shown.
    """
    release = certificate_of(data)
    if release is None or release.kind not in ORIGINS or release.seeded:
        return StatedRows()
    origin = ORIGINS[release.kind]
    return StatedRows(origin, _averaged(release.parameters) if origin == "averaged" else None)


def _averaged(parameters: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The averaged columns among the parameters of a certificate, by either of their names."""
    names = parameters.get("columns", parameters.get("quasi"))
    return tuple(names) if isinstance(names, list) and names and all(isinstance(name, str) for name in names) else None
