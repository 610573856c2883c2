"""What microaggregation would do to a table, before a row is read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cloister.microdata.microaggregation.block_order import BLOCK_ROWS, WHOLE_ROWS
from cloister.microdata.microaggregation.request import DISTANCES, RULES, MicroaggregationRequest
from cloister.report import notebook, terminal
from cloister.report.document import Block, Document, Fact, Section, Sentence, TextTable
from cloister.schema import Category, Date, Number

__all__ = ["MicroaggregationPlan", "plan_microaggregation"]


@dataclass(frozen=True, slots=True)
class MicroaggregationPlan:
    """The columns of a table with what becomes of each."""

    k: int
    unit: str  # what k counts
    distance: str
    rule: str
    columns: Mapping[str, str]  # how each microaggregated column is published
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    dropped: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    def describe(self) -> Document:
        """The plan as a document: how rows are grouped, then what becomes of each column."""
        words: list[Block] = [
            Sentence(
                f"Groups of at least k = {self.k:,}, counted by {self.unit}; every row is written as its group's centroid."
            ),
            Fact("rule", f"{self.rule}: {RULES[self.rule]}"),
            Fact("distance", f"{self.distance}: {DISTANCES[self.distance]}"),
            Fact(
                "blocks",
                f"above {WHOLE_ROWS:,} rows, blocks of near rows, of at most about {BLOCK_ROWS:,}, are grouped apart",
            ),
        ]
        columns = TextTable.of(["column", "published as"], list(self.columns.items()), align="left")
        others = {"sensitive, as they are": self.sensitive, "kept as they are": self.kept, "dropped": self.dropped}
        facts = [Fact(what, ", ".join(names)) for what, names in others.items() if names]
        last = Sentence("Rows are shuffled. Syntactic: not differentially private.")
        return Document((Section((*words, columns, *facts, last)),), title="Plan of a microaggregated table")

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def plan_microaggregation(request: MicroaggregationRequest, names: Sequence[str]) -> MicroaggregationPlan:
    """What a request would do to a table with these columns; no row is read, hierarchies are."""
    fitted = request.on(names)
    trees = fitted.trees(names)
    how = {}
    for name in fitted.columns:
        kind = fitted.kind_of(name)
        if name in fitted.with_named_tree or (isinstance(kind, Category) and name in trees):
            how[name] = f"lowest common generalisation by {trees[name].origin}" if name in trees else "mode"
        elif isinstance(kind, Category):
            how[name] = "mode"
        elif isinstance(kind, Number | Date):
            how[name] = "mean"
        else:
            how[name] = f"mean of numbers or dates, else {'generalisation' if name in trees else 'mode'}"
    return MicroaggregationPlan(
        fitted.k, fitted.unit_words, fitted.distance, fitted.rule, how, fitted.sensitive, fitted.keep, fitted.dropped(names)
    )
