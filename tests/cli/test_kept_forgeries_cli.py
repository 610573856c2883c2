"""A kept release is handed out as this host kept it, or not at all: whatever somebody does to its folder is found."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from cloister.privacy.kept_releases import KeptRelease, hash_all
from cloister.privacy.release import Release
from cloister.sinks import Staged, certificate_path
from tests.cli.test_recover_cli import fill_disk, keep_one, recover, run


def change_cells(kept: Path) -> None:
    """Other counts under the certificate."""
    (kept / "result" / "table.csv").write_text("x,count\n1,1\n")


def link_cells(kept: Path) -> None:
    """A link to a file of the user's in the place of the cells."""
    cells = kept / "result" / "table.csv"
    other = kept.parent.parent / "secret.csv"
    other.write_bytes(cells.read_bytes())
    cells.unlink()
    cells.symlink_to(other)


def invent_certificate(kept: Path) -> None:
    """Other counts under a certificate that nobody signed, with hashes that fit."""
    from cloister.privacy.certificate_json import fingerprint

    change_cells(kept)
    cells = kept / "result" / "table.csv"
    for path, covered in ((certificate_path(cells), cells), (kept / "seal.json", kept / "result")):
        facts = json.loads(path.read_text())
        facts.pop("sha256")
        facts |= {"signature": None, "files": hash_all(covered, "" if covered.is_dir() else covered.name)}
        path.write_text(json.dumps({**facts, "sha256": fingerprint(facts)}))


@pytest.mark.parametrize("damage", ["no JSON", "{}", "[" * 100_000, None, "pipe"])
def test_a_kept_release_with_a_damaged_description_is_listed(
    home: Path, monkeypatch: pytest.MonkeyPatch, damage: str | None
) -> None:
    """With its problem: nothing else would say that something that was paid for is there."""
    kept = keep_one(home, monkeypatch)
    (kept / "about.json").unlink()
    if damage == "pipe":
        os.mkfifo(kept / "about.json")
    elif damage is not None:
        (kept / "about.json").write_text(damage)
    listed = recover(home)
    assert "Nothing is kept" not in listed.stdout
    assert f"1  {kept} does not hold what this host kept there" in listed.stdout
    assert recover(home, "1", "--out", str(home / "again.csv")).exit_code == 1
    assert recover(home, "1", "--drop").exit_code == 0
    assert "Nothing is kept" in recover(home).stdout


def open_folder(kept: Path) -> None:
    """Others may write where releases are kept."""
    kept.parent.chmod(0o777)


def name_other_entry(kept: Path) -> None:
    """The release of one charge under the number of another."""
    about = json.loads((kept / "about.json").read_text())
    (kept / "about.json").write_text(json.dumps({**about, "id": "2"}))


def put_true_cells_beside(kept: Path) -> None:
    """The true cells one level up, where their name sorts last, and other counts in their place."""
    (kept / "table.csv").write_bytes((kept / "result" / "table.csv").read_bytes())
    change_cells(kept)


def put_file_beside(kept: Path) -> None:
    """A file that nobody listed, beside the result."""
    (kept / "result.txt").write_text("theirs")


def put_folder_inside(kept: Path) -> None:
    """An empty folder, whose name would be handed out."""
    (kept / "result" / "table.csv.d").mkdir()


def name_certificate(kept: Path) -> None:
    """The certificate under the name of the result, which would be thrown away."""
    about = json.loads((kept / "about.json").read_text())
    out = str(Path(about["out"]).with_name("table.csv.release.json"))
    (kept / "about.json").write_text(json.dumps({**about, "out": out}))


def name_folder(kept: Path) -> None:
    """The whole folder under the name of the result."""
    about = json.loads((kept / "about.json").read_text())
    (kept / "about.json").write_text(json.dumps({**about, "out": "/nowhere/.."}))


def tell_other(fact: str, text: str) -> Callable[[Path], None]:
    """Another fact in the list of what is kept."""

    def harm(kept: Path) -> None:
        about = json.loads((kept / "about.json").read_text())
        (kept / "about.json").write_text(json.dumps({**about, fact: text}))

    return harm


def respell(kept: Path) -> None:
    """The same facts, with blanks that say something."""
    (kept / "about.json").write_text((kept / "about.json").read_text().replace('", "', '" ,\t"'))


HARMS = [
    change_cells,
    link_cells,
    invent_certificate,
    open_folder,
    name_other_entry,
    put_true_cells_beside,
    put_file_beside,
    put_folder_inside,
    name_certificate,
    name_folder,
    tell_other("what", "table: epsilon 1000"),
    tell_other("when", "1999-01-01T00:00:00+00:00"),
    tell_other("out", "/elsewhere/table.csv"),
    respell,
]


@pytest.mark.parametrize("harm", HARMS)
def test_only_what_this_host_kept_is_handed_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    """Nothing that was put into the folder by others is written, or signed under a new name."""
    kept = keep_one(home, monkeypatch)
    harm(kept)
    for name in ("again.csv", "again.json", "table.csv"):
        refused = recover(home, "--out", str(home / name))
        assert refused.exit_code != 0
        assert any(words in refused.stderr for words in ("was changed", "nothing is kept", "is not used"))
        assert not list(home.glob(f"{name}*"))
    assert kept.is_dir()


@pytest.mark.parametrize("harm", [change_cells, tell_other("what", "theirs"), tell_other("out", "/theirs/table.csv")])
def test_the_list_says_what_was_changed_and_repeats_nothing_of_it(
    home: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None]
) -> None:
    """What stands there is somebody else's; the entry can be thrown away."""
    kept = keep_one(home, monkeypatch)
    assert "(for " in recover(home).stdout
    assert json.loads(recover(home, "--json").stdout)["kept"][0]["problem"] is None
    harm(kept)
    listed = recover(home)
    assert (listed.exit_code, listed.stdout.split()[0]) == (0, "1")
    assert "was changed" in listed.stdout
    assert "theirs" not in listed.stdout
    told = json.loads(recover(home, "--json").stdout)["kept"][0]
    assert "was changed" in told["problem"]
    assert (told["entry"], told["release"], told["when"], told["out"]) == ("1", None, None, None)
    assert recover(home, "1", "--drop").exit_code == 0
    assert not kept.exists()


@pytest.mark.parametrize("name", ["clusters", "table.csv"])
def test_what_was_kept_before_the_list_was_sealed_is_handed_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """Its seal names the files of the result alone."""
    kept = keep_one(home, monkeypatch, name)
    seal = Release.from_json((kept / "seal.json").read_text())
    (kept / "seal.json").write_text(dataclasses.replace(seal, files=hash_all(kept / "result")).to_json())
    assert recover(home, "--out", str(home / f"again{Path(name).suffix}")).exit_code == 0


@pytest.mark.parametrize("name", ["clusters", "table.csv"])
@pytest.mark.parametrize("out", ["as wanted", "renamed"])
def test_what_changes_while_it_is_copied_is_not_handed_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, name: str, out: str
) -> None:
    """Somebody changes a kept file after it was compared: the copy is compared too, before it is signed."""
    kept = keep_one(home, monkeypatch, name)
    release = KeptRelease.release

    def changed_after(self: KeptRelease) -> Any:
        seal = release(self)
        cells = kept / "result" / name
        (cells / "centers.csv" if cells.is_dir() else cells).write_text("x,count\n1,1\n")
        return seal

    monkeypatch.setattr(KeptRelease, "release", changed_after)
    target = home / (name if out == "as wanted" else f"again{Path(name).suffix}")
    refused = recover(home, "--out", str(target))
    assert refused.exit_code == 1
    assert "was changed" in refused.stderr
    assert not target.exists()
    assert kept.is_dir()


@pytest.mark.parametrize("ledgered", [True, False])
@pytest.mark.parametrize("harm", [None, invent_certificate])
def test_nothing_is_handed_out_that_cannot_be_checked(
    home: Path, monkeypatch: pytest.MonkeyPatch, harm: Callable[[Path], None] | None, ledgered: bool
) -> None:
    """Others may read the key of this host, so it vouches for nothing, a certificate without a signature least of all."""
    kept = keep_one(home, monkeypatch, ledgered=ledgered)
    if harm is not None:
        harm(kept)
    with monkeypatch.context() as patch:
        patch.setenv("CLOISTER_KEY", str(open_key(home)))
        refused = recover(home, "--out", str(home / "again.csv"))
        assert refused.exit_code == 2
        assert "chmod 600" in refused.stderr
        assert "handed out once that is mended" in refused.stderr
        assert len(json.loads(recover(home, "--json").stdout)["kept"]) == 1
    assert not list(home.glob("again.csv*"))
    assert recover(home, "--out", str(home / "again.csv")).exit_code == (0 if harm is None else 1)


def test_what_was_kept_under_another_key_is_said_to_be(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It was called changed; with the key that it was kept under it is handed out."""
    with monkeypatch.context() as patch:
        patch.setenv("CLOISTER_KEY", str(home / "first.key"))
        keep_one(home, monkeypatch)
    refused = recover(home, "--out", str(home / "again.csv"))
    assert refused.exit_code == 1
    assert "sealed with another key" in refused.stderr
    assert "was changed" not in refused.stderr
    assert not list(home.glob("again.csv*"))
    monkeypatch.setenv("CLOISTER_KEY", str(home / "first.key"))
    assert recover(home, "--out", str(home / "again.csv")).exit_code == 0


def test_what_cannot_be_sealed_is_printed(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a key that can be used, a copy could not be told from a forged one: there is none, and the result is shown."""
    monkeypatch.setenv("CLOISTER_KEY", str(open_key(home)))
    monkeypatch.setattr(Staged, "commit", fill_disk("table.csv"))
    failed = run(home, "table.csv", ledgered=False)
    assert failed.exit_code == 1
    assert "cannot use its signing key" in failed.stderr
    assert json.loads(failed.stdout)["rows"]
    assert not json.loads(recover(home, "--json").stdout)["kept"]


def open_key(home: Path) -> Path:
    """A key file that others may read."""
    place = home / "open.key"
    place.write_text("not a secret")
    place.chmod(0o644)
    return place
