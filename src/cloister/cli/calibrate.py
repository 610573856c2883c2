"""``cloister calibrate``: what a privacy number means."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cloister.cli import flags, output
from cloister.report.document import Block, Document, Section, Sentence, TextTable
from cloister.report.numbers import posterior_percent
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.privacy.budgets import Budget
    from cloister.privacy.meaning import Posterior
    from cloister.schema import Neighbours

EXAMPLE = "Example: cloister calibrate --rho 0.05 --worlds 10001 --releases 3"

CAREFUL = 5  # an epsilon from which on a fifty-fifty guess can become near certainty
BLIND = "equally likely values", "a blind guess"


@flags.takes_groups
def calibrate(
    *,
    spending: flags.Spending,
    neighbours: flags.NeighbourRelation = None,
    releases: Annotated[int, typer.Option(metavar="N", help="What so many releases of it mean together.")] = 1,
    everywhere: flags.Everywhere,
) -> None:
    """Say what an epsilon or a rho means: the other number, how far a guess can move, and what an attacker finds."""
    from cloister.privacy import meaning
    from cloister.privacy.budgets import Identifiability, relation

    budget = spending.budget()
    chosen = relation(budget, neighbours)
    count = meaning.read_releases(releases)
    if isinstance(budget, Identifiability) and budget.is_open:
        rows = meaning.epsilons_of_rho(budget.rho, count)
        facts: dict[str, Any] = {"budget": str(budget), "neighbours": chosen.value, "releases": count}
        facts |= {"epsilons": [row.as_dict(count) for row in rows]}
        document = describe_rho(budget, rows, count)
    else:
        sure, found = meaning.posteriors(budget, chosen, count), meaning.attacks(budget, chosen, count)
        facts = {"budget": str(budget), "epsilon": str(budget.epsilon), "neighbours": chosen.value, "releases": count}
        rows_of_meaning = None if sure is None else [row.as_dict(count) for row in sure]
        facts |= {"meaning": rows_of_meaning, "best_attacker": found, "parts": parts_dict(budget)}
        document = describe(budget, chosen, sure, found, count)
    if everywhere.as_json:
        output.print_json(facts)
    else:
        print_document(document)


def parts_dict(budget: Budget) -> dict[str, dict[str, Any]] | None:
    """The two parts of a mixed table's budget, with what holds of each after both; None of another budget."""
    from cloister.privacy.budgets import MixedIdentifiability

    if not isinstance(budget, MixedIdentifiability):
        return None
    holds = budget.posteriors()
    return {
        name: {"rho": float(part.rho), "worlds": part.worlds, "epsilon": float(part.epsilon), "holds": holds[name]}
        for name, part in budget.parts().items()
    }


def describe(
    budget: Budget,
    neighbours: Neighbours,
    sure: Sequence[Posterior] | None,
    found: Sequence[dict[str, Any]],
    releases: int,
) -> Document:
    """What the budget means, as a document."""
    blocks: list[Block] = [Sentence(f"{budget}, {neighbours.value} neighbours")]
    if parts := parts_dict(budget):
        heads = ("part", "rho", "among", "epsilon", "what holds after both")
        cells = [
            [name, f"{part['rho']:g}", f"{part['worlds']:,}", f"{part['epsilon']:.6g}", rounded_up(part["holds"])]
            for name, part in parts.items()
        ]
        blocks.append(TextTable.of(heads, cells, title="Two parts of the same rows: their epsilons add", align="right"))
    if sure is None:
        blocks.append(Sentence("With a delta no bound on a posterior holds: a failure of probability delta has no limit."))
    else:
        blocks += describe_posteriors(sure, releases)
    blocks.append(describe_attacks(found, releases))
    blocks += sentences(budget, neighbours, sure, releases)
    return Document((Section(tuple(blocks)),))


def rounded_up(probability: float) -> str:
    """A bound on a posterior that is not rounded below what holds."""
    return f"{math.ceil(1e4 * probability) / 100:.4g}%"


def describe_posteriors(rows: Sequence[Posterior], releases: int) -> Iterator[Block]:
    """How sure somebody can become, by the number of worlds."""
    heads, columns = several([*BLIND, "after the release"], releases)
    cells = [[f"{row.worlds:,}", posterior_percent(row.before), posterior_percent(row.after), *columns(row)] for row in rows]
    yield TextTable.of(heads, cells, title="How sure can somebody become, at most?", align="right")


def describe_rho(budget: Budget, rows: Sequence[Posterior], releases: int) -> Document:
    """What a rho means whose worlds are not stated."""
    from cloister.privacy.attacker import true_positive_rate

    heads, columns = several([*BLIND, "epsilon", "found at 5% false alarms"], releases)
    cells = [
        [
            f"{row.worlds:,}",
            posterior_percent(row.before),
            f"{float(row.epsilon):.6g}",
            posterior_percent(true_positive_rate(row.epsilon)),
            *columns(row),
        ]
        for row in rows
    ]
    table = TextTable.of(heads, cells, title="Which epsilon is it, among so many values?", align="right")
    note = "Give --worlds for one of them. A release counts the values of the columns that it uses, and takes the fewest."
    return Document((Section((Sentence(f"{budget}, replace-one neighbours"), table, Sentence(note))),))


def several(heads: list[str], releases: int) -> tuple[list[str], Any]:
    """The columns that several releases add: what holds of all of them, and what is printed in the paper."""
    if releases == 1:
        return heads, lambda row: []
    more = [f"after {releases:,} releases", "as the paper prints it"]
    return [*heads, *more], lambda row: [posterior_percent(row.composed), row.printed]


def describe_attacks(found: Sequence[dict[str, Any]], releases: int) -> Block:
    """What the best attacker finds."""
    cells = [[attack["question"], posterior_percent(attack["true_positives"])] for attack in found]
    after = "" if releases == 1 else f", after {releases:,} releases"
    heads = ("what is to be found out", "found at most")
    return TextTable.of(heads, cells, title=f"The best attacker, at 5% false alarms{after}", align="left")


def sentences(budget: Budget, neighbours: Neighbours, sure: Sequence[Posterior] | None, releases: int) -> Iterator[Sentence]:
    """What to know of the numbers above."""
    from cloister.schema import Neighbours

    if sure is not None and neighbours is Neighbours.ADD_REMOVE:
        yield Sentence("To swap one value for another is to remove a row and add one: the epsilon counts twice here.")
    if sure is not None and releases > 1:
        yield Sentence(
            "Several releases: odds multiply, so epsilons add. The paper prints m^(n-1) times the product of the rhos, which "
            "is often above 1, where it says nothing."
        )
    if sure is not None and releases * budget.epsilon >= CAREFUL:
        yield Sentence(
            "Careful: this bounds one exact value among many, not every statement about a person. "
            f"A fifty-fifty guess can become {posterior_percent(sure[0].composed)}."
        )
