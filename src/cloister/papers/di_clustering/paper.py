"""What paper 000 promised, what holds of it, and what is run."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from cloister.papers.paper_items import Effort, Item, Paper, Task
from cloister.papers.reproduced_row import ReproducedRow
from cloister.privacy.identifiability import epsilon_from_rho

__all__ = ["PAPER"]


def _mapping(effort: Effort) -> Sequence[Task]:
    def rows() -> list[ReproducedRow]:
        return [
            ReproducedRow("rho 0.05, 10,001 worlds", "printed", "epsilon", 6.26, "section 7.3", claimed=6.26),
            ReproducedRow(
                "rho 0.05, 10,001 worlds",
                "sound",
                "epsilon",
                float(epsilon_from_rho(Fraction(1, 20), 10_001)),
                "section 7.3",
                epsilon=6.2659,
            ),
        ]

    return [Task("mapping", rows)]


PAPER = Paper(
    "000",
    "Differential identifiability clustering algorithms for big data analysis",
    "T. Shang, Z. Zhao, X. Ren, J. Liu. Science China Information Sciences 64, 152101, 2021",
    promised=("x.",),
    holds=("y.",),
    claim="rho",
    proved="z",
    datasets=(),
    items=(Item("mapping", "From rho to epsilon", "Asks.", _mapping),),
)
