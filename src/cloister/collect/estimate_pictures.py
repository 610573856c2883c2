"""Pictures of collected answers: bars with their errors, and the groups of k-modes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cloister.collect.estimated_table import EstimatedTable
from cloister.report.picture import INTERVAL, MeasuredBars, Picture, WordGrid

__all__ = ["MOST_QUESTIONS", "answer_pictures", "mode_pictures"]

MOST_BARS = 25  # of a question's values: the most frequent
MOST_QUESTIONS = 12
MOST_GROUPS, MOST_IN_GRID = 8, 25
CAPTION = "Lines: 95% of the error that the clients' own noise and the choice of who answered leave."


def answer_pictures(tables: Sequence[EstimatedTable], questions: int) -> tuple[Picture, ...]:
    """The share of people with each answer, a panel a question; tables are of the first of so many questions."""
    more = f" The first {len(tables)} of {questions} questions." if questions > len(tables) else ""
    panels = tuple(_answers(table) for table in tables)
    reports = tables[0].reports if tables else 0
    title = f"Answers of {reports:,} reports"
    return (Picture(title, panels, CAPTION + more, across=1 if len(panels) == 1 else 2),)


def mode_pictures(modes: Sequence[Mapping[str, str]], sizes: Sequence[float]) -> tuple[Picture, ...]:
    """How many people are nearest to each centre, and what the centres answer."""
    names = tuple(f"group {i}" for i in range(len(modes)))
    questions = tuple(modes[0])[:MOST_IN_GRID]
    shown = modes[:MOST_GROUPS]
    words = tuple(tuple(mode[question] or '""' for mode in shown) for question in questions)
    bars = MeasuredBars("", names[:MOST_BARS], tuple(float(size) for size in sizes[:MOST_BARS]), label="people, by estimate")
    grid = WordGrid("", names[:MOST_GROUPS], questions, words)
    left_out = f" The {MOST_GROUPS} largest of {len(modes)} groups." if len(modes) > MOST_GROUPS else ""
    left_out += f" The first {MOST_IN_GRID} of {len(modes[0])} questions." if len(modes[0]) > MOST_IN_GRID else ""
    return (
        Picture("Groups of people", (bars,), "Sizes are estimates from noisy reports.", across=1),
        Picture("What each group answers", (grid,), f"The answer that stands for each group.{left_out}", across=1),
    )


def _answers(table: EstimatedTable) -> MeasuredBars:
    (name,) = table.names
    people = max(1, table.reports)
    rows: list[dict[str, Any]] = list(table.rows()) if table.counts.size <= MOST_BARS else table.top(MOST_BARS)
    reach = [INTERVAL * row["standard_error"] / people for row in rows]
    shares = [row["share"] for row in rows]
    return MeasuredBars(
        name,
        tuple(row[name] or '""' for row in rows),
        tuple(shares),
        tuple(share - each for share, each in zip(shares, reach, strict=True)),
        tuple(share + each for share, each in zip(shares, reach, strict=True)),
        label="share of people",
        is_share=True,
        note=f"({MOST_BARS} of {table.counts.size:,} values)" if table.counts.size > MOST_BARS else "",
    )
