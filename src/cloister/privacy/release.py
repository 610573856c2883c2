"""A release: what is guaranteed, how it was spent, and what it means. Its JSON is written in `certificate_json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cloister.parameters import check_text
from cloister.privacy.certificate_json import certificate_dict, certificate_json, content_hash, read_fields
from cloister.privacy.events import Event, keeps
from cloister.privacy.guarantees import Guarantee, Syntactic
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section
from cloister.schema.numerals import amount_text

__all__ = ["Guarantee", "Release", "Syntactic"]


@dataclass(frozen=True, slots=True)
class Release:
    """A certificate.

    Attributes
    ----------
    kind
        What was released, e.g. ``"kmeans"``.
    guarantee
        The proven guarantee, which is what the ledger was charged; or what a table holds syntactically.
    events
        Every step's spend; added up again they stay within the guarantee (`adds_up`). A syntactic release has none.
    parameters
        Public choices that went in. Only public or released values.
    result
        What was released, as plain data.
    seeded
        The noise was seeded: the release is NOT PRIVATE.
    ledger
        The table and entry that were charged, or None: unledgered.
    notes
        What a reader should know, one sentence each.
    """

    kind: str
    guarantee: Guarantee | Syntactic
    events: tuple[Event, ...]
    parameters: Mapping[str, Any]
    result: Mapping[str, Any]
    seeded: bool = False
    ledger: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)  # name -> sha256 of what was written beside it

    @property
    def status(self) -> str:
        """In two words: private or NOT PRIVATE, ledgered or unledgered."""
        if isinstance(self.guarantee, Syntactic):
            order = " (seeded order of rows)" if self.seeded else ""
            return f"syntactic, not differentially private{order}" + (", ledgered" if self.ledger else ", unledgered")
        return ("NOT PRIVATE (seeded noise)" if self.seeded else "private") + (
            ", ledgered" if self.ledger else ", unledgered"
        )

    def adds_up(self) -> bool:
        """Whether the events, added up again, stay within the guarantee; a syntactic release has nothing to add."""
        if isinstance(self.guarantee, Syntactic):
            return not self.events
        return keeps(self.events, self.guarantee.epsilon, self.guarantee.delta)

    def as_dict(self) -> dict[str, Any]:
        """Plain data, exact numbers as text."""
        return certificate_dict(self)

    def digest(self) -> str:
        """A hash of all but the files: what the ledger keeps, and release.json shows as `content`."""
        return content_hash(self)

    def to_json(self) -> str:
        """The certificate as JSON, with its own hash."""
        return certificate_json(self)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a certificate; one that was changed or is of another version is refused."""
        return cls(**read_fields(check_text(text, "the JSON of a release")))

    def __str__(self) -> str:
        return f"Release of {self.kind}: {self.guarantee} ({self.status})"

    def describe(self, *, with_posteriors: bool = False) -> Document:
        """Guarantee, status and notes as a document; also what the guarantee means for posteriors, if wanted."""
        facts = [Fact("guarantee", str(self.guarantee)), Fact("status", self.status)]
        if with_posteriors:
            facts += [
                Fact(f"posterior among {m} worlds", f"at most {amount_text(Fraction(r))}")
                for m, r in (self.guarantee.identifiability() or {}).items()
            ]
        facts += [Fact("note", note) for note in self.notes]
        return Document((Section(tuple(facts)),), title=f"Release of {self.kind}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe(with_posteriors=True))
