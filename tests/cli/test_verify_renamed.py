"""`cloister verify` looks at what is in a file, not at what it or its certificate is called."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from cloister.cli.report import make_page
from tests.cli.test_verify_cli import cluster_points, run, tabulate_levels

NAMES = [
    ("published.csv", "published.csv.release.json"),
    ("published.csv", "t.csv.release.json"),
    ("published.dat", "certificate.json"),
    ("t.csv", "proof.release.json"),
]


def release_table(folder: Path, table: str = "t.csv", certificate: str = "t.csv.release.json") -> tuple[Path, Path]:
    """A table that was released as t.csv and its certificate, among other files, under the names that they have now."""
    place = folder / "mail"
    place.mkdir()
    tabulate_levels(folder, place / "t.csv")
    (place / "photo.jpg").write_bytes(b"another file")
    (place / "t.csv.release.json").rename(place / certificate)
    (place / "t.csv").rename(place / table)
    return place / table, place / certificate


@pytest.mark.parametrize(("table", "certificate"), NAMES)
def test_a_renamed_table_verifies_and_one_that_was_changed_does_not(folder: Path, table: str, certificate: str) -> None:
    """By its own name, by that of its certificate, and by both; its first name is told."""
    renamed, proof = release_table(folder, table, certificate)
    released = "" if table == "t.csv" else ", released as t.csv"
    ways = [(renamed,), (proof,), (renamed, "--certificate", proof)]
    for given in ways:
        assert f"Checked: {table}{released}, with {certificate}." in run("verify", *given)
    renamed.write_text(renamed.read_text() + "1\n")
    codes = {
        way: 2 if way == (renamed,) and certificate in ("t.csv.release.json", "certificate.json") else 5 for way in ways
    }
    for given, code in codes.items():  # 2: nothing ties the file to a certificate any more
        run("verify", *given, code=code)


def test_a_certificate_elsewhere_is_given(folder: Path) -> None:
    """--certificate takes a file of any name and place, and covers the one file whose hash fits."""
    table, certificate = release_table(folder)
    elsewhere = folder / "proof.txt"
    certificate.rename(elsewhere)
    told = json.loads(run("verify", table, "--certificate", elsewhere, "--json"))
    assert (told["checked"], told["certificate"], told["files"]) == ("t.csv", str(elsewhere), ["t.csv"])
    assert "photo.jpg is not t.csv" in run("verify", table.parent / "photo.jpg", "--certificate", elsewhere, code=5)
    assert "are one file" in run("verify", elsewhere, "--certificate", elsewhere, code=2)
    assert "is not a file" in run("verify", table, "--certificate", folder / "none", code=2)


def test_a_file_under_the_name_of_the_certificate_must_fit(folder: Path) -> None:
    """The certificate stands beside the wrong file, though the right one lies there too: nobody may be misled."""
    table, certificate = release_table(folder, "published.csv")
    shutil.copy(table.parent / "photo.jpg", table.parent / "t.csv")
    assert "t.csv was changed" in run("verify", certificate, code=5)
    assert "t.csv was changed" in run("verify", table.parent / "t.csv", code=5)
    assert "released as t.csv" in run("verify", table)


def test_a_certificate_whose_file_is_not_there_fails(folder: Path) -> None:
    """Nothing beside it has the content."""
    table, certificate = release_table(folder)
    table.unlink()
    assert "t.csv is missing beside the release, and nothing there has its content" in run("verify", certificate, code=5)


def test_what_could_be_meant_twice_is_asked_back(folder: Path) -> None:
    """Two copies of a file beside one certificate: one sentence, exit code 2. Copies of a certificate say the same."""
    table, certificate = release_table(folder, "a.csv", "proof.release.json")
    shutil.copy(table, table.with_name("b.csv"))
    said = run("verify", certificate, code=2)
    assert "2 files beside proof.release.json have what it covers: a.csv, b.csv" in said
    assert "--certificate" in said
    run("verify", table)
    shutil.copy(certificate, table.with_name("same.json"))
    run("verify", table)


def test_two_certificates_of_one_content_are_asked_back(folder: Path) -> None:
    """The same bytes released twice: which release is meant is not known."""
    quasi = ("--k", 5, "--quasi", "level,grade", "--identifiers", "none", "--dialect", "standard")
    for name in ("a.csv", "b.csv"):
        run("anonymize", folder / "students.csv", "--schema", folder / "students.toml", *quasi, "--out", folder / name)
    (folder / "a.csv").rename(folder / "c.csv")
    (folder / "b.csv").unlink()
    said = run("verify", folder / "c.csv", code=2)
    assert "several certificates beside" in said
    assert "a.csv.release.json, b.csv.release.json. Say which, with --certificate FILE." in said
    assert "released as b.csv" in run("verify", folder / "c.csv", "--certificate", folder / "b.csv.release.json")


def test_a_link_to_the_content_does_not_count(folder: Path) -> None:
    """It may lead to other bytes tomorrow, under any name."""
    table, certificate = release_table(folder)
    table.rename(folder / "elsewhere.csv")
    (table.parent / "linked.csv").symlink_to(folder / "elsewhere.csv")
    run("verify", certificate, code=5)
    assert "is a link" in run("verify", table.parent / "linked.csv", "--certificate", certificate, code=5)


def test_centres_alone_are_checked_when_they_are_given_with_their_certificate(folder: Path) -> None:
    """A folder is covered whole; whoever asks about one file of it is told that the rest was not looked at."""
    out = cluster_points(folder)
    shutil.copy(out / "centers.csv", folder / "middle.csv")
    said = run("verify", folder / "middle.csv", "--certificate", out / "release.json")
    assert "Checked: middle.csv, released as centers.csv, with release.json; nothing else of its folder." in said
    moved = folder / "proof.json"
    (out / "release.json").rename(moved)
    assert "Checked: the folder clusters, with all that is in it." in run("verify", out, "--certificate", moved)
    for name in ("rows.csv", moved.name):  # a file is not the certificate because it is called like it
        (out / name).write_text("1")
        assert f"{name} is in the folder" in run("verify", out, "--certificate", moved, code=5)
        (out / name).unlink()


def test_a_report_is_made_of_a_renamed_table(folder: Path) -> None:
    """By the name of the table or of its certificate it shows the numbers of the file that was checked."""
    table, certificate = release_table(folder, "published.csv")
    for given in (table, certificate):
        assert "The released numbers" in make_page(given, [], None)
