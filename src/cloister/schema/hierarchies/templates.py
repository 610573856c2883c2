"""Hierarchies to start from: from the public facts of a column or, for the holder, from its values."""

from __future__ import annotations

import json
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.errors import SchemaError
from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.hierarchies.build import flat, round_width
from cloister.schema.hierarchies.read import file_stem
from cloister.schema.kinds import Category, Date, Number
from cloister.schema.numerals import exact_label_text, label_text
from cloister.schema.table import Column

__all__ = ["draft", "draft_from_values"]

_EPOCH = date(1970, 1, 1)
_HOLDER = "# Made from the values of a table: for its holder. Check it against what is publicly known of the column.\n"


def draft(column: Column) -> tuple[str, str]:
    r"""File name and text of a first hierarchy, from the public facts of a column.

    Numbers and dates with bounds get intervals; a domain of codes of one length is masked from the right; any other
    domain becomes a list to sort into groups.

    >>> draft(Column("sex", Category(domain=("Female", "Male"))))
    ('sex.csv', 'Female;*\nMale;*\n')
    """
    match column.kind:
        case Number(bounds=(low, high)) as kind:
            return f"{file_stem(column.name)}.toml", _rule(low, high, kind.step)
        case Date(bounds=(first, last)):
            return f"{file_stem(column.name)}.toml", f"[intervals]\nlow = {first}\nhigh = {last}\n"
        case Category(domain=tuple(domain)):
            return _listed(column.name, [value.strip() for value in domain])
        case Number() | Date():
            raise SchemaError(f'column "{column.name}": a hierarchy needs the bounds. Fill them in in the schema.')
        case Category():
            raise SchemaError(f'column "{column.name}": a hierarchy needs the domain. Fill it in in the schema.')
        case _:
            raise SchemaError(f'column "{column.name}": free text has no hierarchy.')


def draft_from_values(column: Column, values: pa.Array) -> tuple[str, str]:
    """File name and text of a first hierarchy, from the values of a table, read as the column says that they are written.

    Privacy
    -------
    For the holder: the file lists or bounds the values that the rows hold.
    """
    if isinstance(column.kind, Number):
        cells = numbers(values, column.kind.form)
        cells = cells[np.isfinite(cells)]
        if len(cells) and cells.min() < cells.max():
            unit = round_width((cells.max() - cells.min()) / 20)
            low, high = np.floor(cells.min() / unit) * unit, np.ceil(cells.max() / unit) * unit
            step = 1.0 if unit >= 1 and (cells == np.rint(cells)).all() else None
            return f"{file_stem(column.name)}.toml", _HOLDER + _rule(float(low), float(high), step)
    if isinstance(column.kind, Date):
        cells = days(values, column.kind.form)
        cells = cells[np.isfinite(cells)]
        if len(cells) and cells.min() < cells.max():
            first, last = (_EPOCH + timedelta(float(end)) for end in (cells.min(), cells.max()))
            first, last = first.replace(month=1, day=1), last.replace(month=12, day=31)
            return f"{file_stem(column.name)}.toml", _HOLDER + f"[intervals]\nlow = {first}\nhigh = {last}\n"
    words = pc.unique(texts(values, column.kind.form)).drop_null().to_pylist()
    return _listed(column.name, sorted(word for word in words if word))


def _listed(name: str, values: list[str]) -> tuple[str, str]:
    lengths = {len(value) for value in values}
    codes = len(lengths) == 1 and 2 <= max(lengths) <= 12 and all(value[:1].isdigit() for value in values)
    if codes:
        listing = ",\n  ".join(json.dumps(value, ensure_ascii=False) for value in values)
        return f"{file_stem(name)}.toml", f"[prefix]\nvalues = [\n  {listing}\n]\n"
    return f"{file_stem(name)}.csv", (flat(values) if values else flat([""])).to_csv()


def _rule(low: float, high: float, step: float | None) -> str:
    """Intervals of a round width, at least a step wide: a narrower one would hold nothing."""
    width = max(round_width((high - low) / 20), step or 0.0)
    by_step = "" if step is None else f"step = {label_text(step)}\n"
    return (
        f"[intervals]\nlow = {exact_label_text(low)}\nhigh = {exact_label_text(high)}\n{by_step}"
        f"width = {label_text(width)}\nfanout = 2\n"
    )
