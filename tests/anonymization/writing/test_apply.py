"""Saved recodings on other rows: identifiers stay away, and nothing is claimed that was not counted."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.anonymization.writing.apply import apply_recoding, read_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import CloisterError, SchemaError, UsageError
from cloister.privacy.release import Release
from cloister.schema.hierarchies import flat, intervals
from tests.anonymization.test_estimator import model, people, read

UNIT = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n')


@pytest.fixture
def saved(tmp_path: Path) -> Recoding:
    """A recoding that dropped the names, read back from its file."""
    made = model()
    made.publish(people(), tmp_path / "out.csv")
    return Recoding.from_json(made.recoding_.to_json())


def test_the_same_rows_give_the_same_table(saved: Recoding, tmp_path: Path) -> None:
    """Applied to the rows it was found on it gives the same table, identifiers dropped without being asked."""
    release = apply_recoding(saved, people(), tmp_path / "again.csv")
    assert (tmp_path / "again.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()
    assert "guarantees nothing" in release.notes[0]


def test_no_k_is_claimed_unasked(saved: Recoding, tmp_path: Path) -> None:
    """Without a k the certificate says that none is claimed, lists what is not protected, and reads back."""
    release = apply_recoding(saved, people().slice(0, 20), tmp_path / "few.csv")
    again = Release.from_json((tmp_path / "few.csv.release.json").read_text())
    assert again.guarantee.k is None
    assert str(again.guarantee).startswith("syntactic: recoding applied to other rows, no k is claimed")
    assert again.digest() == release.digest()
    told = " ".join(again.notes)
    for said in ("Homogeneity", "Background knowledge", "Several releases", "order of the input"):
        assert said in told


def test_a_k_that_was_counted_is_stated_or_refused(saved: Recoding, tmp_path: Path) -> None:
    """With a k the certificate states what was counted; an output with a smaller class is not written."""
    release = apply_recoding(saved, people(), tmp_path / "whole.csv", k=5)
    assert release.guarantee.k == release.result["smallest"] >= 5
    with pytest.raises(UsageError, match="k = 5"):
        apply_recoding(saved, people().slice(0, 20), tmp_path / "refused.csv", k=5)
    assert not (tmp_path / "refused.csv").exists()


def test_pseudonyms_need_their_key(tmp_path: Path) -> None:
    """Columns that were pseudonyms are dropped without a key, and pseudonyms again with one: never raw."""
    key = tmp_path / "key"
    key.write_text("a secret of some length")
    made = model(identifiers=None, pseudonyms=["name"], key_file=key)
    made.publish(people(), tmp_path / "out.csv")
    recoding = Recoding.from_json(made.recoding_.to_json())
    apply_recoding(recoding, people(), tmp_path / "without.csv")
    assert "name" not in read(tmp_path / "without.csv")[0]
    apply_recoding(recoding, people(), tmp_path / "with.csv", key_file=key)
    assert (tmp_path / "with.csv").read_bytes() == (tmp_path / "out.csv").read_bytes()


def test_persons_are_counted_or_it_is_refused(tmp_path: Path) -> None:
    """A recoding per person counts persons again, whose column is not published; rows without that column are refused."""
    table = pa.table({"who": [f"p{i % 12}" for i in range(48)], "letter": ["a", "b"] * 24})
    made = cl.TopDownSpecialization(k=5, quasi=["letter"], hierarchies={"letter": flat(["a", "b"])}, schema=UNIT)
    made.publish(table, tmp_path / "out.csv")
    recoding = Recoding.from_json(made.recoding_.to_json())
    release = apply_recoding(recoding, table, tmp_path / "again.csv", k=5)
    assert release.guarantee.k == 6  # 24 rows of each letter, of six people
    assert "who" not in read(tmp_path / "again.csv")[0]
    one = table.set_column(0, "who", pa.array(["p"] * 48))
    with pytest.raises(UsageError, match="has 1, fewer than k = 5"):
        apply_recoding(recoding, one, tmp_path / "one.csv", k=5)
    with pytest.raises(SchemaError, match="who"):
        apply_recoding(recoding, table.drop_columns(["who"]), tmp_path / "nobody.csv")


def test_a_failed_certificate_takes_the_table_back(saved: Recoding, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the certificate cannot be put in place the table does not stay either."""

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cloister.sinks.staging.show_copy", failing)
    with pytest.raises(CloisterError, match="space"):
        apply_recoding(saved, people(), tmp_path / "again.csv")
    assert not list(tmp_path.glob("again*"))


def as_version_2(text: str) -> dict[str, Any]:
    """The file that the first released version would have written: no hash, no list of untouched columns."""
    whole = {key: value for key, value in json.loads(text).items() if key not in ("sha256", "untouched", "table")}
    return {**whole, "version": 2}


def as_version_3(text: str) -> str:
    """The file that versions before the table's name would have written."""
    whole = {key: value for key, value in json.loads(text).items() if key not in ("sha256", "table")} | {"version": 3}
    written = json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()
    return json.dumps({**whole, "sha256": hashlib.sha256(written).hexdigest()}, ensure_ascii=False)


def test_one_letter_changed_in_a_saved_recoding_is_seen(saved: Recoding, tmp_path: Path) -> None:
    """A recoding whose list of dropped columns was damaged would publish an identifier: its hash does not fit."""
    text = saved.to_json()
    assert '"dropped": ["name"]' in text
    (tmp_path / "recoding.json").write_text(text.replace('"dropped": ["name"]', '"dropped": ["namf"]'))
    with pytest.raises(UsageError, match="changed after it was written"):
        apply_recoding(read_recoding(tmp_path / "recoding.json"), people(), tmp_path / "again.csv")
    assert not (tmp_path / "again.csv").exists()


@pytest.mark.parametrize("dropped", [["namf"], []])
def test_a_damaged_recoding_without_a_hash_publishes_no_identifier(
    saved: Recoding, tmp_path: Path, dropped: list[str]
) -> None:
    """A file of the first version has no hash: a column that it does not name is not published."""
    whole = {**as_version_2(saved.to_json()), "dropped": dropped}
    with pytest.raises(SchemaError, match="does not say what becomes of"):
        apply_recoding(Recoding.from_json(json.dumps(whole)), people(), tmp_path / "again.csv")
    assert not (tmp_path / "again.csv").exists()


def test_a_recoding_without_a_hash_drops_only_what_is_there(saved: Recoding, tmp_path: Path) -> None:
    """A dropped column that the rows lack may be a damaged name: refused where no hash can tell."""
    whole = as_version_2(saved.to_json())
    rows = people().select([*saved.names])
    with pytest.raises(SchemaError, match="no hash"):
        apply_recoding(Recoding.from_json(json.dumps(whole)), rows, tmp_path / "again.csv")


def test_a_recoding_without_a_hash_still_reads(saved: Recoding, tmp_path: Path) -> None:
    """A file of the first version is applied where it, and what is dropped by hand, name every column."""
    old = Recoding.from_json(json.dumps(as_version_2(saved.to_json())))
    rest = [name for name in people().column_names if name not in (*saved.names, "name")]
    release = apply_recoding(old, people(), tmp_path / "again.csv", identifiers=rest)
    assert set(read(tmp_path / "again.csv")[0]) == set(saved.names)
    assert release.result["rows"] > 0


def test_a_column_that_the_recoding_has_not_seen_is_not_published(saved: Recoding, tmp_path: Path) -> None:
    """Other rows may have further columns, such as the names in another place: they are dropped by hand."""
    rows = people().append_column("full name", people()["name"])
    with pytest.raises(SchemaError, match="1 of the"):
        apply_recoding(saved, rows, tmp_path / "again.csv")
    apply_recoding(saved, rows, tmp_path / "again.csv", identifiers=["full name"])
    assert "full name" not in read(tmp_path / "again.csv")[0]


def test_people_of_removed_rows_are_in_no_class(tmp_path: Path) -> None:
    """One person's rows are published, those of forty others are not: a class of one person is no class of 41."""
    schema = cl.Schema.from_text(
        'unit = "who"\n[columns.who]\nkind = "text"\n[columns.city]\nkind = "category"\nrole = "quasi"\n'
    )
    made = cl.TopDownSpecialization(k=10, schema=schema)
    made.publish(pa.table({"who": [f"p{i}" for i in range(30)], "city": [f"c{i}" for i in range(30)]}), tmp_path / "out.csv")
    rows = pa.table({"who": ["victim"] * 2 + [f"q{i}" for i in range(40)], "city": ["c1"] * 2 + ["elsewhere"] * 40})
    with pytest.raises(UsageError, match="the smallest class of these rows has 1,"):
        apply_recoding(made.recoding_, rows, tmp_path / "refused.csv", k=10)
    release = apply_recoding(made.recoding_, rows, tmp_path / "again.csv")
    assert release.result == {"rows": 2, "classes": 1, "smallest": 1}


def test_to_confirm_a_column_does_not_publish_one_that_the_recoding_has_not_seen(saved: Recoding, tmp_path: Path) -> None:
    """--keep-unique confirms columns that the recoding publishes; a new one is refused until it is dropped."""
    rows = people().append_column("full name", people()["name"])
    with pytest.raises(SchemaError, match="1 of the"):
        apply_recoding(saved, rows, tmp_path / "again.csv", keep_unique=["full name"])
    for name in ("name", "age"):
        with pytest.raises(UsageError, match="cannot be kept unique"):
            apply_recoding(saved, people(), tmp_path / "again.csv", keep_unique=[name])
    assert not (tmp_path / "again.csv").exists()


def test_numbers_between_the_steps_of_a_hierarchy_are_not_published_as_a_step(tmp_path: Path) -> None:
    """16.0 and 17.3 are no 20: the table is refused, and under a saved recoding such rows are suppressed."""
    trees = {"x": intervals(0, 100, step=10, width=50)}
    table = pa.table({"x": [20.0, 30.0] * 20})
    made = cl.TopDownSpecialization(k=5, quasi=["x"], hierarchies=trees)
    with pytest.raises(SchemaError, match="4 rows hold a number that is none of the steps"):
        made.publish(pa.table({"x": [20.0] * 40 + [16.0, 17.3, 18.9, 24.9]}), tmp_path / "refused.csv")
    made.publish(table, tmp_path / "out.csv")
    recoding = Recoding.from_json(made.recoding_.to_json())
    apply_recoding(recoding, pa.table({"x": [20.0, 16.0, 17.3, 30.0]}), tmp_path / "again.csv")
    assert [row["x"] for row in read(tmp_path / "again.csv")] == ["20", "30"]


def test_the_ledger_records_an_applied_recoding_as_it_did_the_first_release(tmp_path: Path) -> None:
    """A recoding carries the name of its table: applied without naming it, the use is in the ledger, tied to its certificate."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    for table in ("people", "others"):
        ledger.create(table, "add-remove", 3)
    made = model(table="people", ledger=ledger)
    made.publish(people(), tmp_path / "out.csv")
    saved = Recoding.from_json(made.recoding_.to_json())
    release = apply_recoding(saved, people(), tmp_path / "again.csv", ledger=ledger)
    first, second = ledger.entries("people")
    assert (second.kind, second.status, second.release_hash) == (first.kind, first.status, release.digest())
    assert release.ledger == {"table": "people", "entry": second.id, "head": second.digest}
    assert any("earlier" in note or "before" in note for note in release.notes)
    apply_recoding(saved, people(), tmp_path / "other.csv", table="others", ledger=ledger)  # rows of another table
    assert (len(ledger.entries("people")), len(ledger.entries("others"))) == (2, 1)


def test_a_recoding_without_the_name_of_its_table_still_reads(tmp_path: Path) -> None:
    """A file of version 3 is applied as before: recorded where the table is named, and nowhere else."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 3)
    made = model(table="people", ledger=ledger)
    made.publish(people(), tmp_path / "out.csv")
    old = Recoding.from_json(as_version_3(made.recoding_.to_json()))
    assert old.table is None
    assert apply_recoding(old, people(), tmp_path / "again.csv").ledger is None
    assert apply_recoding(old, people(), tmp_path / "named.csv", table="people", ledger=ledger).ledger is not None
    with pytest.raises(UsageError, match="which table"):
        apply_recoding(old, people(), tmp_path / "refused.csv", ledger=ledger)


@pytest.mark.parametrize("table", [1, "", ["people"]])
def test_a_name_of_a_table_that_makes_no_sense_is_refused(saved: Recoding, table: object) -> None:
    """With a hash that fits, too."""
    whole = {**json.loads(saved.to_json()), "table": table}
    del whole["sha256"]
    written = json.dumps(whole, sort_keys=True, ensure_ascii=False).encode()
    with pytest.raises(UsageError, match="not a recoding"):
        Recoding.from_json(json.dumps({**whole, "sha256": hashlib.sha256(written).hexdigest()}))
