"""``cloister verify`` counts the classes of published tables again, whatever their certificates are called."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import VerificationFailed
from cloister.privacy.guarantees import Claimed
from cloister.privacy.release import Release
from cloister.sinks import file_hashes
from tests.cli.test_verify_cli import anonymize_students, run


@pytest.mark.parametrize("kind", ["anonymize", "microaggregation"])
def test_classes_are_counted_again(folder: Path, kind: str) -> None:
    """A row that looks like nobody else does not verify, although hashes and signature fit; nor does a row too few."""
    out, columns = folder / "safe.csv", "age,grade"
    words: tuple[object, ...] = ("anonymize", "--quasi", columns)
    if kind == "microaggregation":
        words = ("microdata", "--method", "microaggregation", "--columns", columns)
    run(words[0], folder / "students.csv", "--k", 5, *words[1:], "--schema", folder / "students.toml", "--out", out)
    proof, lines = Path(f"{out}.release.json"), out.read_text().splitlines()
    release = Release.from_json(proof.read_text())
    run("verify", out)
    place = lines[0].replace('"', "").split(",").index("age")
    cells = lines[1].split(",")
    cells[place] = "zzz"
    for changed in ([lines[0], ",".join(cells), *lines[2:]], lines[:-1]):
        out.write_text("\n".join(changed) + "\n")
        proof.write_text(dataclasses.replace(release, files=file_hashes(out)).to_json())
        for verb in ("verify", "report"):
            assert "contradicts itself" in run(verb, out, code=5)


def test_no_name_of_a_certificate_keeps_classes_from_being_counted(folder: Path) -> None:
    """What a release is called is the forger's choice; that it promises a k is what counts."""
    proof = anonymize_students(folder)
    out, release = folder / "safe.csv", Release.from_json(proof.read_text())
    lines = out.read_text().splitlines()
    cells = lines[1].split(",")
    cells[lines[0].replace('"', "").split(",").index("age")] = "zzz"
    out.write_text("\n".join([lines[0], ",".join(cells), *lines[2:]]) + "\n")
    proof.write_text(dataclasses.replace(release, kind="k-anonymous  table", files=file_hashes(out)).to_json())
    assert "look alike" in run("verify", out, code=5)


def test_names_with_blanks_are_counted_under_their_names(tmp_path: Path) -> None:
    """A genuine table in Parquet, whose names may begin and end with a blank, verifies and is read back."""
    table = pa.table({" c ": ["x", "y"] * 20, "d": ["a", "b", "b", "a"] * 10})
    cl.TopDownSpecialization(k=5, quasi=[" c "], identifiers=[]).publish(table, tmp_path / "t.parquet")
    run("verify", tmp_path / "t.parquet")
    assert cl.TopDownSpecialization.load(tmp_path / "t.parquet").summary_.smallest == 20


def test_a_table_that_breaks_its_k_is_not_loaded(folder: Path) -> None:
    """`load` counts again as `verify` does."""
    proof = anonymize_students(folder)
    out, release = folder / "safe.csv", Release.from_json(proof.read_text())
    out.write_text("\n".join(out.read_text().splitlines()[:-1]) + "\n")
    proof.write_text(dataclasses.replace(release, files=file_hashes(out)).to_json())
    with pytest.raises(VerificationFailed, match="its rows are not as many"):
        cl.TopDownSpecialization.load(out)


@pytest.mark.parametrize("kind", ["table", "kmeans", "k-anonymous table"])
def test_a_claim_under_another_name_contradicts_itself(tmp_path: Path, kind: str) -> None:
    """Nothing but what is reproduced of a paper is claimed."""
    claim = Release(kind, Claimed("000", "epsilon 1", "epsilon 1, private"), (), {}, {})
    (tmp_path / "release.json").write_text(claim.to_json())
    assert "contradicts itself" in run("verify", tmp_path / "release.json", code=5)
