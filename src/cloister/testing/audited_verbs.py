"""Every private verb under the exact audit: all methods, both relations, per row and per person, small and huge budgets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

from cloister.choosing.request import ChoiceRequest
from cloister.clustering.domain import Ball
from cloister.clustering.prototype_request import PrototypeRequest
from cloister.clustering.request import ClusterRequest
from cloister.clustering.synopsis.request import SynopsisRequest
from cloister.microdata.private.request import RowsRequest
from cloister.privacy.budgets import ApproxDP, Budget, Identifiability, PureDP
from cloister.schema import Neighbours
from cloister.schema.table import Schema
from cloister.tabulation.request import TabulationRequest
from cloister.testing.exact_audit import ExactAudit, replay
from cloister.testing.neighbour_tables import (
    NUMBERS,
    NeighbourTables,
    Whom,
    large_neighbours,
    random_neighbours,
    worst_neighbours,
)

__all__ = ["AuditedCase", "VERBS", "WHOM", "audit_verb", "audit_verbs"]

WHOM = (
    Whom(Neighbours.ADD_REMOVE),
    Whom(Neighbours.REPLACE_ONE),
    Whom(Neighbours.ADD_REMOVE, per_person=True),
)
BUDGETS: tuple[Budget, ...] = (
    PureDP("0.05"),
    PureDP(1),
    PureDP(100),
    ApproxDP("0.05", "1e-9"),
    ApproxDP(1, "1e-6"),
    ApproxDP(30, "1e-3"),
)
WIDER = (-0.01, 1.01)  # a quantile loses most where a few of its candidates lie beyond a crowd in a corner
RHO = Identifiability(rho="0.05", worlds=10_001)  # replace-one only

Verb = Callable[[Any, Whom, Budget], Any]


def cluster(
    method: str, clusters: int | str = 3, bounds: Any = "schema", count_missing: bool = False, **options: Any
) -> Verb:
    """Clusters by a method; bounds from the schema, given, or estimated; with options of that method."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        schema = whom.schema if bounds == "schema" else without_columns(whom.schema)
        if bounds != "schema" and hasattr(table, "to_pydict"):
            table = table.to_pydict()  # a column of a type of text is read where a schema describes it; lists do not say
        request = ClusterRequest(
            n_clusters=clusters,
            method=method,
            budget=budget,
            bounds=None if isinstance(bounds, str) else bounds,
            columns=list(NUMBERS),
            schema=schema,
            neighbours=whom.neighbours.value,
            random_state=0,
            count_missing=count_missing,
            **options,
        )
        return request.fit(table)

    return run


def prototypes(method: str, model: str = "kprototypes", **settings: Any) -> Verb:
    """Clusters of numbers and a category, or of the category alone."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        request = PrototypeRequest(
            model=model,
            method=method,
            budget=budget,
            columns=["group"] if model == "kmodes" else [*NUMBERS, "group"],
            schema=whom.schema,
            neighbours=whom.neighbours.value,
            random_state=0,
            **{"n_clusters": 3, **settings},
        )
        return request.fit(table)

    return run


def synopsis(method: str, threshold: int | None = None) -> Verb:
    """A synopsis of a shape."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        request = SynopsisRequest(
            method=method,
            threshold=threshold,
            budget=budget,
            columns=list(NUMBERS),
            schema=whom.schema,
            neighbours=whom.neighbours.value,
        )
        return request.release(table)

    return run


def tabulate(
    by: list[str], measures: list[str], margins: bool | None = None, count_missing: bool = False, **contents: Any
) -> Verb:
    """A table of counts, with sums and other contents."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        request = TabulationRequest(
            by,
            budget,
            measures=measures,
            margins=margins,
            schema=whom.schema,
            neighbours=whom.neighbours.value,
            count_missing=count_missing,
            **contents,
        )
        return request.run(table)

    return run


def choose(column: str, **facts: Any) -> Verb:
    """A choice among the values of a column, or among options."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        request = ChoiceRequest(column, budget, schema=whom.schema, neighbours=whom.neighbours.value, **facts)
        return request.run(table)

    return run


def rows(method: str, **settings: Any) -> Verb:
    """Private rows by a method."""

    def run(table: Any, whom: Whom, budget: Budget) -> Any:
        request = RowsRequest(
            method=method,
            budget=budget,
            columns=[*NUMBERS, "group"],
            schema=whom.schema,
            neighbours=whom.neighbours.value,
            random_state=0,
            **settings,
        )
        return request.run(table)

    return run


def without_columns(schema: Schema) -> Schema:
    """A schema that says whom to protect, and no bounds."""
    return Schema((schema["who"],), neighbours=schema.neighbours, unit=schema.unit, max_rows=schema.max_rows)


VERBS: Mapping[str, Verb] = {
    "cluster votes": cluster("votes"),
    "cluster votes, k = auto": cluster("votes", "auto"),
    "cluster votes, estimated bounds": cluster("votes", bounds="estimated"),
    "cluster votes, in a ball": cluster("votes", bounds=Ball(1.0, (0.5, 0.5))),
    "cluster votes, missing counted": cluster("votes", count_missing=True),
    "cluster lloyd": cluster("lloyd"),
    "cluster lloyd, halving, with a stop": cluster("lloyd", schedule="halving", tolerance=0.3),
    "cluster lloyd, equal, stopped at once": cluster("lloyd", schedule="equal", tolerance=10.0, max_iter=5),
    "cluster lloyd, dwork-halving from canopy, k = auto": cluster(
        "lloyd", "auto", schedule="dwork-halving", seeding="canopy"
    ),
    "cluster lloyd, dwork-equal": cluster("lloyd", schedule="dwork-equal"),
    "cluster lloyd, blum from kmeans||": cluster("lloyd", schedule="blum", seeding="kmeans||", tolerance=0.3),
    "cluster hybrid": cluster("hybrid"),
    "cluster uniform-grid": cluster("uniform-grid"),
    "cluster adaptive-grid": cluster("adaptive-grid"),
    "cluster tree": cluster("tree"),
    "prototypes votes": prototypes("votes", gamma=0.3),
    "prototypes votes, k and gamma = auto": prototypes("votes", n_clusters="auto"),
    "prototypes votes, missing counted": prototypes("votes", gamma=0.3, count_missing=True),
    "prototypes lloyd": prototypes("lloyd", gamma=0.3),
    "prototypes lloyd, halving": prototypes("lloyd", schedule="halving", max_iter=4),
    "modes votes": prototypes("votes", "kmodes"),
    "modes lloyd": prototypes("lloyd", "kmodes"),
    "synopsis uniform-grid": synopsis("uniform-grid"),
    "synopsis sparse grid": synopsis("uniform-grid", threshold=3),
    "synopsis adaptive-grid": synopsis("adaptive-grid"),
    "synopsis tree": synopsis("tree"),
    "tabulate": tabulate(["group"], []),
    "tabulate with bins, margins and sums": tabulate(["group", "x"], ["y"], margins=True),
    "tabulate with means and quantiles": tabulate(["group"], [], means=["y"], quantiles={"x": [0.1, 0.5]}),
    "tabulate, missing counted": tabulate(["group"], ["y"], count_missing=True),
    "rows clusters": rows("clusters"),
    "rows insensitive": rows("insensitive"),
    "rows insensitive, groups of one": rows("insensitive", k=1),
    "rows marginals": rows("marginals"),
    "rows marginals, stated bins": rows("marginals", bins={"x": 3, "y": 2}),
    "choose the most common": choose("group"),
    "choose the median": choose("x", quantile="0.5", bounds=WIDER),
    "choose a quantile, rows counted": choose("y", quantile="9/10", bounds=WIDER, step=0.01, count_rows=True),
    "choose the nearest option": choose("x", options=[0, 0.25, 1]),
    "choose the nearest option, clipped": choose("x", options=[0, 0.5, 1], clip=0.1),
}
STRIDE = 5  # between the pairs that follow each other: another crowd and another stranger
ONLY_REPLACE_ONE = ("rows insensitive", "rows insensitive, groups of one")  # refused under other relations
ON_SAMPLE = (
    "cluster votes",
    "cluster votes, estimated bounds",
    "prototypes votes",
)  # which draw a secret sample of a large table


@dataclass(frozen=True, slots=True)
class AuditedCase:
    """One verb with one budget on one pair of tables."""

    verb: str
    whom: Whom
    budget: Budget
    tables: str
    audit: ExactAudit

    @property
    def part(self) -> float:
        """The loss that was found, as a part of what is claimed."""
        return self.audit.largest_loss / self.audit.epsilon


def audit_verb(name: str, whom: Whom, budget: Budget, tables: NeighbourTables, seed: int = 0) -> AuditedCase:
    """Audit one verb on one pair of tables."""
    verb = VERBS[name]
    audit = replay(lambda table: verb(table, whom, budget), (tables.one, tables.other), seed=seed)
    return AuditedCase(name, whom, budget, tables.name, audit)


def audit_verbs(pairs: int = 2, names: Sequence[str] = tuple(VERBS), seed: int = 0) -> Iterator[AuditedCase]:
    """Audit verbs with every budget, `pairs` pairs of tables each.

    The pairs are taken in turn from all there are, so that all verbs together meet every pair; beyond those they are random.
    The large tables, which take longest, come once for each verb that draws a secret sample.
    """
    turn = count()
    for name in names:
        for whom in WHOM:
            if name in ONLY_REPLACE_ONE and whom.neighbours is not Neighbours.REPLACE_ONE:
                continue
            tables = list(worst_neighbours(whom))
            budgets = (*BUDGETS, RHO) if whom.neighbours is Neighbours.REPLACE_ONE else BUDGETS
            for budget in budgets:
                for number, place in enumerate(islice(turn, pairs)):
                    is_listed = number < len(tables)
                    pair = tables[STRIDE * place % len(tables)] if is_listed else random_neighbours(whom, seed + place)
                    yield audit_verb(name, whom, budget, pair, seed + place)
            if name in ON_SAMPLE and whom.neighbours is Neighbours.ADD_REMOVE:
                for budget in (PureDP(1), ApproxDP(1, "1e-6")):
                    yield audit_verb(name, whom, budget, large_neighbours(whom), seed)
