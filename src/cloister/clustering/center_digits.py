"""The coordinates of centres without digits that are noise: to two digits of their standard errors.

Post-processing of released values. The certificate keeps all digits, and rows are labelled by those.
"""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.domain import Domain
from cloister.report.numbers import decimals_left
from cloister.schema.numerals import coordinate_text

__all__ = ["Digits", "center_rows", "decimals_of", "shown_cell", "write_centers"]

Digits = list[list[int | None]]
"""Decimals of each coordinate, (k, columns); None: nothing is known of its noise, or it is a category."""


def decimals_of(domain: Domain, errors: NDArray[np.float64] | None, k: int) -> Digits:
    """To how many decimals each coordinate is worth writing.

    An error that is wider than its column, or not finite, counts as the width: the value still says where in the bounds it lies.
    """
    widths = dict(zip((grid.name for grid in domain.encoding.numbers), 2 * domain.halves * domain.lengths(), strict=True))
    if errors is None:
        return [[None] * len(domain.columns) for _ in range(k)]
    return [[_decimals(e, widths.get(name)) for e, name in zip(row, domain.columns, strict=True)] for row in errors]


def _decimals(error: float, width: float | None) -> int | None:
    if width is None or error == 0:
        return None
    # as a certificate has it, so that what is read back has the same digits
    return decimals_left(float(f"{min(error, width) if np.isfinite(error) else width:.6g}"))


def center_rows(
    names: Sequence[str], sizes: NDArray[np.float64], records: Sequence[Sequence[float | str]], digits: Digits
) -> list[list[str]]:
    """The cells of a file of centres, its heads first."""
    rows = [
        [str(i), f"{size:.0f}", *map(_file_cell, record, decimals)]
        for i, (size, record, decimals) in enumerate(zip(sizes, records, digits, strict=True))
    ]
    return [["cluster", "size", *names], *rows]


def write_centers(path: Path, rows: Sequence[Sequence[str]]) -> None:
    """Write a file of centres."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _file_cell(value: float | str, decimals: int | None) -> str:
    if isinstance(value, str):
        return value
    return f"{float(value) if decimals is None else round(value, decimals) + 0.0:.9g}"  # + 0.0: no -0


def shown_cell(value: float | str, decimals: int | None) -> str:
    """A coordinate on a screen: four digits, or all before the point, and none that is noise.

    >>> shown_cell(12.3456, None), shown_cell(12.3456, 1), shown_cell(45123.0, -2), shown_cell("f", None)
    ('12.35', '12.3', '45,100', 'f')
    """
    if isinstance(value, str):
        return value
    usual = coordinate_text(value)
    if decimals is None or decimals >= len(usual.partition(".")[2]):
        return usual
    return f"{round(value, decimals) + 0.0:,.{max(decimals, 0)}f}"
