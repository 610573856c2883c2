"""Names of columns in messages: those that a file declares may be quoted, those in a first line may be somebody's data."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Iterable, Sequence

from cloister.errors import SchemaError, by_door

__all__ = ["FirstLine", "flag_hint", "missing_column", "nearest_name"]

MOST_LISTED = 20
UNLISTED = (
    " Its columns are not listed, because the first line of a text file may be data. Look at the file, or draft a schema: "
    "cloister schema FILE."
)


ONE_COLUMN = (
    " The first line was read as one column: those of a text file are told apart by a comma, a semicolon, a tab or a vertical "
    "bar, and not by blanks."
)


class FirstLine(tuple[str, ...]):
    """The names in the first line of a CSV file, which is data if the file has no header.

    Privacy: no message quotes one of them, unless a name that was asked for is among them: then the line is a header.
    """

    __slots__ = ()


def missing_column(
    name: str, names: Sequence[str], wanted: Sequence[str] = (), *, described: Sequence[str] = (), of: str = "the data"
) -> SchemaError:
    """What to say of a column that is not there; `wanted` are all that were asked for, `described` those of the schema.

    >>> print(missing_column("aeg", ["age", "sex"]))
    the data has no column "aeg". Did you mean "age"?
    >>> print(str(missing_column("name", FirstLine(["Alice", "31"])))[:60])
    the data has no column "name". Its columns are not listed, b
    >>> print(missing_column("born", FirstLine(["born, year"]), ["born", "year"]))
    the data has no column "born", but "born, year". On the command line a name with a comma stands in quotes: '"born, year"'
    >>> print(missing_column("AGE", FirstLine(["Alice", "31"]), described=["age"]))
    the data has no column "AGE". Did you mean "age"?
    """
    is_hidden = isinstance(names, FirstLine) and not any(other in names for other in wanted)
    for whole in names:
        parts = [part.strip() for part in whole.split(",")]
        # of a first line that may be data: only where every part of it was asked for
        if len(parts) > 1 and name in parts and (not is_hidden or {*parts} <= {*wanted}):
            quoted = shlex.quote('"' + whole.replace('"', '""') + '"')
            rule = f"On the command line a name with a comma stands in quotes: {quoted}"
            return SchemaError(f'{of} has no column "{name}", but "{whole}". {rule}')
    if is_hidden:
        # not even one that differs in its case alone: "HIV" in a first line may be what somebody has
        near = nearest_name(name, [other for other in described if other != name])
        hint = near or (ONE_COLUMN if len(names) == 1 else "") + UNLISTED + _other_first_lines()
    else:
        listed = f" Its columns: {', '.join(names[:MOST_LISTED])}." if names else ""
        hint = nearest_name(name, names) or listed
    return SchemaError(f'{of} has no column "{name}".{hint}')


def _other_first_lines() -> str:
    """What to do where the first line has no names; not whether it has: nobody looked."""
    skip = by_door("Files(..., skip=1)", "--skip 1")
    names = by_door('Files(..., names=["age", ...])', "--names age,...")
    return f" If the first line is a title, pass over it: {skip}; if it is a row, name the columns in their order: {names}"


def nearest_name(name: str, names: Iterable[str]) -> str:
    """A question about the name that is nearest, whatever its case; nothing if none is near.

    >>> nearest_name("KLINIK", ["Klinik", "age"])
    ' Did you mean "Klinik"?'
    """
    of_folded = {other.casefold(): other for other in names}
    close = difflib.get_close_matches(name.casefold(), of_folded, n=1)
    return f' Did you mean "{of_folded[close[0]]}"?' if close else ""


def flag_hint(flag: str, names: Sequence[str]) -> str:
    """A flag with column names as it may be typed: commas are quoted as in CSV, blanks and signs as a shell needs them.

    >>> flag_hint("--identifiers", ["id", "Kosten €"])
    "--identifiers 'id,Kosten €'"
    >>> print(flag_hint("--identifiers", ["id", "pay, EUR"]))
    --identifiers 'id,"pay, EUR"'
    """
    quoted = [f'"{name.replace(chr(34), chr(34) * 2)}"' if {",", chr(34)} & set(name) else name for name in names]
    return f"{flag} {shlex.quote(','.join(quoted))}"
