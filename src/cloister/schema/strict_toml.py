"""TOML that cannot exhaust its reader: one sentence for every text that is none."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from cloister.errors import SchemaError
from cloister.schema.strict_json import MOST_LEVELS, is_too_deep, levels_of

__all__ = ["read_toml"]

MOST_BITS = 1024  # of a whole number: beyond it a float overflows
_OUT_OF_REACH = "a number or a date that is out of reach"
_TOO_DEEP = f"more than {MOST_LEVELS} lists or tables inside each other"
_STRINGS_AND_COMMENTS = re.compile(
    r'"""(?:\\.|[^\\])*?(?:"{3,5}|\Z)'  # one without an end reaches to where it must have ended: the parser tells of it
    r"|'{3}.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*+(?:"|$)'
    r"|'[^'\n]*+(?:'|$)"
    r"|\#[^\n]*+",
    re.DOTALL | re.MULTILINE,
)
_LONG_KEY = re.compile(rf"(?<![\w-])(?:[\w-]++[ \t]*+\.[ \t]*+){{{MOST_LEVELS}}}")


def read_toml(text: str, what: str = "") -> dict[str, Any]:
    """The tables that TOML text holds; `what` is how a message calls it: the name of its file, or nothing."""
    reason = ""
    tables: dict[str, Any] = {}
    try:
        if has_long_key(text):
            raise RecursionError
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


def has_long_key(text: str) -> bool:
    """Whether a dotted key has more than `MOST_LEVELS` parts: the parser's memory and time grow with the square of them.

    >>> has_long_key("a." * 64 + "b = 1"), has_long_key("a = '" + "b." * 64 + "'")
    (True, False)
    """
    if all(line.count(".") < MOST_LEVELS for line in text.split("\n")):  # a key stands on one line
        return False
    return _LONG_KEY.search(_STRINGS_AND_COMMENTS.sub("a", text)) is not None
