"""Microaggregation for mixed tables: the estimator, a shell over the walk in `publish_groups`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cloister.errors import UsageError
from cloister.kernels.loops.arrays import I32
from cloister.microdata.microaggregation.group_summary import GroupSummary
from cloister.microdata.microaggregation.microaggregation_plan import MicroaggregationPlan, plan_microaggregation
from cloister.microdata.microaggregation.publish_groups import KIND, group_table, publish_groups
from cloister.microdata.microaggregation.request import (
    MicroaggregationRequest,
    MicroaggregationSettings,
    read_microaggregation_request,
)
from cloister.privacy.release import Release
from cloister.privacy.saved_publications import SavedPublication, load_publication
from cloister.risks.published_classes import check_classes
from cloister.sklearn_params import Parameters
from cloister.vault import Unprotected

__all__ = ["Microaggregation"]

WANTED = "Give a table that cloister microdata --method microaggregation or Microaggregation.publish wrote"


class Microaggregation(Parameters):
    """Publish rows in groups of at least k, each written as the centroid of its group.

    Parameters
    ----------
    k : int, default 5
        Rows of a group, at least; people, where the schema names a unit. 2 or more. Groups have k to 2k - 1 rows (where k counts
        people: the nearest rows of k of them, as many as that takes).
    distance : {"mixed", "standardized"}, default "mixed"
        mixed: numbers on a scale from 0 to 1 (by the bounds of the schema, else by the data), absolute differences, and 1 for a
        differing category. standardized: z-scored numbers, squared differences, and 2 for a differing category. Dates are
        numbers of days.
    rule : {"cmd", "mdav"}, default "cmd"
        cmd: groups around the row farthest from the center (means and modes of what is left) and around the row farthest from
        that one, while at least 2k are left; k to 2k - 1 that are left form a group, fewer join each its nearest group.
        mdav: the same while at least 3k are left, then one group around the farthest row if 2k are left, and the rest.
    columns : list of str, optional
        The columns that are microaggregated. Default: the quasi-identifiers of the schema.
    hierarchies : directory, or mapping of columns to files or `Hierarchy`, optional
        How categories generalise. A group is published as the lowest label that covers it; categories without a hierarchy as
        their most common value.
    sensitive : str or list of str, optional
        Columns that are published as they are, and the certificate says so. Default: as the schema says.
    keep : str or list of str, optional
        Other columns that are published as they are, with a warning. All that is named nowhere is dropped.
    schema, table, ledger, engine
        As everywhere: public facts, the table's name in the ledger, the ledger, who reads the rows. Rows that have no order, as
        on Spark, are refused.

    Attributes
    ----------
    release_ : Release, the certificate
    summary_ : GroupSummary

    Notes
    -----
    Means are rounded to the step of the schema, to whole numbers where all cells of the column are whole, dates to days, others
    to six digits of the column's range. A blank category is a value of its own. A blank number counts as the mean of its column
    in distances, and as a category that differs from having one; a group is published as the mean of its known cells where at
    least half of its rows, and two of them, have one, and as a blank elsewhere. Up to 50,000 rows are grouped as one; larger
    tables in blocks of near rows, and the summary says what a cut costs. Rows are always shuffled.

    Privacy: k-anonymity of the microaggregated columns is a property of the table, not of the process: syntactic, not
    differentially private. The certificate says what it does not protect from.

    References
    ----------
    Ding and Li, A differential privacy protection method for mixed-attribute data tables (CMD: algorithm 1). Domingo-Ferrer and
    Torra, Ordinal, continuous and heterogeneous k-anonymity through microaggregation, 2005 (MDAV).

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from cloister.microdata.microaggregation.microaggregation_estimator import Microaggregation
    >>> people = {"age": [31, 33, 35, 60, 62, 64], "sex": ["f", "f", "m", "m", "m", "m"]}
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "safe.csv"
    >>> model = Microaggregation(k=3, columns=["age", "sex"])
    >>> print(model.publish(people, out).guarantee)
    syntactic: k = 3, not differentially private
    >>> sorted(set(out.read_text().splitlines()[1:]))
    ['33,"f"', '62,"m"']
    """

    def __init__(
        self,
        k: int = 5,
        distance: str = "mixed",
        rule: str = "cmd",
        columns: Sequence[str] | None = None,
        hierarchies: Any = None,
        sensitive: str | Sequence[str] = (),
        keep: str | Sequence[str] = (),
        schema: Any = None,
        table: str | None = None,
        ledger: Any = None,
        engine: Any = None,
    ) -> None:
        self.k = k
        self.distance = distance
        self.rule = rule
        self.columns = columns
        self.hierarchies = hierarchies
        self.sensitive = sensitive
        self.keep = keep
        self.schema = schema
        self.table = table
        self.ledger = ledger
        self.engine = engine

    def request(self) -> MicroaggregationRequest:
        """What the parameters ask for, checked; no row is read."""
        return read_microaggregation_request(MicroaggregationSettings(**self.get_params()))

    def plan(self, names: Sequence[str]) -> MicroaggregationPlan:
        """What would be done to a table with these columns. No row is read."""
        if isinstance(names, str):
            raise UsageError("a plan needs the names of the table's columns, as a list: plan([...]).")
        return plan_microaggregation(self.request(), names)

    def groups(self, X: Any) -> Unprotected[I32]:
        """The group of each row of X, in its order, for the holder: not a release. The ledger records it."""
        return group_table(self.request(), X)

    def publish(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        format: str | None = None,
        dialect: str = "input",
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Write the rows of X, microaggregated, to a new file (CSV or Parquet), with its certificate beside it.

        The certificate is ``<out>.release.json``. What is written is counted again before it appears under its name. A CSV file
        is written as the input is (delimiter, encoding, line ends); ``dialect="standard"``: with commas, in UTF-8;
        ``"semicolon"``: with semicolons and decimal commas, in UTF-8 with a byte order mark, as a German Excel opens it.
        """
        published = publish_groups(self.request(), X, out, format=format, dialect=dialect, progress=progress)
        self.dialect_ = published.dialect
        self.release_, self.summary_ = published.release, published.summary
        return self.release_

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedPublication[GroupSummary]:
        """The certificate and the summary of a table that `publish` wrote, checked against each other. It publishes nothing.

        Raises
        ------
        SourceError
            It is no such table.
        DataError
            It was changed, or contradicts its certificate.
        """
        found = load_publication(path, KIND, WANTED, GroupSummary.from_dict)
        check_classes(Path(path), found.release_)
        return found
