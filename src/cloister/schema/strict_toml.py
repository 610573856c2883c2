"""TOML that cannot exhaust its reader: one sentence for every text that is none."""

from __future__ import annotations

import tomllib
from typing import Any

from cloister.errors import SchemaError
from cloister.schema.strict_json import MOST_LEVELS, is_too_deep, levels_of

__all__ = ["read_toml"]

MOST_BITS = 1024  # of a whole number: beyond it a float overflows
_OUT_OF_REACH = "a number or a date that is out of reach"
_TOO_DEEP = f"more than {MOST_LEVELS} lists or tables inside each other"


def read_toml(text: str, what: str = "") -> dict[str, Any]:
    """The tables that TOML text holds; `what` is how a message calls it: the name of its file, or nothing."""
    reason = ""
    tables: dict[str, Any] = {}
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason = str(error)
    except RecursionError:
        reason = _TOO_DEEP
    except (ValueError, OverflowError):  # thousands of digits
        reason = _OUT_OF_REACH
    if is_too_deep(tables):
        reason = _TOO_DEEP
    elif any(isinstance(part, int) and part.bit_length() > MOST_BITS for level in levels_of(tables) for part in level):
        reason = _OUT_OF_REACH
    if reason:
        raise SchemaError(f"{what}: not valid TOML ({reason})." if what else f"not valid TOML: {reason}.")
    return tables
