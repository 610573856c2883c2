"""The tables of a store are as this program makes them, and what is written into them is read back before the commit."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloister.errors import LedgerError
from cloister.privacy.ledger import Ledger, chain
from tests.privacy.test_ledger_chain import edit, rows_of, write_v1


def charge(ledger: Ledger) -> None:
    """A charge like any other."""
    ledger.charge("students", "add-remove", "0.1", 0, "x")


def remake(ledger: Ledger, table: str, clause: str) -> None:
    """Make a table of the ledger anew with one clause more, and all of its rows."""
    with ledger._store._connection(write=True, check=False) as connection:
        sql = str(connection.exec_driver_sql(f"SELECT sql FROM sqlite_master WHERE name = '{table}'").scalar())
        connection.exec_driver_sql(f"ALTER TABLE {table} RENAME TO old")
        connection.exec_driver_sql(f"{sql[: sql.rindex(')')]}, {clause})")
        connection.exec_driver_sql(f"INSERT INTO {table} SELECT * FROM old")
        connection.exec_driver_sql("DROP TABLE old")
        if table == "cloister_ledger_records":
            connection.exec_driver_sql(f"CREATE INDEX ix_{table}_entry ON {table} (entry)")


CONFLICTS = {
    "accounts": "UNIQUE (epsilon_spent) ON CONFLICT IGNORE",
    "records": 'UNIQUE ("table", kind) ON CONFLICT IGNORE',
    "keys": 'UNIQUE ("key") ON CONFLICT REPLACE',
    "meta": "CHECK (1)",
}


@pytest.mark.parametrize("name", CONFLICTS)
def test_a_table_with_another_clause_is_damaged(tmp_path: Path, name: str) -> None:
    """A conflict clause drops a row and says that all went well: tables are as this program makes them, or refused."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("students", "add-remove", 3)
    remake(ledger, f"cloister_ledger_{name}", CONFLICTS[name])
    for use in (charge, Ledger.verify):
        with pytest.raises(LedgerError, match="is damaged"):
            use(ledger)


def test_a_table_with_its_columns_in_another_order_is_sound(tmp_path: Path) -> None:
    """How a statement is spaced, quoted and ordered is left to the library that writes it; ANALYZE leaves tables of its own."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("students", "add-remove", 3)
    edit(
        ledger,
        "CREATE TABLE other (value VARCHAR  NOT NULL, key VARCHAR NOT NULL,\nPRIMARY KEY (key))",
        "INSERT INTO other SELECT value, key FROM cloister_ledger_meta",
        "DROP TABLE cloister_ledger_meta",
        "ALTER TABLE other RENAME TO cloister_ledger_meta",
        "ANALYZE",
    )
    charge(ledger)
    assert ledger.verify().records == 4


PLANTED_IN_POSTGRES = {
    "rule": ["CREATE RULE r AS ON INSERT TO cloister_ledger_records DO INSTEAD NOTHING"],
    "rule of the version": ["CREATE RULE r AS ON UPDATE TO cloister_ledger_meta DO INSTEAD NOTHING"],
    "trigger": [
        "CREATE OR REPLACE FUNCTION drop_row() RETURNS trigger AS 'BEGIN RETURN NULL; END' LANGUAGE plpgsql",
        "CREATE TRIGGER t BEFORE UPDATE ON cloister_ledger_accounts FOR EACH ROW EXECUTE FUNCTION drop_row()",
    ],
    "policy": ["ALTER TABLE cloister_ledger_records ENABLE ROW LEVEL SECURITY"],
    "unlogged": ["ALTER TABLE cloister_ledger_records SET UNLOGGED"],
}


@pytest.mark.parametrize("name", PLANTED_IN_POSTGRES)
def test_a_postgres_ledger_with_rules_or_triggers_is_damaged(database: str, name: str) -> None:
    """They drop or hide rows, and the server says that all went well."""
    ledger = Ledger(database)
    ledger.create("students", "add-remove", 3)
    edit(ledger, *PLANTED_IN_POSTGRES[name])
    for use in (charge, Ledger.verify):
        with pytest.raises(LedgerError, match="is damaged"):
            use(ledger)


@pytest.mark.parametrize("name", ["write_record", "write_account"])
def test_what_the_database_did_not_keep_is_undone(ledger: Ledger, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Whatever drops it: a record and an account are read back before the commit."""
    before = rows_of(ledger)
    monkeypatch.setattr(chain, name, lambda *_, **__: None)
    with pytest.raises(LedgerError, match="did not keep"):
        charge(ledger)
    assert rows_of(ledger) == before


def test_a_clause_of_an_older_ledger_is_not_carried_over(tmp_path: Path) -> None:
    """An upgrade keeps the table of accounts, so it is checked before the upgrade is on the disk."""
    path = tmp_path / "ledger.sqlite"
    write_v1(str(path))
    ledger = Ledger(path)
    with ledger._store._connection(write=True, check=False) as connection:
        connection.exec_driver_sql("PRAGMA writable_schema = ON")
        edited = "replace(sql, 'PRIMARY KEY (\"table\")', 'PRIMARY KEY (\"table\") ON CONFLICT REPLACE')"
        connection.exec_driver_sql(f"UPDATE sqlite_master SET sql = {edited} WHERE name = 'cloister_ledger_accounts'")
    before = rows_of(ledger)
    with pytest.raises(LedgerError, match="is damaged"):
        ledger.upgrade()
    assert rows_of(ledger) == before
