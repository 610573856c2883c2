"""What an estimate says of its questions, whether it was made of reports or read back from its file: all post-processing."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance, public_chance
from cloister.collect.certified_tables import ENDINGS, save_certified
from cloister.collect.collection import Collection
from cloister.collect.estimate_pictures import MOST_QUESTIONS, answer_pictures
from cloister.collect.estimated_table import EstimatedTable, QueryAnswer
from cloister.collect.estimating.kronecker import Transition
from cloister.collect.estimating.nonnegative import norm_sub
from cloister.collect.local_kmodes import LocalKModes
from cloister.collect.protocols import Channel
from cloister.collect.questions import ADDED_UP
from cloister.errors import UsageError
from cloister.parameters import check_names, check_path, check_whole
from cloister.privacy.release import Release
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, TextTable
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.synthesis import rows_from_cells

__all__ = ["KIND", "MOST_ROWS", "NUMBERS", "EstimatedAnswers", "expect_reports", "silent", "tables_frame"]

KIND, ROWS_KIND = "local estimate", "local rows"  # of certificates
NUMBERS = ("count", "share", "standard_error")  # the columns beside the questions
MOST_ROWS = 2**22  # of a table that is written
SHOWN = 12  # answers to a question
MADE_UP = "The rows are made up from the estimate: none of them is a person's, and no more is in them than in the estimate."
Progress = Callable[[str], None]


def silent(_: str) -> None:
    """Tell nobody what is being done."""


class EstimatedAnswers(Plotted):
    """Tables of estimated answers, and what follows from them.

    Attributes
    ----------
    collection : Collection
    method : "em", "norm-sub", "unbiased" or "clip"
    """

    __slots__ = ()

    collection: Collection
    method: str

    @property
    @abstractmethod
    def reports(self) -> int:
        """How many reports were counted."""

    @property
    @abstractmethod
    def refused(self) -> Mapping[str, int]:
        """How many reports were not, by reason."""

    @property
    @abstractmethod
    def release_(self) -> Release:
        """The certificate."""

    @abstractmethod
    def tables(self, progress: Progress = silent) -> list[EstimatedTable]:
        """What is written."""

    @abstractmethod
    def _table(self, names: tuple[str, ...], progress: Progress) -> EstimatedTable:
        """The table of some questions, in the order of the collection."""

    # Tables.

    def joint(self, progress: Progress = silent) -> EstimatedTable:
        """How many people hold each combination of answers to all questions that are joined."""
        names = tuple(question.name for question in self.collection.joined)
        if not names:
            raise UsageError("no question of the collection is joined with others: its answers are bits. Ask for marginals.")
        return self._table(names, progress)

    def marginal(self, names: Sequence[str] | str, progress: Progress = silent) -> EstimatedTable:
        """The same for some of the questions."""
        wanted = (names,) if isinstance(names, str) else check_names(names, "names")
        if not wanted or len(set(wanted)) < len(wanted):
            raise UsageError("a marginal needs the names of some questions, each once.")
        for name in wanted:
            self.collection.question(name)
        in_order = tuple(name for name in self.collection.names if name in wanted)
        table = self._table(in_order, progress)
        return table if in_order == tuple(wanted) else table.marginal(wanted)

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
        if joined:
            drawn = self._drawn(joined, count, random)
            codes = {name: drawn[:, axis] for axis, name in enumerate(joined)}
        for name in self.collection.names:
            if name not in codes:
                shares = np.maximum(self.marginal(name).counts, 0.0)
                codes[name] = rows_from_cells(shares, count, random)[random.permutation(count), 0]
        values = {question.name: question.values for question in self.collection.questions}
        return pa.table(
            {name: pa.array(values[name], pa.string()).take(pa.array(codes[name])) for name in self.collection.names}
        )

    def _drawn(self, joined: tuple[str, ...], count: int, random: PublicChance) -> NDArray[Any]:
        """Codes of made-up answers to the joined questions, (count, questions)."""
        drawn: NDArray[Any] = rows_from_cells(np.maximum(self.joint().counts, 0.0), count, random)
        return drawn[random.permutation(count)]

    def cluster(self, n_clusters: int, **options: Any) -> LocalKModes:
        """k-modes of the estimated joint distribution: `LocalKModes`, which documents the options."""
        return LocalKModes(n_clusters, **options).fit(self)

    # Leaving.

    def frame(self, tables: Sequence[EstimatedTable] | None = None) -> pa.Table:
        """Tables below one another; "*" stands for a question that is added up."""
        return tables_frame(self.collection.names, self._chosen(tables))

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
        if target.suffix.lower() not in ENDINGS:
            raise UsageError("an estimate is written as .csv or .parquet. Give it a name that ends so.")
        chosen = self._chosen(tables)
        if sum(table.counts.size for table in chosen) > MOST_ROWS:
            raise UsageError(f"the tables have more than {MOST_ROWS:,} cells. Write marginals of fewer questions.")
        return save_certified(self.frame(chosen), self.release_, target)

    def save_rows(self, path: str | PathLike[str], rows: int | None = None, random_state: Any = None) -> Release:
        """Write made-up rows (`synthesize`) into a new CSV or Parquet file, and its certificate beside it."""
        target = Path(check_path(path, "the output", "a new file"))
        if target.suffix.lower() not in ENDINGS:
            raise UsageError("rows are written as .csv or .parquet. Give the file a name that ends so.")
        table = self.synthesize(rows, random_state)
        base = self.release_
        counted = {**base.result, "rows": table.num_rows}
        made_up = base.derived(kind=ROWS_KIND, result=counted, notes=(*base.notes, MADE_UP), files={})
        return save_certified(table, made_up, target)

    # Showing.

    def count_facts(self) -> list[Fact]:
        """How many reports were counted, and refused."""
        return [Fact("reports", f"{self.reports:,}"), *(Fact("refused", f"{n:,}: {why}") for why, n in self.refused.items())]

    def _shown(self) -> list[str]:
        """The questions that are shown."""
        return list(self.collection.names)

    def describe(self) -> Document:
        """The answers to each question, with errors."""
        blocks: list[Any] = [*self.count_facts()]
        for name in self._shown():
            table = self.marginal(name)
            rows = [
                [
                    row[name] or '""',
                    f"{row['count']:,.0f}",
                    f"{row['share']:.1%}",
                    f"{row['standard_error'] / max(1, self.reports):.1%}",
                ]
                for row in table.top(SHOWN)
            ]
            more = "" if table.counts.size <= SHOWN else f" ({SHOWN} of {table.counts.size:,} values)"
            blocks.append(TextTable.of([name, "people", "share", "std. error"], rows, title=f"{name}{more}"))
        return Document((Section(tuple(blocks)),), title=f"Estimate of {self.collection.id}")

    def pictures(self) -> tuple[Picture, ...]:
        """The share of people with each answer, with errors; a panel a question."""
        names = self._shown()
        return answer_pictures([self.marginal(name) for name in names[:MOST_QUESTIONS]], len(names))

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.collection.id}: {self.reports:,} reports, {self.method})"


def tables_frame(questions: Sequence[str], tables: Sequence[EstimatedTable]) -> pa.Table:
    """Tables below one another, with a column for each of the questions."""
    frames = []
    for table in tables:
        rows = table.frame()
        stars = pa.array([ADDED_UP] * rows.num_rows, pa.string())
        answers = {name: rows[name] if name in table.names else stars for name in questions}
        frames.append(pa.table({**answers, **{name: rows[name] for name in NUMBERS}}))
    return pa.concat_tables(frames)


def expect_reports(
    counts: NDArray[np.float64], channels: tuple[Channel, ...], reports: int, method: str
) -> NDArray[np.float64]:
    """The reports that an estimate leads to expect; people that a method counts below 0 send none."""
    people = counts if method in ("em", "norm-sub") else norm_sub(counts, reports)
    return Transition(channels)(people)
