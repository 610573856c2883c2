"""What paper 000 promised, what holds of it, and what is run."""

from __future__ import annotations

from cloister.papers.di_clustering.attacks import ATTACKS
from cloister.papers.di_clustering.composition_rules import PARALLEL, SCHEDULE, SEQUENCE
from cloister.papers.di_clustering.heart_figures import GAMMA, HEART
from cloister.papers.di_clustering.magic_figures import MAGIC
from cloister.papers.di_clustering.peer_overspending import PEER
from cloister.papers.di_clustering.printed import NUMBER
from cloister.papers.di_clustering.rho_mapping import MAPPING, NOISE
from cloister.papers.di_clustering.row_passes import PASSES
from cloister.papers.paper_items import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    NUMBER,
    "Differential identifiability clustering algorithms for big data analysis",
    "T. Shang, Z. Zhao, X. Ren, J. Liu. Science China Information Sciences 64, 152101, 2021",
    promised=(
        "Privacy is set by rho, the largest belief that a release may give an adversary, who knows all rows but one, in any one "
        "of m equally likely values of that row.",
        "Rules say which rho several releases have together, and k-means and k-prototypes with noise keep a given rho on many "
        "machines.",
        "They are as useful as private clustering of the usual kind at the epsilon that a rho is worth.",
    ),
    holds=(
        "A rho is worth an epsilon, as printed, for rows that are replaced; equal epsilons give similar results.",
        "Both rules for several releases are false: epsilons add for one row, and for parts by a public key the largest holds.",
        "The algorithms as printed keep no rho: sizes of clusters are exact, the start is made of rows, every category column "
        "spends the whole budget again, and the schedule of rounds cannot be run as it is written.",
        "The sound form notes an epsilon for each of these, starts from public or released centres, and shows rho beside it.",
    ),
    claim="differential identifiability of a given rho (0.05 of 10,001 worlds)",
    proved="nothing",
    datasets=("heart", "magic"),
    items=(MAPPING, NOISE, SCHEDULE, SEQUENCE, PARALLEL, MAGIC, GAMMA, HEART, ATTACKS, PASSES, PEER),
)
