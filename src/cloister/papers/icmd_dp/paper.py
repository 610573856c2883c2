"""What paper 004 promised, what holds of it, and what is run."""

from __future__ import annotations

from cloister.papers.icmd_dp.attacks import ATTACKS
from cloister.papers.icmd_dp.group_sensitivity import SENSITIVITY
from cloister.papers.icmd_dp.linkage_over_k import LINKAGE
from cloister.papers.icmd_dp.loss_over_k import LOSS
from cloister.papers.icmd_dp.run_times import TIMES
from cloister.papers.paper_items import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    "004",
    "A differential privacy protection method for mixed-attribute data tables (ICMD-DP)",
    "Y. Ding and L. Li, Information Engineering University, Zhengzhou",
    promised=(
        "A table of numbers and categories is published record by record, with epsilon differential privacy and little noise.",
        "Records are put into groups of k along an order and replaced by the average of their group. One person then changes an "
        "average by a k-th of its range only, and that is all that noise has to cover, since groups have no record in common.",
        "With larger groups the noise falls below that of noise on each record, and fewer records can be found again.",
    ),
    holds=(
        "The claimed epsilon does not hold. The order starts at the farthest record, so one changed record can turn it and "
        "exchange all groups; and even along a fixed order a record that changes its place moves every group in between.",
        "Along an order fixed beforehand the method can be made sound, if the size of the table is public and noise covers all "
        "groups: floor(n / k) times the printed one. It is then better than noise on each record only for k above the root of n.",
        "The goal is reached otherwise: private clusters, each written as often as its released size says, whose noise does not "
        "grow with the number of groups.",
    ),
    claim="epsilon by noise for one group of k records",
    proved="nothing of use: every published cell may move by its whole range",
    datasets=("adult",),
    items=(LOSS, LINKAGE, SENSITIVITY, ATTACKS, TIMES),
)
