"""What `ledger show` prints is what the signed end of the chain vouches for: an older record cannot be edited unseen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from cloister.errors import BrokenChain
from cloister.privacy.ledger import Ledger, Receipt
from cloister.privacy.ledger.chain_records import Record
from cloister.privacy.ledger.stored_records import records_table, select_records


@pytest.fixture
def long(ledger: Ledger) -> Ledger:
    """A ledger whose first records are out of the sight of a charge."""
    ledger.create("pupils", "add-remove", 1)
    for purpose in ("first", "second"):
        ledger.charge("students", "add-remove", "0.5", 0, purpose)
    ledger.complete(ledger.record_holder("students", "k-anonymous table"), "cd" * 32)
    for _ in range(4):
        ledger.charge("pupils", "add-remove", "0.1", 0, "later")
    return ledger


def swap(ledger: Ledger, change: Callable[[Record], Record]) -> None:
    """Change the records of the table in place, each with a digest that fits again."""
    table = records_table()
    with ledger._store.writing() as connection:
        for record in select_records(connection, "students"):
            changed = change(record)
            changed = replace(changed, digest=changed.computed_digest())
            values = {"body": changed.body, "table": changed.table, "digest": changed.digest}
            connection.execute(table.update().where(table.c.number == record.number).values(**values))


LOOKS: dict[str, Callable[[Ledger], object]] = {
    "entries": lambda ledger: ledger.entries("students"),
    "audit": lambda ledger: ledger.audit("students"),
    "what left before": lambda ledger: ledger.book_charge("students", "add-remove", "0.1", 0, "x"),
}


@pytest.mark.parametrize("name", LOOKS)
def test_an_older_record_with_another_purpose_is_not_shown(long: Ledger, name: str) -> None:
    """Its digest was made to fit, and the next record holds the one that was."""
    swap(long, lambda record: replace(record, body=record.body.replace("first", "harmless")))
    with pytest.raises(BrokenChain, match="does not follow the one before"):
        LOOKS[name](long)


def test_a_record_of_another_table_is_not_left_out_unseen(long: Ledger) -> None:
    """What is shown of one table depends on every record: one that was moved to another table is found."""
    swap(long, lambda record: replace(record, table="pupils") if record.kind == "holder" else record)
    with pytest.raises(BrokenChain):
        long.entries("students")


def test_a_ledger_in_order_is_shown(long: Ledger) -> None:
    """Of two tables, each its own."""
    assert [entry.purpose for entry in long.entries("students")] == ["first", "second", "k-anonymous table"]
    receipt = long.book_charge("students", "add-remove", "0.1", 0, "x")
    assert isinstance(receipt, Receipt)
    assert [entry.purpose for entry in receipt.left_before] == ["k-anonymous table"]
