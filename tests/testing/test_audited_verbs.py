"""Every private verb keeps its guarantee on tables that are hard on it.

``CLOISTER_FUZZ=N`` tries N pairs of tables with every budget; beyond 48 they are random. All of 48 take a quarter of an hour.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from cloister.clustering.methods import METHODS, PROTOTYPE_METHODS
from cloister.clustering.synopsis.shapes import SHAPES
from cloister.microdata.private.row_methods import METHODS as ROW_METHODS
from cloister.privacy.budgets import PureDP
from cloister.privacy.mechanisms import Laplace
from cloister.privacy.noise import laplace
from cloister.schema import Neighbours
from cloister.testing import attack
from cloister.testing.audited_verbs import BUDGETS, ON_SAMPLE, ONLY_REPLACE_ONE, VERBS, WHOM, audit_verb, audit_verbs
from cloister.testing.neighbour_tables import NeighbourTables, Whom, random_neighbours, worst_neighbours

ALL_PAIRS = 48
PAIRS = int(os.environ.get("CLOISTER_FUZZ", "2"))
RUNS = 100
OUTSIDE = [
    verb for verb in VERBS if not verb.startswith("rows") and ("," not in verb or "tabulate" in verb)
]  # the variants of a walk are left to the exact audit
BY_ROW = Whom(Neighbours.ADD_REMOVE)


@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_keeps_its_guarantee(verb: str) -> None:
    """Both relations, per row and per person, pure and with delta, small and huge epsilon: exactly, on neighbouring tables."""
    cases = list(audit_verbs(PAIRS, [verb]))
    assert not [f"{case.whom}, {case.budget}, {case.tables}: {case.audit}" for case in cases if not case.audit.holds]
    relations = 1 if verb in ONLY_REPLACE_ONE else 3
    assert len(cases) == PAIRS * (relations * len(BUDGETS) + 1) + (4 if verb in ON_SAMPLE else 0)
    assert max(case.part for case in cases) > 0.8  # the tables are hard: an audit that sees nothing move would hold too
    assert max(case.part for case in cases) <= 1 + 1e-6


def test_every_method_and_shape_is_audited() -> None:
    """A new method of clusters, or shape of a synopsis, has a line in `VERBS`."""
    words = {word for verb in VERBS for word in [verb.replace(",", "")]}
    assert all(any(word.startswith(f"cluster {method}") for word in words) for method in METHODS if method != "auto")
    assert all(
        f"{model} {method}" in words for model in ("prototypes", "modes") for method in PROTOTYPE_METHODS if method != "auto"
    )
    assert all(f"synopsis {shape}" in words for shape in SHAPES)
    assert all(f"rows {method}" in words for method in ROW_METHODS)


@pytest.mark.parametrize("whom", WHOM, ids=str)
def test_neighbouring_tables_differ_by_one(whom: Whom) -> None:
    """By one row more, by one row replaced, or by the rows of one person."""
    tables = list(worst_neighbours(whom))
    assert len(tables) == ALL_PAIRS
    assert len({each.name for each in tables}) == ALL_PAIRS
    for each in tables:
        one, other = (sorted(map(repr, table.to_pylist())) for table in (each.one, each.other))
        if whom.per_person:
            names = set(each.one["who"].to_pylist()) ^ set(each.other["who"].to_pylist())
            assert names in ({"stranger"}, {None})
        elif whom.neighbours is Neighbours.ADD_REMOVE:
            assert len(one) == len(other) + 1
        else:
            assert len(one) == len(other)


@pytest.mark.parametrize("whom", WHOM, ids=str)
def test_verbs_keep_their_guarantees_on_random_tables(whom: Whom) -> None:
    """Cells drawn from all that is hard to read, for a few quick verbs."""
    for seed in range(3 * PAIRS):
        tables = random_neighbours(whom, seed)
        for verb in ("cluster lloyd", "synopsis tree", "tabulate with bins, margins and sums"):
            case = audit_verb(verb, whom, BUDGETS[seed % len(BUDGETS)], tables, seed)
            assert case.audit.holds, f"{verb}, {case.budget}, {case.tables}: {case.audit}"


def released_numbers(result: Any) -> Any:
    """All that a result hands out, as numbers."""
    if hasattr(result, "nearness"):
        return result.release_.result["candidate"]
    if hasattr(result, "cells"):
        return result.cells.counts, result.total
    if hasattr(result, "counts"):
        return result.counts
    if hasattr(result, "table"):  # made-up rows: how many, the means of the numbers, and the shares of the values
        made = result.to_pandas()
        shares = [(made["group"] == value).mean() for value in sorted(set(made["group"]))][:1]
        return [float(len(made)), *made[["x", "y"]].mean().fillna(0.0), *([float(shares[0])] if shares else [0.0])]
    return result.release_.result["centers"], result.release_.result["sizes"]


def corner() -> NeighbourTables:
    """Rows in one corner, and one more in the other."""
    return next(each for each in worst_neighbours(BY_ROW) if each.name == "rows in a corner, one in the far corner")


@pytest.mark.parametrize("verb", OUTSIDE)
def test_a_verb_is_not_refuted_from_outside(verb: str) -> None:
    """Many runs do not tell the tables apart better than is claimed; fails by chance with probability 1e-6."""
    tables, budget = corner(), PureDP("0.1")
    found = attack(
        lambda table: released_numbers(VERBS[verb](table, BY_ROW, budget)), (tables.one, tables.other), budget, RUNS
    )
    assert found.holds, str(found)


@pytest.mark.parametrize("verb", ["cluster lloyd", "tabulate"])
def test_noise_that_is_too_small_is_refuted_from_outside(verb: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted where no accounting sees it: noise is drawn at next to nothing of its scale."""

    def draw(self: Laplace, part: str, size: int) -> np.ndarray:
        return laplace(self.scales[part] / 10_000, size)

    monkeypatch.setattr(Laplace, "draw", draw)
    tables, budget = corner(), PureDP("0.1")
    found = attack(
        lambda table: released_numbers(VERBS[verb](table, BY_ROW, budget)), (tables.one, tables.other), budget, RUNS
    )
    assert not found.holds
