"""What an attacker could do with a release at most, in numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from cloister.handouts.guarded_columns import guarded_columns, guards_of_values, unguarded_columns
from cloister.handouts.promises import short_unit
from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.guarantees import Guarantee, Local, Syntactic
from cloister.privacy.meaning import WORLDS, Posterior, attacks
from cloister.privacy.release import Release
from cloister.report.document import Sentence, TextTable
from cloister.report.handout_blocks import Callout, Chapter, PaperBlock
from cloister.report.numbers import percent, posterior_percent
from cloister.schema import Neighbours

__all__ = ["describe_attackers"]

CAREFUL = 5  # an epsilon from which on a fifty-fifty guess can become near certainty


def describe_attackers(release: Release) -> Chapter:
    """The chapter of attackers."""
    heading = "What an attacker could do"
    guarantee = release.promise
    if isinstance(guarantee, Syntactic):
        return Chapter(heading, tuple(_linking(release, guarantee)))
    if release.seeded:
        return Chapter.of(heading, Callout(("Nothing bounds what an attacker could do: the noise was seeded.",), "problem"))
    if isinstance(guarantee, Local):
        return Chapter(heading, tuple(_local(guarantee)))
    return Chapter(heading, tuple(_private(release, guarantee)))


def _private(release: Release, guarantee: Guarantee) -> Iterator[PaperBlock]:
    yield Sentence(
        "The figures below are bounds. They hold for an attacker who knows all of the table but one "
        f"{short_unit(guarantee.unit)}, and who reads the release in the best possible way."
    )
    if guarantee.delta:
        yield Sentence(
            "How sure somebody can become of a value has no bound where delta is above 0: with a probability of up to delta a "
            "release may say more than epsilon allows. How often the best attacker is right has one:"
        )
    else:
        stated = release.parameters.get("identifiability")
        yield _posteriors(guarantee.epsilon, guarantee.neighbours, _stated_worlds(stated))
        if guarantee.neighbours is Neighbours.ADD_REMOVE:
            yield Sentence("To swap one value for another is to remove a row and add one: the epsilon counts twice here.")
    yield _found(attacks(_budget(guarantee.epsilon, guarantee.delta), guarantee.neighbours))
    if guarantee.epsilon >= CAREFUL:
        yield Callout(("At this epsilon a fifty-fifty guess about somebody can become near certainty.",), "problem")


def _stated_worlds(stated: Any) -> tuple[int, ...]:
    """The numbers of worlds that a rho was stated for, as the certificate has them."""
    worlds = stated.get("worlds") if isinstance(stated, dict) else None
    return (worlds,) if isinstance(worlds, int) and worlds >= 2 else ()


def _local(guarantee: Local) -> Iterator[PaperBlock]:
    yield Sentence(
        "The figures below are bounds. They hold for whoever sees what a person sent, the collector above all, and reads it in "
        "the best possible way."
    )
    most = max(guarantee.epsilons)
    yield _posteriors(most, Neighbours.REPLACE_ONE, title="How sure can somebody become of one answer, at most?")
    if len(guarantee.epsilons) > 1:
        title = f"... and of all {len(guarantee.epsilons)} answers together?"
        yield _posteriors(guarantee.epsilon, Neighbours.REPLACE_ONE, title=title)
    found = attacks(PureDP(most), Neighbours.REPLACE_ONE)
    yield _found([{**attack, "question": "which of two answers was given"} for attack in found])


def _linking(release: Release, guarantee: Syntactic) -> Iterator[PaperBlock]:
    alike = "rows" if guarantee.unit == "row" else "people"
    rows = []
    for words, size in (
        (f"smallest group of {alike} that look alike", release.result.get("smallest")),
        ("average group", release.result.get("average")),
        ("promised smallest group", guarantee.k),
    ):
        if isinstance(size, int | float) and size > 0:
            rows.append([words, f"{size:,.1f}" if isinstance(size, float) else f"{size:,}", percent(1 / size)])
    if rows:
        yield Sentence(
            "Somebody who knows that a person is in the table, and knows the person's values in the treated columns, looks for "
            "the person's row:"
        )
        yield TextTable.of(
            ("group", alike, "chance to pick the right one"), rows, title="Finding a row by the treated columns"
        )
    yield Callout(("No number bounds what an attacker learns who knows more than that.", _beyond(release)), "problem")


def _beyond(release: Release) -> str:
    """What somebody learns from the columns that were not treated."""
    others = "Somebody who knows further columns, or another table about the same people, may single a row out."
    guards = guards_of_values(release)
    if not guards:
        return f"The rows of a group may all share a value in another column: then it is known of each of them. {others}"
    bounded = f"What a group tells of {', '.join(guarded_columns(release))} is bounded: {'; '.join(guards)}."
    if unguarded_columns(release) == ():
        return f"{bounded} {others}"
    return f"{bounded} In any other column its rows may all share a value: then it is known of each of them. {others}"


def _posteriors(
    epsilon: Fraction,
    neighbours: Neighbours,
    stated: tuple[int, ...] = (),
    title: str = "How sure can somebody become, at most?",
) -> TextTable:
    rows = [Posterior.of(epsilon, worlds, neighbours) for worlds in sorted({*WORLDS, *stated})]
    cells = [[f"{row.worlds:,}", posterior_percent(row.before), posterior_percent(row.after)] for row in rows]
    return TextTable.of(
        ("values that are equally likely beforehand", "sure of the right one before", "after the release, at most"),
        cells,
        title=title,
        align="right",
    )


def _found(found: list[dict[str, Any]]) -> TextTable:
    cells = [[attack["question"], posterior_percent(attack["true_positives"])] for attack in found]
    return TextTable.of(
        ("what is to be found out", "found in at most"),
        cells,
        title="The best attacker, who may accuse 5% of the others wrongly",
    )


def _budget(epsilon: Fraction, delta: Fraction) -> Budget:
    return ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
