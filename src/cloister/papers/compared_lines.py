"""Pictures of reproduced rows: a measure over what was varied, a line a form, with bands of several runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cloister.papers.form_columns import HEADS, form_cells
from cloister.papers.reproduced_row import FORMS, ReproducedRow
from cloister.report.picture import MeasuredLine, MeasuredLines, Picture

__all__ = ["BANDS", "compared_lines", "lines_picture"]

BANDS = "Lines are medians of several runs, bands reach from the 10% to the 90% quantile."


def compared_lines(
    rows: Sequence[ReproducedRow],
    measure: str,
    place: Callable[[str], float | None],
    line: Callable[[str], str] = lambda setting: "",
) -> tuple[MeasuredLine, ...]:
    """The lines of a measure: `place` says where on the axis a setting stands (None: nowhere), `line` which line of its form."""
    points: dict[str, list[tuple[float, float, float, float]]] = {}
    for form in FORMS:
        for (setting, measured), forms in form_cells(rows).items():
            cell, x = forms.get(form), place(setting)
            if measured != measure or cell is None or cell.value is None or x is None:
                continue
            which = line(setting)
            name = f"{HEADS[form]}, {which}" if which else HEADS[form]
            low, high = (cell.value if end is None else end for end in (cell.low, cell.high))
            points.setdefault(name, []).append((x, cell.value, low, high))
    return tuple(
        MeasuredLine(name, *(tuple(numbers) for numbers in zip(*sorted(places), strict=True)))
        for name, places in points.items()
    )


def lines_picture(title: str, lines: Sequence[MeasuredLine], caption: str = BANDS, **look: object) -> Picture:
    """One panel of lines; `look` is what `MeasuredLines` takes beside them."""
    return Picture(title, (MeasuredLines("", tuple(lines), **look),), caption, across=1)  # type: ignore[arg-type]
