"""`synopsis`: spend a budget once on cells with noisy counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cloister.clustering.domain import Domain
from cloister.clustering.inputs import Input
from cloister.clustering.synopsis.facts import gather
from cloister.clustering.synopsis.files import fingerprint
from cloister.clustering.synopsis.grids import Built, adaptive_grid, check_cap, sparse_grid, uniform_grid
from cloister.clustering.synopsis.rules import first_side
from cloister.clustering.synopsis.steps import KEY_BITS, METHODS, Terms, adaptive_steps, plan_synopsis
from cloister.clustering.synopsis.tree import grow_tree
from cloister.clustering.synopsis.value import Synopsis
from cloister.errors import UsageError
from cloister.privacy.budgets import ApproxDP, Number
from cloister.privacy.ledger import Ledger
from cloister.privacy.notes import guarantee_notes
from cloister.privacy.plan import Plan
from cloister.vault import Vault

__all__ = ["plan", "release_cells", "synopsis"]

MOST_CELLS = 2**22  # of a dense grid, and leaves of a tree


def synopsis(
    data: Any,
    budget: Any = 1.0,
    bounds: Any = None,
    method: str = "adaptive-grid",
    *,
    alpha: Number = "0.5",
    threshold: int | None = None,
    most_cells: int = MOST_CELLS,
    scale: str | None = "bounds",
    columns: Sequence[str] | None = None,
    schema: Any = None,
    neighbours: str | None = None,
    table: str | None = None,
    ledger: str | Ledger | None = None,
    engine: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Synopsis:
    """Release cells of the domain with noisy counts: a synopsis of the table, to be clustered, sampled and asked for free.

    Parameters
    ----------
    data : array, frame, path, or anything that `cloister` reads
    budget : number, PureDP, ApproxDP or Identifiability, default 1.0
    bounds : pair (low, high), `Ball`, or None
        Public bounds of the columns. None: taken from the schema.
    method : "adaptive-grid", "uniform-grid" or "tree"
        Grids suit two or three columns; the tree any number up to 62.
    alpha : number, default 0.5
        The first level's part of an adaptive grid's budget.
    threshold : int, optional
        For a uniform grid: write down only cells whose noisy count is at least this. The grid may then have any number of
        cells up to 2**52.
    most_cells : int, default 4,194,304
        A dense grid with more cells is refused; a tree stops splitting there.
    scale, columns, schema, neighbours, table, ledger, engine
        As in `KMeans`.

    Privacy
    -------
    Everything is released through the vault; `Synopsis.release` says at what cost. Both neighbour relations; any budget. A
    schema's unit makes the guarantee per person.

    References
    ----------
    LETEO technical report, 2021, section 4; D. Su et al. 2016 (uniform grid); J. Zhang et al. 2016 (tree).
    """
    facts = gather(data, budget, bounds, scale, columns, schema, neighbours, table, engine)
    domain, terms = facts.domain, facts.terms
    check(method, alpha, threshold, most_cells, domain, terms)
    with Vault.open(
        facts.data,
        domain.encoding,
        budget=terms.budget,
        neighbours=terms.neighbours,
        purpose=f"synopsis, {method}",
        engine=engine,
        table=facts.table,
        ledger=ledger,
        unit=terms.unit,
    ) as vault:
        cells, total = release_cells(vault, domain, terms, method, alpha, threshold, most_cells, progress)
        parameters = {
            "method": method,
            "columns": list(domain.columns),
            "bounds": [[g.center - g.half * g.step, g.center + g.half * g.step] for g in domain.encoding.numbers],
            "shape": "ball" if domain.is_ball else "box",
            "scale": None if domain.is_ball else scale,
            **({"alpha": str(alpha)} if method == "adaptive-grid" else {}),
            **({"threshold": int(threshold)} if threshold is not None else {}),
        }
        result = {"cells": len(cells), "total": total, "sha256": fingerprint(cells, domain, total)}
        notes = guarantee_notes(terms.budget, terms.unit)
        if threshold is not None and isinstance(terms.budget, ApproxDP):
            notes = (*notes, "A sparse grid uses Laplace noise: delta stays unspent.")
        return Synopsis(cells, domain, total, vault.release("synopsis", parameters, result, notes))


def plan(
    rows: int,
    names: Sequence[str],
    budget: Any = 1.0,
    bounds: Any = None,
    method: str = "adaptive-grid",
    *,
    alpha: Number = "0.5",
    threshold: int | None = None,
    most_cells: int = MOST_CELLS,
    scale: str | None = "bounds",
    columns: Sequence[str] | None = None,
    schema: Any = None,
    neighbours: str | None = None,
) -> Plan:
    """What `synopsis` would spend on about so many rows of these columns; no row is read and nothing is charged."""
    facts = gather(Input(None, tuple(names)), budget, bounds, scale, columns, schema, neighbours, None, None)
    check(method, alpha, threshold, most_cells, facts.domain, facts.terms)
    made = plan_synopsis(facts.terms, facts.domain, rows, method, alpha, threshold, most_cells)
    if threshold is None and "cells a column" in made.facts:
        check_cap(made.facts["cells a column"], len(facts.domain.halves), most_cells, f" for about {rows:,} rows")
    return made


def check(method: str, alpha: Number, threshold: int | None, most_cells: int, domain: Domain, terms: Terms) -> None:
    """Refuse, before a charge, what can be known to be wrong without the rows."""
    if method not in METHODS:
        raise UsageError(f'method "{method}" is not known. Choose one of: {", ".join(METHODS)}.')
    if isinstance(most_cells, bool) or not isinstance(most_cells, int | np.integer) or most_cells < 1:
        raise UsageError("most_cells must be a whole number of at least 1.")
    columns = len(domain.halves)
    if threshold is not None:
        if method != "uniform-grid":
            raise UsageError("a threshold goes with method uniform-grid: the sparse grid.")
        if isinstance(threshold, bool) or not isinstance(threshold, int | np.integer) or threshold < 1:
            raise UsageError("the threshold of a sparse grid must be a whole number of at least 1.")
    if method == "adaptive-grid":
        adaptive_steps(terms, alpha)
        check_cap(first_side(0, 1, columns), columns, most_cells, f" at its coarsest, for {columns} columns")
    if method == "tree" and columns > KEY_BITS:
        raise UsageError(f"the tree takes up to {KEY_BITS} columns, and there are {columns}. Choose some with columns=.")


def release_cells(
    vault: Vault,
    domain: Domain,
    terms: Terms,
    method: str,
    alpha: Number = "0.5",
    threshold: int | None = None,
    most_cells: int = MOST_CELLS,
    progress: Callable[[str], None] = lambda _: None,
) -> Built:
    """The cells, released inside an open vault."""
    if method == "tree":
        return grow_tree(vault, domain, terms, most_cells, progress)
    if method == "adaptive-grid":
        return adaptive_grid(vault, domain, terms, alpha, most_cells, progress)
    if threshold is not None:
        return sparse_grid(vault, domain, terms, int(threshold), progress)
    return uniform_grid(vault, domain, terms, most_cells, progress)
