"""Scores of clusters: plain functions of arrays, and a report for the holder of a table.

Privacy: a score of rows is exact, for whoever holds them. It is not a private release.
"""

from cloister.clustering.scores.agreement import adjusted_rand, f_measure, matched_share
from cloister.clustering.scores.distances import mixed_cost, nicv, sse, sum_of_distances

__all__ = ["adjusted_rand", "f_measure", "matched_share", "mixed_cost", "nicv", "sse", "sum_of_distances"]
