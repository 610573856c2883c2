"""How a ledger's accounts and entries stand in its database: two tables, amounts as text that loses nothing.

SQLAlchemy is loaded when a ledger is used, not when this module is imported.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from cloister.errors import LedgerError
from cloister.privacy.ledger.accounts import Account, Entry
from cloister.schema.numerals import exact_text, read_exact_text

if TYPE_CHECKING:
    from sqlalchemy import Connection, Row, Table

__all__ = ["accounts_table", "entries_of", "entries_table", "record_of", "row_of", "update_account", "write_entry"]

Record = TypeVar("Record", Account, Entry)


@cache
def accounts_table() -> Table:
    """One row an account, by the name of its table."""
    from sqlalchemy import Column, Integer, MetaData, String, Table

    words = ("neighbours", "epsilon_total", "delta_total", "epsilon_spent", "delta_spent", "created", "unit")
    return Table(
        "cloister_ledger_accounts",
        MetaData(),
        Column("table", String, primary_key=True),
        *(Column(word, String, nullable=False) for word in words),
        *(Column(count, Integer, nullable=False) for count in ("releases", "holder_uses")),
    )


@cache
def entries_table() -> Table:
    """One row an entry, numbered as they were written."""
    from sqlalchemy import BigInteger, Column, ForeignKey, Integer, String, Table

    words = ("when", "kind", "purpose", "epsilon", "delta", "status", "release_hash")
    return Table(
        "cloister_ledger_entries",
        accounts_table().metadata,
        # SQLite numbers rows by itself only for the plain type; autoincrement: an id is never used twice.
        Column("id", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        Column("table", String, ForeignKey(accounts_table().c.table), nullable=False, index=True),
        *(Column(word, String, nullable=False) for word in words),
        sqlite_autoincrement=True,
    )


def row_of(record: Account | Entry) -> dict[str, Any]:
    """The columns of a record, which are named as its fields, with amounts as text."""
    row = {name: getattr(record, name) for name in record.__slots__ if name != "id"}
    return {name: exact_text(value) if isinstance(value, Fraction) else value for name, value in row.items()}


def record_of(row: Row[Any], kind: type[Record]) -> Record:
    """The account or entry that a row holds."""
    amounts = {name: _amount(text) for name, text in row._mapping.items() if name.startswith(("epsilon", "delta"))}
    return kind(**{**row._mapping, **amounts})


def entries_of(connection: Connection, table: str) -> list[Entry]:
    """The entries of one table, oldest first."""
    entries = entries_table()
    rows = connection.execute(entries.select().where(entries.c.table == table).order_by(entries.c.id))
    return [record_of(row, Entry) for row in rows]


def update_account(connection: Connection, account: Account) -> None:
    """Write an account that this transaction has locked."""
    accounts = accounts_table()
    connection.execute(accounts.update().where(accounts.c.table == account.table).values(**row_of(account)))


def write_entry(connection: Connection, entry: Entry) -> int:
    """Write an entry, and give the number that the store gave it."""
    key = connection.execute(entries_table().insert().values(**row_of(entry))).inserted_primary_key
    if key is None:
        raise LedgerError("the ledger's database gave no number to an entry, so it was not written. Report this.")
    return int(key[0])


def _amount(text: str) -> Fraction:
    """Read an amount that the ledger holds."""
    try:
        return read_exact_text(text)
    except (ValueError, ZeroDivisionError):
        raise LedgerError(
            "the ledger holds an amount that cannot be read: the file was changed by something else. Restore it from a "
            "backup before the next release."
        ) from None
