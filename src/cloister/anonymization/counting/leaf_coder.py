"""How the cells of a column become codes: leaves of a quasi-identifier, values of a sensitive column or a target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import MOST_VALUES, ColumnValues
from cloister.anonymization.counting.scale import Scale
from cloister.errors import UsageError
from cloister.risks.value_codes import code_values
from cloister.schema import Category, Schema
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers
from cloister.schema.hierarchies import MISSING, UNKNOWN, Hierarchy
from cloister.schema.hierarchies.tree import leaf_codes

__all__ = ["LeafCoder", "StepCoder", "class_coder", "coder_of", "value_coder"]


@dataclass(frozen=True, slots=True)
class LeafCoder:
    """A column as codes: the place of a cell's text among `leaves`, or of its number between `edges`.

    A blank is `null`, or MISSING where that is -1; anything else is `unknown`.
    """

    name: str
    leaves: tuple[str, ...] | None
    edges: NDArray[np.float64] | None = field(compare=False)
    is_date: bool = False
    null: int = -1
    unknown: int = UNKNOWN  # or the code of "(other)"
    form: CellFormat = PLAIN  # how the cells are written
    value_of: tuple[int, ...] | None = None  # the code of each leaf, where several are one value; None: its place
    is_grid: bool = False  # a leaf is the number in the middle of its edges alone
    meaning: tuple[int, ...] = ()  # of sensitive values: what the schema takes each code for, a blank last

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        codes = leaf_codes(values, self.leaves, self.edges, is_date=self.is_date, form=self.form, is_grid=self.is_grid)
        if self.value_of is not None:
            codes = np.where(codes >= 0, np.array(self.value_of, np.int32)[np.maximum(codes, 0)], codes)
        codes[codes == UNKNOWN] = self.unknown
        codes[codes == MISSING] = self.null
        return codes


@dataclass(frozen=True, slots=True)
class StepCoder:
    """A column of numbers as codes: 1 on the grid that a step makes, 0 between two steps, -1 where there is no number."""

    name: str
    step: float
    bounds: tuple[float, float] | None = None
    form: CellFormat = PLAIN

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        cells = numbers(values, self.form)
        is_number = np.isfinite(cells)
        different, place = np.unique(cells[is_number], return_inverse=True)
        codes = np.full(len(cells), -1, np.int32)
        codes[is_number] = Scale(different, bounds=self.bounds, step=self.step).are_on_step(self.step)[place]
        return codes


def coder_of(name: str, column: Hierarchy | Scale) -> LeafCoder:
    """How the cells of a quasi-identifier become codes."""
    if isinstance(column, Scale):
        return LeafCoder(name, None, column.edges, column.is_date, form=column.form)
    words = column.nodes[: column.leaves] if column.edges is None else None
    form, is_grid = column.form, column.is_grid
    return LeafCoder(name, words, column.edges, column.is_date, column.null, column.unknown, form, is_grid=is_grid)


def value_coder(column: ColumnValues, schema: Schema | None, *, is_ordered: bool = False) -> LeafCoder:
    """A code for each published value of a sensitive column, in their order where they have one; blanks are a value.

    `risks.value_codes` says which cells are one value. The words that the schema lists as missing are published as they are,
    so they have codes of their own.
    """
    if column.is_many:
        raise UsageError(
            f'column "{column.name}" has more than {MOST_VALUES:,} different values: too many to compare classes by. '
            "Round it, or choose another column."
        )
    kind = schema[column.name].kind if schema is not None and column.name in schema else None
    words, form = column.words, PLAIN if kind is None else kind.form
    cells = pa.array(words, pa.string())
    domain = kind.domain or () if isinstance(kind, Category) else ()
    as_days = column.word_days if column.is_date else days(cells, form)  # the text of a moment does not say its zone
    as_days = np.where(np.isin(words, form.missing), np.nan, as_days)
    listed = [value.strip() for value in domain]
    coded = code_values(words, kind, numbers(cells, form), as_days, listed, frozenset(form.missing))
    if is_ordered and words and not coded.is_ordered:
        raise UsageError(
            f'column "{column.name}": the ordered distance needs numbers, dates, or a domain in the schema that lists the '
            "values in order."
        )
    value_of = (*coded.codes.tolist(), coded.blank)
    written, meaning = replace(form, missing=()), tuple(coded.merged.tolist())
    return LeafCoder(column.name, (*words, ""), None, False, coded.blank, form=written, value_of=value_of, meaning=meaning)


def class_coder(column: ColumnValues, schema: Schema | None) -> LeafCoder:
    """A code for each value of a target, as the schema takes it; blanks are a value."""
    coder = value_coder(column, schema)
    assert coder.value_of is not None
    meant = tuple(coder.meaning[code] for code in coder.value_of)
    return replace(coder, value_of=meant, null=coder.meaning[-1])
