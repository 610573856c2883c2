"""What paper 003 promised, what holds of it, and what is run."""

from __future__ import annotations

from cloister.papers.dedp_kmeans.attacks import ATTACKS
from cloister.papers.dedp_kmeans.counted_evaluations import CONVERGENCE
from cloister.papers.dedp_kmeans.distance_attack import DISTANCES
from cloister.papers.dedp_kmeans.evolution_misprints import MISPRINTS
from cloister.papers.dedp_kmeans.f_over_epsilon import F_FIGURES
from cloister.papers.dedp_kmeans.printed import NUMBER, PROVED
from cloister.papers.dedp_kmeans.sums_of_distances import TABLES
from cloister.papers.dedp_kmeans.worker_speedup import SPEEDUP
from cloister.papers.paper_items import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    NUMBER,
    "Research on differential privacy preserving clustering algorithm based on Spark platform",
    "Q. Meng, L. Zhou. Journal of Computers 29, 2018",
    promised=(
        "Private k-means depends on where its centres start.",
        "DEDP k-means lets a population of starts evolve until a good one is found, and then runs k-means with noise on "
        "the sums and counts of every cluster, all of it with epsilon-differential privacy.",
        "It is said to be nearly as good as k-means without privacy on Wine and MAGIC, to converge faster, and to gain "
        "from Spark.",
    ),
    holds=(
        "The evolution works on the exact rows and pays nothing for it, so no epsilon covers the result; scaling by the "
        "rows' own range and stopping by the exact error add to that.",
        "Evolution is sound where it looks at nothing but a released synopsis: that form is run beside it, with its true "
        "epsilon.",
        "The tables do not say their epsilon, and the equations of the evolution contradict its pseudo-code; both sides "
        "are run.",
    ),
    claim="epsilon-differential privacy of DEDP k-means",
    proved=PROVED,
    datasets=("wine", "magic"),
    items=(TABLES, F_FIGURES, CONVERGENCE, SPEEDUP, DISTANCES, ATTACKS, MISPRINTS),
)
