"""What became of a microaggregated table, for a person to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from cloister.microdata.microaggregation.centroids import PublishedColumn
from cloister.microdata.microaggregation.group_recount import PublishedTuples
from cloister.microdata.microaggregation.grouping import Grouping
from cloister.microdata.microaggregation.request import MicroaggregationRequest
from cloister.report import notebook, terminal
from cloister.report.document import Block, Document, Fact, Section, Sentence, TextTable
from cloister.report.picture import MeasuredBars, Picture
from cloister.report.plotted import Plotted

__all__ = ["AggregatedColumn", "GroupSummary", "summarize_groups"]

SHOWN = 40  # columns of a picture
DECIMALS = 4  # of what was lost, in percent


@dataclass(frozen=True, slots=True)
class AggregatedColumn:
    """What one column is published as, and what that lost."""

    name: str
    kind: str
    how: str
    lost_percent: float  # numbers and dates: 100 SSE/SST; categories: cells that read otherwise now

    @property
    def is_category(self) -> bool:
        """Whether it has no mean."""
        return self.kind == "category"


@dataclass(frozen=True, slots=True)
class GroupSummary(Plotted):
    """What became of a table.

    Privacy
    -------
    The groups can be counted in the output, but for those with the same centroid; what was lost is an exact fact of the
    holder's table.
    """

    rows: int
    groups: int
    smallest_group: int  # rows
    largest_group: int
    classes: int  # different tuples in the output
    smallest: int  # rows of the tuple that has fewest
    average: float
    people: int | None  # of the tuple that has fewest, where k counts people
    sse_percent: float | None  # 100 SSE/SST, the mean over numbers and dates; None: there are none
    changed_percent: float | None  # cells of categories that read otherwise, the mean over them; None: there are none
    columns: tuple[AggregatedColumn, ...]
    blocks: int
    block_cost_percent: float | None  # by how much a cut between blocks raises the distances from centroids; an estimate
    dropped: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """Plain data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> GroupSummary:
        """The summary that plain data is of; whether all of it is such, the caller compares."""
        columns = tuple(AggregatedColumn(**each) for each in facts["columns"])
        names = {key: tuple(facts[key]) for key in ("dropped", "sensitive", "kept")}
        return cls(**{**facts, "columns": columns, **names})

    def describe(self) -> Document:
        """The summary as a document."""
        sizes = f"{self.smallest_group:,} to {self.largest_group:,} rows each"
        blocks: list[Block] = [Sentence(f"{self.rows:,} rows in {self.groups:,} groups of {sizes}")]
        if self.people is not None:
            blocks.append(Fact("fewest people behind a published tuple", f"{self.people:,}"))
        if self.sse_percent is not None:
            blocks.append(Fact("lost of numbers and dates, 100 SSE/SST", f"{self.sse_percent:.4f}"))
        if self.changed_percent is not None:
            blocks.append(Fact("cells of categories that read otherwise", f"{self.changed_percent:.2f}%"))
        blocks.append(
            TextTable.of(
                ["column", "published as", "lost"],
                [
                    [
                        column.name,
                        column.how,
                        f"{column.lost_percent:.2f}%" if column.is_category else f"{column.lost_percent:.4f}",
                    ]
                    for column in self.columns
                ],
            )
        )
        if self.block_cost_percent is not None:
            blocks.append(
                Sentence(
                    f"Grouped in {self.blocks:,} blocks. In some pairs of neighbouring blocks rows are "
                    f"{self.block_cost_percent:.1f}% farther from their centroids than if the pair were one "
                    "block: an estimate of what one cut costs, not all."
                )
            )
        others = {"dropped": self.dropped, "sensitive, as they are": self.sensitive, "kept as they are": self.kept}
        blocks += [Fact(what, ", ".join(names)) for what, names in others.items() if names]
        return Document((Section(tuple(blocks)),), title="Microaggregated table")

    def pictures(self) -> tuple[Picture, ...]:
        """What each column lost, for the holder."""
        columns = self.columns if len(self.columns) <= SHOWN else sorted(self.columns, key=_lost)[-SHOWN:]
        lost = tuple(column.lost_percent / 100 for column in columns)
        panel = MeasuredBars("", tuple(column.name for column in columns), lost, label="lost", is_share=True)
        more = f" The {SHOWN} of {len(self.columns):,} columns that lost the most." if len(self.columns) > SHOWN else ""
        caption = f"Numbers and dates: SSE/SST. Categories: cells that read otherwise now.{more}"
        return (Picture("What each column lost", (panel,), caption, for_holder=True, across=1),)

    def __str__(self) -> str:
        return terminal.text(self.describe())

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def summarize_groups(
    request: MicroaggregationRequest,
    names: Sequence[str],
    grouping: Grouping,
    published: Sequence[PublishedColumn],
    tuples: PublishedTuples,
) -> GroupSummary:
    """What became of a table with these columns."""
    sizes = grouping.sizes
    # as on the screen: of many digits the squares of a small table's differences could be worked out
    columns = tuple(
        AggregatedColumn(column.name, column.kind, column.how, round(column.loss, DECIMALS)) for column in published
    )
    rows, classes = int(sizes.sum()), len(tuples.counts)
    return GroupSummary(
        rows=rows,
        groups=grouping.count,
        smallest_group=int(sizes.min()),
        largest_group=int(sizes.max()),
        classes=classes,
        smallest=int(tuples.counts.min()),
        average=rows / classes,
        people=None if tuples.people is None else int(tuples.people.min()),
        sse_percent=_mean([column.loss for column in published if column.kind != "category"]),
        changed_percent=_mean([column.loss for column in published if column.kind == "category"]),
        columns=columns,
        blocks=grouping.blocks,
        block_cost_percent=None if grouping.block_cost is None else round(100 * grouping.block_cost, 1),
        dropped=request.dropped(names),
        sensitive=request.sensitive,
        kept=request.keep,
    )


def _lost(column: AggregatedColumn) -> float:
    return column.lost_percent


def _mean(losses: Sequence[float]) -> float | None:
    return round(sum(losses) / len(losses), DECIMALS) if losses else None
