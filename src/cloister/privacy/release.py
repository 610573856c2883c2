"""A release: what is guaranteed, how it was spent, and what it means. Its JSON is written in `certificate_json`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from cloister.errors import ChangedRelease, UsageError
from cloister.parameters import check_text
from cloister.privacy.certificate_json import (
    VERSION,
    certificate_dict,
    certificate_json,
    content_hash,
    read_fields,
    version_for,
)
from cloister.privacy.events import Event, keeps
from cloister.privacy.guarantees import AnyGuarantee, Claimed, Guarantee, Local, Syntactic
from cloister.privacy.signing import Signature
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section
from cloister.report.one_line import one_line
from cloister.schema.numerals import amount_text

__all__ = ["Claimed", "Guarantee", "Local", "Release", "Syntactic"]


@dataclass(frozen=True, slots=True)
class Release:
    """A certificate.

    Attributes
    ----------
    kind
        What was released, e.g. ``"kmeans"``.
    guarantee
        The proven guarantee, which is what the ledger was charged; or what a table holds syntactically; or what a paper claims.
    events
        Every step's spend; added up again they stay within the guarantee (`adds_up`). A syntactic release has none.
    parameters
        Public choices that went in. Only public or released values.
    result
        What was released, as plain data.
    seeded
        The noise was seeded: the release is NOT PRIVATE.
    ledger
        The table and entry that were charged, and `head`, the digest of the record of that; or None: unledgered.
    notes
        What a reader should know, one sentence each.
    files
        What was written beside it: the hash (SHA-256) of each file by its name.
    holder_files
        Files beside it that are for the holder only, by name alone: a hash of exact results would give them away to
        whoever can guess all rows but one. They need not be there.
    version
        Of the JSON that it was read from, and is written as.
    signature
        Who signed the JSON that it was read from; None for one that was not signed, or not written yet.
    """

    kind: str
    guarantee: AnyGuarantee
    events: tuple[Event, ...]
    parameters: Mapping[str, Any]
    result: Mapping[str, Any]
    seeded: bool = False
    ledger: Mapping[str, Any] | None = None
    notes: tuple[str, ...] = ()
    files: Mapping[str, str] = field(default_factory=dict)
    holder_files: tuple[str, ...] = ()
    version: int = VERSION
    signature: Signature | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        # Notes quote names of columns, which may hold anything; a reader is shown one line each.
        object.__setattr__(self, "notes", tuple(one_line(note) for note in self.notes))
        object.__setattr__(self, "version", version_for(self.version, self.events, self.guarantee))
        if isinstance(self.guarantee, Claimed) and (self.events or self.ledger):
            raise ValueError("what is claimed in print is neither spent nor charged")

    @property
    def status(self) -> str:
        """In two words: private or NOT PRIVATE, ledgered or unledgered."""
        if isinstance(self.guarantee, Syntactic):
            order = " (seeded order of rows)" if self.seeded else ""
            return f"syntactic, not differentially private{order}" + (", ledgered" if self.ledger else ", unledgered")
        if isinstance(self.guarantee, Claimed):
            return "claimed, NOT PRIVATE"
        if isinstance(self.guarantee, Local):
            return "NOT PRIVATE (seeded noise)" if self.seeded else "private in the local model, nothing is charged"
        return ("NOT PRIVATE (seeded noise)" if self.seeded else "private") + (
            ", ledgered" if self.ledger else ", unledgered"
        )

    @property
    def promise(self) -> Guarantee | Local | Syntactic:
        """The guarantee of a release that promises something.

        Raises
        ------
        UsageError
            It is what a paper claims.
        """
        if isinstance(self.guarantee, Claimed):
            raise UsageError(
                f"this is what paper {self.guarantee.paper} claims, run again: it promises nothing, and is no release to hand "
                "over. page.html beside its certificate shows it."
            )
        return self.guarantee

    def adds_up(self) -> bool:
        """Whether the events, added up again, stay within the guarantee; a syntactic release has nothing to add."""
        if isinstance(self.guarantee, Syntactic | Claimed):
            return not self.events
        try:
            return keeps(self.events, self.guarantee.epsilon, self.guarantee.delta)
        except OverflowError:  # more than a floating-point number holds is more than any guarantee
            return False

    def as_dict(self) -> dict[str, Any]:
        """Plain data, exact numbers as text."""
        return certificate_dict(self)

    def digest(self) -> str:
        """A hash of all but the files: what the ledger keeps, and release.json shows as `content`."""
        return content_hash(self)

    def derived(self, **changes: Any) -> Release:
        """A release that follows from this one at no cost: post-processing of what is released already."""
        return replace(self, **changes, version=VERSION, signature=None)

    def to_json(self) -> str:
        """The certificate as JSON, with its own hash, signed with the key of this host (or as it was read)."""
        return certificate_json(self)

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a certificate; one that was changed or is of another version is refused.

        A signature must fit; whose it is, `verification.check_origin` says.
        """
        fields = read_fields(check_text(text, "the JSON of a release"))
        status, content = fields.pop("status"), fields.pop("content")
        release = cls(**fields)
        if release.status != status:
            raise ChangedRelease(
                f'this release calls itself something else than "{release.status}", which its fields make it. Do not rely on it.'
            )
        if not release._is_content(content):
            raise ChangedRelease(
                "this release says more than its fields do: its guarantee in words, its posteriors or a step are not what they "
                "make it. Do not rely on it."
            )
        return release

    def _is_content(self, content: str) -> bool:
        """Whether this is the hash of what the fields say; of fields that make no sense it is not."""
        try:
            return self.digest() == content
        except (ArithmeticError, ValueError):
            return False

    def __str__(self) -> str:
        return f"Release of {self.kind}: {self.guarantee} ({self.status})"

    def __repr__(self) -> str:
        return one_line(f"<{self}>")

    def describe(self, *, with_posteriors: bool = False) -> Document:
        """Guarantee, status and notes as a document; also what the guarantee means for posteriors, if wanted."""
        facts = [Fact("guarantee", str(self.guarantee)), Fact("status", self.status)]
        if with_posteriors:
            facts += [
                Fact(f"posterior among {m} worlds", f"at most {amount_text(Fraction(r))}")
                for m, r in (self.guarantee.identifiability() or {}).items()
            ]
        kept = [
            f"{name} beside this certificate is for the holder only: no guarantee covers it." for name in self.holder_files
        ]
        facts += [Fact("note", note) for note in (*self.notes, *kept)]
        return Document((Section(tuple(facts)),), title=f"Release of {self.kind}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe(with_posteriors=True))
