"""A report on a release, to hand over: what its certificate and files say, a ledger that was asked, and public facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from cloister.handouts.attack_tables import describe_attackers
from cloister.handouts.check_words import ReleaseChecks, describe_checks
from cloister.handouts.glossary import describe_words
from cloister.handouts.impact_assessment import describe_assessment
from cloister.handouts.kinds_of_release import title_of
from cloister.handouts.not_covered import describe_limits
from cloister.handouts.promises import describe_guarantee, plain_promise, seeded_warning
from cloister.handouts.released_facts import describe_release, table_name
from cloister.handouts.spending_words import describe_spending
from cloister.privacy.guarantees import Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Fact
from cloister.report.handout_blocks import Callout, Handout, PaperBlock

__all__ = ["made_with", "release_report", "report_title"]


def release_report(release: Release, checks: ReleaseChecks, shown: Sequence[PaperBlock] = (), *, version: str) -> Handout:
    """The page for a board, a lawyer, a works council.

    Parameters
    ----------
    release
        As it was read from its files, and checked.
    checks
        What was checked, and what the ledger said.
    shown
        What the files of the release hold, as tables and pictures.
    version
        Of the program that makes the page.
    """
    return Handout(
        kicker="Release report",
        title=report_title(release),
        subtitle="What left the building, what is guaranteed, and what is not.",
        summary=tuple(_summary(release)),
        chapters=(
            describe_release(release, shown),
            describe_guarantee(release),
            describe_attackers(release),
            describe_spending(release, checks.account),
            describe_limits(release),
            describe_checks(release, checks),
            describe_assessment(release, checks),
            describe_words(release),
        ),
        closing=(made_with(version), _sources(checks)),
    )


def report_title(release: Release) -> str:
    """What was released, and of which table."""
    name, title = table_name(release), title_of(release)
    if name is None:
        return title
    return f"{title}: {name}" if release.ledger is None else f"{title} of table “{name}”"


def _sources(checks: ReleaseChecks) -> str:
    if checks.origin.ledger is None and checks.account is None:
        return "It holds nothing but what the release and its certificate say, and public facts."
    return "It holds nothing but what the release, its certificate and the holder's ledger say, and public facts."


def made_with(version: str) -> str:
    """Which program made a page, and on which day."""
    return f"Made with Cloister {version} on {datetime.now(UTC):%Y-%m-%d}."


def _summary(release: Release) -> list[PaperBlock]:
    warning = seeded_warning(release)
    blocks: list[PaperBlock] = [] if warning is None else [Callout((warning,), "problem")]
    is_syntactic = isinstance(release.guarantee, Syntactic)
    if warning is None or is_syntactic:
        blocks.append(Callout(plain_promise(release), "plain" if is_syntactic else "good"))
    return [*blocks, Fact("guarantee", str(release.guarantee)), Fact("status", release.status)]
