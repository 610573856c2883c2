"""How a reader checks a release, and which checks were made when the report was."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cloister.privacy.ledger.accounts import Account
from cloister.privacy.release import Release
from cloister.privacy.verification import HOST, SOURCE, Origin
from cloister.report.document import Fact, Sentence, TextTable
from cloister.report.handout_blocks import Chapter, CommandLine, PaperBlock, Subheading

__all__ = ["ReleaseChecks", "describe_checks", "ledger_words"]


@dataclass(frozen=True, slots=True)
class ReleaseChecks:
    """What was checked of a release that is consistent with itself and with its files.

    Attributes
    ----------
    name
        Of what was checked, as its reader has it: a file or a folder, without the folders above it.
    origin
        Who vouches for it, as far as somebody was asked.
    account
        What the ledger holds of its table; None: the ledger was not asked.
    """

    name: str
    origin: Origin
    account: Account | None = None


def describe_checks(release: Release, checks: ReleaseChecks) -> Chapter:
    """The chapter of checks."""
    return Chapter("How to check it", tuple(_blocks(release, checks)))


def _blocks(release: Release, checks: ReleaseChecks) -> Iterator[PaperBlock]:
    origin = checks.origin
    yield Sentence(
        "This page is a reading of the release's certificate, and proves nothing by itself. Check the release, with the command "
        "below, where its files are:"
    )
    yield CommandLine(f"cloister verify {shlex.quote(checks.name)}")
    if origin.signer is not None:
        yield Sentence("Ask the holder by another way for their public key, and check that it signed:")
        yield CommandLine(f"cloister verify {shlex.quote(checks.name)} --key {origin.signer}")
    if release.ledger is not None:
        charged = "what the release was derived from" if is_derived(release) else "the release"
        yield Sentence(f"Whoever may read the holder's ledger can check that {charged} was charged:")
        yield CommandLine(f"cloister verify {shlex.quote(checks.name)} --ledger URL")
    yield Subheading("What was checked when this report was made")
    yield TextTable.of(("check", "what it proves", "was it made?"), list(_made(release, origin)), align="left")
    if release.files:
        yield Subheading("SHA-256 of the files of the release, and of what its certificate says")
    for name, digest in release.files.items():
        yield Fact(name, digest)
    yield Fact("content of the certificate", release.digest())


def _made(release: Release, origin: Origin) -> Iterator[tuple[str, str, str]]:
    files = " and its files are those that it lists" if release.files else ""
    yield ("consistency", f"the certificate adds up{files}; anybody can check this", "yes, it holds")
    known = {
        None: "the signature fits; whose key it is was not checked",
        HOST: "the signature fits the key of the host that made this report; nobody else was asked",
        "key": "yes: a key that was given signed it",
        "ledger": "yes: a key of the ledger signed it",
    }[origin.known_by]
    yield (
        "signature",
        "who signed it, against a key that you trust",
        "it is not signed" if origin.signer is None else known,
    )
    if is_derived(release):
        yield ("source", "who signed what it was derived from", _source_words(release, origin))
    if release.ledger is None:
        yield ("ledger", "that it was charged", "no: no ledger kept it")
    elif origin.ledger is None:
        yield ("ledger", "that it was charged", "no: the ledger was not asked")
    else:
        yield (
            "ledger",
            "that it was charged",
            "yes: what it was derived from is in it" if origin.is_derived else "yes: it is in it",
        )


def is_derived(release: Release) -> bool:
    """Whether it says that it was made of another release, at no cost."""
    return SOURCE in release.result


def _source_words(release: Release, origin: Origin) -> str:
    if origin.ledger is not None:
        return "the ledger holds it, by its hash"
    if (unknown := origin.unknown_source(release)) is not None:
        return f"no: this release is {unknown}"
    return (
        "yes: a key that was given signed it" if origin.known_by == "key" else "the key of this host; nobody else was asked"
    )


def ledger_words(release: Release, origin: Origin) -> str:
    """What is known of the entry in the ledger that a certificate names: what it says itself, or what the ledger said."""
    if origin.ledger is None:
        what = "what it was derived from is" if is_derived(release) else "the release is"
        return f"The certificate says that {what} written in the holder's ledger. The ledger was not asked."
    holds = "what this release was derived from, and not the release itself" if origin.is_derived else "this release"
    return f"The holder's ledger was asked: it holds {holds}, and its entries are chained without a gap."
