"""``cloister calibrate``: what a privacy number means."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import typer

from cloister.cli.flags import Delta, Epsilon, Machine, Rho, Worlds, print_json, read_budget

EXAMPLE = "Example: cloister calibrate --rho 0.05 --worlds 10001"

MANY = (2, 10, 100, 1_000, 10_001, 1_000_000)


def calibrate(
    epsilon: Epsilon = None,
    delta: Delta = None,
    rho: Rho = None,
    worlds: Worlds = None,
    neighbours: Annotated[
        Literal["add-remove", "replace-one"] | None, typer.Option(help="Which tables must not be told apart.")
    ] = None,
    as_json: Machine = False,
) -> None:
    """Say what an epsilon or a rho means: the other number, and how far a guess about somebody can move."""
    from cloister.privacy.budgets import relation
    from cloister.schema import Neighbours

    budget = read_budget(epsilon, delta, rho, worlds, None)
    said = relation(budget, neighbours)
    rows = meaning(budget, said)
    if as_json:
        print_json({"budget": str(budget), "epsilon": str(budget.epsilon), "neighbours": said.value, "meaning": rows})
        return
    from rich.console import Console
    from rich.table import Table

    console = Console()
    console.print(f"{budget}, {said.value} neighbours", highlight=False)
    if rows is None:
        console.print("With a delta no bound on a posterior holds: a failure of probability delta has no limit.")
        return
    grid = Table(title="How sure can somebody become, at most?")
    for name in ("equally likely values", "a blind guess", "after the release"):
        grid.add_column(name, justify="right")
    for row in rows:
        grid.add_row(f"{row['worlds']:,}", percent(row["before"]), percent(row["after"]))
    console.print(grid)
    if said is Neighbours.ADD_REMOVE:
        console.print("To swap one value for another is to remove a row and add one: the epsilon counts twice here.")
    if budget.epsilon >= 5:
        console.print(
            "Careful: this bounds one exact value among many, not every statement about a person. "
            f"A fifty-fifty guess can become {percent(rows[0]['after'])}."
        )


def meaning(budget: Any, neighbours: Any) -> list[dict[str, Any]] | None:
    """For several numbers of equally likely worlds: the posterior bound; None when there is a delta."""
    from cloister.privacy.identifiability import rho_from_epsilon

    if budget.delta:
        return None
    many = sorted({*MANY, budget.worlds} if hasattr(budget, "worlds") else MANY)
    return [{"worlds": m, "before": 1 / m, "after": rho_from_epsilon(budget.epsilon, m, neighbours)} for m in many]


def percent(value: float) -> str:
    """A probability for a person."""
    return ">99.99%" if value > 0.9999 else f"{100 * value:.3g}%"
