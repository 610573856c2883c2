"""How a reader checks a release, and which checks were made when the report was."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from cloister.privacy.ledger.accounts import Account
from cloister.privacy.release import Release
from cloister.privacy.verification import HOST, Origin
from cloister.report.document import Fact, Sentence, TextTable
from cloister.report.handout_blocks import Chapter, CommandLine, PaperBlock, Subheading

__all__ = ["ReleaseChecks", "describe_checks"]


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
        yield Sentence("Whoever may read the holder's ledger can check that the release was charged:")
        yield CommandLine(f"cloister verify {shlex.quote(checks.name)} --ledger URL")
    yield Subheading("What was checked when this report was made")
    yield TextTable.of(("check", "what it proves", "was it made?"), list(_made(release, origin)), align="left")
    if release.files:
        rows = [[name, digest] for name, digest in release.files.items()]
        yield TextTable.of(("file", "SHA-256"), rows, title="Files of the release", align="left")
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
