"""What must hold of the numbers in the file of a private table, whoever signed it: what is checked when one is read back."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from itertools import pairwise
from math import isfinite, prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from cloister.errors import CloisterError, VerificationFailed
from cloister.privacy.release import Release
from cloister.tabulation.cell_quantiles import quantile_name
from cloister.tabulation.cell_statistics import Columns
from cloister.tabulation.saved_tables import (
    COUNTED,
    WHOLE,
    SavedTable,
    arrange,
    has_whole_counts,
    hash_of_rows,
    read_inside,
    read_rows_beside,
)

__all__ = ["check_table_figures", "find_false_figure"]

LARGEST = 2**63  # no count comes near
DECIMAL = 0.001  # to which counts were rounded, before they were whole


def check_table_figures(path: Path, release: Release, *, is_inside: bool) -> None:
    """Refuse a table whose numbers cannot be true, although its hashes and its signature fit.

    `is_inside`: its certificate lies in the file itself, as of Parquet and JSON, and was compared with it; else it is a CSV or
    a workbook.

    Raises
    ------
    VerificationFailed
        They cannot, or it is not the table of its certificate.
    """
    try:
        inside = read_inside(path) if is_inside else None
        rows = read_rows_beside(path, release) if inside is None else inside[1]
        false = find_false_figure(arrange(release, rows))
        if inside is None and has_whole_counts(release) and release.result["rows_sha256"] != hash_of_rows(rows):
            false = false or "its rows are not those of its certificate"
    except (CloisterError, LookupError, TypeError, ValueError, csv.Error, pa.ArrowException):
        false = "its rows are not those of its certificate"
    if false is not None:
        raise VerificationFailed(f"{path.name} contradicts itself: {false}. Do not rely on it.")


def find_false_figure(saved: SavedTable) -> str | None:
    """What in a table cannot be true of one that was measured, in words; None: nothing that is known of.

    Tables of before counts were whole have three decimals, and a count of theirs may be negative.
    Quantiles are estimates, each by itself: their order is false where the interval of a larger one lies below that of a smaller.
    """
    try:
        return next(_false_figures(saved), None)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, ArithmeticError):
        return "a figure of it is missing, or is of another kind than a table has"


def _false_figures(saved: SavedTable) -> Iterator[str]:
    parameters, result = saved.release.parameters, saved.release.result
    is_whole, quantiles = has_whole_counts(saved.release), _quantile_heads(parameters)
    means = [
        head for name in parameters.get("means", ()) for head in (f"mean of {name}", f"standard_error of mean of {name}")
    ]
    summed = [head for name in parameters["measures"] for head in (f"sum of {name}", f"standard_error of {name}")]
    blank = {*means, *(head for ranked in quantiles for place in ranked for head in place)}
    for margin in saved.margins.values():
        if sorted(margin) != sorted({*COUNTED, *summed, *blank}):
            yield "its columns are not those that its certificate names"
            return
        yield from _false_numbers(margin, blank, is_whole=is_whole)
        if any(len({*margin[head].flat}) > 1 for head in ("standard_error", *summed[1::2])):
            yield "an error of it is not that of all cells of its margin"
        yield from _false_quantiles(margin, quantiles)
    yield from _false_margins(saved, ["count", *summed[::2]], atol=1e-6 if is_whole else DECIMAL * parameters["cells"])
    if prod(map(len, saved.labels)) != parameters["cells"]:
        yield "its cells are not as many as its certificate says"
    bins = parameters.get("bins", {})
    if any(list(labels) != bins.get(name, list(labels)) for name, labels in zip(saved.by, saved.labels, strict=True)):
        yield "its bins are not those of its certificate"
    if abs(float(saved.margins[()]["count"].flat[0]) - result["total"]) > (0 if is_whole else DECIMAL * parameters["cells"]):
        yield "its counts do not add up to the total of its certificate"


def _false_numbers(margin: Columns, blank: set[str], *, is_whole: bool) -> Iterator[str]:
    for head, column in margin.items():
        numbers = [value for value in column.flat if not (value is None and head in blank)]
        wanted = int if head in WHOLE and is_whole else float
        if not all(_is_number(value) and isinstance(value, wanted | int) for value in numbers):
            yield "a figure of it is no number"
            return
        if head in WHOLE and any(abs(value) >= LARGEST for value in numbers):
            yield "a count of it is larger than any"
        is_error = head == "standard_error" or head.startswith("standard_error of ")
        if (is_error or (is_whole and head in WHOLE)) and any(value < 0 for value in numbers):
            yield "a count or an error of it is negative"
    if any(low > high for low, high in zip(margin["low"].flat, margin["high"].flat, strict=True)):
        yield "an interval of it ends before it begins"


def _false_margins(saved: SavedTable, added: list[str], atol: float) -> Iterator[str]:
    cells = saved.margins[tuple(range(len(saved.by)))]
    for kept, margin in saved.margins.items():
        lost = tuple(axis for axis in range(len(saved.by)) if axis not in kept)
        for head in added:
            total = cells[head].astype(np.float64).sum(axis=lost)
            if not np.allclose(total, margin[head].astype(np.float64), rtol=1e-9, atol=atol):
                yield "a margin of it is not the sum of its cells"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _quantile_heads(parameters: Mapping[str, Any]) -> list[list[tuple[str, str, str]]]:
    """For each number the columns of its quantiles, from the least on: the value and the ends of its interval."""
    names = [
        [quantile_name(name, each) for each in facts["quantiles"]] for name, facts in parameters.get("quantiles", {}).items()
    ]
    return [[(name, f"low of {name}", f"high of {name}") for name in ranked] for ranked in names]


def _false_quantiles(margin: Columns, quantiles: list[list[tuple[str, str, str]]]) -> Iterator[str]:
    for ranked in quantiles:
        for cell in zip(*(zip(*(margin[head].flat for head in place), strict=True) for place in ranked), strict=True):
            known = [place for place in cell if place != (None, None, None)]
            if any(None in place or not place[1] <= place[0] <= place[2] for place in known):
                yield "a quantile of it lies outside its interval"
            elif any(larger[2] < smaller[1] for smaller, larger in pairwise(known)):
                yield "its quantiles are not in their order"
