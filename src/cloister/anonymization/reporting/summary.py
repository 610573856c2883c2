"""What became of a table, for a person to read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cloister.anonymization.counting.count_request import OpenedTables
from cloister.anonymization.searching.find_recoding import SearchResult
from cloister.anonymization.writing.recount import PlannedOutput, PublishedClasses, fewest_people
from cloister.anonymization.writing.rewriting import Rewriting
from cloister.report import notebook, terminal
from cloister.report.document import Document, Section, Sentence
from cloister.report.shown_labels import shown_labels

__all__ = ["ColumnSummary", "TableSummary", "summarize"]

_SHOWN = 6


@dataclass(frozen=True, slots=True)
class ColumnSummary:
    """What one quasi-identifier is published as."""

    name: str
    values: int | None  # how many the column may hold, where that is public; the number of different cells is not
    labels: tuple[str, ...]  # those that occur in the output

    def __str__(self) -> str:
        if self.labels == ("*",):
            return "* (nothing is left of it)"
        shown = shown_labels(self.labels, _SHOWN)
        more = len(self.labels) - len(shown)
        labels = "1 label" if len(self.labels) == 1 else f"{len(self.labels):,} labels"
        known = "" if self.values is None else f" for {self.values:,} values"
        return f"{labels}{known}: {', '.join(shown)}" + (f", {more:,} more" if more else "")


@dataclass(frozen=True, slots=True)
class TableSummary:
    """What became of a table.

    Privacy
    -------
    The number of removed rows and the loss are facts of the holder's table; the rest can be read off the published one.
    """

    rows: int  # published
    classes: int
    smallest: int
    average: float
    suppressed: int
    is_starred: bool  # suppressed rows are published as *; otherwise they are gone
    loss: float  # mean over rows and columns of (leaves under the published value - 1) / (leaves - 1)
    columns: tuple[ColumnSummary, ...]
    dropped: tuple[str, ...]
    pseudonyms: tuple[str, ...]
    untouched: tuple[str, ...]
    reason: str  # why the search stopped
    people: int | None = None  # in the class with the fewest, where k counts people

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        facts = asdict(self)
        facts["columns"] = [
            {key: fact for key, fact in column.items() if key != "values" or fact is not None} for column in facts["columns"]
        ]
        return facts

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> TableSummary:
        """The summary that plain data is of; whether all of it is such, the caller compares."""
        columns = (ColumnSummary(each["name"], each.get("values"), tuple(each["labels"])) for each in facts["columns"])
        names = {key: tuple(facts[key]) for key in ("dropped", "pseudonyms", "untouched")}
        return cls(**{**facts, "columns": tuple(columns), **names})

    def describe(self) -> Document:
        """The summary as a document: rows and loss, what each quasi-identifier became, what became of the other columns."""
        suppressed = "none"
        if self.suppressed:
            how = "published as * in every quasi-identifier" if self.is_starred else "removed"
            suppressed = f"{self.suppressed:,} ({100 * self.suppressed / self.total:.2g}%), {how}"
        width = max((len(column.name) for column in self.columns), default=0)
        lines = [
            f"{self.rows:,} rows in {self.classes:,} classes; the smallest has {self.smallest:,}, "
            f"the average {self.average:,.1f}"
            + ("" if self.people is None else f"; the fewest people in a class: {self.people:,}"),
            f"Suppressed rows: {suppressed}",
            f"Information lost: {self.loss:.3f} (0: values as they were, 1: nothing left)",
            *(f"  {column.name.ljust(width)}  {column}" for column in self.columns),
        ]
        for what, names in (
            ("Dropped", self.dropped),
            ("Pseudonyms", self.pseudonyms),
            ("Published as they are", self.untouched),
        ):
            if names:
                lines.append(f"{what}: {', '.join(names)}")
        lines.append(f"Why it stopped: {self.reason}")
        return Document((Section(tuple(Sentence(line) for line in lines)),), title="k-anonymous table")

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())

    @property
    def total(self) -> int:
        """The rows of the table."""
        return self.rows + (0 if self.is_starred else self.suppressed)


def summarize(
    opened: OpenedTables, result: SearchResult, rewriting: Rewriting, plan: PlannedOutput, output: PublishedClasses
) -> TableSummary:
    """What became of a table, by the output that was counted again."""
    quasi, sizes, written = opened.request.quasi, output.sizes, rewriting.schema.names
    leaves = {name: tree.leaves for name, tree in opened.hierarchies.items()}
    return TableSummary(
        rows=int(sizes.sum()),
        classes=len(sizes),
        smallest=int(sizes.min()) if len(sizes) else 0,
        average=float(sizes.mean()) if len(sizes) else 0.0,
        suppressed=result.suppressed,
        is_starred=result.is_starred,
        loss=result.loss,
        columns=tuple(
            ColumnSummary(name, leaves.get(name), tuple(labels)) for name, labels in zip(quasi, output.used, strict=True)
        ),
        dropped=tuple(name for name in opened.table.names if name not in written),
        pseudonyms=tuple(rewriting.pseudonyms),
        untouched=tuple(name for name in written if name not in quasi and name not in rewriting.pseudonyms),
        reason=result.reason,
        people=fewest_people(plan),
    )
