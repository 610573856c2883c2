"""`choose`: the most common value of a column, a quantile on its public grid, or the best of some options, privately.

Privacy
-------
Released, in one pass over the rows: one of public candidates, by the exponential mechanism, P ~ exp(epsilon score / reach),
and on request the noisy number of rows. Neighbours: both relations, per row or per person. Sensitivity: the reach of each
score, how far neighbours move two scores apart, stands beside it in `kernels.scores`. Budget: all of the epsilon for the choice,
or nine tenths where the number of rows is bought; no delta. Post-processing: the value of the candidate. How near to the best
it is follows from epsilon and the number of candidates alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cloister.choosing.private_choice import PrivateChoice
from cloister.choosing.request import ChoiceRequest
from cloister.errors import UsageError
from cloister.privacy.ledger import Ledger
from cloister.privacy.plan import Plan

__all__ = ["choose", "plan_choice"]


def choose(
    data: Any,
    column: str,
    budget: Any = None,
    *,
    quantile: Any = None,
    options: Sequence[Any] | None = None,
    score: str | None = None,
    clip: Any = None,
    bounds: Any = None,
    step: float | None = None,
    domain: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    count_rows: bool = False,
    schema: Any = None,
    neighbours: str | None = None,
    columns: Sequence[str] | None = None,
    table: str | None = None,
    ledger: str | Ledger | None = None,
    engine: Any = None,
    progress: Callable[[str], None] = lambda _: None,
) -> PrivateChoice:
    """Choose a value of a column privately: the most common one, a quantile, or the best of some options.

    Parameters
    ----------
    data : frame, path, or anything that `cloister` reads
    column : str
        A category with a public domain, or a number or date with public bounds.
    budget : number, PureDP, ApproxDP or Identifiability
        What the choice may reveal; it must be said. A plain number is an epsilon. A choice needs no delta, and spends none.
    quantile : number, optional
        Between 0 and 1: 0.5 is the median. As an exact fraction "1/3" too, with a denominator of at most a million. Without it
        and without options the most common value is chosen.
    options : list, optional
        Choose among these alone: numbers or days within the bounds, or values of the domain.
    score : "count", "rank" or "distance", optional
        What makes an option good: how many rows have it; how near it is to the quantile; how near it is to all rows, by the sum
        of their distances. By default rank with a quantile, distance for options of numbers and days, and count otherwise.
    clip : number, optional
        Of the score "distance": a row farther from an option than this counts as that far. By default no row does.
    bounds, step, domain : optional
        Public facts of the column that no schema states: (low, high) and the distance between two values of a number, or the
        values of a category. Bounds and domain may be dicts by column, as other verbs take them. A quantile of a number without a
        step is chosen among 10,001 evenly spread values.
    count_rows : bool, default False
        Whether to buy the number of rows too, for a tenth of the budget. Under replace-one neighbours it is public, and free.
    columns : list of str, optional
        The names of the columns of data that has none, in its order.
    schema, neighbours, table, ledger, engine
        As in `KMeans`.

    Returns
    -------
    PrivateChoice
        `value`, and how near to the best it is: `within` ranks or rows with probability 95%, in words `nearness`.

    Privacy
    -------
    One of the public candidates is released and nothing else: no score and no count. Numbers outside their bounds count as the
    nearest bound, missing and unreadable values as their column's default, which the certificate names.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import cloister as cl
    >>> rows = pa.table({"age": [30, 40, 50] * 400})
    >>> cl.choose(rows, "age", budget=1, quantile=0.5, bounds=(0, 99), step=1).value
    40
    """
    bounds, domain = of_column(bounds, column, "bounds"), of_column(domain, column, "domain")
    request = ChoiceRequest(
        column, budget, quantile=quantile, options=options, score=score, clip=clip, bounds=bounds, step=step, domain=domain,
        count_rows=count_rows, schema=schema, neighbours=neighbours, columns=columns,
    )  # fmt: skip
    return request.run(data, table=table, ledger=ledger, engine=engine, progress=progress)


def of_column(facts: Any, column: str, name: str) -> Any:
    """What a dict by column says of this one; facts that are no dict are of this column.

    >>> of_column({"age": (0, 99), "pay": (0, 10)}, "age", "bounds")
    (0, 99)
    """
    if not isinstance(facts, Mapping):
        return facts
    if column not in facts:
        raise UsageError(
            f'{name} says nothing of column "{column}". Give it there too, or leave {name} out where a schema has it.'
        )
    return facts[column]


def plan_choice(names: Sequence[str], column: str, budget: Any = None, **facts: Any) -> Plan:
    """What `choose` would spend on a table with these columns, and what to expect of it.

    `facts` are the public facts and choices that `choose` takes, from `quantile` to `neighbours`. No row is read and nothing is
    charged.
    """
    return ChoiceRequest(column, budget, **facts).plan(names)
