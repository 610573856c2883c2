"""What users pass in Python, checked for its type: one sentence that names the parameter, before anything is read."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral  # NumPy's integers too, which need not be loaded
from pathlib import Path
from typing import Any

from cloister.errors import UsageError, warn_of_release

__all__ = [
    "check_facts",
    "check_flag",
    "check_names",
    "check_path",
    "check_progress",
    "check_reach",
    "check_shown",
    "check_text",
    "check_whole",
    "from_home",
    "own_folder",
    "unknown_choice",
]


MOST = 10**15  # more rows, rounds or columns than there are


FARTHEST = (
    1e100  # that bounds may reach, and its inverse how near they may be: lengths are squared, for distances and for errors
)


# C0 and C1 controls, line and paragraph separators, and what turns the order of letters (Unicode: Bidi_Control)
CONTROLS = re.compile("[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_SECRETS = r"[\w.-]*(?:password|passwd|pwd|token|secret|passphrase|key)="
_SECRET = re.compile(rf"((?:[?&;,\s]|^){_SECRETS})[^&;,\s'\"<>]+", re.IGNORECASE)
_SECRET_PART = re.compile(rf"([?&;]{_SECRETS})[^&;]*", re.IGNORECASE)
LONGEST_QUOTED = 40  # characters of an option that a message repeats


def without_passwords(text: str, *, is_url: bool = False) -> str:
    """A text in which the passwords of URLs are stars: a ledger's place may hold one.

    Up to the last @, as far as a URL may reach, and what is called a password, token, secret or key beside it. `is_url`: the
    whole text is one, so that blanks and quotes are a part of it.

    >>> without_passwords("KMeans(ledger='postgresql://ann:se/cr@t@host/db')")
    "KMeans(ledger='postgresql://ann:***@host/db')"
    >>> without_passwords("sc://host:15002/;token=abc;user_id=ann"), without_passwords("postgresql://host/db?password=abc&user=ann")
    ('sc://host:15002/;token=***;user_id=ann', 'postgresql://host/db?password=***&user=ann')
    """
    if is_url:
        whole = re.sub(r"(://[^:/@]*:).*@", r"\1***@", text, flags=re.DOTALL)
        return _SECRET_PART.sub(r"\1***", whole)
    hidden = re.sub(r"(://[^:/@\s'\"<>]*:)[^\s'\"<>]+@", r"\1***@", text)
    return _SECRET.sub(r"\1***", hidden)


def unknown_choice(what: str, value: object, choices: Iterable[str]) -> UsageError:
    """What to raise for an option that is none of the choices; a short text is repeated, and nothing else is.

    >>> str(unknown_choice("scope", "lokal", ["global", "local"]))
    'scope "lokal" is not known. Choose one of: global, local.'
    >>> str(unknown_choice("scope", [0] * 10**6, ["global", "local"]))
    'this scope is not known. Choose one of: global, local.'
    """
    is_short = isinstance(value, str) and len(value) <= LONGEST_QUOTED and value.isprintable()
    quoted = f'{what} "{value}"' if is_short else f"this {what}"
    return UsageError(f"{quoted} is not known. Choose one of: {', '.join(choices)}.")


def check_reach(low: float, high: float, what: str) -> None:
    """Refuse bounds between which squared distances, sums or their errors could not be told in floating-point numbers.

    Privacy: before a charge. What is computed between bounds that pass is a finite number whatever the rows are.
    """
    if max(abs(low), abs(high)) > FARTHEST or high - low < 1 / FARTHEST:
        raise UsageError(
            f"{what} reach to {FARTHEST:g} at most and are at least {1 / FARTHEST:g} apart: what is computed with others is no "
            "number. Give the column in another unit."
        )


def check_names(value: Any, what: str) -> tuple[str, ...]:
    """Names of columns: a list of texts; None is none of them."""
    if value is None:
        return ()
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        raise UsageError(f'{what} must be a list of names, such as ["age", "sex"].')
    try:
        names = tuple(value)
    except TypeError:  # a class, or an array of no dimension
        names = (None,)
    if not all(isinstance(name, str) for name in names):
        raise UsageError(f'{what} must be a list of names, such as ["age", "sex"].')
    return tuple(check_text(str(name), what) for name in names)


def check_shown(value: Any, names: Sequence[str], of: str) -> list[str]:
    """The columns that a picture shows, each once: a name, a list of them, or None for all; `of` says who has them.

    >>> check_shown("age", ["age", "sex"], "the table has no column")
    ['age']
    """
    asked = names if value is None else check_names([value] if isinstance(value, str) else value, "columns")
    if not asked and value is not None:
        raise UsageError("columns names none. Name those to show, or leave it out.")
    if missing := [name for name in asked if name not in names]:
        raise UsageError(f'{of} "{missing[0]}". There are: {", ".join(names)}.')
    return list(dict.fromkeys(asked))


def check_facts(value: Any, what: str) -> Mapping[str, Any]:
    """Something for each of some columns: a dict by name; None is nothing."""
    if value is None:
        return {}
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise UsageError(f"{what} must be a dict by the names of columns.")
    for name in value:
        check_text(name, f"a name in {what}")
    return value


def check_whole(value: Any, what: str, least: int, most: int = MOST) -> int:
    """A whole number of at least, and at most, so much."""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < least:
        raise UsageError(f"{what} must be a whole number of at least {least}.")
    if int(value) > most:
        raise UsageError(f"{what} must be a whole number of at most {most:,}.")
    return int(value)


def from_home(place: str, what: str) -> Path:
    """A path in which ``~`` and ``~name`` stand for a home folder."""
    try:
        return Path(place).expanduser()
    except RuntimeError:
        raise UsageError(
            f"{what}, {place}, begins with a home folder that cannot be found. Write its path in full."
        ) from None


def own_folder(named: Callable[..., Path], what: str, instead: str) -> Path:
    """A folder of the user's own, as `named`, a function of platformdirs, gives it.

    Where there is no home folder it raises or, in older versions, gives one that begins with ``~``, and leads nowhere.
    """
    try:
        path = named("cloister", appauthor=False)
    except RuntimeError:
        path = Path()
    if not path.is_absolute():
        raise UsageError(f"{what} would lie in your home folder, which cannot be found. {instead}")
    return path


def check_text(value: Any, what: str) -> str:
    """A text that can be written."""
    if not isinstance(value, str):
        raise UsageError(f"{what} must be a text.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} holds characters that are no text. Type it anew.") from None
    return value


def check_flag(value: Any, what: str) -> bool:
    """True or False."""
    if value is not True and value is not False:
        raise UsageError(f"{what} must be True or False.")
    return bool(value)


def check_path(value: Any, what: str, of: str = "a file") -> str:
    """The path of a file, or `of` what else."""
    try:
        path = os.fspath(value)
    except TypeError:
        path = b""
    if not isinstance(path, str) or not path or "\0" in path:
        raise UsageError(f"{what} must be the path of {of}.")
    return check_text(path, what)


def check_progress(value: Any) -> Callable[[str], None]:
    """A function that is called with the name of each step: one that cannot be called so is refused before the charge.

    What comes back takes no release away that was paid for: when the function fails it is called no more, and a warning says so.
    """
    try:
        inspect.signature(value).bind("size")
    except TypeError:
        raise UsageError("progress must be a function of one text, the name of a step, such as print.") from None
    except ValueError:  # written in C, and says nothing of what it takes
        pass
    has_failed = False

    def call(step: str) -> None:
        nonlocal has_failed
        if has_failed:
            return
        try:
            value(step)
        except Exception as error:  # an interrupt is none of them, and ends the release
            has_failed = True
            kind = type(error).__name__
            warn_of_release(
                f"the progress function failed ({kind}) and is called no more; the release goes on.", UserWarning, 2
            )

    return call
