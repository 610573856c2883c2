"""Published tables read back: the certificate and the summary that was there when they were written, or a refusal."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister.datasets import STUDENTS, students
from cloister.errors import DataError, SourceError
from cloister.sinks import certificate_path

FACTS = dataclasses.replace(STUDENTS, table=None)
PUBLISHERS: list[Any] = [
    cl.TopDownSpecialization(k=10, schema=FACTS),
    cl.TopDownSpecialization(k=10, schema=FACTS, scope="global", suppression=0.05),
    cl.Microaggregation(k=5, columns=["age", "level"], schema=FACTS),
]
IDS = ["local", "global", "groups"]


@pytest.mark.parametrize("model", PUBLISHERS, ids=IDS)
@pytest.mark.parametrize("ending", [".csv", ".parquet", ".xlsx"])
def test_a_published_table_gives_its_summary_back(model: Any, ending: str, tmp_path: Path) -> None:
    """Summary and certificate are those that `publish` left, and are shown together."""
    out = tmp_path / f"safe{ending}"
    model.publish(students(500), out)
    again = type(model).load(out)
    assert again.release_.digest() == model.release_.digest()
    assert again.release_.files == model.release_.files
    assert again.summary_ == model.summary_
    assert str(again.summary_) == str(model.summary_)
    assert "k = " in again._repr_html_()
    assert not hasattr(again, "publish")  # a table without its guards and hierarchies would promise less


@pytest.mark.parametrize("model", PUBLISHERS[1:], ids=IDS[1:])
def test_a_table_that_was_changed_is_refused(model: Any, tmp_path: Path) -> None:
    """One row less, and the certificate of another table."""
    out, other = tmp_path / "safe.csv", tmp_path / "other.csv"
    model.publish(students(500), out)
    model.publish(students(400), other)
    text = out.read_text()
    out.write_text(text[: text[:-1].rindex("\n") + 1])
    with pytest.raises(DataError, match="was changed after it was written"):
        type(model).load(out)
    out.write_text(text)
    certificate_path(out).write_bytes(certificate_path(other).read_bytes())
    with pytest.raises(DataError):
        type(model).load(out)


@pytest.mark.parametrize("model", PUBLISHERS[1:], ids=IDS[1:])
def test_a_summary_that_is_none_is_refused(model: Any, tmp_path: Path) -> None:
    """Whoever signs a certificate again can write figures there that a summary does not have."""
    out = tmp_path / "safe.csv"
    release = model.publish(students(500), out)
    for wrong in ({"rows": "many"}, {"columns": 5}, {"columns": [{"name": "age"}]}, {"remark": "x"}, {"dropped": "age"}):
        forged = release.derived(result={**release.result, **wrong})
        certificate_path(out).write_text(forged.to_json(), newline="\n")
        with pytest.raises(DataError):
            type(model).load(out)


def test_something_else_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """Groups in place of a k-anonymous table, a table without a certificate, nothing at all."""
    PUBLISHERS[2].publish(students(300), tmp_path / "groups.csv")
    (tmp_path / "bare.csv").write_text("age\n1\n")
    for name in ("groups.csv", "bare.csv", "nothing.csv"):
        with pytest.raises(SourceError, match="Give a table that cloister anonymize"):
            cl.TopDownSpecialization.load(tmp_path / name)
    for wrong in (None, 5, ""):
        with pytest.raises(cl.CloisterError, match="path"):
            cl.Microaggregation.load(wrong)  # type: ignore[arg-type]
