"""A table that was estimated from reports: counts by cell, with standard errors, queries and rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.collect.estimating.inversion import standard_errors
from cloister.collect.protocols import Channel
from cloister.errors import UsageError
from cloister.parameters import check_names, check_whole
from cloister.report import notebook
from cloister.report.document import Document, Section, Sentence, TextTable

__all__ = ["EstimatedTable", "QueryAnswer"]

Array = NDArray[np.float64]
SHOWN = 10  # cells in a notebook, and answers in a message


@dataclass(frozen=True, slots=True)
class QueryAnswer:
    """How many people, by estimate, and the standard error of the unbiased estimate of that."""

    count: float
    share: float
    standard_error: float


@dataclass(frozen=True, slots=True, eq=False)
class EstimatedTable:
    """How many people hold each combination of answers, by estimate.

    Attributes
    ----------
    names : the questions
    values : their values
    counts : array, one axis a question; adds up to the number of reports
    errors : array, the standard error of the unbiased estimate of each cell: that of `counts` may be smaller, never knowable
    reports : how many were counted
    expected : the reports that the estimate leads to expect; None where answers are bits
    channels : what the answers went through
    """

    names: tuple[str, ...]
    values: tuple[tuple[str, ...], ...]
    counts: Array
    errors: Array
    reports: int
    expected: Array | None = None
    channels: tuple[Channel, ...] = ()

    @property
    def shares(self) -> Array:
        """The counts over the number of reports."""
        return self.counts / max(1, self.reports)

    def rows(self) -> Iterator[dict[str, Any]]:
        """One dict a cell: the values, count, share and standard error."""
        people = max(1, self.reports)
        for place in np.ndindex(*self.counts.shape):
            count = float(self.counts[place])
            yield self._row(place, count, count / people, float(self.errors[place]))

    def _row(self, place: Sequence[int], count: float, share: float, error: float) -> dict[str, Any]:
        cell = {name: self.values[axis][i] for axis, (name, i) in enumerate(zip(self.names, place, strict=True))}
        return {**cell, "count": count, "share": share, "standard_error": error}

    def frame(self) -> pa.Table:
        """The same as an Arrow table."""
        codes = np.unravel_index(np.arange(self.counts.size), self.counts.shape)
        columns: dict[str, Any] = {
            name: pa.DictionaryArray.from_arrays(pa.array(code, pa.int32()), pa.array(values, pa.string())).cast(pa.string())
            for name, code, values in zip(self.names, codes, self.values, strict=True)
        }
        numbers = {"count": self.counts, "share": self.shares, "standard_error": self.errors}
        return pa.table({**columns, **{name: pa.array(each.ravel()) for name, each in numbers.items()}})

    def to_pandas(self) -> Any:
        """The same as a pandas frame; `polars.DataFrame(table)` gives a Polars one."""
        return self.frame().to_pandas()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.frame().__arrow_c_stream__(requested_schema)

    def describe(self) -> Document:
        """The most frequent cells, for a notebook."""
        heads = [*self.names, "count", "share", "standard error"]
        rows = [
            [
                *(row[name] for name in self.names),
                f"{row['count']:,.0f}",
                f"{row['share']:.1%}",
                f"{row['standard_error']:,.0f}",
            ]
            for row in self.top(SHOWN)
        ]
        more = [Sentence(f"... and {self.counts.size - SHOWN:,} cells more in frame()")] if self.counts.size > SHOWN else []
        title = f"{', '.join(self.names)}, estimated from {self.reports:,} reports"
        return Document((Section((TextTable.of(heads, rows, title=title), *more)),), title="Estimated table")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    def top(self, most: int = 10) -> list[dict[str, Any]]:
        """The most frequent cells, largest first."""
        most = check_whole(most, "top", 1)
        order = np.argsort(-self.counts, axis=None, kind="stable")[:most]
        places = [tuple(int(i) for i in np.unravel_index(cell, self.counts.shape)) for cell in order]
        people = max(1, self.reports)
        return [
            self._row(place, float(self.counts[place]), float(self.counts[place]) / people, float(self.errors[place]))
            for place in places
        ]

    def marginal(self, names: Sequence[str] | str) -> EstimatedTable:
        """The table of some of the questions: sums of the cells."""
        names = check_names([names] if isinstance(names, str) else names, "names")
        axes = [self._axis(name) for name in names]
        if not axes or len(set(axes)) < len(axes):
            raise UsageError("a marginal needs the names of some questions, each once.")
        others = tuple(axis for axis in range(len(self.names)) if axis not in axes)
        turn = np.argsort(np.argsort(axes))

        def added(cells: NDArray[Any]) -> NDArray[Any]:
            return np.ascontiguousarray(cells.sum(axis=others).transpose(turn) if others else cells.transpose(axes))

        if self.expected is None:
            return self
        expected, channels = added(self.expected), tuple(self.channels[axis] for axis in axes)
        values = tuple(self.values[axis] for axis in axes)
        return EstimatedTable(
            tuple(names), values, added(self.counts), standard_errors(expected, channels), self.reports, expected, channels
        )

    def query(self, where: Mapping[str, str | Sequence[str]]) -> QueryAnswer:
        """How many people answered with one of some values, to each of some questions.

        Examples
        --------
        ``table.query({"smokes": "yes", "year": ["2", "3"]})``
        """
        if not isinstance(where, Mapping) or not where:
            raise UsageError('a query names values of questions, such as {"smokes": "yes", "year": ["2", "3"]}.')
        masks = [np.ones(len(values), dtype=np.bool_) for values in self.values]
        for name, wanted in where.items():
            axis = self._axis(name)
            if not isinstance(wanted, str | list | tuple | set | frozenset):
                raise UsageError(f'a query names values of question "{name}" as a text or a list of texts.')
            listed = [wanted] if isinstance(wanted, str) else list(wanted)
            if not set(listed) <= set(self.values[axis]):
                answers = ", ".join(self.values[axis][:SHOWN]) + (", ..." if len(self.values[axis]) > SHOWN else "")
                raise UsageError(
                    f'the query asks for a value that is no answer to question "{name}". Its answers: {answers}.'
                )
            masks[axis] = np.isin(np.array(self.values[axis], dtype=object), np.array(listed, dtype=object))
        count = float(self.counts[np.ix_(*masks)].sum())
        return QueryAnswer(count, count / max(1, self.reports), self._error(masks))

    def range(self, name: str, first: str, last: str) -> QueryAnswer:
        """The same for consecutive values of one question, in the order of its domain, both ends included."""
        values = self.values[self._axis(name)]
        if first not in values or last not in values or values.index(first) > values.index(last):
            raise UsageError(f'a range goes from a value of question "{name}" to one that is not before it in its domain.')
        return self.query({name: list(values[values.index(first) : values.index(last) + 1])})

    def _error(self, masks: Sequence[NDArray[np.bool_]]) -> float:
        """The standard error of the unbiased count of all cells whose values are in the masks."""
        if self.expected is None:
            # the noise of different bits is independent; who happened to answer is counted once
            share = np.clip(self.shares[masks[0]], 0.0, 1.0)
            noise = (self.errors[masks[0]] ** 2 - self.reports * share * (1 - share)).sum()
            whole = min(1.0, float(share.sum()))
            return float(np.sqrt(max(0.0, float(noise) + self.reports * whole * (1 - whole))))
        weights: Array = np.ones(())
        for mask, channel in zip(masks, self.channels, strict=True):
            weights = np.multiply.outer(weights, (mask - float(channel.lie) * mask.sum()) / channel.contrast)
        estimate = float((self.expected * weights).sum())
        return float(np.sqrt(max(0.0, float((self.expected * weights**2).sum()) - estimate**2 / max(1, self.reports))))

    def _axis(self, name: str) -> int:
        if name not in self.names:
            raise UsageError(f"the table has no question of that name. Its questions: {', '.join(self.names)}.")
        return self.names.index(name)

    def __repr__(self) -> str:
        return f"EstimatedTable({', '.join(self.names)}: {self.counts.size:,} cells from {self.reports:,} reports)"
