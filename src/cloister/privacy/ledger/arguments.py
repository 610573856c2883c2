"""What callers give the book of a ledger: names, amounts and relations, read in one way or refused."""

from __future__ import annotations

import unicodedata
from fractions import Fraction

from cloister.errors import UsageError
from cloister.privacy.ledger.accounts import RELATIONS
from cloister.schema.numerals import Number, exact_number

__all__ = ["exact_amount", "read_relation", "read_table_name", "read_words"]


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


def read_relation(neighbours: str) -> str:
    """Read a neighbour relation."""
    relation = getattr(neighbours, "value", neighbours)  # a member of an enumeration stands for its value
    if not isinstance(relation, str) or relation not in RELATIONS:
        raise UsageError('neighbours are "add-remove" or "replace-one".')
    return str(relation)
