"""From reports to estimates: counts of reports, cleaned of the noise that clients added. Free: reports are private already."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.chance import PublicChance
from cloister.collect.collection import Collection
from cloister.collect.counting import MOST_CELLS, ReportCounts, count_reports
from cloister.collect.estimated_answers import KIND, EstimatedAnswers, expect_reports, silent
from cloister.collect.estimated_table import EstimatedTable
from cloister.collect.estimating import METHODS, CleanedTable
from cloister.collect.estimating.inversion import invert, standard_errors
from cloister.collect.estimating.nonnegative import norm_sub
from cloister.collect.packed_reports import read_marks
from cloister.collect.reports import parsed
from cloister.collect.saved_estimates import SavedEstimate
from cloister.errors import UsageError, by_door
from cloister.parameters import check_flag, check_progress, unknown_choice
from cloister.privacy.events import LocalEvent
from cloister.privacy.release import Release
from cloister.report.one_line import one_line
from cloister.synthesis import fit_tree
from cloister.vault import EngineChoice

__all__ = ["CollectionEstimate", "estimate"]

DEFAULT = "em"
ORIGIN = (
    "The guarantee is that of each report that a Cloister client of this collection made. Nobody can see from a report how it "
    "was made, or whether its sender told the truth."
)
UNCHECKED = (
    "The reports do not say under which terms they were given: whoever counted them says that they are of this collection."
)
ESTIMATED = (
    "Counts are estimates from perturbed answers. The standard error is that of the unbiased estimate of the same cell; small "
    "cells are worth no more than it says. Each table is estimated from its own answers, so that sums of one may differ "
    "from another."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CollectionEstimate(EstimatedAnswers):
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
    _fitted: dict[tuple[str, ...], tuple[EstimatedTable, CleanedTable]] = field(default_factory=dict)

    @property
    def reports(self) -> int:
        """How many reports were counted."""
        return self.counts.reports

    @property
    def refused(self) -> Mapping[str, int]:
        """How many reports were not, by reason."""
        return self.counts.refused

    @property
    def has_joint(self) -> bool:
        """Whether the reports are counted by all joined questions at once: the cells are not too many."""
        return self.counts.joint is not None

    # Tables. A marginal is estimated from its own reports.

    def joint(self, progress: Callable[[str], None] = silent) -> EstimatedTable:
        """How many people hold each combination of answers to all questions that are joined."""
        if self.collection.joined and not self.has_joint:
            raise UsageError(
                f"the joint distribution has {self.collection.cells:,} cells, more than {MOST_CELLS:,}. Ask for marginals, or "
                "for rows, which are made from them."
            )
        return EstimatedAnswers.joint(self, progress)  # super() is not there in a class with slots

    def tables(self, progress: Callable[[str], None] = silent) -> list[EstimatedTable]:
        """What is written: the joint distribution, where there is one; then each question by itself."""
        many = [self.joint(progress)] if len(self.collection.joined) > 1 and self.has_joint else []
        return [*many, *(self.marginal(name, progress) for name in self.collection.names)]

    def _table(self, names: tuple[str, ...], progress: Callable[[str], None]) -> EstimatedTable:
        if names not in self._fitted:
            self._fitted[names] = self._fit(names, progress)
        return self._fitted[names][0]

    def _fit(self, names: tuple[str, ...], progress: Callable[[str], None]) -> tuple[EstimatedTable, CleanedTable]:
        values = tuple(self.collection.question(name).values for name in names)
        if len(names) == 1 and not self.collection.question(names[0]).answering().joins:
            return self._fit_bits(names[0], values[0])
        channels = self.collection.channels(names)
        seen = self._seen(names)
        progress(f"estimating {seen.size:,} cells")
        fitted = METHODS[self.method](seen, channels, progress)
        # errors at the reports that the estimate leads to expect: where few were counted, none is as certain as it looks
        expected = expect_reports(fitted.counts, channels, self.reports, self.method)
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

    def _drawn(self, joined: tuple[str, ...], count: int, random: PublicChance) -> NDArray[Any]:
        if self.has_joint:
            return EstimatedAnswers._drawn(self, joined, count, random)
        drawn: NDArray[Any] = self._tree(joined).rows(count, random)
        return drawn

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

    @classmethod
    def load(cls, path: str | PathLike[str]) -> SavedEstimate:
        """Read back what `save` or ``cloister collect estimate --out`` wrote: its tables, checked against their certificate.

        A file holds no counts of reports. A marginal that it does not hold is the sum of a table that it does.

        Raises
        ------
        SourceError
            It is no such file.
        DataError
            It was changed, or contradicts its certificate.
        """
        return SavedEstimate.load(path)


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
