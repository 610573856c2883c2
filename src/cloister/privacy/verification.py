"""What can be checked of a certificate, by whom, and what each check proves.

Anybody can check that a certificate is consistent: its steps add up, and its files are those that it lists. Who signed it
is known only against a public key, or against a ledger in which the key is registered. That it was charged is known to the
ledger alone.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from cloister.errors import BrokenChain, LedgerError, LedgerNotAsked, NotChecked, VerificationFailed
from cloister.privacy.certificate_figures import find_contradiction
from cloister.privacy.certificate_json import is_as_written
from cloister.privacy.covered_files import LONGEST_CERTIFICATE, check_output, covered_output, is_beside
from cloister.privacy.guarantees import AnyGuarantee, Claimed, Local, Syntactic
from cloister.privacy.ledger import Ledger
from cloister.privacy.ledger.accounts import Account, Entry
from cloister.privacy.ledger.replay import ChainReport
from cloister.privacy.release import Release
from cloister.sinks import CERTIFICATE_SUFFIX, everything_in, file_hash

__all__ = ["HOST", "SOURCE", "Origin", "check_consistency", "check_origin", "read_certificate_file", "unreadable_told"]

SOURCE = "synopsis_signer"  # in a result: who signed the file of the synopsis that it was derived from
HOST = "this host"
WHOSE = {
    "key": "the key that you gave",
    "ledger": "a key of the ledger",
    HOST: "the key of this host: whoever can use that wrote it",
}
LABELS = "labels.parquet"  # the one file for the holder that lies in a folder of results; version 1 did not list it


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a certificate comes from, as far as that was checked.

    Attributes
    ----------
    signer
        The public key that its signature fits; None: not signed.
    known_by
        Who knows that key: ``"key"`` (it was given), ``"ledger"`` or ``"this host"``, whose own it is; None: nobody was asked, or
        nobody could say.
    ledger
        The ledger that was asked and holds the release, or the one it was derived from; None: none was asked.
    is_derived
        Whether the ledger holds not this release but the synopsis that it was made of, at no cost.
    """

    signer: str | None
    known_by: str | None = None
    ledger: str | None = None
    is_derived: bool = False

    @property
    def is_checked(self) -> bool:
        """Whether a key that was given or a ledger vouches for it; a host that made it itself is not asked."""
        return self.known_by in ("key", "ledger") or self.ledger is not None

    def sentences(self, release: Release) -> list[str]:
        """What was checked and what was not, for a person."""
        if self.signer is None:
            signed = "Not signed: nothing vouches for its files."
        elif self.known_by is None:
            signed = f"Signed by an unknown key, {self.signer}."
        else:
            signed = f"Signed by {self.signer}, {WHOSE[self.known_by]}."
        lines = [signed]
        if self.ledger is not None and release.ledger is not None:
            facts = release.ledger
            entry = f'entry {facts["entry"]} of table "{facts["table"]}"'
            lines.append(
                f"In the ledger {self.ledger}: {f'derived from {entry}' if self.is_derived else f'{entry} is this release'}."
            )
        elif release.ledger is not None:
            lines.append("The ledger was not asked.")
        if source := self.unknown_source(release):
            lines.append(f"It is {source}.")
        if self.known_by == HOST:
            lines.append("Consistent with itself, and nobody else was asked. Give --key or --ledger to do so.")
        elif not self.is_checked:
            lines.append("Consistent with itself, origin not checked. Give --key or --ledger to check it.")
        return lines

    def unknown_source(self, release: Release) -> str | None:
        """In words: what it was derived from, where nobody who was asked vouches for that; None: it was not, or somebody does."""
        own = [self.signer] if self.signer is not None and self.known_by == HOST else []
        return None if self.is_checked else _unknown_source(release, own)

    def as_dict(self) -> dict[str, Any]:
        """The same for a program."""
        return {
            "signed": self.signer is not None,
            "signer": self.signer,
            "signer_known_by": self.known_by,
            "in_ledger": self.ledger,
            "origin_checked": self.is_checked,
        }


def check_consistency(release: Release, folder: Path, certificate: Path | None = None, output: Path | None = None) -> None:
    """Add the steps up again, and compare the files and all figures that follow from others.

    `certificate`: the file that it was read from, if it has one of its own. `output`: the file or folder that it is asked about,
    where it covers one; it may be called otherwise than when it was released.

    Raises
    ------
    VerificationFailed
        Two figures of it disagree, its steps and its guarantee above all; a file is missing, was changed, or is not listed.
    NotChecked
        The system does not let a file be read, or a folder be listed.
    """
    if contradiction := find_contradiction(release):
        raise VerificationFailed(f"this release contradicts itself: {contradiction}. Do not rely on it.")
    if others := sorted({*release.holder_files} - {LABELS}):
        raise VerificationFailed(
            f"this release names {others[0]} as a file for the holder, whose content it does not cover. None is but {LABELS}."
        )
    with unreadable_told():
        covered = covered_output(release, certificate) if output is None else output
        if covered is None:
            _check_files(release, folder, certificate)
        else:
            check_output(release, covered)


def read_certificate_file(file: Path) -> Release:
    """The certificate in a file of its own, which holds nothing but that.

    Privacy: blanks, escapes and the order of names are covered by no signature, and can carry rows.
    """
    with file.open("rb") as opened:
        text = opened.read(LONGEST_CERTIFICATE + 1)
    if len(text) > LONGEST_CERTIFICATE:
        raise VerificationFailed(
            f"{file.name} is longer than any certificate ({LONGEST_CERTIFICATE // 10**6} MB). Ask for the original."
        )
    certificate = Release.from_json(text.decode("utf-8"))
    lines = text.split(b"\r\n")  # as Python ends them on Windows: all or none
    if not is_as_written(certificate, text if b"\n" in b"".join(lines) else b"\n".join(lines)):
        raise VerificationFailed(
            f"{file.name} is not as Cloister writes it: it says what was written, with other blanks, escapes or order, which "
            "nothing vouches for and which can hide a message. Ask for the original."
        )
    return certificate


@contextmanager
def unreadable_told() -> Iterator[None]:
    """Say of what the system does not let be read that it was not checked."""
    try:
        yield
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the system refused"
        what = os.path.basename(os.fsdecode(error.filename)) if isinstance(error.filename, str | bytes) else "a file of it"
        raise NotChecked(f"the release was not checked: {what} cannot be read ({reason}).") from None


def _check_files(release: Release, folder: Path, certificate: Path | None) -> None:
    """Compare the files that a certificate lists, and refuse others beside them."""
    for name, expected in release.files.items():
        path = folder / name
        if _is_linked(folder, name):
            raise VerificationFailed(
                f"{name} is a link, or lies behind one: what it leads to was not written with the release."
            )
        if not path.is_file():
            raise VerificationFailed(f"{name} is missing beside the release.")
        if file_hash(path) != expected:
            raise VerificationFailed(f"{name} was changed after it was written: its hash differs from the release.")
    for name in _unlisted(release, folder, certificate):
        raise VerificationFailed(f"{name} is in the folder, and the certificate does not list it. Take it out.")


def _unlisted(release: Release, folder: Path, certificate: Path | None) -> list[str]:
    """What lies in the output and the certificate says nothing of; it stands beside a file or folder, or else inside a folder."""
    if certificate is None:
        return []
    listed = {*release.files, *release.holder_files, *([LABELS] if release.version == 1 else [])}
    name = certificate.name.removesuffix(CERTIFICATE_SUFFIX)
    is_named = name != certificate.name and not release.files
    if not (is_beside(release) and is_named):  # whatever it is called
        own = {certificate.name} if certificate.parent == folder else set()
        return sorted(everything_in(folder) - own - listed)
    output = folder / name
    if output.is_dir():
        return sorted({f"{name}/{file}" for file in everything_in(output)} - release.files.keys())
    return [name] if os.path.lexists(output) and name not in release.files else []


def _is_linked(folder: Path, name: str) -> bool:
    """Whether a file below a folder, or a folder on the way to it, is a symbolic link."""
    path = PurePosixPath(name)
    return any((folder / part).is_symlink() for part in (path, *path.parents[:-1]))


def check_origin(release: Release, keys: Sequence[str] = (), ledger: Ledger | None = None, own: str | None = None) -> Origin:
    """Ask the keys and the ledger that a user trusts; the signature itself was checked when the certificate was read.

    `own`: the public key of this host. Where nobody is asked, it is said whether that signed.

    Raises
    ------
    VerificationFailed
        What was asked for does not hold: another key signed, or the ledger does not hold this release.
    BrokenChain
        The ledger itself was changed.
    LedgerNotAsked
        The ledger is not there or cannot be read.
    """
    signer = None if release.signature is None else release.signature.key
    if keys and signer not in keys:
        signed = "is not signed" if signer is None else f"is signed by another key, {signer}"
        raise VerificationFailed(f"this release {signed}.")
    if ledger is None:
        if keys and (source := _unknown_source(release, keys)):
            raise VerificationFailed(f"this release is {source}. Give the key of that too, or --ledger.")
        return Origin(signer, "key" if keys else HOST if signer is not None and signer == own else None)
    report = _ask(ledger)
    is_derived = _find_entry(release, report).release_hash != release.digest()
    if release.version != 1 and signer not in report.keys and not keys:
        signed = "not signed" if signer is None else f"signed by a key that the ledger does not know, {signer}"
        raise VerificationFailed(
            f"what this release says is in the ledger, but it is {signed}: its files may be somebody else's."
        )
    return Origin(signer, "key" if keys else "ledger" if signer in report.keys else None, ledger.place, is_derived)


def _ask(ledger: Ledger) -> ChainReport:
    """All that a ledger holds, gone through again; one that cannot say anything about a release was not asked."""
    try:
        report = ledger.verify()
    except BrokenChain:
        raise
    except LedgerError as error:
        raise LedgerNotAsked(f"the ledger could not be asked: {error}") from None
    if not report.records:
        raise LedgerNotAsked(f"there is no ledger {ledger.place}, so it was not asked. Name the one that was charged.")
    return report


def _unknown_source(release: Release, keys: Sequence[str]) -> str | None:
    """In words: what it was derived from, where none of these keys signed that; None: it was not derived, or one of them did.

    A ledger that holds the source knows it by its hash.
    """
    if SOURCE not in release.result or release.result[SOURCE] in keys:
        return None
    signer = release.result[SOURCE]
    return f"derived from a release that is {f'signed by {signer}' if signer else 'not signed'}: its origin was not checked"


def _find_entry(release: Release, report: ChainReport) -> Entry:
    """The entry that was charged for this release, or for what it was derived from, in a ledger that was not cut since."""
    if release.ledger is None:
        raise VerificationFailed("this release is unledgered: no ledger knows of it.")
    facts = release.ledger
    table = unicodedata.normalize(
        "NFC", facts["table"]
    )  # as the ledger keeps it; earlier certificates have it as it was given
    entry = next((entry for entry in report.entries if entry.id == facts["entry"] and entry.table == table), None)
    if entry is None or ("head" in facts and facts["head"] != entry.digest):
        raise VerificationFailed(
            "the ledger does not hold the charge that this release names. It is another ledger, its newest records were cut off, "
            "or the release is invented."
        )
    is_heir = bool(entry.release_hash) and release.result.get("synopsis") == entry.release_hash
    if entry.release_hash != release.digest() and not (is_heir and _is_vouched(release, report)):
        why = " It says that it was derived from that one, under a key that the ledger does not know." if is_heir else ""
        raise VerificationFailed(
            f"entry {entry.id} of the ledger belongs to another release: what this one says is not what was released.{why}"
            if entry.release_hash
            else f"entry {entry.id} of the ledger was charged, and no release came of it."
        )
    if not _is_charged(release.guarantee, entry, report.accounts[entry.table]):
        raise VerificationFailed(
            f"the guarantee of this release is not what entry {entry.id} of the ledger was charged for."
        )
    return entry


def _is_charged(guarantee: AnyGuarantee, entry: Entry, account: Account) -> bool:
    """Whether an entry stands for this guarantee: a charge for the same amounts, or for a syntactic one a holder's use."""
    if isinstance(guarantee, Syntactic):
        return entry.kind == "holder"
    if isinstance(guarantee, Local | Claimed):  # nothing of it is ever charged
        return False
    promised = (guarantee.epsilon, guarantee.delta, guarantee.neighbours.value, guarantee.unit)
    return entry.kind == "charge" and promised == (entry.epsilon, entry.delta, account.neighbours, account.unit)


def _is_vouched(release: Release, report: ChainReport) -> bool:
    """Whether a key of the ledger signed it: anybody can name the hash of a synopsis as what clusters were made of.

    Version 1 has no signature. A key that a user gives vouches for the clusters, not that the ledger knows of them.
    """
    return release.signature is not None and release.signature.key in report.keys
