"""Which files `cloister verify` says are those of a release: those whose hash was compared, and no others."""

from __future__ import annotations

import dataclasses
from pathlib import Path

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
