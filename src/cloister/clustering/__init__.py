"""Private clusters and synopses, and scores of clusters.

The walk: `request` (what a user wants, checked) -> `methods` (the registry) -> a method's `plan` and `fit` in the vault ->
`clusters` (the result, which saves itself). `kmeans` is scikit-learn's shell over it.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in the package's own
if TYPE_CHECKING:
    from types import ModuleType

    from cloister.clustering import scores as scores


def __getattr__(name: str) -> ModuleType:
    if name == "scores":  # loaded when it is used
        import importlib

        return importlib.import_module("cloister.clustering.scores")
    raise AttributeError(f"module 'cloister.clustering' has no attribute {name!r}")
