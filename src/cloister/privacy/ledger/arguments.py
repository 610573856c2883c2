"""What callers give the book of a ledger: names, amounts and relations, read in one way or refused."""

from __future__ import annotations

import unicodedata
from fractions import Fraction
from numbers import Integral

from cloister.errors import UsageError
from cloister.privacy.ledger.accounts import RELATIONS
from cloister.report.one_line import is_one_line
from cloister.schema.numerals import Number, exact_number

__all__ = ["exact_amount", "read_entry", "read_relation", "read_table_name", "read_unit", "read_words"]

LONGEST_UNIT = 10_000  # characters: it names a column, which may have a long name


def exact_amount(value: Number, word: str) -> Fraction:
    """Read a number as the decimal it was typed as."""
    try:
        return exact_number(value)
    except ValueError:
        raise UsageError(f"{word} must be a finite number such as 0.5.") from None


def read_words(text: str, word: str, longest: int) -> str:
    """Read a text that is shown as it is; `word` says of what."""
    if not isinstance(text, str) or not 1 <= len(text) <= longest or not text.isprintable() or text != text.strip():
        raise UsageError(f"a {word} has 1 to {longest} printable characters and no space at its ends.")
    return text


def read_table_name(table: str) -> str:
    """Read the name of a table."""
    # One spelling for letters with accents: two accounts that look alike would each allow a full total.
    return read_words(unicodedata.normalize("NFC", table) if isinstance(table, str) else table, "table name", 200)


def read_unit(unit: str) -> str:
    """Read whom a charge protects: one line, which may hold the name of a column with any other characters in it."""
    if not is_one_line(unit) or len(unit) > LONGEST_UNIT or unit != unit.strip():
        raise UsageError('a unit is a line of text that says whom a charge protects, such as "row".')
    return str(unit)


def read_entry(entry: int) -> int:
    """Read the number of an entry as a plain one: a digest of 1.0 or True is not that of the 1 that a database keeps."""
    if isinstance(entry, bool) or not isinstance(entry, Integral):
        raise UsageError("an entry of a ledger is a whole number, as charge gave it.")
    return int(entry)


def read_relation(neighbours: str) -> str:
    """Read a neighbour relation."""
    relation = getattr(neighbours, "value", neighbours)  # a member of an enumeration stands for its value
    if not isinstance(relation, str) or relation not in RELATIONS:
        raise UsageError('neighbours are "add-remove" or "replace-one".')
    return str(relation)
