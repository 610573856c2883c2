"""The table of an item: a line a setting and measure, a column a form, with what is proved of each number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cloister.papers.reproduced_row import FORMS, Form, ReproducedRow
from cloister.report.document import TextTable

__all__ = ["FormCell", "form_cells", "form_table", "number_text"]

HEADS: dict[Form, str] = {
    "printed": "printed",
    "as printed": "as printed, run again",
    "sound": "sound",
    "plain": "without privacy",
    "peer": "a peer",
}
ALWAYS: tuple[Form, ...] = ("printed", "as printed", "sound")
WIDE = 0.1  # the interval of several runs is from this quantile to the one opposite


@dataclass(frozen=True, slots=True)
class FormCell:
    """All runs of one form: their median, an interval, what is claimed and what is proved."""

    value: float | None
    low: float | None
    high: float | None
    runs: int
    claimed: float | None
    epsilon: float | None
    notes: tuple[str, ...]

    @classmethod
    def of(cls, rows: Sequence[ReproducedRow]) -> FormCell:
        """What rows of one setting, measure and form say together; with several runs: median, 10% and 90%."""
        values = [row.value for row in rows if row.value is not None]
        first = rows[0]
        notes = tuple(dict.fromkeys(row.note for row in rows if row.note))
        if len(values) < 2:
            return cls(
                values[0] if values else None, first.low, first.high, len(values), first.claimed, first.epsilon, notes
            )
        low, middle, high = np.quantile(values, [WIDE, 0.5, 1 - WIDE])
        return cls(float(middle), float(low), float(high), len(values), first.claimed, first.epsilon, notes)

    def text(self) -> str:
        """In a few words: the number, its interval, how many runs, the epsilon that is proved of it."""
        if self.value is None:
            return " ".join(self.notes) or "no number"
        parts = [number_text(self.value)]
        if self.low is not None and self.high is not None:
            parts.append(
                f"({number_text(self.low)} to {number_text(self.high)}{f', {self.runs} runs' if self.runs > 1 else ''})"
            )
        words = []
        if self.claimed is not None:
            words.append(f"claimed {number_text(self.claimed)}")
        if self.epsilon is not None:
            words.append("no finite epsilon" if self.epsilon == math.inf else f"epsilon {number_text(self.epsilon)}")
        return " ".join(parts) + (f"; {', '.join(words)}" if words else "")


def number_text(value: float) -> str:
    """Five digits, whole numbers as they are.

    >>> number_text(16555.67), number_text(1669700.0), number_text(0.05), number_text(1.0), number_text(6.26588)
    ('16,556', '1,669,700', '0.05', '1', '6.2659')
    """
    if value == round(value) and abs(value) < 1e15:
        return f"{value:,.0f}"
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.5g}"


def form_cells(rows: Sequence[ReproducedRow]) -> dict[tuple[str, str], dict[Form, FormCell]]:
    """By setting and measure, in the order in which they come, the cell of each form."""
    groups: dict[tuple[str, str], dict[Form, list[ReproducedRow]]] = {}
    for row in rows:
        groups.setdefault((row.setting, row.measure), {}).setdefault(row.form, []).append(row)
    return {key: {form: FormCell.of(found) for form, found in forms.items()} for key, forms in groups.items()}


def form_table(rows: Sequence[ReproducedRow]) -> TextTable:
    """Printed, as printed and sound beside each other, other forms where there are some, and the source of each line."""
    cells = form_cells(rows)
    shown = [form for form in FORMS if form in ALWAYS or any(form in forms for forms in cells.values())]
    sources: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        sources.setdefault((row.setting, row.measure), []).append(row.source)
    lines = []
    for (setting, measure), forms in cells.items():
        source = ", ".join(dict.fromkeys(sources[setting, measure]))
        lines.append([setting, measure, *(forms[form].text() if form in forms else "-" for form in shown), source])
    return TextTable.of(["setting", "measure", *(HEADS[form] for form in shown), "source"], lines, align="left")
