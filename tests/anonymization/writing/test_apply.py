"""Saved recodings on other rows: identifiers stay away, and nothing is claimed that was not counted."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import cloister as cl
from cloister.anonymization.writing.apply import apply_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.errors import CloisterError, SchemaError, UsageError
from cloister.privacy.release import Release
from cloister.schema.hierarchies import flat
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
