"""Pure maths on encoded rows: each kernel folds rows into a small mergeable integer summary with a known sensitivity."""

from cloister.kernels.base import Change, Kernel, Sensitivity, Summary, zero
from cloister.kernels.centers import BallClip, BoxClip, CenterSums, Clip, Labels
from cloister.kernels.counts import Histogram, Rows

__all__ = [
    "BallClip",
    "BoxClip",
    "CenterSums",
    "Change",
    "Clip",
    "Histogram",
    "Kernel",
    "Labels",
    "Rows",
    "Sensitivity",
    "Summary",
    "zero",
]
