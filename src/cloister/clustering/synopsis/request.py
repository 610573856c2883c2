"""`synopsis`: spend a budget once on cells with noisy counts. A request -> a plan -> cells in the vault -> `Synopsis`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cloister.clustering.domain import Domain, from_bounds
from cloister.clustering.inputs import Input, named_columns
from cloister.clustering.progress import Progress, silent
from cloister.clustering.synopsis.files import fingerprint
from cloister.clustering.synopsis.shapes import ANY_ROWS, MOST_CELLS, Shape, ShapeOptions, find_shape
from cloister.clustering.synopsis.synopsis import Synopsis
from cloister.clustering.table_request import TableRequest
from cloister.encode import Encoding
from cloister.errors import UsageError, by_door
from cloister.parameters import check_progress
from cloister.privacy.budgets import ApproxDP, Number
from cloister.privacy.plan import Plan

if TYPE_CHECKING:
    from cloister.privacy.ledger import Ledger

__all__ = ["SynopsisRequest", "synopsis"]


@dataclass(frozen=True, kw_only=True)
class SynopsisRequest(TableRequest):
    """What a user wants a synopsis of, and in which shape. The fields are the parameters of `synopsis`, which documents them."""

    budget: Any = None  # None is refused
    method: str = "adaptive-grid"
    alpha: Number = "0.5"
    threshold: int | None = None
    most_cells: int = MOST_CELLS
    c1: Number | None = None
    c2: Number | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.shape

    @property
    def shape(self) -> Shape:
        """How the domain is cut into cells."""
        return find_shape(self.method, ShapeOptions(self.alpha, self.threshold, self.most_cells, self.c1, self.c2))

    def domain(self, rows: Input) -> Domain:
        """Where values may lie, checked against the shape as far as it can be without the rows. The request is settled."""
        columns = self.choose_columns(rows)
        if columns.bounds is None and columns.names:
            raise UsageError(
                "the bounds of the data are not known, and a grid needs them. Give "
                f"{by_door('bounds=(low, high)', '--bounds LOW,HIGH')} from what is publicly known, or a schema with bounds."
            )
        domain = from_bounds(columns.names, columns.bounds, self.scale, columns.defaults, columns.forms, columns.lattices)
        self.shape.check(domain, self.terms)
        return domain

    def plan(self, rows: int, names: Sequence[str] | Input) -> Plan:
        """What a synopsis of about so many rows of these columns would spend; no row is read and nothing is charged.

        Of data that is opened (`read`) it refuses what a release would refuse before its charge.
        """
        columns = named_columns(names)
        request = self.settled(columns)
        domain = request.domain(columns)
        request.check_readable(columns, domain.encoding)
        return self.shape.plan(domain, request.terms, rows)

    def release(self, data: Any, progress: Progress = silent) -> Synopsis:
        """Charge the budget, release the cells in the vault, and hand them out."""
        progress = check_progress(progress)
        rows = self.read(data)
        request = self.settled(rows)
        domain, terms = request.domain(rows), request.terms
        with request.open_vault(rows, domain.encoding, f"synopsis, {self.method}") as vault:
            vault.follow(self.shape.plan(domain, terms, ANY_ROWS))
            cells, total, more_notes = self.shape.build(vault, domain, terms, progress)
            parameters = {
                "method": self.method,
                "columns": list(domain.columns),
                "bounds": domain.bounds,
                "shape": domain.shape,
                "scale": None if domain.is_ball else self.scale,
                "defaults": domain.encoding.defaults,
                **self.shape.parameters(),
            }
            result = {"cells": len(cells), "total": total, "sha256": fingerprint(cells, domain, total)}
            notes = (*request.notes(domain.encoding), *more_notes)
            return Synopsis(cells, domain, total, vault.release("synopsis", parameters, result, notes))

    def notes(self, encoding: Encoding, rows: float | None = None) -> tuple[str, ...]:
        """What a reader of the certificate should know."""
        notes = super().notes(encoding, rows)
        if self.threshold is not None and isinstance(self.terms.budget, ApproxDP):
            return (*notes, "A sparse grid uses Laplace noise: delta stays unspent.")
        return notes


def synopsis(
    data: Any,
    budget: Any = None,
    bounds: Any = None,
    method: str = "adaptive-grid",
    *,
    alpha: Number = "0.5",
    threshold: int | None = None,
    most_cells: int = MOST_CELLS,
    c1: Number | None = None,
    c2: Number | None = None,
    scale: str | None = "bounds",
    columns: Sequence[str] | None = None,
    schema: Any = None,
    neighbours: str | None = None,
    table: str | None = None,
    ledger: str | Ledger | None = None,
    engine: Any = None,
    progress: Progress = silent,
) -> Synopsis:
    """Release cells of the domain with noisy counts: a synopsis of the table, to be clustered, sampled and asked for free.

    Parameters
    ----------
    data : array, frame, path, or anything that `cloister` reads
    budget : number, PureDP, ApproxDP or Identifiability
        What the synopsis may reveal; it must be said. A plain number is an epsilon with delta = 0.
    bounds : pair (low, high), dict, `Ball`, or None
        Public bounds of the columns: for all, or pairs by name, ``{"age": (0, 110)}``. None: taken from the schema.
    method : str, default "adaptive-grid"
        The shape of the cells: a name that ``cloister synopsis --help`` lists. Grids suit two or three columns; the tree any
        number up to 62.
    alpha : number, default 0.5
        The first level's part of an adaptive grid's budget.
    threshold : int, optional
        For a uniform grid: write down only cells whose noisy count is at least this. The grid may then have any number of
        cells up to 2**52.
    most_cells : int, default 4,194,304
        A dense grid with more cells is refused; a tree stops splitting there.
    c1, c2 : number, optional
        How many rows, in units of 1/epsilon, a cell of the two levels of an adaptive grid should stand for: larger ones make it
        coarser. None: 10 and 5, as in Qardaji et al. 2013 (the LETEO report has the constants and prints no values).
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
    request = SynopsisRequest(
        budget=budget,
        bounds=bounds,
        method=method,
        alpha=alpha,
        threshold=threshold,
        most_cells=most_cells,
        c1=c1,
        c2=c2,
        scale=scale,
        columns=columns,
        schema=schema,
        neighbours=neighbours,
        table=table,
        ledger=ledger,
        engine=engine,
    )
    return request.release(data, progress)
