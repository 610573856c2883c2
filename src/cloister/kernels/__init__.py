"""Pure maths on encoded rows: each kernel folds rows into a small mergeable integer summary with a known sensitivity."""

from cloister.kernels.base import Change, Kernel, Sensitivity, Summary, zero
from cloister.kernels.cells import GridCells, GridKeys, NestedCells
from cloister.kernels.centers import BallClip, BoxClip, CenterDistances, CenterSums, Clip, Labels, Modes, NearestVotes
from cloister.kernels.class_counts import ClassCounts, ValueBins
from cloister.kernels.clipped import ClippedSums, Euclidean, Taxicab
from cloister.kernels.cluster_fit import FitSums
from cloister.kernels.counts import Histogram, Rows, ValueCounts
from cloister.kernels.distance_bands import DistanceBands
from cloister.kernels.low_order import LowOrderMarginals
from cloister.kernels.missing import MissingCounts
from cloister.kernels.moments import Moments
from cloister.kernels.morton import LeafSums, MortonKeys
from cloister.kernels.projected import LiftedSums, Projected, Projection
from cloister.kernels.prototypes import Marginals, PrototypeSums, PrototypeVotes
from cloister.kernels.report_tables import ReportTables
from cloister.kernels.tables import TableCounts

__all__ = [
    "BallClip",
    "BoxClip",
    "CenterDistances",
    "CenterSums",
    "Change",
    "ClassCounts",
    "Clip",
    "ClippedSums",
    "DistanceBands",
    "Euclidean",
    "FitSums",
    "GridCells",
    "GridKeys",
    "Histogram",
    "Kernel",
    "Labels",
    "LeafSums",
    "LiftedSums",
    "LowOrderMarginals",
    "Marginals",
    "MissingCounts",
    "Modes",
    "Moments",
    "MortonKeys",
    "NearestVotes",
    "NestedCells",
    "Projected",
    "Projection",
    "PrototypeSums",
    "PrototypeVotes",
    "ReportTables",
    "Rows",
    "Sensitivity",
    "Summary",
    "TableCounts",
    "Taxicab",
    "ValueBins",
    "ValueCounts",
    "zero",
]
