"""JSON that two readers cannot read in two ways, and that cannot exhaust the one that reads it.

Plain `json.loads` takes the last of two equal keys, reads NaN and infinities, makes integers of any length, and leaves a
depth behind that later code cannot walk.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, NoReturn

from cloister.errors import CloisterError, SourceError

__all__ = ["MOST_LEVELS", "is_too_deep", "levels_of", "line_of", "read_json"]

MOST_LEVELS = 64  # of lists and objects inside each other; what Cloister writes has 6
LONGEST_SEARCHED = 2**20  # characters
MOST_DIGITS = 100  # of a whole number; exact numbers of any length are written as text


class _Fault(ValueError):
    """What is wrong with a text, in words that quote nothing of it."""


class _Twice(ValueError):
    """A name that is there twice in one object."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


def read_json(text: str | bytes, what: str, error: type[CloisterError] = SourceError, advice: str = "") -> Any:
    """Parse JSON strictly.

    Parameters
    ----------
    text : str or bytes
        Bytes are UTF-8, with or without a byte order mark.
    what : str
        How the text is called in a message: the name of its file.
    error : type of CloisterError
        What is raised, with one sentence and the line.
    advice : str
        A sentence that says what to do next.

    Examples
    --------
    >>> read_json('{"k": 5}', "release.json")
    {'k': 5}
    """
    end = f". {advice}" if advice else "."
    if not isinstance(text, str | bytes):
        raise error(f"{what}: JSON text is needed{end}")
    try:
        if isinstance(text, bytes):
            text = text.decode("utf-8-sig")
        parsed = _DECODER.decode(text)
        if is_too_deep(parsed):
            raise _Fault(_TOO_DEEP)
    except json.JSONDecodeError as fault:
        raise error(f"{what}, line {fault.lineno}: not valid JSON ({fault.msg}){end}") from None
    except UnicodeDecodeError:
        raise error(f"{what}: not UTF-8 text{end}") from None
    except RecursionError:
        raise error(f"{what}: {_TOO_DEEP}{end}") from None
    except _Twice as fault:
        place = line_of(str(text), fault.name, 2)
        raise error(f"{what}, {place}: a name is there twice in one object. Keep one of the two{end}") from None
    except _Fault as fault:
        raise error(f"{what}: {fault}{end}") from None
    return parsed


def levels_of(parsed: Any) -> Iterator[list[Any]]:
    """What parsed JSON or TOML holds, level by level: a walk that no depth can break.

    >>> list(levels_of({"a": [1, 2]}))
    [[{'a': [1, 2]}], [[1, 2]], [1, 2]]
    """
    level = [parsed]
    while level:
        yield level
        inner = [list(part.values()) if isinstance(part, dict) else part for part in level if isinstance(part, dict | list)]
        level = [part for parts in inner for part in parts]


def is_too_deep(parsed: Any) -> bool:
    """Whether more than `MOST_LEVELS` lists or objects lie inside each other."""
    level = [parsed] if isinstance(parsed, dict | list) else []
    for _ in range(MOST_LEVELS):
        if not level:
            return False
        inside = [part.values() if isinstance(part, dict) else part for part in level]
        level = [inner for parts in inside for inner in parts if isinstance(inner, dict | list)]
    return bool(level)


def line_of(text: str, word: str, nth: int) -> str:
    """The line of the n-th place where a word stands in quotes (or bare, if it never does); long texts are not searched."""
    if len(text) > LONGEST_SEARCHED:
        return "a line of a long text"
    for form in (json.dumps(word), json.dumps(word, ensure_ascii=False), f"'{word}'", word):
        places = [number for number, line in enumerate(text.splitlines(), 1) for _ in range(line.count(form))]
        if len(places) >= nth:
            return f"line {places[nth - 1]}"
    return "a line that could not be found"


_TOO_DEEP = f"more than {MOST_LEVELS} lists or objects lie inside each other"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    merged = dict(pairs)
    if len(merged) < len(pairs):
        seen: set[str] = set()
        raise _Twice(next(name for name, _ in pairs if name in seen or seen.add(name)))  # type: ignore[func-returns-value]
    return merged


def _refuse_constant(_: str) -> NoReturn:
    raise _Fault("NaN and infinities are no JSON numbers")


def _integer(digits: str) -> int:
    if len(digits) > MOST_DIGITS:
        raise _Fault(f"a whole number has more than {MOST_DIGITS} digits")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise _Fault("a number is too large")
    return number


# one for all: making it takes longer than reading a report
_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_refuse_constant, parse_int=_integer, parse_float=_number
)
