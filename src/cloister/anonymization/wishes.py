"""What users wish for single quasi-identifiers: how much each counts, and how far it may be generalised."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cloister.anonymization.searching.limits import ColumnLimit
from cloister.column_names import nearest_name
from cloister.errors import UsageError, by_door
from cloister.schema import Schema
from cloister.schema.column import is_level, is_weight

__all__ = ["Wishes", "read_wishes"]


@dataclass(frozen=True, slots=True)
class Wishes:
    """The weight and the limit of each quasi-identifier."""

    weights: tuple[float, ...]  # 1 on average
    limits: tuple[ColumnLimit, ...]
    choices: dict[str, Any]  # for the certificate: what was asked for


def read_wishes(quasi: Sequence[str], schema: Schema | None, weights: Any, most_levels: Any, widest: Any) -> Wishes:
    """The wishes of a call, each a mapping from columns to numbers or None; where it names none, those of the schema."""
    by_weight = _numbers(weights, "weights", quasi, schema, is_weight, "a number above 0")
    by_level = _numbers(most_levels, "most_levels", quasi, schema, is_level, "a whole number of at least 0")
    by_width = _numbers(widest, "widest", quasi, schema, is_weight, "a number above 0")
    raw = [float(by_weight.get(name, 1.0)) for name in quasi]
    mean = sum(raw) / len(raw)
    asked = {"weights": by_weight, "most_levels": by_level, "widest": by_width}
    return Wishes(
        weights=tuple(weight / mean for weight in raw),
        limits=tuple(ColumnLimit(name, by_level.get(name), by_width.get(name)) for name in quasi),
        choices={what: numbers for what, numbers in asked.items() if numbers},
    )


def _numbers(
    given: Any, what: str, quasi: Sequence[str], schema: Schema | None, is_wanted: Callable[[object], bool], words: str
) -> dict[str, Any]:
    """The numbers of one wish by quasi-identifier; the schema's where the call does not say."""
    key = {"weights": "weight", "most_levels": "most_level"}.get(what, what)
    what = by_door(what, f"--{key.replace('_', '-')}")
    if given is not None and not isinstance(given, Mapping):
        raise UsageError(f'{what} names columns with their numbers, such as {{"age": 5}}.')
    given = dict(given or {})
    for name, number in given.items():
        if name not in quasi:
            hint = nearest_name(name, quasi) if isinstance(name, str) else ""
            raise UsageError(f"{what} names a column that is no quasi-identifier: only those are generalised.{hint}")
        if not is_wanted(number):
            raise UsageError(f'{what}: the number of column "{name}" must be {words}.')
    of_schema = {
        column.name: wish
        for column in (schema.columns if schema is not None else ())
        if column.name in quasi and (wish := getattr(column, key)) is not None
    }
    wishes = {**of_schema, **given}
    return {name: wishes[name] for name in quasi if name in wishes}
