"""The seam between a request and the ways to cluster: the `Method` protocol and the registry of methods.

A new method is one file (or folder) with a class that follows the protocol, and one line in `METHODS`. A new shape of a
synopsis is registered in `synopsis/shapes.py` and thereby becomes a method.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Protocol

from cloister.clustering.synopsis.shapes import SHAPES
from cloister.errors import UsageError, by_door
from cloister.parameters import unknown_choice

if TYPE_CHECKING:  # the command line lists the methods in its help, and loads none of this for it
    from cloister.clustering.chance import PublicChance
    from cloister.clustering.fitted import Fitted
    from cloister.clustering.progress import Progress
    from cloister.clustering.task import Task
    from cloister.privacy.plan import Plan
    from cloister.vault import Vault

__all__ = ["METHODS", "MODELS", "PROTOTYPE_METHODS", "Method", "find_method"]


class Method(Protocol):
    """One way to find private clusters. It is made from the name that the user typed."""

    def __init__(self, name: str) -> None: ...

    @property
    def seedings(self) -> tuple[str, ...]:
        """The seedings that can be chosen for it, its own first; none where it finds its start by itself."""
        ...

    @property
    def has_schedule(self) -> bool:
        """Whether a schedule and a tolerance of its rounds can be chosen."""
        ...

    @property
    def cluster_rule(self) -> str:
        """How it chooses the number of clusters where that is left to it, in words."""
        ...

    @property
    def name(self) -> str:
        """The name in the certificate."""
        ...

    def check(self, task: Task) -> None:
        """Refuse, before a charge, what can be known to be wrong without the rows."""
        ...

    def plan(self, task: Task, rows: float) -> Plan:
        """What a fit of about so many rows would spend and what to expect of it; no row is read."""
        ...

    def fit(self, vault: Vault, task: Task, random: PublicChance, progress: Progress) -> Fitted:
        """Find the clusters inside an open vault. `random` is for public choices only."""
        ...


METHODS: Mapping[str, str] = {  # name -> where its class is; loaded when it is asked for
    "auto": "cloister.clustering.votes.fit:Votes",
    "votes": "cloister.clustering.votes.fit:Votes",
    "lloyd": "cloister.clustering.lloyd:Lloyd",
    **dict.fromkeys(SHAPES, "cloister.clustering.synopsis.through_synopsis:ThroughSynopsis"),
    "hybrid": "cloister.clustering.synopsis.through_synopsis:Hybrid",
}


PROTOTYPE_METHODS: Mapping[str, str] = {  # the same of tables with categories
    "auto": "cloister.clustering.prototypes.votes:PrototypeSearch",
    "votes": "cloister.clustering.prototypes.votes:PrototypeSearch",
    "lloyd": "cloister.clustering.prototypes.noisy_lloyd:PrototypeLloyd",
}

MODELS: Mapping[str, Mapping[str, str]] = {  # what is clustered: numbers, numbers and categories, categories
    "kmeans": METHODS,
    "kprototypes": PROTOTYPE_METHODS,
    "kmodes": PROTOTYPE_METHODS,
}


def find_method(name: str, model: str = "kmeans") -> Method:
    """The method of this name, for a model."""
    methods = MODELS[model]
    if not isinstance(name, str) or name not in methods:
        refusal = unknown_choice("method", name, methods)
        if not isinstance(name, str) or name not in METHODS:
            raise refusal
        raise UsageError(
            f'method "{name}" is of k-means, and these columns have categories. Choose one of: {", ".join(methods)}; or cluster '
            f"the numbers alone: {by_door('KMeans', '--model kmeans')}."
        )
    module, _, kind = methods[name].partition(":")
    method: Method = getattr(import_module(module), kind)(name)
    return method
