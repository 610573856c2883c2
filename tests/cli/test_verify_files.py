"""Which files `cloister verify` says are those of a release: those whose hash was compared, and no others."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from cloister.privacy.release import Release
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
    assert "names t.csv as a file for the holder" in run("verify", certificate, code=1)


def test_a_table_under_the_name_of_labels_is_hashed_too(folder: Path) -> None:
    """Labels lie in a folder of results; what stands beside its certificate is the release itself."""
    (folder / "labels.parquet").write_text("name,illness\n")
    tabulate_levels(folder, folder / "t.csv")
    certificate = folder / "labels.parquet.release.json"
    (folder / "t.csv.release.json").rename(certificate)
    rewrite(certificate, files={}, holder_files=("labels.parquet",))
    assert "the certificate does not list it" in run("verify", certificate, code=1)


def test_centres_are_no_file_for_the_holder(folder: Path) -> None:
    """In a folder: only labels may be there without a hash."""
    out = cluster_points(folder)
    rewrite(out / "release.json", files={}, holder_files=("centers.csv",))
    assert "names centers.csv as a file for the holder" in run("verify", out, code=1)
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
    assert "centers.csv is a link" in run("verify", out, code=1)
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
        assert "is not as Cloister writes it" in run("verify", given, code=1)


def test_ends_of_lines_of_windows_are_no_other_spelling(folder: Path) -> None:
    """Python writes them so there, and all of them alike say nothing."""
    table, certificate = folder / "t.csv", folder / "t.csv.release.json"
    tabulate_levels(folder, table)
    certificate.write_bytes(certificate.read_bytes().replace(b"\n", b"\r\n"))
    run("verify", table)
