"""What a release says towards a data protection impact assessment: facts that are known, and named blanks for the rest.

The sections follow Article 35(7) GDPR. No sentence here says that something is lawful, necessary or anonymous: that is for the
controller to decide.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from cloister.handouts.check_words import ReleaseChecks, ledger_words
from cloister.handouts.guarded_columns import guarded_columns, guards_of_values
from cloister.handouts.kinds_of_release import kind_of
from cloister.handouts.promises import plain_promise, seeded_warning
from cloister.handouts.released_facts import column_facts
from cloister.privacy.guarantees import Local, Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Fact, Sentence
from cloister.report.handout_blocks import Blank, Bullets, Chapter, PaperBlock, Subheading

__all__ = ["describe_assessment"]


def describe_assessment(release: Release, checks: ReleaseChecks) -> Chapter:
    """The chapter for an assessment."""
    return Chapter("For a data protection impact assessment", tuple(_blocks(release, checks)))


def _blocks(release: Release, checks: ReleaseChecks) -> Iterator[PaperBlock]:
    yield Sentence(
        "What the release itself shows is filled in. What it cannot know is left blank and is for the controller. Nothing here "
        "says that the release is lawful, necessary, or anonymous in the sense of a law."
    )
    yield Subheading("1. The processing and its purposes")
    yield Fact("what is done", kind_of(release).holds)
    yield from column_facts(release)
    yield Blank("Purpose of the release and legitimate interest pursued")
    yield Blank("Controller, processors and contact of the data protection officer")
    yield Blank("Whose data it is, where it comes from, and on which legal ground it is processed")
    yield Blank("Recipients, and how long the original and the release are kept")
    yield Subheading("2. Necessity and proportionality")
    yield Fact("what is not released", " ".join(kind_of(release).leaves_out) or "see the first chapter")
    yield Blank("Why this release, with this precision and this budget, is needed for the purpose")
    yield Blank("Alternatives that were considered")
    yield Subheading("3. Risks to the people concerned")
    yield Bullets.of(list(_risks(release)))
    yield Blank("Severity and likelihood of each risk for the people concerned", "from the figures of the chapters above")
    yield Blank("What could be inferred about groups, and whom that could harm")
    yield Subheading("4. Measures")
    yield Bullets.of(list(_measures(release, checks)))
    yield Blank("Further measures", "contracts with recipients, access, deletion, information of the people concerned")
    yield Subheading("5. Views and decision")
    yield Blank("Views of the people concerned or their representatives", "such as a works council")
    yield Blank("Advice of the data protection officer")
    yield Blank("Decision, date and signature")


def _risks(release: Release) -> Iterator[str]:
    if (warning := seeded_warning(release)) is not None:
        yield warning
    if isinstance(release.guarantee, Syntactic):
        yield from _syntactic_risks(release, release.guarantee)
    elif release.seeded:
        yield "Nothing bounds singling out, linking or inference: the noise was seeded."
    else:
        yield 'Singling out and inference about one person are bounded as the chapter "What an attacker could do" says.'
        yield "Inference about groups is not bounded; it is what the release is for."
    if isinstance(release.guarantee, Local):
        yield "Whether and when somebody took part is not covered."
    elif release.ledger is None:
        yield "No ledger adds up what is released of the same table."
    yield 'What is not covered stands in the chapter "What it does not protect from".'


def _syntactic_risks(release: Release, guarantee: Syntactic) -> Iterator[str]:
    """Inference is bounded for the columns that a guard looks at, and for no others."""
    if guarantee.k is None:
        yield "Singling out, linking and inference are not bounded: no k is promised."
        return
    yield "Singling out and linking are bounded for the treated columns alone, against who knows no others."
    if untouched := release.result.get("untouched"):
        names = ", ".join(map(str, untouched))
        yield f"Published as they are: {names}. Whoever knows one of them of somebody may find the row by it."
    if guards := guards_of_values(release):
        names = ", ".join(guarded_columns(release))
        yield f"Inference of {names} is bounded against the same: {'; '.join(guards)}. Inference of other columns is not."
    else:
        yield "Inference is not bounded: where the rows of a group share a value of another column, it is known of each of them."


def _measures(release: Release, checks: ReleaseChecks) -> Iterator[str]:
    warning = seeded_warning(release)
    if warning is None or isinstance(release.guarantee, Syntactic):
        yield from plain_promise(release)
    dropped: Mapping[str, Any] = release.result
    if names := dropped.get("dropped"):
        yield f"Left out altogether: {', '.join(map(str, names))}."
    if release.ledger is not None:
        yield ledger_words(release, checks.origin)
    if release.signature is not None:
        lists = ", and lists the hashes of its files" if release.files else ""
        yield f"The certificate is signed{lists}: a change shows when it is verified."
