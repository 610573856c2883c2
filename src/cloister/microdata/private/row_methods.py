"""The ways to make private rows, by name."""

from __future__ import annotations

from collections.abc import Mapping

from cloister.errors import UsageError
from cloister.microdata.private.clusters.cluster_rows import ClusterRows
from cloister.microdata.private.insensitive import InsensitiveRows
from cloister.microdata.private.marginals.marginal_rows import MarginalRows
from cloister.microdata.private.row_task import RowMethod
from cloister.parameters import unknown_choice

__all__ = ["DEFAULT_METHOD", "METHODS", "find_row_method"]

METHODS: Mapping[str, RowMethod] = {method.name: method for method in (ClusterRows(), MarginalRows(), InsensitiveRows())}
DEFAULT_METHOD = "clusters"


def find_row_method(name: object) -> RowMethod:
    """The method of a name."""
    if not isinstance(name, str) or name not in METHODS:
        if name == "microaggregation":
            raise UsageError(
                "microaggregation is not private: it averages rows in groups of k. Use cl.Microaggregation(k=5)."
            )
        raise unknown_choice("method", name, tuple(METHODS))
    return METHODS[name]
