"""Plans of synopses: named steps, each with its mechanism and its event, from public facts and a (noisy) number of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from cloister.clustering.domain import Domain
from cloister.clustering.synopsis.rules import LARGEST_EPSILON, first_side, rule_epsilon, uniform_side
from cloister.errors import UsageError
from cloister.kernels import Histogram, Kernel, Rows, Sensitivity
from cloister.kernels.morton import UNIT, LeafSums, MortonKeys
from cloister.kernels.per_unit import for_unit
from cloister.privacy.accounting import gaussian_precision
from cloister.privacy.budgets import ApproxDP, Budget, Number, PureDP, exact
from cloister.privacy.events import Event
from cloister.privacy.mechanisms import Precision, Spend
from cloister.privacy.mechanisms.split_tree import SplitTree
from cloister.privacy.mechanisms.survivors import Survivors
from cloister.privacy.plan import Plan, Step, cut, make_step, shares
from cloister.schema import Neighbours
from cloister.schema.unit import Unit

__all__ = ["METHODS", "Terms", "adaptive_steps", "plan_synopsis", "sparse_steps", "tree_steps", "uniform_steps"]

METHODS = ("uniform-grid", "adaptive-grid", "tree")
SIZE_SHARE, CELLS_SHARE = 1, 49  # of 50: for the number of rows, and for the cells
TREE_SHARE, LEAVES_SHARE = 1, 5  # of a tree's budget: for its shape, and for what is in its leaves
TREES = TREE_SHARE + LEAVES_SHARE
SUMS_WEIGHT = Fraction(1, 2)  # a column, of a leaf's budget; its count has 1
MOST_BITS = 20  # binary digits of a column in a Morton key
KEY_BITS = 62


@dataclass(frozen=True, slots=True)
class Terms:
    """What is spent, under which relation, and whom it protects."""

    budget: Budget
    neighbours: Neighbours
    unit: Unit | None = None
    rest: Fraction = Fraction(0)  # the part of the budget that is kept for what follows the synopsis

    @property
    def rest_weight(self) -> Fraction:
        """The weight of what follows, when the synopsis has 1."""
        return self.rest / (1 - self.rest)

    def sensitivity(self, kernel: Kernel) -> Sensitivity:
        """How far one row, or one person, moves the kernel's summary."""
        return for_unit(kernel, self.unit).sensitivity(self.neighbours)

    def counting(self) -> Sensitivity:
        """The sensitivity of counts in which every row is counted once."""
        return self.sensitivity(Histogram())

    @property
    def buys_size(self) -> bool:
        """Whether the number of rows is private and has to be bought."""
        return self.neighbours is Neighbours.ADD_REMOVE


def size_step(terms: Terms, spends: Mapping[str, Any]) -> Step | None:
    """The step that buys the number of rows, where that is private."""
    if not terms.buys_size:
        return None
    return make_step("size", terms.sensitivity(Rows()), spends["size"])


def with_size(terms: Terms, weights: Mapping[str, Number]) -> dict[str, Number]:
    """Weights of the cells' steps, with a fiftieth for the number of rows where that is bought, and for what follows."""
    whole = sum((exact(weight, "a weight") for weight in weights.values()), Fraction(0))
    size = {"size": whole * Fraction(SIZE_SHARE, CELLS_SHARE)} if terms.buys_size else {}
    rest = {"rest": (whole + size.get("size", Fraction(0))) * terms.rest_weight} if terms.rest else {}
    return {**size, **weights, **rest}


def uniform_steps(terms: Terms) -> dict[str, Step | None]:
    """The steps of a uniform grid: the number of rows, then all cells."""
    spends = shares(terms.budget, with_size(terms, {"cells": 1}))
    return {"size": size_step(terms, spends), "cells": make_step("cells", terms.counting(), spends["cells"])}


def adaptive_steps(terms: Terms, alpha: Number) -> dict[str, Step | None]:
    """The steps of an adaptive grid: the number of rows, alpha of the rest for the first level, 1 - alpha for the second."""
    part = exact(alpha, "alpha")
    if part >= 1:
        raise UsageError("alpha must lie between 0 and 1: the first level's part of the budget. 0.5 is a good choice.")
    spends = shares(terms.budget, with_size(terms, {"level 1": part, "level 2": 1 - part}))
    steps = {name: make_step(name, terms.counting(), spends[name]) for name in ("level 1", "level 2")}
    return {"size": size_step(terms, spends), **steps}


def sparse_steps(terms: Terms, threshold: int) -> tuple[Step | None, Fraction]:
    """The step for the number of rows and the noise scale of the cells. Laplace always: a delta stays unspent."""
    spends = shares(PureDP(terms.budget.epsilon), with_size(terms, {"cells": 1}))
    assert not terms.rest, "a sparse grid is released by itself"
    assert isinstance(spends["cells"], Fraction)
    return size_step(terms, spends), terms.counting().l1("counts") / spends["cells"]


def rest_spend(terms: Terms, method: str) -> Spend:
    """What a synopsis of this method leaves for what follows."""
    if method != "tree":
        return shares(terms.budget, with_size(terms, {"cells": 1}))["rest"]
    return tree_spends(terms)["rest"]


def tree_spends(terms: Terms) -> dict[str, Spend]:
    """The parts of a tree: its splits in pure epsilon; of an (epsilon, delta) the others get the Gaussian that is left."""
    parts = cut(terms.budget.epsilon, {"tree": TREE_SHARE, "others": LEAVES_SHARE + TREES * terms.rest_weight})
    others = parts["others"]
    if isinstance(terms.budget, ApproxDP):
        assert isinstance(parts["tree"], Fraction)
        others = Precision(gaussian_precision(terms.budget.epsilon - parts["tree"], terms.budget.delta))
    weights: dict[str, Number] = {"leaves": LEAVES_SHARE}
    if terms.rest:
        weights["rest"] = TREES * terms.rest_weight
    return {"tree": parts["tree"], **cut(others, weights)}


def tree_steps(terms: Terms, domain: Domain, most: int) -> tuple[MortonKeys, SplitTree, Step]:
    """The keys, the splits and the leaves of a tree.

    Raises
    ------
    UsageError
        Where there are more columns than a key has binary digits.
    """
    columns = len(domain.halves)
    if columns > KEY_BITS:
        raise UsageError(f"the tree takes up to {KEY_BITS} columns, and there are {columns}. Choose some with columns=.")
    order = MortonKeys(tuple(int(half) for half in domain.halves), min(MOST_BITS, KEY_BITS // columns))
    spends = tree_spends(terms)
    assert isinstance(spends["tree"], Fraction)
    splits = SplitTree.spending(spends["tree"], terms.counting(), order.levels, most)
    leaves = LeafSums(order, np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64))
    weights: dict[str, Number] = {"counts": 1, "sums": SUMS_WEIGHT * columns}
    return order, splits, make_step("leaves", terms.sensitivity(leaves), spends["leaves"], weights)


def plan_synopsis(
    terms: Terms,
    domain: Domain,
    rows: float,
    method: str = "adaptive-grid",
    alpha: Number = "0.5",
    threshold: int | None = None,
    most_cells: int = 2**22,
) -> Plan:
    """What a synopsis of about so many rows would spend, and what to expect of it; no row is read."""
    columns = len(domain.halves)
    expect: dict[str, str] = {}
    facts: dict[str, object] = {"rows": round(rows), "columns": columns, "method": method}
    if method == "tree":
        _, splits, leaves = tree_steps(terms, domain, most_cells)
        noise = leaves.mechanism.deviation()
        events: list[Event] = [splits.event("tree", terms.counting()), leaves.event]
        expect["tree"] = f"ranges of more than about {splits.decay} rows a level are cut"
        expect["leaves"] = (
            f"counts +-{noise['counts']:.3g} rows, a mean of 100 rows +-{min(1, noise['sums'] / UNIT / 100):.1%} of half a leaf"
        )
    elif threshold is not None:
        size, scale = sparse_steps(terms, threshold)
        side = facts["cells a column"] = uniform_side(rows, min(LARGEST_EPSILON, float(1 / scale)), columns)
        cells = Survivors(scale, threshold, 1)
        events = [*([size.event] if size else []), cells.event("cells", terms.counting())]
        expect["cells"] = (
            f"{side} ** {columns} cells, counts +-{cells.deviation()['counts']:.3g}, those below {threshold} left out"
        )
    else:
        steps = uniform_steps(terms) if method == "uniform-grid" else adaptive_steps(terms, alpha)
        events = [step.event for step in steps.values() if step]
        for name, step in steps.items():
            if step is not None:
                expect[name] = (
                    f"{'number of rows' if name == 'size' else 'counts'} +-{step.mechanism.deviation()['counts']:.3g}"
                )
        if method == "uniform-grid" and steps["cells"]:
            side = facts["cells a column"] = uniform_side(rows, rule_epsilon(steps["cells"].mechanism), columns)
            expect["cells"] = f"{side} ** {columns} cells, {expect['cells']}"
        elif steps.get("level 1") and steps.get("level 2"):
            one, two = steps["level 1"], steps["level 2"]
            assert one is not None
            assert two is not None
            epsilon = rule_epsilon(one.mechanism) + rule_epsilon(two.mechanism)
            side = facts["cells a column"] = first_side(rows, epsilon, columns)
            expect["level 1"] = f"{side} ** {columns} cells, {expect['level 1']}"
    return Plan(terms.budget, terms.neighbours, tuple(events), expect, facts, unit=str(terms.unit or "row"))
