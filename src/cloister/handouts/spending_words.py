"""How the budget of a release was spent, step by step, and what its ledger has left."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from cloister.privacy.budgets import ApproxDP, Budget, PureDP
from cloister.privacy.events import Event
from cloister.privacy.guarantees import Guarantee, Local, Syntactic
from cloister.privacy.ledger.accounts import Account
from cloister.privacy.release import Release
from cloister.report.document import Fact, Sentence, TextTable
from cloister.report.handout_blocks import Callout, Chapter, PaperBlock, Subheading
from cloister.report.numbers import percent
from cloister.schema.numerals import amount_text

__all__ = ["describe_spending"]

NOISE = {
    "laplace": "Laplace noise",
    "gaussian": "Gaussian noise",
    "exponential": "a random choice, good ones more likely",
    "sample": "on a secret sample",
    "local": "changed at random by whoever answered",
}
PURPOSES = {  # by the first word of a step's name
    "size": "how many rows there are",
    "moments": "where the rows lie and how far apart, roughly",
    "bounds": "between which values the rows lie",
    "tails": "between which values the rows lie",
    "bands": "which part of its range a column uses",
    "ranges": "where the values of each column lie",
    "votes": "how many rows are nearest to each of many candidate points",
    "seeding": "where clusters might be",
    "look": "where clusters might be",
    "lloyd": "how far each centre should move",
    "round": "how far each centre should move, and its most common categories",
    "subspace": "in which directions the rows differ most",
    "loss": "how far the rows are from their centres, on average",
    "marginals": "how often each value of each column occurs",
    "clusters": "how columns depend on each other, cluster by cluster",
    "pair": "how two columns depend on each other",
    "pairs": "how pairs of columns depend on each other",
    "level": "how many rows lie in each cell",
    "grid": "how many rows lie in each cell",
    "cells": "how many rows lie in each cell",
    "tree": "which cells to divide further",
    "leaves": "how many rows lie in each cell",
    "table": "the numbers of the table",
    "margins": "the totals of the table",
    "missing": "how many values were missing",
    "choice": "the value that was chosen",
    "rows": "how many rows there are",
    "counts": "how many rows there are of each sort",
    "sums": "sums of values",
}


def describe_spending(release: Release, account: Account | None) -> Chapter:
    """The chapter of the budget; `account`: of the ledger, where that was asked."""
    heading = "How the budget was spent"
    guarantee = release.promise
    if isinstance(guarantee, Syntactic):
        spent: list[PaperBlock] = [
            Sentence("No budget was spent: nothing in this release has noise, and no epsilon covers what left in this way.")
        ]
    else:
        spent = list(_steps(release, guarantee))
    return Chapter(heading, (*spent, Subheading("What is left"), *_left(release, account)))


def _steps(release: Release, guarantee: Guarantee | Local) -> Iterator[PaperBlock]:
    epsilon, delta = guarantee.epsilon, guarantee.delta
    budget: Budget = ApproxDP(epsilon, delta) if delta else PureDP(epsilon)
    heads: tuple[str, ...]
    if isinstance(guarantee, Local):
        heads, first = ("question", "how it was protected", "spent"), "A person who answered every question spent, at most:"
    else:
        heads, first = (
            ("step", "what it measured", "how it was protected", "spent"),
            "Each step looked at the rows once, and spent:",
        )
    rows = [list(row) for event in release.events for row in _event_rows(event, budget, guarantee)]
    yield Sentence(first)
    yield TextTable.of(heads, rows, align="left")
    whole = f"epsilon {amount_text(epsilon)}" + (f" and delta {amount_text(delta)}" if delta else "")
    yield Sentence(f"Added up again when this report was made, the steps stay within {whole}.")


def _event_rows(event: Event, budget: Budget, guarantee: Guarantee | Local, inside: str = "") -> Iterator[tuple[str, ...]]:
    protected = NOISE.get(event.kind, event.kind) + inside
    if isinstance(guarantee, Local):
        yield event.step, protected, event.words(budget, guarantee.unit)
        return
    nested: tuple[Event, ...] = getattr(event, "events", ())
    share = _share(event, budget) if not inside else ""
    yield event.step, _purpose(event.step), protected, event.words(budget, guarantee.unit) + share
    for part in nested:
        yield from _event_rows(part, budget, guarantee, ", on the sample")


def _share(event: Event, budget: Budget) -> str:
    epsilon: Fraction = event.cost().epsilon
    return f" ({percent(float(epsilon / budget.epsilon))})" if epsilon and budget.epsilon else ""


def _purpose(step: str) -> str:
    return PURPOSES.get(step.partition(" ")[0], "a figure that the next steps needed")


def _left(release: Release, account: Account | None) -> Iterator[PaperBlock]:
    if isinstance(release.guarantee, Local):
        yield Sentence(
            "Nothing is charged in the local model: what a person revealed, they revealed when they answered. Answers to other "
            "collections add to it."
        )
        return
    if release.ledger is None:
        yield Callout(
            (
                "No ledger kept this release.",
                "What was released of the same table before and afterwards adds up all the same, and nobody here adds it up.",
            ),
            "problem",
        )
        return
    entry = f'entry {release.ledger["entry"]} of table "{release.ledger["table"]}" in the ledger of the holder'
    yield Sentence(f"The certificate names {entry}.")
    if account is None:
        yield Sentence("The ledger was not asked when this report was made, so nothing is said here of what is left.")
        return
    yield from _account_facts(account)


def _account_facts(account: Account) -> Iterator[PaperBlock]:
    yield Sentence("As the ledger said when this report was made:")
    for name, total, spent, left in (
        ("epsilon", account.epsilon_total, account.epsilon_spent, account.epsilon_left),
        ("delta", account.delta_total, account.delta_spent, account.delta_left),
    ):
        if total or spent:
            yield Fact(name, f"{amount_text(left)} left of {amount_text(total)}; {amount_text(spent)} spent")
    yield Fact("private releases", f"{account.releases:,}")
    yield Fact("uses by the holder", f"{account.holder_uses:,}")
    if account.holder_uses:
        yield Sentence(
            "Uses by the holder are exact results, such as risks, labels or k-anonymous tables. What was spent covers none that "
            "left the building."
        )
