"""How the cells of a column become codes: leaves of a quasi-identifier, values of a sensitive column or a target."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.anonymization.counting.column_values import MOST_VALUES, ColumnValues
from cloister.anonymization.counting.scale import Scale
from cloister.errors import UsageError
from cloister.schema import Category, Date, Kind, Number, Schema
from cloister.schema.cell_format import PLAIN, CellFormat
from cloister.schema.cell_values import days, numbers
from cloister.schema.hierarchies import MISSING, UNKNOWN, Hierarchy
from cloister.schema.hierarchies.tree import leaf_codes

__all__ = ["LeafCoder", "coder_of", "value_coder"]


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

    def look_up(self, values: pa.Array) -> NDArray[np.int32]:
        """The code of each cell."""
        codes = leaf_codes(values, self.leaves, self.edges, is_date=self.is_date, form=self.form)
        if self.value_of is not None:
            codes = np.where(codes >= 0, np.array(self.value_of, np.int32)[np.maximum(codes, 0)], codes)
        codes[codes == UNKNOWN] = self.unknown
        codes[codes == MISSING] = self.null
        return codes


def coder_of(name: str, column: Hierarchy | Scale) -> LeafCoder:
    """How the cells of a quasi-identifier become codes."""
    if isinstance(column, Scale):
        return LeafCoder(name, None, column.edges, column.is_date, form=column.form)
    words = column.nodes[: column.leaves] if column.edges is None else None
    return LeafCoder(name, words, column.edges, column.is_date, column.null, column.unknown, column.form)


def value_coder(column: ColumnValues, schema: Schema | None, *, is_ordered: bool = False) -> LeafCoder:
    """A code for each value of a sensitive column or a target, in their order where they have one; blanks are a value.

    Values are those of the column's kind, not spellings: 1 and 1.0 are one number, all that a domain with `other` does not
    list is one value, and what cannot be read as the kind that the schema names is a blank.
    """
    if column.is_many:
        raise UsageError(
            f'column "{column.name}" has more than {MOST_VALUES:,} different values: too many to compare classes by. '
            "Round it, or choose another column."
        )
    kind = schema[column.name].kind if schema is not None and column.name in schema else None
    words, form = column.words, PLAIN if kind is None else kind.form
    cells = _cells(column, kind, form)
    if cells is not None:
        different = np.unique(cells[~np.isnan(cells)])  # NaN sorts last: a blank
        value_of, blank = np.searchsorted(different, cells).tolist(), len(different)
    elif isinstance(kind, Category) and kind.domain is not None:
        place = {value.strip(): i for i, value in enumerate(kind.domain)}
        others = [word for word in words if word not in place]
        place |= {word: len(place) + (0 if kind.other else i) for i, word in enumerate(others)}
        value_of, blank = [place[word] for word in words], max(place.values(), default=-1) + 1
    else:
        value_of, blank = list(range(len(words))), len(words)
    has_order = isinstance(kind, Category) and kind.domain is not None if cells is None else not np.isnan(cells).any()
    if is_ordered and words and not has_order:
        raise UsageError(
            f'column "{column.name}": the ordered distance needs numbers, dates, or a domain in the schema that lists the '
            "values in order."
        )
    return LeafCoder(column.name, (*words, ""), None, False, blank, form=form, value_of=(*value_of, blank))


def _cells(column: ColumnValues, kind: Kind | None, form: CellFormat) -> NDArray[np.float64] | None:
    """The different cells as numbers or days, NaN for what stands for none; None where they are texts."""
    words = pa.array(column.words, pa.string())
    if column.is_date and not isinstance(kind, Category):  # typed: the words are ISO dates, whatever the format of texts is
        cells = days(words)
        if np.isnan(cells).any():  # times of day
            return None
        return np.floor(cells) if isinstance(kind, Date) else cells
    if isinstance(kind, Date):
        return np.floor(days(words, form))
    if isinstance(kind, Number) or (kind is None and column.is_numeric):
        return numbers(words, form)
    return days(words, form) if kind is None and column.is_calendar else None
