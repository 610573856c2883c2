"""Choices read back from their files: the same as before they were written, or refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import DataError, SourceError

AGES = pa.table({"age": [30, 40, 50] * 100})


@pytest.mark.parametrize("asked", [{"quantile": 0.5, "count_rows": True}, {"options": [30, 47]}], ids=["rank", "distance"])
def test_a_choice_that_is_read_is_the_one_that_was_written(asked: dict[str, Any], tmp_path: Path) -> None:
    """Every field of it, and its certificate."""
    choice = cl.choose(AGES, "age", budget=1, bounds=(0, 99), step=1, **asked)
    choice.save(tmp_path / "choice.json")
    assert cl.PrivateChoice.load(tmp_path / "choice.json") == choice


def test_a_changed_choice_is_refused(tmp_path: Path) -> None:
    """Another value does not fit the certificate, and other blanks are not as Cloister writes them."""
    path = tmp_path / "choice.json"
    choice = cl.choose(AGES, "age", budget=1, bounds=(0, 99), step=1, quantile=0.5)
    choice.save(path)
    text = path.read_text()
    path.write_text(text.replace('"column": "age"', '"column": "agE"', 1))
    with pytest.raises((DataError, SourceError)):
        cl.PrivateChoice.load(path)
    path.write_text(text + " ")
    with pytest.raises(DataError, match="changed after it was written"):
        cl.PrivateChoice.load(path)


def test_another_file_is_refused_in_a_sentence(tmp_path: Path) -> None:
    """A table, and text that is no JSON."""
    cl.tabulate(AGES, by=["age"], budget=1, bounds={"age": (0, 99)}).save(tmp_path / "table.json")
    (tmp_path / "text.json").write_text("x")
    with pytest.raises(SourceError, match=r"is no choice\. Give a choice"):
        cl.PrivateChoice.load(tmp_path / "table.json")
    with pytest.raises(SourceError):
        cl.PrivateChoice.load(tmp_path / "text.json")
