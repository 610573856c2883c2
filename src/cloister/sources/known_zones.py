"""Time zones whose answers are their own: a zone is an object that answers when it is asked, and may run any code."""

from __future__ import annotations

import datetime
import sys
import zoneinfo
from collections.abc import Iterable, Iterator
from itertools import chain
from types import MemberDescriptorType, MethodType
from typing import Any

from cloister.sources.class_facts import bases, is_one_of, own_names

__all__ = ["forget_zones", "is_known_zone"]

_FACTS = {
    id(kind) for kind in (type(None), bool, int, float, str, bytes, datetime.timedelta, datetime.datetime, datetime.time)
}
"""By identity: a class may have a hash of its own."""

_remembered: dict[int, object] = {}  # zones of the column that is read: many cells share one, and a look at it takes time


def is_known_zone(zone: object) -> bool:
    """Whether a zone is of a class that is known, and nobody set code, or an object that has some, on the zone itself."""
    kind = type(zone)
    if zone is None or is_one_of(kind, (datetime.timezone, zoneinfo.ZoneInfo)):
        return True
    dateutil, pytz = sys.modules.get("dateutil.tz"), sys.modules.get("pytz.tzinfo")
    if dateutil is not None and is_one_of(kind, (dateutil.tzutc, dateutil.tzoffset, dateutil.tzlocal, dateutil.tzfile)):
        return _remembered.get(id(zone)) is zone or _holds_facts(zone, _classes_of("dateutil"))
    # pytz makes a class of every zone, with facts and no code in it
    made = pytz is not None and is_one_of(bases(kind)[1], (pytz.DstTzInfo, pytz.StaticTzInfo, pytz.BaseTzInfo))
    return (
        bool(made and type(kind) is type) and kind.__module__.partition(".")[0] == "pytz" and _holds_facts(zone, {id(kind)})
    )


def _holds_facts(zone: object, known: set[int]) -> bool:
    """Whether all that a zone holds, and what that holds, is plain data or an object of the library's own classes."""
    waiting, seen = [zone], {id(zone)}
    while waiting:
        parts = _parts(waiting.pop(), known)
        if parts is None:
            return False
        # most of it is lists of numbers: these are passed over without a look at each
        more = {id(part): part for part in parts if id(type(part)) not in _FACTS}
        waiting += [part for place, part in more.items() if place not in seen]
        seen |= more.keys()
    _remembered[id(zone)] = zone
    return True


def forget_zones() -> None:
    """Look at every zone anew: between two columns somebody may have changed one."""
    _remembered.clear()


def _parts(item: Any, known: set[int]) -> Iterable[object] | None:
    """What an object holds; None for one that is not known."""
    kind = type(item)
    if kind is list or kind is tuple:
        parts: Iterable[object] = item
        return parts
    if kind is dict:
        return chain(item.keys(), item.values())
    if kind is MethodType and id(type(item.__self__)) in known:  # a method that its own class defines
        defined = (part for base in bases(type(item.__self__)) for part in own_names(base).values())
        return [item.__self__] if any(part is item.__func__ for part in defined) else None
    return _attributes(item) if id(kind) in known else None


def _attributes(item: object) -> Iterator[object]:
    for base in bases(type(item)):
        for member in own_names(base).values():
            if type(member) is MemberDescriptorType:
                try:
                    yield member.__get__(item)
                except AttributeError:  # a slot that was never filled
                    continue
    if any("__dict__" in own_names(base) for base in bases(type(item))):
        yield object.__getattribute__(item, "__dict__")  # a dict of another class is none of the known objects


def _classes_of(package: str) -> set[int]:
    """The classes that are defined at the top of a package's modules, by identity."""
    modules = [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == package]
    return {id(kind) for module in modules for kind in vars(module).values() if isinstance(kind, type)}
