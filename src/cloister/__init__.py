"""Cloister turns a sensitive table into something that may leave the building.

The public names are loaded when they are first used: importing the package loads neither numba nor pyspark.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as in typing, which is not loaded: Ctrl-C is not handled yet when a command begins here
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.1.0"

_HOMES = {  # public name -> its module, and after a colon its name there where that differs
    "ApproxDP": "cloister.privacy.budgets",
    "Ball": "cloister.clustering.domain",
    "CloisterError": "cloister.errors",
    "Files": "cloister.file_options",
    "Identifiability": "cloister.privacy.budgets",
    "KMeans": "cloister.clustering.kmeans",
    "KModes": "cloister.clustering.kmodes",
    "KPrototypes": "cloister.clustering.kprototypes",
    "Ledger": "cloister.privacy.ledger",
    "Microaggregation": "cloister.microdata.microaggregation.microaggregation_estimator",
    "Neighbours": "cloister.schema",
    "PrivateChoice": "cloister.choosing.private_choice",
    "PrivateMicrodata": "cloister.microdata.private.private_microdata",
    "PrivateRows": "cloister.microdata.private.private_rows",
    "PrivateTable": "cloister.tabulation.private_table",
    "PublicScaler": "cloister.clustering.public_scaler",
    "PureDP": "cloister.privacy.budgets",
    "Release": "cloister.privacy.release",
    "Schema": "cloister.schema",
    "Synopsis": "cloister.clustering.synopsis.synopsis",
    "TopDownSpecialization": "cloister.anonymization.estimator",
    "choose": "cloister.choosing.choose_privately",
    "load_clusters": "cloister.clustering.saved_clusters",
    "risk": "cloister.risks.assess:assess",
    "synopsis": "cloister.clustering.synopsis.request",
    "tabulate": "cloister.tabulation.tabulate",
}

_ROOMS = ("clustering", "collect", "datasets")  # packages that are reached through this one

__all__ = [
    "ApproxDP",
    "Ball",
    "CloisterError",
    "Files",
    "Identifiability",
    "KMeans",
    "KModes",
    "KPrototypes",
    "Ledger",
    "Microaggregation",
    "Neighbours",
    "PrivateChoice",
    "PrivateMicrodata",
    "PrivateRows",
    "PrivateTable",
    "PublicScaler",
    "PureDP",
    "Release",
    "Schema",
    "Synopsis",
    "TopDownSpecialization",
    "choose",
    "collect",
    "datasets",
    "load_clusters",
    "risk",
    "synopsis",
    "tabulate",
]

if TYPE_CHECKING:
    from cloister import clustering as clustering
    from cloister import collect, datasets
    from cloister.anonymization.estimator import TopDownSpecialization
    from cloister.choosing.choose_privately import choose
    from cloister.choosing.private_choice import PrivateChoice
    from cloister.clustering.domain import Ball
    from cloister.clustering.kmeans import KMeans
    from cloister.clustering.kmodes import KModes
    from cloister.clustering.kprototypes import KPrototypes
    from cloister.clustering.public_scaler import PublicScaler
    from cloister.clustering.saved_clusters import load_clusters
    from cloister.clustering.synopsis.request import synopsis
    from cloister.clustering.synopsis.synopsis import Synopsis
    from cloister.errors import CloisterError
    from cloister.file_options import Files
    from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
    from cloister.microdata.private.private_microdata import PrivateMicrodata
    from cloister.microdata.private.private_rows import PrivateRows
    from cloister.privacy.budgets import ApproxDP, Identifiability, PureDP
    from cloister.privacy.ledger import Ledger
    from cloister.privacy.release import Release
    from cloister.risks.assess import assess as risk
    from cloister.schema import Neighbours, Schema
    from cloister.tabulation.private_table import PrivateTable
    from cloister.tabulation.tabulate import tabulate


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        import importlib

        return importlib.import_module(f"cloister.{name}")
    if name in _HOMES:
        import importlib

        module, _, own_name = _HOMES[name].partition(":")
        value = getattr(importlib.import_module(module), own_name or name)
        globals()[name] = value
        return value
    raise AttributeError(f"module 'cloister' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_ROOMS, *__all__})
