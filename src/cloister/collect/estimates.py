"""From reports to estimates: counts of reports, cleaned of the noise that clients added. Free: reports are private already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.clustering.chance import public_chance
from cloister.collect.certified_tables import save_certified
from cloister.collect.collection import Collection
from cloister.collect.counting import MOST_CELLS, ReportCounts, count_reports
from cloister.collect.estimate_pictures import MOST_QUESTIONS, answer_pictures
from cloister.collect.estimated_table import EstimatedTable, QueryAnswer
from cloister.collect.estimating import METHODS, CleanedTable
from cloister.collect.estimating.inversion import invert, standard_errors
from cloister.collect.estimating.kronecker import Transition
from cloister.collect.estimating.nonnegative import norm_sub
from cloister.collect.local_kmodes import LocalKModes
from cloister.collect.packed_reports import read_marks
from cloister.collect.reports import parsed
from cloister.errors import UsageError, by_door
from cloister.parameters import check_flag, check_names, check_path, check_progress, check_whole, unknown_choice
from cloister.privacy.events import LocalEvent
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, TextTable
from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.synthesis import fit_tree, rows_from_cells
from cloister.vault import EngineChoice

__all__ = ["KIND", "CollectionEstimate", "estimate"]

KIND, ROWS_KIND = "local estimate", "local rows"
DEFAULT = "em"
ALL = "*"  # stands for a question that is added up
MOST_ROWS = 2**22  # of a table that is written
ORIGIN = (
    "The guarantee is that of each report that a Cloister client of this collection made. Nobody can see from a report how it "
    "was made, or whether its sender told the truth."
)
MADE_UP = "The rows are made up from the estimate: none of them is a person's, and no more is in them than in the estimate."
UNCHECKED = (
    "The reports do not say under which terms they were given: whoever counted them says that they are of this collection."
)
ESTIMATED = (
    "Counts are estimates from perturbed answers. The standard error is that of the unbiased estimate of the same cell; small "
    "cells are worth no more than it says. Each table is estimated from its own answers, so that sums of one may differ "
    "from another."
)


@dataclass(frozen=True, slots=True, eq=False)
class CollectionEstimate(Plotted):
    """What a collection's reports say, as far as noise lets it be seen.

    Attributes
    ----------
    collection : Collection
    counts : ReportCounts, of the reports as they came
    method : "em", "norm-sub", "unbiased" or "clip"
    release_ : Release, the certificate
    """

    collection: Collection
    counts: ReportCounts
    method: str = DEFAULT
    seeded: bool = False
    terms_checked: bool = True
    _fitted: dict[tuple[str, ...], tuple[EstimatedTable, CleanedTable]] = field(default_factory=dict, repr=False)

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        return self.counts.reports

    @property
    def refused(self) -> Mapping[str, int]:
        """How many reports were not, by reason."""
        return self.counts.refused

    # Tables.

    def joint(self, progress: Callable[[str], None] = lambda _: None) -> EstimatedTable:
        """How many people hold each combination of answers to all questions that are joined."""
        names = tuple(question.name for question in self.collection.joined)
        if not names:
            raise UsageError("no question of the collection is joined with others: its answers are bits. Ask for marginals.")
        if self.counts.joint is None:
            raise UsageError(
                f"the joint distribution has {self.collection.cells:,} cells, more than {MOST_CELLS:,}. Ask for marginals, or "
                "for rows, which are made from them."
            )
        return self._table(names, progress)[0]

    def marginal(self, names: Sequence[str] | str, progress: Callable[[str], None] = lambda _: None) -> EstimatedTable:
        """The same for some of the questions, estimated from their own reports."""
        wanted = (names,) if isinstance(names, str) else check_names(names, "names")
        if not wanted or len(set(wanted)) < len(wanted):
            raise UsageError("a marginal needs the names of some questions, each once.")
        for name in wanted:
            self.collection.question(name)
        in_order = tuple(name for name in self.collection.names if name in wanted)
        table = self._table(in_order, progress)[0]
        return table if in_order == wanted else table.marginal(wanted)

    def query(self, where: Mapping[str, str | Sequence[str]]) -> QueryAnswer:
        """How many people answered with one of some values, to each of some questions."""
        if not isinstance(where, Mapping) or not where:
            raise UsageError('a query names values of questions, such as {"smokes": "yes", "year": ["2", "3"]}.')
        return self.marginal(list(where)).query(where)

    def range(self, name: str, first: str, last: str) -> QueryAnswer:
        """How many people answered a question with a value between two of its domain, both included."""
        return self.marginal(name).range(name, first, last)

    def top(self, most: int = 10) -> list[dict[str, Any]]:
        """The most frequent combinations of answers, largest first."""
        return self.joint().top(most)

    def _table(self, names: tuple[str, ...], progress: Callable[[str], None]) -> tuple[EstimatedTable, CleanedTable]:
        if names not in self._fitted:
            self._fitted[names] = self._fit(names, progress)
        return self._fitted[names]

    def _fit(self, names: tuple[str, ...], progress: Callable[[str], None]) -> tuple[EstimatedTable, CleanedTable]:
        values = tuple(self.collection.question(name).values for name in names)
        if len(names) == 1 and not self.collection.question(names[0]).answering().joins:
            return self._fit_bits(names[0], values[0])
        channels = self.collection.channels(names)
        seen = self._seen(names)
        progress(f"estimating {seen.size:,} cells")
        fitted = METHODS[self.method](seen, channels, progress)
        # errors at the reports that the estimate leads to expect: where few were counted, none is as certain as it looks
        people = fitted.counts if self.method in ("em", "norm-sub") else norm_sub(fitted.counts, self.reports)
        expected = Transition(channels)(people)
        errors = standard_errors(expected, channels)
        rule = f"{' x '.join(names)}: {fitted.rule}" if fitted.rule and len(names) > 1 else ""
        return EstimatedTable(names, values, fitted.counts, errors, self.reports, expected, channels), replace(
            fitted, rule=rule
        )

    def _fit_bits(self, name: str, values: tuple[str, ...]) -> tuple[EstimatedTable, CleanedTable]:
        """A question whose answers are bits: the unbiased shares, made shares of a whole unless they are asked for."""
        protocol = self.collection.question(name).answering()
        shares = protocol.shares(self.counts.values[name], self.reports)
        errors = np.sqrt([self.reports * protocol.share_variance(min(max(share, 0.0), 1.0)) for share in shares.tolist()])
        counts = shares * self.reports
        if self.method != "unbiased":
            counts = norm_sub(counts, self.reports)
        return EstimatedTable((name,), (values,), counts, errors, self.reports), CleanedTable(counts)

    def _seen(self, names: tuple[str, ...]) -> Any:
        """The counts of the reports' own answers to some joined questions."""
        joined = tuple(question.name for question in self.collection.joined)
        if len(names) == 1:
            return self.counts.values[names[0]]
        if self.counts.joint is not None:
            others = tuple(axis for axis, name in enumerate(joined) if name not in names)
            return self.counts.joint.sum(axis=others, dtype=np.int64) if others else self.counts.joint
        for table, seen in self.counts.tables.items():
            if set(names) <= set(table):
                return seen.sum(axis=tuple(axis for axis, name in enumerate(table) if name not in names), dtype=np.int64)
        raise UsageError(
            f"the reports do not carry a marginal of {len(names)} of these questions. Those that they carry have at most "
            f"{max(map(len, self.counts.tables), default=1)}."
        )

    # What follows from them.

    def synthesize(self, rows: int | None = None, random_state: Any = None) -> pa.Table:
        """Made-up rows with the estimated distribution, one column a joined question.

        From the joint distribution, or, where that has too many cells, along a tree of the strongest dependences between pairs.
        Questions whose answers are bits come out independently of the others.
        """
        count = self.reports if rows is None else check_whole(rows, "rows", 0, 10**9)
        random = public_chance(random_state)
        joined = tuple(question.name for question in self.collection.joined)
        codes: dict[str, Any] = {}
        if joined and self.counts.joint is not None:
            drawn = rows_from_cells(np.maximum(self.joint().counts, 0.0), count, random)
            drawn = drawn[random.permutation(count)]
            codes = {name: drawn[:, axis] for axis, name in enumerate(joined)}
        elif joined:
            drawn = self._tree(joined).rows(count, random)
            codes = {name: drawn[:, axis] for axis, name in enumerate(joined)}
        for name in self.collection.names:
            if name not in codes:
                shares = np.maximum(self.marginal(name).counts, 0.0)
                codes[name] = rows_from_cells(shares, count, random)[random.permutation(count), 0]
        values = {question.name: question.values for question in self.collection.questions}
        return pa.table(
            {name: pa.array(values[name], pa.string()).take(pa.array(codes[name])) for name in self.collection.names}
        )

    def _tree(self, names: tuple[str, ...]) -> Any:
        """The tree of the strongest dependences between pairs of questions."""
        singles = [np.maximum(self.marginal(name).shares, 0.0) for name in names]
        pairs, noise = {}, {}
        people = max(1, self.reports)
        for table, seen in self.counts.tables.items():
            if len(table) > 2:
                continue
            channels, pair = self.collection.channels(table), (names.index(table[0]), names.index(table[1]))
            pairs[pair] = norm_sub(invert(seen, channels), self.reports) / people
            reach = np.prod([channel.contrast**2 for channel in channels])
            noise[pair] = (seen.shape[0] - 1) * (seen.shape[1] - 1) / (2 * people * float(reach))  # E of G over 2 n
        return fit_tree(singles, pairs, noise)

    def cluster(self, n_clusters: int, **options: Any) -> LocalKModes:
        """k-modes of the estimated joint distribution: `LocalKModes`, which documents the options."""
        return LocalKModes(n_clusters, **options).fit(self)

    # Leaving.

    @property
    def release_(self) -> Release:
        """The certificate: the local guarantee of each report, and what was counted."""
        return Release(
            kind=KIND,
            guarantee=self.collection.guarantee,
            events=tuple(LocalEvent(one_line(q.name), q.epsilon) for q in self.collection.questions),
            parameters={**self.collection.facts(), "terms": self.collection.terms, "method": self.method},
            result={
                "reports": self.reports,
                "refused": sum(self.refused.values()),
                "refused_why": dict(self.refused),
                "terms_checked": self.terms_checked,
            },
            seeded=self.seeded,
            notes=(ESTIMATED, *self._rules(), ORIGIN, *([] if self.terms_checked else [UNCHECKED])),
        )

    def _rules(self) -> Iterable[str]:
        return dict.fromkeys(fitted.rule for _, fitted in self._fitted.values() if fitted.rule)

    def tables(self, progress: Callable[[str], None] = lambda _: None) -> list[EstimatedTable]:
        """What is written: the joint distribution, where there is one; then each question by itself."""
        joined = len(self.collection.joined)
        many: list[EstimatedTable] = []
        if joined > 1 and self.counts.joint is not None:
            many = [self.joint(progress)]
        return [*many, *(self.marginal(name, progress) for name in self.collection.names)]

    def frame(self, tables: Sequence[EstimatedTable] | None = None) -> pa.Table:
        """Tables below one another; "*" stands for a question that is added up."""
        frames = []
        for table in self._chosen(tables):
            rows = table.frame()
            stars = pa.array([ALL] * rows.num_rows, pa.string())
            questions = {name: rows[name] if name in table.names else stars for name in self.collection.names}
            frames.append(pa.table({**questions, **{name: rows[name] for name in ("count", "share", "standard_error")}}))
        return pa.concat_tables(frames)

    def _chosen(self, tables: Sequence[EstimatedTable] | None) -> Sequence[EstimatedTable]:
        if tables is None:
            return self.tables()
        if (
            not isinstance(tables, list | tuple)
            or not tables
            or not all(isinstance(each, EstimatedTable) for each in tables)
        ):
            raise UsageError('tables must be a list of estimated tables, such as [estimate.marginal("year")].')
        return tables

    def save(self, path: str | PathLike[str], tables: Sequence[EstimatedTable] | None = None) -> Release:
        """Write a new CSV or Parquet file, by the ending of its name, and its certificate beside it."""
        target = Path(check_path(path, "the output", "a new file"))
        kind = target.suffix.lower()
        if kind not in (".csv", ".parquet"):
            raise UsageError("an estimate is written as .csv or .parquet. Give it a name that ends so.")
        chosen = self._chosen(tables)
        if sum(table.counts.size for table in chosen) > MOST_ROWS:
            raise UsageError(f"the tables have more than {MOST_ROWS:,} cells. Write marginals of fewer questions.")
        return save_certified(self.frame(chosen), self.release_, target)

    def save_rows(self, path: str | PathLike[str], rows: int | None = None, random_state: Any = None) -> Release:
        """Write made-up rows (`synthesize`) into a new CSV or Parquet file, and its certificate beside it."""
        target = Path(check_path(path, "the output", "a new file"))
        if target.suffix.lower() not in (".csv", ".parquet"):
            raise UsageError("rows are written as .csv or .parquet. Give the file a name that ends so.")
        table = self.synthesize(rows, random_state)
        base = self.release_
        made_up = replace(base, kind=ROWS_KIND, result={**base.result, "rows": table.num_rows}, notes=(*base.notes, MADE_UP))
        return save_certified(table, made_up, target)

    def count_facts(self) -> list[Fact]:
        """How many reports were counted, and refused."""
        return [Fact("reports", f"{self.reports:,}"), *(Fact("refused", f"{n:,}: {why}") for why, n in self.refused.items())]

    def describe(self) -> Document:
        """The answers to each question, with errors."""
        blocks: list[Any] = [*self.count_facts()]
        for name in self.collection.names:
            table = self.marginal(name)
            rows = [
                [
                    row[name] or '""',
                    f"{row['count']:,.0f}",
                    f"{row['share']:.1%}",
                    f"{row['standard_error'] / max(1, self.reports):.1%}",
                ]
                for row in table.top(12)
            ]
            more = "" if table.counts.size <= 12 else f" (12 of {table.counts.size:,} values)"
            blocks.append(TextTable.of([name, "people", "share", "std. error"], rows, title=f"{name}{more}"))
        return Document((Section(tuple(blocks)),), title=f"Estimate of {self.collection.id}")

    def pictures(self) -> tuple[Picture, ...]:
        """The share of people with each answer, with errors; a panel a question."""
        names = self.collection.names
        return answer_pictures([self.marginal(name) for name in names[:MOST_QUESTIONS]], len(names))

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def __repr__(self) -> str:
        return f"CollectionEstimate({self.collection.id}: {self.reports:,} reports, {self.method})"


def estimate(
    collection: Collection | str | PathLike[str],
    reports: Any,
    *,
    method: str = DEFAULT,
    unmarked: bool = False,
    engine: EngineChoice = None,
    progress: Callable[[str], None] | None = None,
) -> CollectionEstimate:
    """Count reports and clean the counts of the noise that clients added.

    Parameters
    ----------
    collection : Collection, or the path of its file
    reports : paths of files, `Report` objects or dicts, or any table with one column a question; on Spark a DataFrame
        Files hold JSON, one report a line, or are packed as Parquet. Reports of another collection, version or terms, those that
        hold what no client sends, or whose id was there before are refused and counted by reason; they never end the count.
    method : "em", "norm-sub", "unbiased" or "clip"
        "em": the most likely distribution, by expectation maximisation. "unbiased": right on average, cells may be negative.
        "norm-sub": that, made shares of a whole. "clip": as paper 002 prints it, for comparison.
    unmarked : bool, default False
        Take tables that do not say under which terms their rows were given, such as a DataFrame of packed reports: you vouch that
        they are reports of this collection. A table of true answers looks the same. Needed on Spark, which may find other files.
    engine : None, "local" or "spark"
    progress : function of one text, optional

    Returns
    -------
    CollectionEstimate

    Privacy
    -------
    Nothing is charged: what is read has been perturbed by whoever sent it. Everything here is post-processing.
    """
    chosen = collection if isinstance(collection, Collection) else Collection.load(collection)
    if method not in METHODS:
        raise unknown_choice("method", method, METHODS)
    step = check_progress(progress) if progress is not None else lambda _: None
    reports = parsed(reports)
    is_local = engine in (None, "local") and not hasattr(reports, "sparkSession")
    said = read_marks(chosen, reports, is_local)
    if not said.has_terms and not check_flag(unmarked, "unmarked"):
        raise UsageError(
            "this table does not say that its rows are reports: true answers look the same, and nothing would protect them. Give "
            f"reports in JSON or packed ones, or {by_door('unmarked=True', '--unmarked')} if you know that clients made them."
        )
    counted = count_reports(chosen, reports, engine=engine, progress=step)
    return CollectionEstimate(chosen, counted, method, said.is_seeded, said.has_terms)
