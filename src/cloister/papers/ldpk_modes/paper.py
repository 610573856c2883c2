"""What paper 002 promised, what holds of it, and what is run."""

from __future__ import annotations

from cloister.papers.ldpk_modes.attacks import ATTACKS
from cloister.papers.ldpk_modes.cut_tables import DATASETS
from cloister.papers.ldpk_modes.frequency_errors import FIGURE_2
from cloister.papers.ldpk_modes.kmodes_figures import EQUAL_TOTAL, FIGURE_4, FIGURE_5, FIGURE_6
from cloister.papers.ldpk_modes.lloyd_noise_cost import NOISE_COST
from cloister.papers.ldpk_modes.local_misprints import MISPRINTS
from cloister.papers.ldpk_modes.repeated_reports import REPEATS
from cloister.papers.ldpk_modes.response_table import TABLE_1
from cloister.papers.paper_items import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    "002",
    "k-modes clustering guaranteeing local differential privacy",
    "C. Peng, Y. Chen, Y. Xun. Computer Science (Jisuanji Kexue), 2021",
    promised=(
        "People perturb their own answers before these leave, so that no collector need be trusted; the collector estimates how "
        "many people hold each combination of answers and clusters that.",
        "The estimate is said to have about half the error of the usual randomized response, and the clusters to be better than "
        "those of a trusted party with differential privacy (DP-modes-Lloyd) once epsilon is large.",
        "The privacy promise is epsilon for each answer in which two people differ.",
    ),
    holds=(
        "The central baseline does not keep its promise: its noise is printed with a scale that is never above 1, so that it "
        "costs at least m in each round, whatever epsilon is. Its curves are those of nearly no privacy.",
        "The promise on reports holds: the perturbation is randomized response of each answer by itself. Read as an ordinary "
        "epsilon it is m times as much, for m answers; the paper's comparisons set it beside methods that have epsilon in all.",
        "Cutting off negative counts makes estimates worse than need be; expectation maximisation on the same reports is what "
        "the program does. Several lines of the algorithms are misprinted, and nothing is said about people who answer twice.",
    ),
    claim="epsilon for each differing attribute (LDPK-modes); epsilon (DP-modes-Lloyd)",
    proved="the first, which is m epsilon for any two people; m T e^(epsilon/(m+T)) for the second, from a start without rows",
    datasets=DATASETS,
    items=(TABLE_1, FIGURE_2, NOISE_COST, FIGURE_4, FIGURE_5, FIGURE_6, EQUAL_TOTAL, MISPRINTS, ATTACKS, REPEATS),
)
