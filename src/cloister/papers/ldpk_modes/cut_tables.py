"""The four tables of the paper (its table 2), cut into few values a column.

The paper gives how many values each cut column has and neither which columns nor where they are cut: the cuts here are ours. A
column of two values parts the values of the original one by their order, and what is named first is code 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.datasets import Dataset, load
from cloister.papers.holder_rows import holder_numbers
from cloister.schema import Category, Column, Schema
from cloister.vault import Unprotected

__all__ = ["DATASETS", "TABLES", "CutTable", "HeldCells", "cut_table", "held_cells"]

Codes = NDArray[np.int64]
HeldCells = Unprotected[Codes]
"""How many rows are in each cell, one axis a column: for the holder."""

DATASETS = ("auto-mpg", "car", "nursery", "covertype")

CAR_CUTS = (
    "vhigh high | med low",  # buying
    "vhigh high | med low",  # maint
    "2 3 | 4 5more",  # doors
    "2 | 4 more",  # persons
    "small | med big",  # lug_boot
    "low | med high",  # safety
)
NURSERY_CUTS = (
    "usual | pretentious great_pret",  # parents
    "proper less_proper | improper critical very_crit",  # has_nurs
    "complete completed | incomplete foster",  # form
    "1 2 | 3 more",  # children
    "convenient | less_conv critical",  # housing
    "convenient | inconv",  # finance
    "nonprob slightly_prob | problematic",  # social
    "recommended priority | not_recom",  # health
)
SOIL_UNITS = [  # USDA ecological land type units of soil types 1 to 40; the first digit is the climatic zone
    2702, 2703, 2704, 2705, 2706, 2717, 3501, 3502, 4201, 4703, 4704, 4744, 4758, 5101, 5151, 6101, 6102, 6731, 7101, 7102,
    7103, 7201, 7202, 7700, 7701, 7702, 7709, 7710, 7745, 7746, 7755, 7756, 7757, 7790, 8703, 8707, 8708, 8771, 8772, 8776,
]  # fmt: skip
FIRST_ZONE = 2  # of 2 to 8: seven zones


@dataclass(frozen=True)
class CutTable:
    """A table of few cells.

    Attributes
    ----------
    name : as the paper's table 2 has it
    codes : (n, columns); sizes : how many values each column has
    classes : the known class of each row, (n,), as numbers
    clusters : the paper's K
    """

    name: str
    codes: Codes
    sizes: tuple[int, ...]
    classes: Codes
    clusters: int

    @property
    def domains(self) -> dict[str, list[str]]:
        """What each column may hold: public."""
        return {f"q{j}": [f"v{i}" for i in range(size)] for j, size in enumerate(self.sizes)}

    @property
    def schema(self) -> Schema:
        """The same as a schema."""
        return Schema(tuple(Column(name, Category(domain=tuple(domain))) for name, domain in self.domains.items()))

    @cached_property
    def rows(self) -> pa.Table:
        """The rows as a user of the program would give them: columns of texts."""
        columns = {}
        for (name, domain), codes in zip(self.domains.items(), self.codes.T, strict=True):
            columns[name] = pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(domain)).cast(pa.string())
        return pa.table(columns)

    @cached_property
    def held(self) -> HeldCells:
        """How many rows are in each cell, through the holder's door: what a form as printed reads."""
        return held_cells({f"q{j}": column for j, column in enumerate(self.codes.T)}, self.sizes)

    @cached_property
    def class_cells(self) -> Codes:
        """How many rows of each class are in each cell, (classes, cells)."""
        cells = np.ravel_multi_index(tuple(self.codes.T), self.sizes)
        places = self.classes * prod(self.sizes) + cells
        return np.bincount(places, minlength=(self.classes.max() + 1) * prod(self.sizes)).reshape(-1, prod(self.sizes))

    def nearest(self, centres: NDArray[np.integer[Any]]) -> tuple[Codes, Codes]:
        """The nearest centre of each cell and how many columns differ from it; the first of equals, (cells,) each."""
        cells = np.stack(np.unravel_index(np.arange(prod(self.sizes)), self.sizes), axis=1)
        gaps = (cells[:, None] != centres).sum(axis=2)
        return gaps.argmin(axis=1), gaps.min(axis=1)


def held_cells(data: Any, sizes: tuple[int, ...]) -> HeldCells:
    """The cells of rows of codes, as their holder has them.

    >>> held_cells({"a": [0, 1, 1], "b": [0, 2, 2]}, (2, 3)).value.tolist()
    [[1, 0, 0], [0, 0, 2]]
    """
    found = holder_numbers(data)
    codes = found.value.astype(np.int64).T  # (columns, n)
    counts = np.bincount(np.ravel_multi_index(tuple(codes), sizes), minlength=prod(sizes)).reshape(sizes)
    return Unprotected(counts.astype(np.int64), found.purpose)


@lru_cache(maxsize=8)
def cut_table(name: str, folder: Path | None) -> CutTable:
    """A table by its name in the paper, D1 to D4."""
    dataset, cut = TABLES[name]
    return cut(load(dataset, folder=folder))


def _numbers(dataset: Dataset, column: str) -> NDArray[np.float64]:
    return np.asarray(dataset.data[column].to_numpy(), dtype=np.float64)


def _places(column: Any, domain: Sequence[str]) -> Codes:
    """The place of each text in a domain."""
    packed = pa.chunked_array([column] if isinstance(column, pa.Array) else column.chunks).combine_chunks()
    packed = packed.dictionary_encode()
    place = np.array([domain.index(value) for value in packed.dictionary.to_pylist()], dtype=np.int64)
    codes: Codes = place[packed.indices.to_numpy(zero_copy_only=False)]
    return codes


def _domain(dataset: Dataset, column: str) -> tuple[str, ...]:
    kind = dataset.schema[column].kind
    assert isinstance(kind, Category), column
    assert kind.domain is not None, column
    return kind.domain


def _classes(dataset: Dataset) -> Codes:
    assert dataset.target is not None
    return _places(dataset.target, sorted(set(dataset.target.unique().to_pylist())))


def _auto_mpg(dataset: Dataset) -> CutTable:
    """D1, {3 2 3}: cylinders (up to 4; 5 or 6; 8), model year (up to the median, 76; later), origin.

    Its classes are not in the paper: origin has three, as many as K. It is one of the clustered columns, too.
    """
    cylinders, years = _numbers(dataset, "cylinders"), _numbers(dataset, "model_year")
    origin = _places(dataset.data["origin"], ("USA", "Europe", "Japan"))
    codes = np.column_stack([np.searchsorted([4, 6], cylinders), years > np.median(years), origin]).astype(np.int64)
    return CutTable("D1 Auto MPG", codes, (3, 2, 3), origin, 3)


def _cut_in_two(dataset: Dataset, cuts: Sequence[str]) -> Codes:
    """Categories parted in two each."""
    columns = []
    for name, cut in zip(dataset.data.column_names, cuts, strict=True):
        parts = [values.split() for values in cut.split("|")]
        in_order = [value for values in parts for value in values]
        columns.append((_places(dataset.data[name], in_order) >= len(parts[0])).astype(np.int64))
    return np.column_stack(columns)


def _car(dataset: Dataset) -> CutTable:
    """D2, six columns of 2: `CAR_CUTS`."""
    return CutTable("D2 Car", _cut_in_two(dataset, CAR_CUTS), (2,) * 6, _classes(dataset), 4)


def _nursery(dataset: Dataset) -> CutTable:
    """D3, eight columns of 2: `NURSERY_CUTS`."""
    return CutTable("D3 Nursery", _cut_in_two(dataset, NURSERY_CUTS), (2,) * 8, _classes(dataset), 5)


def _covertype(dataset: Dataset) -> CutTable:
    """D4, {4 7}: wilderness area by climatic zone of the soil type; the classes are the seven cover types."""
    area = _places(dataset.data["wilderness_area"], _domain(dataset, "wilderness_area"))
    soil = _places(dataset.data["soil_type"], _domain(dataset, "soil_type"))
    zone = np.array([unit // 1000 - FIRST_ZONE for unit in SOIL_UNITS], dtype=np.int64)[soil]
    return CutTable("D4 Covertype", np.column_stack([area, zone]), (4, 7), _classes(dataset), 7)


TABLES = {
    "D1": ("auto-mpg", _auto_mpg),
    "D2": ("car", _car),
    "D3": ("nursery", _nursery),
    "D4": ("covertype", _covertype),
}
"""The paper's alias of each table: its data set, and how it is cut."""
