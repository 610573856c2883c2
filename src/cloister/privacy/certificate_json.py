"""The JSON of a certificate: release.json, and what files with their certificate inside hold.

All of it is written and read here but for the steps: each kind of event says in `events.py` how it stands in a certificate.
Certificates that were written before must be read for good: raise `VERSION` where an older Cloister would misread a new one.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, Protocol

from cloister.errors import UsageError
from cloister.privacy.events import Event, event_dict, event_from
from cloister.privacy.guarantees import Guarantee, Syntactic
from cloister.schema import Neighbours
from cloister.schema.numerals import read_exact_text

__all__ = ["certificate_dict", "certificate_json", "content_hash", "fingerprint", "read_fields"]

VERSION = 1
FOREIGN = "this is not a Cloister release. Give the release.json that a command wrote."
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)  # of what JSON may hold


class Certified(Protocol):
    """The fields of a `Release`, which imports this module, and its status."""

    @property
    def kind(self) -> str: ...
    @property
    def guarantee(self) -> Guarantee | Syntactic: ...
    @property
    def events(self) -> tuple[Event, ...]: ...
    @property
    def parameters(self) -> Mapping[str, Any]: ...
    @property
    def result(self) -> Mapping[str, Any]: ...
    @property
    def seeded(self) -> bool: ...
    @property
    def ledger(self) -> Mapping[str, Any] | None: ...
    @property
    def notes(self) -> tuple[str, ...]: ...
    @property
    def files(self) -> Mapping[str, str]: ...
    @property
    def status(self) -> str: ...


def certificate_dict(release: Certified) -> dict[str, Any]:
    """Plain data, exact numbers as text."""
    identifiability = release.guarantee.identifiability()
    return {
        "version": VERSION,
        "kind": release.kind,
        "status": release.status,
        "guarantee": _guarantee_dict(release.guarantee),
        "identifiability": identifiability and {str(m): rho for m, rho in identifiability.items()},
        "steps": [event_dict(event) for event in release.events],
        "parameters": dict(release.parameters),
        "result": dict(release.result),
        "seeded": release.seeded,
        "ledger": dict(release.ledger) if release.ledger else "unledgered",
        "notes": list(release.notes),
        "files": dict(release.files),
    }


def content_hash(release: Certified) -> str:
    """A hash of all but the files."""
    data = certificate_dict(release)
    del data["files"]
    return fingerprint(data)


def certificate_json(release: Certified) -> str:
    """The text of release.json, with its own hash."""
    data = {**certificate_dict(release), "content": content_hash(release)}
    return json.dumps({**data, "sha256": fingerprint(data)}, indent=2, ensure_ascii=False) + "\n"


def read_fields(text: str) -> dict[str, Any]:
    """The fields of a release, by name, from its JSON; one that was changed or is of another version is refused."""
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
        return {
            "kind": str(data["kind"]),
            "guarantee": _read_guarantee(data["guarantee"]),
            "events": tuple(event_from(event) for event in data["steps"]),
            "parameters": dict(data["parameters"]),
            "result": dict(data["result"]),
            "seeded": bool(data["seeded"]),
            "ledger": None if data["ledger"] == "unledgered" else dict(data["ledger"]),
            "notes": tuple(map(str, data["notes"])),
            "files": {str(name): str(digest) for name, digest in dict(data["files"]).items()},
        }
    except MALFORMED:
        raise UsageError(FOREIGN) from None


def fingerprint(data: Mapping[str, Any]) -> str:
    """A hash of the certificate's content."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


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


def _read_guarantee(facts: Mapping[str, Any]) -> Guarantee | Syntactic:
    """The guarantee that plain data holds."""
    if facts.get("syntactic"):
        return Syntactic(facts["k"], facts["unit"], tuple(facts["also"]))
    return Guarantee(
        read_exact_text(facts["epsilon"]),
        read_exact_text(facts["delta"]),
        Neighbours(facts["neighbours"]),
        facts["unit"],
    )
