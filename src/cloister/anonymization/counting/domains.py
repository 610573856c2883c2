"""What the columns of a table may hold: from hierarchies and the schema, and for the rest from the cells themselves.

Privacy
-------
A domain made from cells is for the holder. It shows in the output only as labels that at least k rows share, and the ends of
intervals among them are round numbers or public bounds, not cells.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from cloister.anonymization.counting.columns import Scale
from cloister.anonymization.counting.tally import Leaves
from cloister.errors import SchemaError, UsageError
from cloister.kernels.distinct_values import DistinctValues
from cloister.schema import Category, Date, Number, Schema
from cloister.schema.cell_values import days, numbers
from cloister.schema.hierarchies import Hierarchy, calendar, find_hierarchies, flat, read_hierarchy
from cloister.schema.hierarchies.build import round_width
from cloister.vault import Holder

__all__ = ["look_at", "quasi_domain", "read_trees", "value_codes"]

MOST_CODES = 4_096  # of a quasi-identifier without a hierarchy; more numbers are cut into intervals first
MOST_VALUES = 65_536  # of a sensitive column or a target


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """The different cells of one column."""

    name: str
    words: list[str]
    numbers: NDArray[np.float64]  # NaN where a cell is no number
    days: NDArray[np.float64]
    is_date: bool
    is_many: bool

    @property
    def is_numeric(self) -> bool:
        """Whether these are quantities: all numbers, none written like a code with zeros in front."""
        is_code = any(word.lstrip("+-")[:1] == "0" and word.lstrip("+-")[1:2].isdigit() for word in self.words)
        return len(self.numbers) > 0 and bool(np.isfinite(self.numbers).all()) and not is_code

    @property
    def is_calendar(self) -> bool:
        """Whether these are days."""
        return len(self.days) > 0 and bool(np.isfinite(self.days).all()) and (self.is_date or not self.is_numeric)


def look_at(tables: Sequence[Holder], limits: Mapping[str, int]) -> dict[str, Seen]:
    """The different cells of some columns, over one table or several."""
    if not limits:
        return {}
    kernel = DistinctValues(tuple(limits), tuple(limits.values()))
    found = pa.concat_tables([table.distinct(kernel).value for table in tables])
    seen = {}
    for j, (name, limit) in enumerate(limits.items()):
        mine = found.filter(pc.equal(found["column"], j))
        words = sorted({word for word in mine["text"].to_pylist() if word is not None})
        is_many = bool(pc.any(mine["is_many"]).as_py()) or len(words) > limit
        as_numbers, as_days = (mine[key].to_numpy() for key in ("number", "day"))
        seen[name] = Seen(name, words, as_numbers, as_days, bool(pc.any(mine["is_date"]).as_py()), is_many)
    return seen


def read_trees(hierarchies: Any, quasi: Sequence[str], names: Sequence[str], schema: Schema | None) -> dict[str, Hierarchy]:
    """The hierarchies of the quasi-identifiers, as far as there are any.

    Parameters
    ----------
    hierarchies : path of a directory, mapping of columns to paths or Hierarchy, or None
    """
    found: dict[str, Hierarchy] = {}
    for name in quasi:
        kind = schema[name].kind if schema is not None and name in schema else None
        if isinstance(kind, Category) and kind.hierarchy is not None:
            found[name] = read_hierarchy(kind.hierarchy)
        elif isinstance(kind, Category) and kind.domain is not None:
            found[name] = flat([value.strip() for value in kind.domain], f'the domain of column "{name}"')
        elif isinstance(kind, Date) and kind.bounds is not None:
            found[name] = calendar(*kind.bounds, origin=f'the bounds of column "{name}"')
    if hierarchies is None:
        return found
    if isinstance(hierarchies, (str, os.PathLike)):
        files = find_hierarchies(hierarchies, names)
        return {**found, **{name: read_hierarchy(path) for name, path in files.items() if name in quasi}}
    if not isinstance(hierarchies, Mapping):
        raise UsageError("hierarchies must be a directory, or a mapping from columns to files.")
    for name, tree in hierarchies.items():
        if name not in quasi:
            raise UsageError(
                f'there is a hierarchy for "{name}", which is no quasi-identifier. Add it to quasi, or drop it.'
            )
        found[name] = tree if isinstance(tree, Hierarchy) else read_hierarchy(tree)
    return found


def quasi_domain(seen: Seen, schema: Schema | None) -> Hierarchy | Scale:
    """A domain for a quasi-identifier without a hierarchy: ordered values to split, or a list."""
    kind = schema[seen.name].kind if schema is not None and seen.name in schema else None
    wants_days = isinstance(kind, Date) or (kind is None and seen.is_calendar)
    wants_numbers = isinstance(kind, Number) or (kind is None and not wants_days and seen.is_numeric)
    cells = seen.days if wants_days else seen.numbers
    if not len(cells):  # nothing but blanks
        return flat([""])
    if wants_days or wants_numbers:
        if not np.isfinite(cells).all():
            what = "dates" if wants_days else "numbers"
            raise SchemaError(
                f'column "{seen.name}": some cells cannot be read as {what}. Correct them or its kind in the schema, or give '
                "it a hierarchy."
            )
        bounds = kind.bounds if isinstance(kind, Number) else None
        if wants_days:
            cells = np.floor(cells)
            values = np.arange(cells.min(), cells.max() + 1) if seen.is_many else np.unique(cells)
            return Scale(values, is_date=True)
        return binned(cells, bounds) if seen.is_many else Scale(np.unique(cells), bounds=bounds)
    if seen.is_many:
        raise SchemaError(
            f'column "{seen.name}" has more than {MOST_CODES:,} different texts and no hierarchy. Give it one '
            "(cloister schema --hierarchies DIR drafts it), or name it an identifier."
        )
    return flat(seen.words)


def binned(cells: NDArray[np.float64], bounds: tuple[float, float] | None) -> Scale:
    """Very many different numbers as intervals of a round width."""
    low, high = float(cells.min()), float(cells.max())
    width = Fraction(repr(round_width((high - low) / (MOST_CODES // 2))))
    first, last = Fraction(low) // width, Fraction(high) // width
    starts = [float(i * width) for i in range(int(first), int(last) + 2)]  # of the decimals as written
    if bounds is not None and bounds[0] <= low and high <= bounds[1]:  # the outermost may reach beyond what can be
        starts[0], starts[-1] = max(starts[0], bounds[0]), min(starts[-1], bounds[1])
    return Scale(np.array(starts[:-1]), top=starts[-1], bounds=bounds)


def value_codes(seen: Seen, schema: Schema | None, *, is_ordered: bool = False) -> Leaves:
    """A code for each value of a sensitive column or a target, in their order where they have one; blanks are a value."""
    if seen.is_many:
        raise UsageError(
            f'column "{seen.name}" has more than {MOST_VALUES:,} different values: too many to compare classes by. '
            "Round it, or choose another column."
        )
    kind = schema[seen.name].kind if schema is not None and seen.name in schema else None
    words = seen.words
    cells = numbers(pa.array(words, pa.string())) if seen.is_numeric else days(pa.array(words, pa.string()))
    if isinstance(kind, Category) and kind.domain is not None:
        place = {value.strip(): i for i, value in enumerate(kind.domain)}
        words = sorted(words, key=lambda word: (place.get(word, len(place)), word))
    elif words and np.isfinite(cells).all():
        words = [words[i] for i in np.argsort(cells, kind="stable")]
    elif is_ordered and words:
        raise UsageError(
            f'column "{seen.name}": the ordered distance needs numbers, dates, or a domain in the schema that lists the '
            "values in order."
        )
    return Leaves(seen.name, (*words, ""), None, False, len(words))
