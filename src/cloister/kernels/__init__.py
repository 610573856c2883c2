"""Pure maths on encoded rows: each kernel folds rows into a small mergeable integer summary with a known sensitivity."""

from cloister.kernels.base import Change, Kernel, Sensitivity, Summary, zero
from cloister.kernels.centers import BallClip, BoxClip, CenterSums, Clip, Labels
from cloister.kernels.clipped import ClippedCost, ClippedSums, Euclidean, Taxicab
from cloister.kernels.counts import Histogram, Rows, ValueCounts
from cloister.kernels.moments import Moments

__all__ = [
    "BallClip",
    "BoxClip",
    "CenterSums",
    "Change",
    "Clip",
    "ClippedCost",
    "ClippedSums",
    "Euclidean",
    "Histogram",
    "Kernel",
    "Labels",
    "Moments",
    "Rows",
    "Sensitivity",
    "Summary",
    "Taxicab",
    "ValueCounts",
    "zero",
]
