"""`PrivateMicrodata`: private rows with scikit-learn's habits. A thin shell over `RowsRequest` and `PrivateRows`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import pyarrow as pa

from cloister.errors import CloisterError, UnwrittenRelease
from cloister.microdata.private.private_rows import PrivateRows, format_of_rows
from cloister.microdata.private.request import RowsRequest
from cloister.microdata.private.row_methods import DEFAULT_METHOD
from cloister.parameters import check_path, check_whole
from cloister.privacy.ledger import Ledger
from cloister.privacy.plan import Plan
from cloister.privacy.release import Release
from cloister.sinks import reserved
from cloister.sklearn_params import Parameters

__all__ = ["PrivateMicrodata"]


class PrivateMicrodata(Parameters):
    """Made-up rows that are differentially private: as many as the table has, with its columns, bounds and domains.

    Parameters
    ----------
    budget : number, PureDP, ApproxDP or Identifiability
        What the rows may reveal; it must be said. A plain number is an epsilon with delta = 0.
    method : {"clusters", "marginals", "insensitive"}, default "clusters"
        clusters: private clusters of the whole record, with the spread inside each. marginals: noisy tables of columns and
        pairs of columns, for tables of categories or with many columns. insensitive: ICMD-DP made sound, averages of groups
        along a public order, for comparison. See docs/microdata.md.
    n_clusters : int, optional
        Of method "clusters". Default: as many as the budget carries.
    k : int, optional
        Rows of a group, for method "insensitive". Default: what the plan expects to be best.
    bins : dict, optional
        For method "marginals": how numbers and dates are cut, as in `tabulate`; values are then drawn evenly within a bin.
        Default: a bin for each of up to 32 values, else bins that follow the rows, bought from the budget.
    columns : list of str, optional
        The columns to make up. Default: all that the schema, `bounds` and `domains` describe, but for identifiers, the unit
        and free text. Other columns stay behind.
    bounds, domains : dict, optional
        Public facts of columns that no schema describes: ``{"age": (0, 99)}``, ``{"sex": ["f", "m"]}``.
    random_state : int or numpy Generator, optional
        For public choices: which values are drawn from what was released. Never for noise.
    schema, neighbours, table, ledger, engine
        As in `KMeans`.

    Attributes
    ----------
    release_ : Release, the certificate
    rows_ : PrivateRows, the rows that were made last

    Notes
    -----
    Privacy: the rows are made of released values and public chance alone; `release_` says at what cost. No row of the output is a
    row of the input, and none stands in its place.

    Examples
    --------
    >>> import cloister as cl
    >>> rows = [{"age": 20 + i % 50, "sex": "fm"[i % 2]} for i in range(2000)]
    >>> model = cl.PrivateMicrodata(budget=2, bounds={"age": (0, 99)}, domains={"sex": ["f", "m"]}, columns=["age", "sex"])
    >>> made = model.sample(rows)
    >>> made.table.schema.names, abs(len(made) - 2000) < 500
    (['age', 'sex'], True)
    """

    def __init__(
        self,
        budget: Any = None,
        method: str = DEFAULT_METHOD,
        n_clusters: int | None = None,
        k: int | None = None,
        bins: Mapping[str, Any] | None = None,
        columns: Sequence[str] | None = None,
        bounds: Mapping[str, tuple[Any, Any]] | None = None,
        domains: Mapping[str, Sequence[str]] | None = None,
        schema: Any = None,
        neighbours: str | None = None,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        engine: Any = None,
        random_state: Any = None,
    ) -> None:
        self.budget = budget
        self.method = method
        self.n_clusters = n_clusters
        self.k = k
        self.bins = bins
        self.columns = columns
        self.bounds = bounds
        self.domains = domains
        self.schema = schema
        self.neighbours = neighbours
        self.table = table
        self.ledger = ledger
        self.engine = engine
        self.random_state = random_state

    def plan(self, n: int, names: Sequence[str] = ()) -> Plan:
        """What the rows of a table of about n rows with these columns would cost, and what to expect; no row is read."""
        return self._request().plan(check_whole(n, "the number of rows", 0), names)

    def sample(self, X: Any, *, progress: Callable[[str], None] = lambda _: None) -> PrivateRows:
        """Make private rows of X: a frame, a path, or anything that `cloister` reads. Each call charges the budget again."""
        made = self._request().run(X, progress=progress)
        self.rows_, self.release_ = made, made.release_
        return made

    def publish(self, X: Any, out: str | PathLike[str], *, progress: Callable[[str], None] = lambda _: None) -> Release:
        """Make private rows of X and write them to a new .csv, .parquet or .xlsx file, with the certificate beside it."""
        format = format_of_rows(Path(check_path(out, "the output", "a new file")))
        request = self._request()
        with reserved(out, with_certificate=True) as held:
            made = request.run(X, progress=progress, written_as=format)
            self.rows_, self.release_ = made, made.release_
            try:
                self.release_ = made.save(held.target)
            except (CloisterError, OSError, pa.ArrowException) as error:
                reason = str(error) if isinstance(error, CloisterError) else "the system refused."
                raise UnwrittenRelease(
                    f"the rows were made and charged, and could not be written: {reason} They are not lost: write them "
                    "elsewhere with rows_.save(path).",
                    is_kept=False,
                ) from None
        return self.release_

    def _request(self) -> RowsRequest:
        return RowsRequest(**self.get_params())
