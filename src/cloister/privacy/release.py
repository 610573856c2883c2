"""The certificate of a release: what is guaranteed, how it was spent, and what it means. A value, and JSON."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.events import Event, event_dict, event_from, keeps
from cloister.privacy.identifiability import rho_from_epsilon
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section
from cloister.schema import Neighbours
from cloister.schema.numerals import amount_text

__all__ = ["Guarantee", "Release", "Syntactic"]

VERSION = 1
FOREIGN = "this is not a Cloister release. Give the release.json that a command wrote."
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)  # of what JSON may hold
WORLDS = (2, 100, 10_001)  # for which numbers of equally likely worlds a certificate shows the identifiability


@dataclass(frozen=True, slots=True)
class Guarantee:
    """The one proven promise of a release."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    unit: str = "row"

    def __str__(self) -> str:
        delta = f", delta {amount_text(self.delta)}" if self.delta else ""
        return f"epsilon {amount_text(self.epsilon)}{delta}, {self.neighbours.value} neighbours, per {self.unit}"

    def identifiability(self) -> dict[int, float] | None:
        """The largest posterior of one of m equally likely worlds, for a few m; with a delta there is no such bound."""
        if self.delta:
            return None
        return {worlds: rho_from_epsilon(self.epsilon, worlds, self.neighbours) for worlds in WORLDS}


@dataclass(frozen=True, slots=True)
class Syntactic:
    """A property of a published table, not of the process that made it: no epsilon, and no noise."""

    k: int | None  # None: a saved recoding on other rows, of which nothing is claimed
    unit: str = "row"
    also: tuple[str, ...] = ()  # what every class holds beside, in words

    def __str__(self) -> str:
        if self.k is None:
            return "syntactic: recoding applied to other rows, no k is claimed, not differentially private"
        whom = "" if self.unit == "row" else f", counted per {self.unit}"
        also = f"; also {', '.join(self.also)}" if self.also else ""
        return f"syntactic: k = {self.k}, not differentially private{whom}{also}"

    def identifiability(self) -> None:
        """A syntactic property bounds no posterior."""
        return


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
        identifiability = self.guarantee.identifiability()
        return {
            "version": VERSION,
            "kind": self.kind,
            "status": self.status,
            "guarantee": _guarantee_dict(self.guarantee),
            "identifiability": identifiability and {str(m): rho for m, rho in identifiability.items()},
            "steps": [event_dict(event) for event in self.events],
            "parameters": dict(self.parameters),
            "result": dict(self.result),
            "seeded": self.seeded,
            "ledger": dict(self.ledger) if self.ledger else "unledgered",
            "notes": list(self.notes),
            "files": dict(self.files),
        }

    def digest(self) -> str:
        """A hash of all but the files: what the ledger keeps, and release.json shows as `content`."""
        data = self.as_dict()
        del data["files"]
        return fingerprint(data)

    def to_json(self) -> str:
        """The certificate as JSON, with its own hash."""
        data = {**self.as_dict(), "content": self.digest()}
        return json.dumps({**data, "sha256": fingerprint(data)}, indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read a certificate; one that was changed or is of another version is refused."""
        try:
            data = json.loads(text)
            claimed = data.pop("sha256")
            version = data["version"]
        except MALFORMED:
            raise UsageError(FOREIGN) from None
        if version != VERSION:
            raise UsageError(f"this release has version {version}, and this Cloister reads {VERSION}. Update Cloister.")
        if fingerprint(data) != claimed:
            raise UsageError("this release was changed after it was written: its hash differs. Ask for the original.")
        try:
            return cls(
                kind=str(data["kind"]),
                guarantee=_guarantee_from(data["guarantee"]),
                events=tuple(event_from(event) for event in data["steps"]),
                parameters=dict(data["parameters"]),
                result=dict(data["result"]),
                seeded=bool(data["seeded"]),
                ledger=None if data["ledger"] == "unledgered" else dict(data["ledger"]),
                notes=tuple(map(str, data["notes"])),
                files={str(name): str(digest) for name, digest in dict(data["files"]).items()},
            )
        except MALFORMED:
            raise UsageError(FOREIGN) from None

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


def _guarantee_dict(guarantee: Guarantee | Syntactic) -> dict[str, Any]:
    """A guarantee as plain data."""
    if isinstance(guarantee, Syntactic):
        facts: dict[str, Any] = {"syntactic": True, "k": guarantee.k, "also": list(guarantee.also)}
    else:
        facts = {
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "neighbours": guarantee.neighbours.value,
        }
    return {**facts, "unit": guarantee.unit, "words": str(guarantee)}


def _guarantee_from(facts: Mapping[str, Any]) -> Guarantee | Syntactic:
    """The guarantee that plain data holds."""
    if facts.get("syntactic"):
        return Syntactic(facts["k"], facts["unit"], tuple(facts["also"]))
    return Guarantee(Fraction(facts["epsilon"]), Fraction(facts["delta"]), Neighbours(facts["neighbours"]), facts["unit"])


def fingerprint(data: Mapping[str, Any]) -> str:
    """A hash of the certificate's content."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()
