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
        (put(0, "standard_error", 0.0), "not that of all cells"),
        (put(0, "high", 10**30), "larger than any"),
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


def swap_labels(rows: Rows) -> None:
    """The first two cells of the table have each other's label in the column in which they differ."""
    (name,) = (head for head in rows[0] if isinstance(rows[0][head], str) and rows[0][head] != rows[1][head])
    rows[0][name], rows[1][name] = rows[1][name], rows[0][name]


@pytest.mark.parametrize(
    "change",
    [
        swap_labels,
        put(2, "note", "a name"),
        lambda rows: rows[-1].update({next(iter(rows[-1])): "all"}),
        lambda rows: [row.update({head: 5 for head in row if row[head] == rows[0][head] == "x"}) for row in rows],
    ],
    ids=["swapped labels", "a column of one row", "another total", "a label that is no text"],
)
def test_rows_that_are_not_where_they_belong_are_refused(tmp_path: Path, change: Callable[[Rows], Any]) -> None:
    """A page would show the count of one value under the name of another, or what no certificate names."""
    columns = {"a": ["x", "y"] * 9, "b": ["u", "v", "v"] * 6}
    table = cl.tabulate(columns, by=["a", "b"], budget=1, domains={"a": ["x", "y", "z"], "b": ["u", "v"]})
    table.save(tmp_path / "table.json")
    forge(tmp_path / "table.json", change)
    for verb in ("verify", "report"):
        assert "its rows are not those of its certificate" in " ".join(run(verb, tmp_path / "table.json", code=5).split())
    with pytest.raises(cl.CloisterError):
        cl.PrivateTable.load(tmp_path / "table.json")


@pytest.mark.parametrize("total", [18.0, True, None])
def test_no_kind_of_total_hides_the_numbers(tmp_path: Path, total: Any) -> None:
    """Counts of earlier versions had decimals, and so had their total: their numbers are looked at, too."""
    made(10).save(tmp_path / "table.json")
    forge(tmp_path / "table.json", put(0, "count", "<b>"), total=total)
    assert "Do not rely on it" in " ".join(run("verify", tmp_path / "table.json", code=5).split())


def test_counts_with_decimals_hold(tmp_path: Path) -> None:
    """A table as earlier versions wrote it: its margins agree but for the last decimal."""
    cl.tabulate({"a": ["x", "y"] * 9}, by=["a"], budget=1, domains={"a": ["x", "y"]}).save(tmp_path / "table.json")

    def change(rows: Rows) -> None:
        for row, count in zip(rows, (8.667, 9.667, 18.333), strict=True):
            row.update(count=count, low=0.0, high=40.5)

    forge(tmp_path / "table.json", change, total=18.333333)
    run("verify", tmp_path / "table.json")


def forge_csv(folder: Path, lines: Callable[[list[str]], list[str]], certificate: str = "table.csv.release.json") -> Path:
    """A CSV with other lines, under a certificate that fits and may be called otherwise."""
    path = folder / "table.csv"
    cl.tabulate({"a": ["x", "y"] * 9}, by=["a"], budget=1, domains={"a": ["x", "y"]}).save(path)
    path.write_text("\n".join(lines(path.read_text().splitlines())) + "\n")
    proof = Path(f"{path}.release.json")
    release = dataclasses.replace(Release.from_json(proof.read_text()), files=file_hashes(path))
    proof.unlink()
    (folder / certificate).write_text(release.to_json())
    return folder / certificate


def test_no_name_of_a_certificate_hides_the_numbers(tmp_path: Path) -> None:
    """release.json covers a folder: the numbers of the table in it are looked at all the same."""
    (tmp_path / "false").mkdir()
    proof = forge_csv(tmp_path / "false", lambda lines: [lines[0], '"x",-5,1,1,1', *lines[2:]], "release.json")
    for verb in ("verify", "report"):
        for given in (proof, proof.parent):
            assert "negative" in run(verb, given, code=5)
    (tmp_path / "true").mkdir()
    proof = forge_csv(tmp_path / "true", lambda lines: lines, "release.json")
    run("verify", proof)
    run("report", proof, "-o", tmp_path / "page.html")
    assert "The released numbers" in (tmp_path / "page.html").read_text()


def test_columns_of_one_name_and_an_empty_file_are_refused(tmp_path: Path) -> None:
    """Of two columns of one name one would be looked at, and the other would be whatever somebody put there."""
    for name, lines in (
        ("two", lambda lines: [f'{lines[0]},"count"', *(f"{line},7" for line in lines[1:])]),
        ("none", lambda _: []),
    ):
        (tmp_path / name).mkdir()
        proof = forge_csv(tmp_path / name, lines)
        for verb in ("verify", "report"):
            assert "its rows are not those of its certificate" in " ".join(run(verb, proof, code=5).split())
        with pytest.raises(cl.CloisterError):
            cl.PrivateTable.load(proof.parent / "table.csv")


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


@pytest.mark.parametrize("change", [('"x"', '"HIV"'), ('"y"', '"y2"')])
def test_a_csv_with_other_labels_is_not_that_of_its_certificate(tmp_path: Path, change: tuple[str, str]) -> None:
    """Counts that add up say nothing of whom they count: the rows are those whose hash the certificate has."""

    def renamed(lines: list[str]) -> list[str]:
        return [line.replace(*change) if line.startswith(change[0]) else line for line in lines]

    proof = forge_csv(tmp_path, renamed)
    for verb in ("verify", "report"):
        assert "its rows are not those of its certificate" in " ".join(run(verb, proof, code=5).split())


def test_a_csv_with_means_and_quantiles_is_that_of_its_certificate(tmp_path: Path) -> None:
    """Numbers that are written and read again have the hash that they had: blanks, whole numbers and decimals."""
    made(10).save(tmp_path / "table.csv")
    run("verify", tmp_path / "table.csv", code=0)
