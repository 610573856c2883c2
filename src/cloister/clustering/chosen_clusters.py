"""How a number of clusters that is chosen from what was released is told: in a plan, and in a certificate."""

from __future__ import annotations

__all__ = ["BY_DISTANCE", "BY_SCORE", "CLUSTERS", "chosen_clusters", "planned_clusters"]

CLUSTERS = "clusters"  # the name of the choice
BY_SCORE = "the fewest within 5% of the best Calinski-Harabasz score"  # votes, prototypes.cloud
BY_DISTANCE = "where the distance of the next dense cell from the centres so far falls most"  # seeding.canopy


def planned_clusters(most: int, rule: str, figures: int | None = None) -> dict[str, str]:
    """Before a fit: up to how many are tried, and for how many the figures of the plan are.

    >>> planned_clusters(32, BY_DISTANCE, 8)["clusters"].split("; ")[1]
    'the figures here are for 8'
    """
    alone = " (a single cell is one cluster)" if rule == BY_DISTANCE else ""
    told = f"2 to {most:,} are tried on the released cells, and one number is chosen: {rule}{alone}"
    return {CLUSTERS: told if figures is None else f"{told}; the figures here are for {figures:,}"}


def chosen_clusters(clusters: int, rule: str) -> dict[str, str]:
    """After a fit: the number, and why it is this one.

    >>> chosen_clusters(14, BY_SCORE)["clusters"]
    '14, chosen from the released cells: the fewest within 5% of the best Calinski-Harabasz score'
    """
    if clusters == 1:
        return {CLUSTERS: "1, since the released cells with rows are a single one"}
    return {CLUSTERS: f"{clusters:,}, chosen from the released cells: {rule}"}
