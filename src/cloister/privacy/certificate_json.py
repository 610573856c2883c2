"""The JSON of a certificate: release.json, and what files with their certificate inside hold.

All of it is written and read here but for the steps: each kind of event says in `events.py` how it stands in a certificate.
Certificates that were written before must be read for good: raise `VERSION` where an older Cloister would misread a new one.

Version 1 had no signature. A release that was read from one is written as one again, so that its hash stays what the
ledger holds. Version 3 has a kind of step that version 2 had not, and is written for releases with such a step alone: an older
Cloister reads all others, and of these it says that it must be updated. So is version 4, for the local model, and version 5, for
what a paper claims and nobody proved.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import lcm
from pathlib import PurePosixPath
from typing import Any, Protocol

from cloister.errors import ChangedRelease, UnsignedRelease, UsageError, warn_of_release
from cloister.privacy.events import Event, SampledEvent, event_dict, event_from, written_since
from cloister.privacy.guarantees import AnyGuarantee, Claimed, Guarantee, Local, Syntactic
from cloister.privacy.signing import Signature, fits, host_key
from cloister.report.one_line import is_one_line
from cloister.schema import Neighbours
from cloister.schema.numerals import read_exact_text
from cloister.schema.strict_json import read_json

__all__ = [
    "VERSION",
    "certificate_dict",
    "certificate_json",
    "content_hash",
    "fingerprint",
    "is_as_written",
    "read_fields",
    "version_for",
]

VERSION = 2  # of a certificate that is written, unless a step of it needs a later one
NEWEST = 5
CLAIMED = 5  # the version that has claims of papers
UNSIGNED = 1  # the version that had no signature
SUBJECT = "certificate"
NO_RELEASE, ADVICE = "this is not a Cloister release", "Give the release.json that a command wrote."
FOREIGN = f"{NO_RELEASE}. {ADVICE}"
WHAT = {"version", "kind", "status", "guarantee", "identifiability", "steps", "parameters", "result", "seeded"}
FIELDS = WHAT | {"ledger", "notes", "files", "content"}  # of version 1
CHANGED = "this release was changed after it was written: its {} differs. Ask for the original."
HEX = re.compile("[0-9a-f]{64}")
AMOUNTS = ("epsilon", "precision", "rate")  # of a step
MOST_SUM_BITS = 2**15  # of what steps have in common below the bar; those of 60 digits have some hundred
MALFORMED = (ValueError, KeyError, TypeError, AttributeError, ArithmeticError, RecursionError)  # of what JSON may hold


class Certified(Protocol):
    """The fields of a `Release`, which imports this module, and its status."""

    @property
    def kind(self) -> str: ...
    @property
    def guarantee(self) -> AnyGuarantee: ...
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
    def holder_files(self) -> tuple[str, ...]: ...
    @property
    def version(self) -> int: ...
    @property
    def signature(self) -> Signature | None: ...
    @property
    def status(self) -> str: ...


def version_for(version: int, events: Sequence[Event], guarantee: AnyGuarantee) -> int:
    """The version that a release of these steps is written as: that of an old one stays, while it can have them."""
    least = CLAIMED if isinstance(guarantee, Claimed) else written_since(events)
    return UNSIGNED if version == least == UNSIGNED else max(VERSION, least)


def certificate_dict(release: Certified) -> dict[str, Any]:
    """Plain data, exact numbers as text."""
    identifiability = release.guarantee.identifiability()
    data: dict[str, Any] = {
        "version": release.version,
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
    return data if release.version == UNSIGNED else {**data, "holder_files": list(release.holder_files)}


def content_hash(release: Certified) -> str:
    """A hash of all but the files: what was released, wherever it is written and whatever lies beside it."""
    return _content_hash(certificate_dict(release))


def certificate_json(release: Certified) -> str:
    """The text of release.json, signed and with its own hash.

    A release that was read keeps its signature while that fits; otherwise this host signs. A host that has no key, and cannot
    make one, leaves the certificate unsigned, and a warning says so: what was paid for is not lost over it.
    """
    data = _certified_dict(release)
    return _written(data, None if release.version == UNSIGNED else _sign(fingerprint(data), release.signature))


def is_as_written(release: Certified, text: bytes) -> bool:
    """Whether a text that a release was read from is the one that Cloister writes, byte for byte.

    Blanks, escapes and the order of names mean nothing to a reader, are covered by no signature, and can carry a message.
    """
    return _written(_certified_dict(release), release.signature).encode() == text


def _certified_dict(release: Certified) -> dict[str, Any]:
    """What is signed."""
    data = certificate_dict(release)
    return {**data, "content": _content_hash(data)}


def _written(data: dict[str, Any], signature: Signature | None) -> str:
    """The text of what was signed, with its signature and its hash."""
    if data["version"] != UNSIGNED:
        data = {**data, "signature": signature and {"key": signature.key, "value": signature.value}}
    return json.dumps({**data, "sha256": fingerprint(data)}, indent=2, ensure_ascii=False) + "\n"


def read_fields(text: str) -> dict[str, Any]:
    """The fields of a release, its status and its content hash, by name, from its JSON.

    One that was changed or is too new is refused. Whether the hash is that of the fields is left to whoever makes a release
    of them: what the JSON says beside them, such as the guarantee in words, follows from them.
    """
    data = read_json(text, NO_RELEASE, UsageError, ADVICE)
    try:
        is_unchanged = data.pop("sha256") == fingerprint(data)
        version = data["version"]
    except MALFORMED:
        raise UsageError(FOREIGN) from None
    if type(version) is not int or not UNSIGNED <= version <= NEWEST:
        raise UsageError(f"this release has version {version}, and this Cloister reads {NEWEST}. Update Cloister.")
    if not is_unchanged:
        raise ChangedRelease(CHANGED.format("hash"))
    try:
        signature = _read_signature(data.pop("signature")) if version != UNSIGNED else None
        is_content = data["content"] == _content_hash(data)
    except MALFORMED:
        raise UsageError(FOREIGN) from None
    if signature is not None and not fits(signature, SUBJECT, fingerprint(data)):
        raise ChangedRelease(CHANGED.format("signature"))
    if not is_content:
        raise ChangedRelease(CHANGED.format("content"))
    fields = _read_data(data, version)
    if version != version_for(version, fields["events"], fields["guarantee"]):
        raise UsageError(FOREIGN)
    _check_lengths(fields["events"])
    _check_samples(fields["events"], fields["guarantee"])
    return {**fields, "version": version, "signature": signature, "content": data["content"]}


def _read_data(data: Mapping[str, Any], version: int) -> dict[str, Any]:
    """What was signed, field by field; nothing may stand beside them."""
    known = FIELDS | ({"holder_files"} if version != UNSIGNED else set())
    try:
        if data.keys() != known:
            raise KeyError("other fields")
        return {
            "kind": _read_line(data["kind"]),
            "status": _read_line(data["status"]),
            "guarantee": _read_guarantee(data["guarantee"]),
            "events": tuple(map(_read_step, data["steps"])),
            "parameters": _read_named(data["parameters"]),
            "result": _read_named(data["result"]),
            "seeded": _read_flag(data["seeded"]),
            "ledger": None if data["ledger"] == "unledgered" else _read_ledger(data["ledger"]),
            "notes": tuple(map(_read_line, data["notes"])),
            "files": {_read_file_name(name): _read_line(digest) for name, digest in dict(data["files"]).items()},
            "holder_files": () if version == UNSIGNED else tuple(map(_read_file_name, data["holder_files"])),
        }
    except MALFORMED:
        raise UsageError(FOREIGN) from None


def fingerprint(data: Mapping[str, Any]) -> str:
    """A hash of the certificate's content."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _content_hash(data: Mapping[str, Any]) -> str:
    return fingerprint({name: value for name, value in data.items() if name not in ("files", "holder_files", "content")})


def _sign(digest: str, earlier: Signature | None) -> Signature | None:
    """The signature of a certificate with this digest; the one that it had, if that fits."""
    if earlier is not None and fits(earlier, SUBJECT, digest):
        return earlier
    try:
        return host_key().sign(SUBJECT, digest)
    except UsageError as error:
        warn_of_release(f"this certificate is not signed, so that nothing vouches for it: {error}", UnsignedRelease, 5)
        return None


def _read_signature(facts: Any) -> Signature | None:
    """Who signed, and the signature; nothing may stand beside the two, as no signature covers it."""
    if facts is None:
        return None
    if facts.keys() != {"key", "value"} or not all(isinstance(fact, str) for fact in facts.values()):
        raise KeyError("other facts")
    return Signature(facts["key"], facts["value"])


def _read_flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("not a flag")
    return value


def _read_step(facts: Mapping[str, Any]) -> Event:
    """What a step spent; its name is a text."""
    for step in (facts, *facts.get("events", ())):
        _read_line(step["step"])
    return event_from(facts)


def _read_line(text: Any) -> str:
    """A text that a reader is shown: one line, and nothing that could pass for what Cloister says itself."""
    if not is_one_line(text):
        raise ValueError("not a line of text")
    return str(text)


def _read_named(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts under names of ours; what stands under them is data, such as names of columns, which may be called anything."""
    return {_read_line(name): value for name, value in facts.items()}


def _read_ledger(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The table and the entry that were charged, and the digest of its record."""
    entry = facts["entry"]
    if facts.keys() - {"head"} != {"table", "entry"}:
        raise KeyError("other facts")
    if not is_one_line(facts["table"]) or isinstance(entry, bool) or not isinstance(entry, int) or entry < 1:
        raise ValueError("no entry")
    if "head" in facts and not HEX.fullmatch(facts["head"]):
        raise ValueError("no digest")
    return dict(facts)


def _read_file_name(name: str) -> str:
    """A file below the folder of the certificate; never one elsewhere."""
    path = PurePosixPath(_read_line(name))
    if path.is_absolute() or ".." in path.parts or not path.parts or "\\" in name or "\0" in name:
        raise ValueError("not a file of this release")
    return name


def _check_lengths(events: Sequence[Event]) -> None:
    """Refuse steps whose exact sum would take minutes: those of a plan are parts of one amount, which has few digits."""
    common = 1
    for number in _amounts(events):
        common = lcm(common, number.denominator)
        if max(common, abs(number.numerator)).bit_length() > MOST_SUM_BITS:
            raise UsageError(f"{NO_RELEASE}: its steps are numbers of more digits than any plan has. {ADVICE}")


def _amounts(events: Sequence[Event]) -> Iterator[Fraction]:
    """The exact numbers of steps."""
    for event in events:
        yield from (value for name in AMOUNTS if isinstance(value := getattr(event, name, None), Fraction))
        yield from _amounts(getattr(event, "events", ()))


def _check_samples(events: Sequence[Event], guarantee: AnyGuarantee) -> None:
    """Refuse samples that amplify nothing, so that no vault could have made them."""
    samples = [event for event in events if isinstance(event, SampledEvent)]
    problem = None
    if any(not 0 < sample.rate <= 1 for sample in samples):
        problem = "a secret sample at a rate that is not above 0 and at most 1"
    elif any(isinstance(inner, SampledEvent) for sample in samples for inner in sample.events):
        problem = "a secret sample of a secret sample"
    elif samples and isinstance(guarantee, Guarantee) and guarantee.neighbours is Neighbours.REPLACE_ONE:
        problem = "a Poisson sample under replace-one neighbours, which hides nobody"
    if problem is not None:
        raise ChangedRelease(f"this release names {problem}. No release of Cloister does: do not rely on it.")


def _guarantee_dict(guarantee: AnyGuarantee) -> dict[str, Any]:
    """A guarantee as plain data."""
    if isinstance(guarantee, Syntactic):
        facts: dict[str, Any] = {"syntactic": True, "k": guarantee.k, "also": list(guarantee.also)}
    elif isinstance(guarantee, Claimed):
        facts = {"claimed": True, "paper": guarantee.paper, "claim": guarantee.claim, "proved": guarantee.proved}
    elif isinstance(guarantee, Local):
        facts = {"local": True, "epsilon": str(guarantee.epsilon), "epsilons": [str(part) for part in guarantee.epsilons]}
    else:
        facts = {
            "epsilon": str(guarantee.epsilon),
            "delta": str(guarantee.delta),
            "neighbours": guarantee.neighbours.value,
        }
    return {**facts, "unit": guarantee.unit, "words": str(guarantee)}


def _read_guarantee(facts: Mapping[str, Any]) -> AnyGuarantee:
    """The guarantee that plain data holds."""
    unit = _read_line(facts["unit"])
    if facts.get("syntactic"):
        k = facts["k"]
        if k is not None and (type(k) is not int or k < 1):
            raise ValueError("no k")
        return Syntactic(k, unit, tuple(map(_read_line, facts["also"])))
    if facts.get("claimed"):
        return Claimed(_read_line(facts["paper"]), _read_line(facts["claim"]), _read_line(facts["proved"]), unit)
    if facts.get("local"):
        epsilons = tuple(map(read_exact_text, facts["epsilons"]))
        if not epsilons or min(epsilons) <= 0:
            raise ValueError("no amounts of a local guarantee")
        return Local(epsilons, unit)
    epsilon, delta = read_exact_text(facts["epsilon"]), read_exact_text(facts["delta"])
    if epsilon < 0 or not 0 <= delta < 1:
        raise ValueError("no amounts of a guarantee")
    return Guarantee(epsilon, delta, Neighbours(facts["neighbours"]), unit)
