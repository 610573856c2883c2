"""k-anonymous tables by top-down specialization: the estimator, a shell over the walk in `publish`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cloister.anonymization.dry_run import DryRun, dry_run
from cloister.anonymization.publish import publish_table
from cloister.anonymization.reporting.certify import KIND
from cloister.anonymization.reporting.outcome import TableOutcome
from cloister.anonymization.reporting.publication_plan import PublicationPlan, plan_publication
from cloister.anonymization.reporting.summary import TableSummary
from cloister.anonymization.request import Request, Settings, read_request
from cloister.anonymization.searching.guards import Guard
from cloister.errors import UsageError
from cloister.privacy.release import Release
from cloister.privacy.saved_publications import SavedPublication, load_publication
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.risks.published_classes import check_classes
from cloister.sklearn_params import Parameters

__all__ = ["TopDownSpecialization"]

WANTED = "Give a table that cloister anonymize or TopDownSpecialization.publish wrote"


class TopDownSpecialization(Plotted, Parameters):
    """Publish a table in which everybody looks like at least k - 1 others.

    Parameters
    ----------
    k : int, default 10
        Rows that share each published tuple of quasi-identifiers, at least; persons, where the schema names a unit. 2 or more.
    quasi : list of str, optional
        The quasi-identifiers: what somebody may know of a person already. Default: as the schema says.
    hierarchies : directory, or mapping of columns to files or `Hierarchy`, optional
        How values generalise. A file belongs to the column that its name ends in. Numbers and dates without one are split
        in two during the search; other columns are published as they are or as ``*``.
    gain : {"loss", "entropy", "distance", "class"}, optional
        What a step should gain. Default: "class" with a target, else "loss".
    suppression : float, default 0
        Share of the rows that may be suppressed.
    scope : {"local", "global"}, optional
        local: every row as finely as some k rows allow; no row is lost, published values overlap. global: a value is published
        the same in every row. Default: local; global where rows may be suppressed, or a target or another gain is asked for.
    sensitive : str or list of str, optional
        The columns that guards of sensitive values look at. Default: as the schema says, when a guard needs one.
    l_diversity, entropy_l_diversity : number, optional
        At least so many different (or effectively different) sensitive values in every class.
    t_closeness : float, optional
        How far the sensitive values of a class may be from those of the table.
    ordered : bool, default False
        Whether the distance of t-closeness follows the order of the values.
    population, k_map : table and int, optional
        At least `k_map` rows of the population share each published tuple; people, where the schema has a unit and the
        population its column.
    guards : sequence of Guard, optional
        Further guards; column i of a guard is the i-th of `sensitive`.
    target : str, optional
        The column that the table should still predict.
    weights : mapping of str to float, optional
        How much a quasi-identifier counts beside the others: 5 protects it, 0.2 gives it up first. Default: 1, or as the
        schema says (`weight`).
    most_levels : mapping of str to int, optional
        The highest level of its hierarchy that a column may be published as; its values are level 0, ``*`` is the last.
        Default: any, or as the schema says (`most_level`).
    widest : mapping of str to float, optional
        The widest interval that a column of numbers or dates (in days) may be published as; ``*`` has no width. An open
        interval counts up to the outermost cut. Default: any, or as the schema says (`widest`).
    identifiers : list of str, optional
        Columns to drop. Default: as the schema says. Any other column that is named like an identifier is refused until the
        schema or a parameter names it; an empty list says that there are no identifiers.
    keep_unique : list of str, optional
        Columns that are published as they are although at least 90% of their values are different. Any other such column is
        refused, unless it is an identifier or sensitive.
    pseudonyms : list of str, optional
        Identifiers that are replaced by a keyed hash instead. Needs `key_file` or `key_variable`.
    key_file, key_variable : path or str, optional
        Where the key of the pseudonyms is: a file, or a variable of the environment.
    shuffle : bool, default False
        Whether the rows are written in an order that tells nothing about their order in the input.
    schema, table, ledger, engine
        As everywhere: public facts, the table's name in the ledger, the ledger, who reads the rows.

    Attributes
    ----------
    release_ : Release, the certificate
    recoding_ : Recoding, what was done to the quasi-identifiers
    summary_ : TableSummary
    outcome_ : TableOutcome, what was lost by column and what is risked, for the holder; after `dry_run` too
    preview_ : Preview, ten of the published rows, for the holder
    advice_ : Advice, what would lose less, for the holder: where the loss is above 0.25

    Privacy
    -------
    k-anonymity is a property of the table, not of the process: syntactic, not differentially private. The certificate says
    what it does not protect from. The ledger records the release when the table has a name.

    References
    ----------
    LETEO, section 3. Sweeney, k-anonymity, 2002. Fung, Wang, Yu, Top-down specialization, 2005.

    Examples
    --------
    >>> import dataclasses, pathlib, tempfile
    >>> import cloister as cl
    >>> from cloister.datasets import STUDENTS, students
    >>> out = pathlib.Path(tempfile.mkdtemp()) / "students.csv"
    >>> model = cl.TopDownSpecialization(k=10, schema=dataclasses.replace(STUDENTS, table=None))
    >>> print(model.publish(students(2000), out).guarantee)
    syntactic: k = 10, not differentially private
    >>> model.summary_.smallest >= 10
    True
    """

    def __init__(
        self,
        k: int = 10,
        quasi: Sequence[str] | None = None,
        hierarchies: Any = None,
        gain: str | None = None,
        suppression: float = 0.0,
        scope: str | None = None,
        sensitive: str | Sequence[str] | None = None,
        l_diversity: int | None = None,
        entropy_l_diversity: float | None = None,
        t_closeness: float | None = None,
        ordered: bool = False,
        population: Any = None,
        k_map: int | None = None,
        guards: Sequence[Guard] = (),
        target: str | None = None,
        weights: Mapping[str, float] | None = None,
        most_levels: Mapping[str, int] | None = None,
        widest: Mapping[str, float] | None = None,
        identifiers: Sequence[str] | None = None,
        keep_unique: Sequence[str] = (),
        pseudonyms: Sequence[str] = (),
        key_file: str | os.PathLike[str] | None = None,
        key_variable: str | None = None,
        shuffle: bool = False,
        schema: Any = None,
        table: str | None = None,
        ledger: Any = None,
        engine: Any = None,
    ) -> None:
        self.k = k
        self.quasi = quasi
        self.hierarchies = hierarchies
        self.gain = gain
        self.suppression = suppression
        self.scope = scope
        self.sensitive = sensitive
        self.l_diversity = l_diversity
        self.entropy_l_diversity = entropy_l_diversity
        self.t_closeness = t_closeness
        self.ordered = ordered
        self.population = population
        self.k_map = k_map
        self.guards = guards
        self.target = target
        self.weights = weights
        self.most_levels = most_levels
        self.widest = widest
        self.identifiers = identifiers
        self.keep_unique = keep_unique
        self.pseudonyms = pseudonyms
        self.key_file = key_file
        self.key_variable = key_variable
        self.shuffle = shuffle
        self.schema = schema
        self.table = table
        self.ledger = ledger
        self.engine = engine

    def request(self) -> Request:
        """What the parameters ask for, checked; no row is read."""
        return read_request(Settings(**self.get_params()))

    def plan(self, names: Sequence[str]) -> PublicationPlan:
        """What would be done to a table with these columns: their roles, hierarchies, guards. No row is read."""
        if isinstance(names, str):
            raise UsageError("a plan needs the names of the table's columns, as a list: plan([...]).")
        return plan_publication(self.request(), names)

    def publish(
        self,
        X: Any,
        out: str | os.PathLike[str],
        *,
        format: str | None = None,
        dialect: str = "input",
        progress: Callable[[str], None] = lambda _: None,
    ) -> Release:
        """Write the rows of X, k-anonymous, to a new file (on Spark: a new folder), with its certificate beside it.

        The certificate is ``<out>.release.json``. What is written is counted again before it appears under its name. A CSV file
        is written as the input is (delimiter, encoding, line ends); ``dialect="standard"``: with commas, in UTF-8;
        ``"semicolon"``: with semicolons and decimal commas, in UTF-8 with a byte order mark, as a German Excel opens it.
        """
        published = publish_table(self.request(), X, out, format=format, dialect=dialect, progress=progress)
        self.dialect_ = published.dialect
        self.release_, self.summary_, self.recoding_ = published.release, published.summary, published.recoding
        self._keep(published.outcome)
        return self.release_

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> SavedPublication[TableSummary]:
        """The certificate and the summary of a table that `publish` or ``cloister anonymize`` wrote, checked against each other.

        What it gives publishes nothing; `recoding_`, for other rows, is saved by itself (``recoding_.to_json()``).

        Raises
        ------
        SourceError
            It is no such table.
        DataError
            It was changed, or contradicts its certificate.
        """
        found = load_publication(path, KIND, WANTED, TableSummary.from_dict)
        check_classes(Path(path), found.release_)
        return found

    def dry_run(
        self,
        X: Any,
        out: str | os.PathLike[str] | None = None,
        *,
        format: str | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> DryRun:
        """What `publish` would do to the rows of X and what that would lose; nothing is written.

        It refuses what `publish` refuses; `out`, if it is named, is looked at too. The rows are read for the holder, which the
        ledger records.
        """
        tried = dry_run(self.request(), X, out, format=format, progress=progress)
        self._keep(tried.outcome)
        return tried

    def pictures(self) -> tuple[Picture, ...]:
        """What each column lost, and how many look alike before and after: for the holder, after `publish` or `dry_run`."""
        if not hasattr(self, "outcome_"):
            raise UsageError("there is nothing to draw yet. Call publish or dry_run first.")
        return self.outcome_.pictures()

    def _keep(self, outcome: TableOutcome) -> None:
        self.outcome_, self.preview_, self.advice_ = outcome, outcome.preview, outcome.advice
