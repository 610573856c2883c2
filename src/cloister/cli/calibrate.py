"""``cloister calibrate``: what a privacy number means."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cloister.cli import flags, output
from cloister.report.document import Block, Document, Section, Sentence, TextTable
from cloister.report.numbers import posterior_percent
from cloister.report.terminal import print_document

if TYPE_CHECKING:
    from cloister.privacy.budgets import Budget
    from cloister.schema import Neighbours

EXAMPLE = "Example: cloister calibrate --rho 0.05 --worlds 10001"

WORLDS = (2, 10, 100, 1_000, 10_001, 1_000_000)  # numbers of equally likely values that are shown


@flags.takes_groups
def calibrate(
    *,
    spending: flags.Spending,
    neighbours: flags.NeighbourRelation = None,
    everywhere: flags.Everywhere,
) -> None:
    """Say what an epsilon or a rho means: the other number, and how far a guess about somebody can move."""
    from cloister.privacy.budgets import relation

    budget = spending.budget()
    chosen = relation(budget, neighbours)
    rows = meaning(budget, chosen)
    if everywhere.as_json:
        facts = {"budget": str(budget), "epsilon": str(budget.epsilon), "neighbours": chosen.value, "meaning": rows}
        output.print_json(facts)
    else:
        print_document(describe(budget, chosen, rows))


def meaning(budget: Budget, neighbours: Neighbours) -> list[dict[str, Any]] | None:
    """For several numbers of equally likely worlds: the posterior bound; None when there is a delta."""
    from cloister.privacy.identifiability import rho_from_epsilon

    if budget.delta:
        return None
    shown = sorted({*WORLDS, budget.worlds} if hasattr(budget, "worlds") else WORLDS)
    return [{"worlds": m, "before": 1 / m, "after": rho_from_epsilon(budget.epsilon, m, neighbours)} for m in shown]


def describe(budget: Budget, neighbours: Neighbours, rows: list[dict[str, Any]] | None) -> Document:
    """What the budget means, as a document."""
    from cloister.schema import Neighbours

    blocks: list[Block] = [Sentence(f"{budget}, {neighbours.value} neighbours")]
    if rows is None:
        blocks.append(Sentence("With a delta no bound on a posterior holds: a failure of probability delta has no limit."))
        return Document((Section(tuple(blocks)),))
    cells = [[f"{row['worlds']:,}", posterior_percent(row["before"]), posterior_percent(row["after"])] for row in rows]
    heads = ("equally likely values", "a blind guess", "after the release")
    blocks.append(TextTable.of(heads, cells, title="How sure can somebody become, at most?", align="right"))
    if neighbours is Neighbours.ADD_REMOVE:
        blocks.append(
            Sentence("To swap one value for another is to remove a row and add one: the epsilon counts twice here.")
        )
    if budget.epsilon >= 5:
        blocks.append(
            Sentence(
                "Careful: this bounds one exact value among many, not every statement about a person. "
                f"A fifty-fifty guess can become {posterior_percent(rows[0]['after'])}."
            )
        )
    return Document((Section(tuple(blocks)),))
