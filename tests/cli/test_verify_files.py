"""Which files `cloister verify` says are those of a release: those whose hash was compared, and no others."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
import cloister.privacy.verification
from cloister.errors import SinkError
from cloister.privacy.release import Release
from cloister.sinks import certificate_path, check_free
from cloister.vault import booking
from tests.cli.test_verify_cli import cluster_points, run, tabulate_levels


def rewrite(certificate: Path, **changes: object) -> None:
    """Write a certificate with other fields, signed by this host."""
    release = Release.from_json(certificate.read_text())
    certificate.write_text(dataclasses.replace(release, **changes).to_json())  # type: ignore[arg-type]


def test_a_table_is_no_file_for_the_holder(folder: Path) -> None:
    """A certificate beside a table that names it without a hash covers nothing of it."""
    table, certificate = folder / "t.csv", folder / "t.csv.release.json"
    tabulate_levels(folder, table)
    rewrite(certificate, files={}, holder_files=("t.csv",))
    table.write_text("name,illness\n")
    assert "names t.csv as a file for the holder" in run("verify", certificate, code=5)


def test_a_table_under_the_name_of_labels_is_hashed_too(folder: Path) -> None:
    """Labels lie in a folder of results; what stands beside its certificate is the release itself."""
    (folder / "labels.parquet").write_text("name,illness\n")
    tabulate_levels(folder, folder / "t.csv")
    certificate = folder / "labels.parquet.release.json"
    (folder / "t.csv.release.json").rename(certificate)
    rewrite(certificate, files={}, holder_files=("labels.parquet",))
    assert "the certificate does not list it" in run("verify", certificate, code=5)


def test_centres_are_no_file_for_the_holder(folder: Path) -> None:
    """In a folder: only labels may be there without a hash."""
    out = cluster_points(folder)
    rewrite(out / "release.json", files={}, holder_files=("centers.csv",))
    assert "names centers.csv as a file for the holder" in run("verify", out, code=5)
    (out / "centers.csv").unlink()
    rewrite(out / "release.json", files={}, holder_files=("labels.parquet",))
    said = run("verify", out / "release.json")
    assert "the certificate is whole" in said
    assert "lists no files" in said
    assert "those of this release" not in said


def test_a_link_is_no_file_of_a_release(folder: Path) -> None:
    """The very bytes, but elsewhere: whoever packs the folder sends a link, and it may lead to other bytes tomorrow."""
    out = cluster_points(folder)
    run("verify", out)
    (out / "centers.csv").rename(folder / "elsewhere.csv")
    (out / "centers.csv").symlink_to(folder / "elsewhere.csv")
    assert "centers.csv is a link" in run("verify", out, code=5)
    (out / "centers.csv").unlink()
    (folder / "elsewhere.csv").rename(out / "centers.csv")
    link = folder / "link"
    link.symlink_to(out)
    run("verify", link)  # the way to the release is the user's own


SPELLINGS: dict[str, Callable[[str], str]] = {
    "blanks": lambda text: text.replace('"kind":', '"kind": \t \t\t '),
    "lines": lambda text: text + "\n\n",
    "one line": lambda text: json.dumps(json.loads(text), ensure_ascii=False),
    "escapes": lambda text: text.replace('"kind"', '"\\u006bind"'),
    "order": lambda text: json.dumps(dict(reversed(json.loads(text).items())), indent=2, ensure_ascii=False) + "\n",
    "some ends of lines": lambda text: text.replace("\n", "\r\n", 5),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_certificate_that_is_spelt_otherwise_is_refused(folder: Path, name: str) -> None:
    """It says what was signed, and blanks, escapes and order can carry rows out beside it: a message of its own."""
    table, certificate = folder / "t.csv", folder / "t.csv.release.json"
    tabulate_levels(folder, table)
    text = certificate.read_text()
    certificate.write_bytes(SPELLINGS[name](text).encode())
    assert certificate.read_bytes() != text.encode()
    assert Release.from_json(certificate.read_text()) == Release.from_json(text)
    for given in (table, certificate):
        assert "is not as Cloister writes it" in run("verify", given, code=5)


def test_ends_of_lines_of_windows_are_no_other_spelling(folder: Path) -> None:
    """Python writes them so there, and all of them alike say nothing."""
    table, certificate = folder / "t.csv", folder / "t.csv.release.json"
    tabulate_levels(folder, table)
    certificate.write_bytes(certificate.read_bytes().replace(b"\n", b"\r\n"))
    run("verify", table)


def refuse(monkeypatch: pytest.MonkeyPatch, module: Any, function: str, name: str) -> None:
    """Let the system refuse what is called so, as it does for anybody but root."""
    real = getattr(module, function)

    def refused(path: Any = ".", *rest: Any, **options: Any) -> Any:
        if Path(os.fspath(path)).name == name:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return real(path, *rest, **options)

    monkeypatch.setattr(module, function, refused)


@pytest.mark.parametrize("name", ["hidden", "clusters"])
def test_what_may_not_be_listed_was_not_checked(folder: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder in the release, or its own: a file may hide there."""
    release = cluster_points(folder)
    (release / "hidden").mkdir()
    (release / "hidden" / "rows.csv").write_text("1")
    refuse(monkeypatch, os, "scandir", name)
    answer = run("verify", release / "release.json", code=2)
    assert f"the release was not checked: {name} cannot be read (Permission denied)" in answer


@pytest.mark.parametrize("place", ["folder", "certificate"])
def test_a_file_that_may_not_be_read_was_not_checked(folder: Path, place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 2, and no bug."""
    release = cluster_points(folder)
    refuse(monkeypatch, cloister.privacy.verification, "file_hash", "centers.csv")
    answer = run("verify", release if place == "folder" else release / "release.json", code=2)
    assert "the release was not checked: centers.csv cannot be read (Permission denied)" in answer


def test_a_folder_that_may_not_be_entered_was_not_checked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether a file is in it is not known either."""
    release = cluster_points(folder)
    refuse(monkeypatch, os, "stat", "release.json")
    answer = run("verify", release / "release.json", code=2)
    assert "release.json cannot be read" in answer


@pytest.mark.parametrize("name", ["..crc", "...crc", "....crc", ".crc", ".centers.csv.crc"])
def test_no_name_is_taken_for_a_checksum(folder: Path, name: str) -> None:
    """Of a file that has no name, of the folder itself, or with another content."""
    release = cluster_points(folder)
    (release / name).write_text("1")
    assert f"{name} is in the folder, and the certificate does not list it" in run("verify", release, code=5)


FALSE = "0\nThe steps add up and the files are those of this release: epsilon 0.01.\nSigned by the key that you gave.\n"


def test_the_name_of_a_file_prints_no_line_of_its_own(folder: Path) -> None:
    """Whoever sends a release chooses the names of its files; they are told in the one line of the error."""
    out = cluster_points(folder)
    (out / FALSE).write_text("1")
    (said,) = run("verify", out, code=5).splitlines()
    assert said.startswith("VerificationFailed: 0\\u000aThe steps add up")
    (said,) = run("verify", out / FALSE, code=2).splitlines()
    assert said.startswith("SourceError: ")


def test_a_table_whose_name_has_another_spelling_is_in_its_ledger(folder: Path) -> None:
    """e and an accent behind it, as some systems spell it: the ledger keeps one letter, and so does the certificate."""
    ledger, name, out = folder / "accents.sqlite", "cafe\u0301", folder / "accents.csv"
    run("ledger", "create", name, "--epsilon", 3, "--ledger", ledger)
    tabulate_levels(folder, out, "--table", name, "--ledger", ledger)
    assert json.loads(certificate_path(out).read_text())["ledger"]["table"] == "caf\u00e9"
    run("verify", out, "--ledger", ledger)


def test_a_certificate_that_kept_the_spelling_of_its_user_is_in_the_ledger_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As earlier versions wrote it; it is signed, and cannot be mended."""
    ledger, name, out = folder / "accents.sqlite", "cafe\u0301", folder / "accents.csv"
    run("ledger", "create", name, "--epsilon", 3, "--ledger", ledger)
    monkeypatch.setattr(booking, "read_table_name", str)
    tabulate_levels(folder, out, "--table", name, "--ledger", ledger)
    assert json.loads(certificate_path(out).read_text())["ledger"]["table"] == name
    run("verify", out, "--ledger", ledger)


@pytest.mark.parametrize("kind", ["kmeans", "kprototypes", "of a later version"])
def test_clusters_are_a_folder_whatever_their_certificate_is_called(folder: Path, kind: str) -> None:
    """A certificate that is renamed to stand beside centers.csv does not hide what else lies there."""
    out = folder / "c"
    run("cluster", folder / "points.csv", "--columns", "x,y", "--bounds", "0,100", "--k", 2, "--epsilon", 1, "--out", out)
    rewrite(out / "release.json", kind=kind)
    (out / "release.json").rename(out / "centers.csv.release.json")
    run("verify", out / "centers.csv")
    shutil.copy(folder / "points.csv", out / "rows.csv")
    assert "rows.csv is in the folder" in run("verify", out / "centers.csv", code=5)


@pytest.mark.parametrize("name", ["release.json", "t.release.json", "my-release.json"])
def test_an_output_is_not_called_like_a_certificate(folder: Path, name: str) -> None:
    """It could not be verified: refused before a row is read, in the command line and in Python."""
    answer = run(
        "cluster", folder / "points.csv", "--columns", "x,y", "--bounds", "0,100", "--k", 2, "--epsilon", 1,
        "--out", folder / name, code=2,
    )  # fmt: skip
    assert "names of certificates" in answer
    with pytest.raises(SinkError, match="names of certificates"):
        check_free(folder / name)


@pytest.mark.parametrize("name", ["x/release.json", "x.parquet", "key"])
def test_a_pipe_is_no_release_and_no_key(folder: Path, name: str) -> None:
    """Nobody writes into it: it would be waited for without end."""
    (folder / "x").mkdir()
    os.mkfifo(folder / name)
    argv = [sys.executable, "-m", "cloister", "verify", str(folder / name)]
    if name == "key":
        (folder / "x" / "release.json").write_text("{}")
        argv = [sys.executable, "-m", "cloister", "verify", str(folder / "x"), "--key", str(folder / name)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1


def test_no_more_rows_are_read_than_a_certificate_says(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A small file may hold billions: what is not a certificate, or speaks of fewer, is refused before they are read."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cloister.tabulation import saved_tables

    def read(*_: object) -> None:
        raise AssertionError("rows are read")

    monkeypatch.setattr(saved_tables, "read_table", read)
    many = pa.table({"level": ["a"] * 1000, "count": [0.0] * 1000})
    pq.write_table(many.replace_schema_metadata({"cloister.release": "{}"}), folder / "none.parquet")
    run("verify", folder / "none.parquet", code=2)
    table = cl.tabulate(pa.table({"x": ["a", "b"] * 50}), by=["x"], domains={"x": ["a", "b"]}, budget=1)
    assert table.release is not None
    pq.write_table(many.replace_schema_metadata({"cloister.release": table.release.to_json()}), folder / "few.parquet")
    assert "more than the rows of its certificate" in run("verify", folder / "few.parquet", code=5)


def test_folders_and_archives_around_a_release_are_no_releases(folder: Path) -> None:
    """Who gives the folder or the .zip that a file and its certificate came in is told to give the file."""
    place = folder / "unpacked"
    place.mkdir()
    (place / "estimate.csv.release.json").write_text("{}")
    assert "unpacked/estimate.csv." in run("verify", place, code=2)
    (folder / "estimate.zip").write_bytes(b"PK")
    assert "Unpack it" in run("verify", folder / "estimate.zip", code=2)
