"""How a ledger stands in its database: the chain of records, and its accounts and keys as they are after the last one.

Amounts are text that loses nothing. What is read is not trusted: a database that was damaged may hold anything.
SQLAlchemy is loaded when a ledger is used, not when this module is imported.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any

from cloister.privacy.ledger.accounts import Account
from cloister.privacy.ledger.chain_records import Record, account_facts, read_account

if TYPE_CHECKING:
    from sqlalchemy import Connection, MetaData, Row, Table

__all__ = [
    "MALFORMED",
    "accounts_table",
    "first_record",
    "last_records",
    "ledger_tables",
    "read_account_of",
    "read_accounts",
    "read_keys",
    "record_count",
    "records_of_entry",
    "records_of_kind",
    "select_records",
    "write_account",
    "write_key",
    "write_record",
]

MALFORMED = (
    ValueError,
    TypeError,
    KeyError,
    ArithmeticError,
    AttributeError,
    RecursionError,
)  # of what damaged rows may hold
NUMBERS = ("number", "entry", "releases", "holder_uses")


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
def records_table() -> Table:
    """One row a record of the chain, by its number."""
    from sqlalchemy import BigInteger, Column, Integer, String, Table

    whole = BigInteger().with_variant(Integer, "sqlite")
    words = ("body", "previous", "state", "signer", "digest", "signature")
    return Table(
        "cloister_ledger_records",
        accounts_table().metadata,
        Column("number", whole, primary_key=True, autoincrement=False),
        Column("kind", String, nullable=False),
        Column("table", String, nullable=False),
        Column("entry", whole, nullable=False, index=True),
        *(Column(word, String, nullable=False) for word in words),
    )


@cache
def keys_table() -> Table:
    """One row a public key that signs records."""
    from sqlalchemy import Column, String, Table

    return Table("cloister_ledger_keys", accounts_table().metadata, Column("key", String, primary_key=True))


def ledger_tables() -> MetaData:
    """All tables of a ledger, to be created together."""
    for table in (records_table(), keys_table()):
        assert table.metadata is accounts_table().metadata, "what is created together"
    return accounts_table().metadata


def read_accounts(connection: Connection) -> dict[str, Account]:
    """Every account by the name of its table; one of `MALFORMED` for rows that make no sense."""
    rows = connection.execute(accounts_table().select())
    return {account.table: account for account in (read_account(_checked(row)) for row in rows)}


def read_account_of(connection: Connection, table: str) -> Account | None:
    """The account of one table; one of `MALFORMED` for a row that makes no sense."""
    accounts = accounts_table()
    row = connection.execute(accounts.select().where(accounts.c.table == table)).one_or_none()
    return None if row is None else read_account(_checked(row))


def read_keys(connection: Connection) -> set[str]:
    """Every key that is registered."""
    return {_checked(row)["key"] for row in connection.execute(keys_table().select())}


def last_records(connection: Connection, count: int) -> list[Record]:
    """The last records, the newest first."""
    records = records_table()
    return _records(connection, records.select().order_by(records.c.number.desc()).limit(count))


def first_record(connection: Connection) -> Record:
    """The start of the chain."""
    records = records_table()
    return _records(connection, records.select().order_by(records.c.number).limit(1))[0]


def select_records(connection: Connection, table: str | None = None) -> list[Record]:
    """The records of one table, or all, oldest first."""
    records = records_table()
    wanted = records.select() if table is None else records.select().where(records.c.table == table)
    return _records(connection, wanted.order_by(records.c.number))


def records_of_entry(connection: Connection, entry: int) -> list[Record]:
    """The charge or holder's use of this number, and the release that came of it, if there is one."""
    records = records_table()
    return _records(connection, records.select().where(records.c.entry == entry).order_by(records.c.number))


def records_of_kind(connection: Connection, kind: str) -> list[Record]:
    """The records of one kind, oldest first."""
    records = records_table()
    return _records(connection, records.select().where(records.c.kind == kind).order_by(records.c.number))


def record_count(connection: Connection) -> int:
    """How many records there are."""
    from sqlalchemy import func, select

    return int(connection.scalar(select(func.count()).select_from(records_table())) or 0)


def write_record(connection: Connection, record: Record) -> None:
    """Append a record."""
    connection.execute(
        records_table().insert().values({field.name: getattr(record, field.name) for field in fields(record)})
    )


def write_key(connection: Connection, key: str) -> None:
    """Register a key."""
    connection.execute(keys_table().insert().values(key=key))


def write_account(connection: Connection, account: Account, is_new: bool) -> None:
    """Write an account as it is after a record."""
    accounts, row = accounts_table(), account_facts(account)
    connection.execute(
        accounts.insert().values(**row)
        if is_new
        else accounts.update().where(accounts.c.table == account.table).values(**row)
    )


def _records(connection: Connection, query: Any) -> list[Record]:
    return [Record(**_checked(row)) for row in connection.execute(query)]


def _checked(row: Row[Any]) -> dict[str, Any]:
    """The columns of a row, each of its type: SQLite keeps whatever a damaged file says."""
    columns = dict(row._mapping)
    for name, value in columns.items():
        if type(value) is not (int if name in NUMBERS else str):
            raise TypeError(f"{name} has another type")
    return columns
