"""`tabulate`: private contingency tables and histograms, with totals and margins that agree with the cells.

Privacy
-------
Released, in one pass over the rows: the noisy count of every cell, of some margins where that makes them better, the noisy
sums of bounded numbers by cell, and noisy counts of their values by cell (`cell_quantiles`). Neighbours: both relations.
Sensitivity: `kernels.tables.TableCounts`. Budget: cells two parts, each bought margin one, each summed number two, each number
with quantiles four. Post-processing: least squares over cells and margins, counts that are not negative and whole, totals,
means, quantiles, intervals. Empty cells get noise like any other and none is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloister.privacy.ledger import Ledger
from cloister.privacy.plan import Plan
from cloister.tabulation.private_table import PrivateTable
from cloister.tabulation.request import TabulationRequest

__all__ = ["plan_table", "tabulate"]


def tabulate(
    data: Any,
    by: Sequence[str],
    budget: Any = None,
    *,
    measures: Sequence[str] = (),
    means: Sequence[str] = (),
    quantiles: Mapping[str, Any] | None = None,
    bins: Mapping[str, Any] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None,
    domains: Mapping[str, Sequence[str]] | None = None,
    margins: bool | None = None,
    schema: Any = None,
    neighbours: str | None = None,
    count_missing: bool = False,
    columns: Sequence[str] | None = None,
    table: str | None = None,
    ledger: str | Ledger | None = None,
    engine: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> PrivateTable:
    """Count rows by public categories or bins, and sum bounded numbers, privately.

    Parameters
    ----------
    data : frame, path, or anything that `cloister` reads
    by : list of str
        The columns that make the cells, at most 8. A category needs a public domain, a number or a date public bounds.
    budget : number, PureDP, ApproxDP or Identifiability
        What the table may reveal; it must be said. A plain number is an epsilon with delta = 0.
    measures : list of str
        Numbers to sum in each cell; they need public bounds.
    means : list of str
        Numbers whose mean is wanted in each cell: what was bought of their sums, over the counts. One that is in `measures`, too,
        costs nothing more. A cell with too few rows beside the noise has None.
    quantiles : dict, optional
        Numbers whose quantiles are wanted in each cell, such as ``{"income": [0.25, 0.5, 0.75], "age": 0.5}``, with intervals.
        All quantiles of a number cost as much as one.
    bins : dict, optional
        For a number column in `by`: how many bins of equal width, or edges that cut its bounds. Default: one bin for each
        value of its step when there are at most 50, else 10. For a date column: how many, or days that cut its bounds, such as
        ``["1950-01-01", "1970-01-01"]``. Default: a bin for each year when there are at most 50, else for each decade.
    bounds, domains : dict, optional
        Public facts of columns that no schema describes.
    margins : bool, optional
        Whether one-way margins are bought beside the cells. None: those that get better by it.
    count_missing : bool, default False
        Whether to buy, for each column, how many of its values are made up because none could be read. The certificate has
        the noisy counts, whether or not anything is missing.
    columns : list of str, optional
        The names of the columns of data that has none, in its order: a list of rows, or a NumPy array. Default: those of the
        schema; of an array x0, x1, ...
    schema, neighbours, table, ledger, engine
        As in `KMeans`.

    Privacy
    -------
    Every cell gets noise, empty ones too, and none is suppressed. Numbers outside their bounds count as the nearest bound;
    missing and unreadable values as their column's default, or in a cell "(other)" of their own where the schema says
    ``other = true``. The certificate names the defaults.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import cloister as cl
    >>> rows = pa.table({"level": ["bachelor"] * 700 + ["master"] * 300})
    >>> counted = cl.tabulate(rows, by=["level"], budget=1, domains={"level": ["bachelor", "master"]})
    >>> counted.counts.shape
    (2,)
    """
    request = TabulationRequest(
        by, budget, measures=measures, means=means, quantiles=quantiles, bins=bins, bounds=bounds, domains=domains,
        margins=margins, schema=schema, neighbours=neighbours, count_missing=count_missing, columns=columns,
    )  # fmt: skip
    return request.run(data, table=table, ledger=ledger, engine=engine, progress=progress)


def plan_table(names: Sequence[str], by: Sequence[str], budget: Any = None, **facts: Any) -> Plan:
    """What `tabulate` would spend on a table with these columns, and what to expect of it.

    `facts` are the public facts and choices that `tabulate` takes, from `measures` to `neighbours`. No row is read and
    nothing is charged.
    """
    return TabulationRequest(by, budget, **facts).plan(names)
