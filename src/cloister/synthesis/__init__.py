"""Rows from noisy tables: made up, for whoever needs rows in place of counts. Free: nothing but released numbers is looked at.

Chance here is public: whoever knows its seed learns nothing about anybody.
"""

from cloister.synthesis.cell_rows import rows_from_cells
from cloister.synthesis.dependence_tree import DependenceTree, fit_tree
from cloister.synthesis.marginal_model import MarginalModel, NoisyMarginal, fit_marginals

__all__ = ["DependenceTree", "MarginalModel", "NoisyMarginal", "fit_marginals", "fit_tree", "rows_from_cells"]
