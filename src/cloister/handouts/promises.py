"""The guarantee of a release in plain sentences and in the exact one, and what stands above everything else on a page."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import ROUND_CEILING, Decimal
from fractions import Fraction

from cloister.handouts.guarded_columns import guards_of_values
from cloister.privacy.guarantees import Guarantee, Local, Syntactic
from cloister.privacy.release import Release
from cloister.report.document import Fact, Sentence
from cloister.report.handout_blocks import Callout, Chapter, PaperBlock, Subheading
from cloister.schema import Neighbours
from cloister.schema.numerals import amount_text, decimal_context

__all__ = ["describe_guarantee", "plain_promise", "seeded_warning", "short_unit", "times_text"]

NOT_PRIVATE = (
    "NOT PRIVATE. The noise of this release was seeded, as tests do: whoever has the seed can take it away again, and no "
    "guarantee holds. Do not hand this release over."
)
SEEDED_ORDER = "The order of the rows was seeded, as tests do: whoever has the seed knows the order of the original."
LARGEST_FACTOR = 10**6
LARGEST_EPSILON = 2_000


def plain_promise(release: Release) -> tuple[str, str]:
    """The guarantee in two plain sentences."""
    guarantee = release.promise
    if isinstance(guarantee, Syntactic):
        return _syntactic_promise(release, guarantee)
    if isinstance(guarantee, Local):
        each = times_text(max(guarantee.epsilons))
        return (
            "Every answer was changed at random before it left the person who gave it, so that whatever was sent would have been "
            f"at most {each} times as likely with any other answer to that question.",
            "This holds against everybody, the collector among them, whatever they know and however long they compute.",
        )
    change = "were not in the table" if guarantee.neighbours is Neighbours.ADD_REMOVE else "were another"
    slack = f", and beyond that by a probability of at most {amount_text(guarantee.delta)}" if guarantee.delta else ""
    return (
        f"If {_whom(guarantee.unit)} {change}, everything that was released would be nearly as likely as it is now: no outcome "
        f"would become more than {times_text(guarantee.epsilon)} times as likely{slack}.",
        "This holds whatever a reader knows already, whatever other data they have, and however long they compute.",
    )


def _syntactic_promise(release: Release, guarantee: Syntactic) -> tuple[str, str]:
    if guarantee.k is None:
        return (
            "Nothing is promised of these rows: the rules by which they were made coarser were found on other rows.",
            "How many rows look alike was counted and is told below, but not ensured.",
        )
    alike = "rows" if guarantee.unit == "row" else "people"
    also = f" Each group also holds: {', '.join(guarantee.also)}." if guarantee.also else ""
    return (
        f"Whoever knows of somebody only the columns {_listed(release.parameters.get('quasi', []))} finds at least "
        f"{guarantee.k:,} {alike} that look alike in them, and cannot tell which of them it is.{also}",
        "This is a property of the table, not differential privacy: it says nothing of somebody who knows more, and "
        + ("no more than that" if guards_of_values(release) else "nothing")
        + " of what the other columns tell.",
    )


def _listed(names: list[str]) -> str:
    return ", ".join(f'"{name}"' for name in names) or "that were treated"


def short_unit(unit: str) -> str:
    """Whom a guarantee protects, in a word: a row, a person."""
    return unit.partition(" (")[0].partition(",")[0]


def seeded_warning(release: Release) -> str | None:
    """What to say of a release that was seeded; None of another."""
    if not release.seeded:
        return None
    return SEEDED_ORDER if isinstance(release.guarantee, Syntactic) else NOT_PRIVATE


def _whom(unit: str) -> str:
    return "one row" if unit == "row" else f"all rows of one {short_unit(unit)}"


def times_text(epsilon: Fraction) -> str:
    """e to the power of epsilon, rounded up, for a person.

    >>> times_text(Fraction(1)), times_text(Fraction(1, 10)), times_text(Fraction(20)), times_text(Fraction(10**9))
    ('2.72', '1.11', '10^9', 'e^1000000000')
    """
    if epsilon > LARGEST_EPSILON:
        return f"e^{amount_text(epsilon)}"
    factor = (Decimal(epsilon.numerator) / Decimal(epsilon.denominator)).exp(decimal_context(28))
    if factor > LARGEST_FACTOR:
        return f"10^{math.ceil(factor.log10())}"
    context = decimal_context(3, ROUND_CEILING)
    return f"{float(context.plus(factor)):,.6g}" if factor < 1000 else f"{int(factor) + 1:,}"


def describe_guarantee(release: Release) -> Chapter:
    """The chapter of the guarantee."""
    warning = seeded_warning(release)
    says = [Callout((warning,), "problem")] if warning is not None else []
    if warning != NOT_PRIVATE:
        says.append(Callout(plain_promise(release)))
    exactly = "Had the noise not been seeded" if warning == NOT_PRIVATE else "Exactly"
    blocks: list[PaperBlock] = [*says, Subheading(exactly), *_exact(release)]
    return Chapter("The guarantee", tuple(blocks))


def _exact(release: Release) -> Iterator[PaperBlock]:
    guarantee = release.promise
    yield Fact("guarantee", str(guarantee))
    yield Fact("status", release.status)
    if isinstance(guarantee, Guarantee):
        differ = {
            Neighbours.ADD_REMOVE: f"that are the same but for {_whom(guarantee.unit)}, which only one of them has",
            Neighbours.REPLACE_ONE: f"of the same size that differ in nothing but the values of {_whom(guarantee.unit)}",
        }[guarantee.neighbours]
        delta = " + δ" if guarantee.delta else ""
        yield Sentence(
            f"For every two tables D and D′ {differ}, and every set S of possible releases: "
            f"P[M(D) ∈ S] ≤ e^ε · P[M(D′) ∈ S]{delta}."
        )
        yield Fact("ε (epsilon)", _exact_amount(guarantee.epsilon))
        yield Fact("δ (delta)", _exact_amount(guarantee.delta))
    elif isinstance(guarantee, Local):
        yield Sentence(
            "For every question with its ε, every two answers v and v′ to it, and every message y that may be sent: "
            "P[y | v] ≤ e^ε · P[y | v′]. For two people who differ in several answers the ε of these questions add up."
        )
        yield Fact("ε (epsilon) of one answer", "at most " + _exact_amount(max(guarantee.epsilons)))
        yield Fact("ε (epsilon) of all answers", _exact_amount(guarantee.epsilon))
    elif guarantee.k is not None:
        yield Sentence(
            f"In the published table every combination of values of {_listed(release.parameters.get('quasi', []))} that occurs "
            f"belongs to at least {guarantee.k:,} {'rows' if guarantee.unit == 'row' else 'people'}."
        )


def _exact_amount(amount: Fraction) -> str:
    text = amount_text(amount)
    return text if len(str(amount)) > 40 or str(amount) == text or Fraction(text) == amount else f"{text} ({amount})"
