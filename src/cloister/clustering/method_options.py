"""Options that only some methods have: each means the same wherever it is taken, and is refused everywhere else."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from numbers import Real
from typing import Any

from cloister.clustering.methods import METHODS, find_method
from cloister.clustering.schedules import find_schedule
from cloister.clustering.seeding.evolution_options import evolution_options
from cloister.errors import UsageError, by_door
from cloister.parameters import unknown_choice

__all__ = ["check_method_options"]


def check_method_options(
    name: str, *, seeding: Any, evolution: Mapping[str, Any] | None, schedule: Any, tolerance: Any
) -> None:
    """Refuse what does not exist, and what the method of this name would have to ignore; None: the method's own."""
    if seeding is not None:
        check_method_seeding(name, seeding)
    evolution_options(evolution)
    if evolution is not None and seeding != "evolution":
        raise UsageError(
            "options of evolution go with the seeding of that name. "
            + by_door('Give seeding="evolution" too, or leave them out.', "Give --seeding evolution too, or leave them out.")
        )
    if schedule is not None:
        find_schedule(schedule)
    if tolerance is not None and not is_positive(tolerance):
        raise UsageError("the tolerance must be a finite number above 0, such as 0.01 of a column's width.")
    given = [option for option, value in (("schedule", schedule), ("tolerance", tolerance)) if value is not None]
    if given and not find_method(name).has_schedule:
        raise UsageError(
            f'method "{name}" has no {given[0]}: only rounds of Lloyd do. Leave {by_door("", "--")}{given[0]} out, or use '
            'method "lloyd".'
        )


def check_method_seeding(name: str, seeding: Any) -> None:
    """Refuse a seeding that does not exist, or that the method does not start from."""
    known = tuple(dict.fromkeys(one for method in METHODS for one in find_method(method).seedings))
    if not isinstance(seeding, str) or seeding not in known:
        raise unknown_choice("seeding", seeding, known)
    seedings = find_method(name).seedings
    if not seedings:
        able = [method for method in METHODS if seeding in find_method(method).seedings]
        raise UsageError(
            f'method "{name}" finds its start by itself and takes no seeding. Leave {by_door("", "--")}seeding out, or use '
            f'a method that starts from "{seeding}": {", ".join(able)}.'
        )
    if seeding not in seedings:
        raise UsageError(f'method "{name}" does not start from "{seeding}". Choose one of: {", ".join(seedings)}.')


def is_positive(value: Any) -> bool:
    """Whether a value is a finite number above 0."""
    if not isinstance(value, Real) or isinstance(value, bool):
        return False
    try:
        return isfinite(value) and float(value) > 0
    except OverflowError:  # a whole number beyond every float
        return False
