"""Tables that were forged and signed again: hashes fit, and the numbers cannot be true."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister.privacy.release import Release
from cloister.sinks import file_hashes
from cloister.tabulation.saved_tables import hash_of_rows, json_bytes
from tests.handouts.published import run
from tests.tabulation.test_saved_tables import made

Rows = list[dict[str, Any]]


def forge(path: Path, change: Callable[[Rows], None], **results: Any) -> Path:
    """A JSON table with other rows, under a certificate that names them and is signed anew."""
    whole = json.loads(path.read_text())
    change(whole["rows"])
    release = Release.from_json(json.dumps(whole["release"]))
    result = {**release.result, "rows_sha256": hash_of_rows(whole["rows"]), **results}
    certificate = dataclasses.replace(release, result=result).to_json()
    path.write_bytes(json_bytes(json.loads(certificate), whole["rows"]))
    return path


def put(place: int, head: str, value: Any) -> Callable[[Rows], None]:
    """A change of one cell."""
    return lambda rows: rows[place].update({head: value})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (put(0, "mean of age", [1]), "no number"),
        (put(0, "count", "abc"), "no number"),
        (put(0, "count", -5), "negative"),
        (put(0, "count", 10**6), "not the sum of its cells"),
        (put(-1, "sum of income", 1.0), "not the sum of its cells"),
        (put(-1, "low of median of age", 98), "outside its interval"),
        (lambda rows: [row.pop("mean of age") for row in rows], "not those that its certificate names"),
        (lambda rows: rows.append(rows[-1]), "its rows are not those of its certificate"),
    ],
)
def test_numbers_that_cannot_be_true_are_refused(tmp_path: Path, change: Callable[[Rows], None], words: str) -> None:
    """By `verify` and by `report`, in a sentence, with the code of what does not hold; no page is left."""
    made(10).save(tmp_path / "table.json")
    forge(tmp_path / "table.json", change)
    for verb in ("verify", "report"):
        said = " ".join(run(verb, tmp_path / "table.json", code=5).split())
        assert words in said
    assert not (tmp_path / "table.json.report.html").exists()


def test_another_total_is_refused(tmp_path: Path) -> None:
    """The certificate's is that of the rows."""
    made(10).save(tmp_path / "table.json")
    forge(tmp_path / "table.json", lambda rows: None, total=7)
    assert "do not add up to the total" in " ".join(run("verify", tmp_path / "table.json", code=5).split())


def test_words_in_a_csv_are_refused(tmp_path: Path) -> None:
    """In place of a count."""
    path = tmp_path / "table.csv"
    cl.tabulate({"a": ["x", "y"] * 9}, by=["a"], budget=1, domains={"a": ["x", "y"]}).save(path)
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], '"x",abc,1,1,1', *lines[2:]]) + "\n")
    certificate = Path(f"{path}.release.json")
    release = dataclasses.replace(Release.from_json(certificate.read_text()), files=file_hashes(path))
    certificate.write_text(release.to_json())
    for verb in ("verify", "report"):
        assert "contradicts itself" in run(verb, path, code=5)


@pytest.mark.parametrize("ending", ["csv", "json", "parquet"])
def test_a_table_as_it_was_written_holds(tmp_path: Path, ending: str) -> None:
    """With sums, means and quantiles."""
    made().save(tmp_path / f"table.{ending}")
    run("verify", tmp_path / f"table.{ending}")
