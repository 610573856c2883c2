"""Tables that were published with a certificate beside them, read back: the certificate, and the summary that it holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, Generic, Protocol, TypeVar

from cloister.errors import DataError
from cloister.privacy.certified_files import existing_output, read_beside
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document

__all__ = ["SavedPublication", "load_publication"]


class PublicationSummary(Protocol):
    """What became of a table."""

    def as_dict(self) -> dict[str, Any]: ...

    def describe(self) -> Document: ...

    def _repr_html_(self) -> str: ...


Kept = TypeVar("Kept", bound=PublicationSummary)


@dataclass(frozen=True, slots=True)
class SavedPublication(Generic[Kept]):
    """A published table that was checked against its certificate.

    It publishes nothing: a certificate says neither hierarchies nor which guards were asked for but in words, and a table that is
    made without them would promise less.

    Attributes
    ----------
    release_ : Release, the certificate
    summary_ : what became of the table, as `publish` left it
    """

    release_: Release
    summary_: Kept

    def describe(self) -> Document:
        """What became of the table, and what is promised of it."""
        told = self.summary_.describe()
        return Document((*told.sections, *self.release_.describe().sections), title=told.title)

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def __repr__(self) -> str:
        return f"SavedPublication({self.release_})"


def load_publication(
    path: str | PathLike[str], kind: str, wanted: str, read_summary: Callable[[Mapping[str, Any]], Kept]
) -> SavedPublication[Kept]:
    """A published file or folder with its certificate, checked as `cloister verify` does, and the summary of that.

    Raises
    ------
    SourceError
        It is no such table.
    DataError
        It was changed, or its certificate holds no such summary.
    """
    place = existing_output(path, wanted)
    release = read_beside(place, kind, wanted)
    try:
        summary = read_summary(release.result)
        summary.describe()  # every figure is of the kind that such a summary has
        plain = json.loads(json.dumps(summary.as_dict()))
        is_whole = {key: plain[key] for key in release.result} == release.result
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
        is_whole = False
    if not is_whole:
        raise DataError(
            f"{place.name} cannot be read back: its certificate does not hold the summary that this version writes. The table "
            "itself can be read, and cloister verify checks it."
        )
    return SavedPublication(release, summary)
