"""The key of a host: made once, kept to its owner, and what it signed is told from everything else."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import cloister as cl
from cloister.errors import UnsignedRelease, UsageError
from cloister.privacy import kept_places
from cloister.privacy.ledger import Ledger
from cloister.privacy.signing import ORDER_8, Signature, fits, host_key, key_path, own_public_key, read_public_key
from cloister.testing import seeded_noise
from tests.privacy.forgery import forger


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where a key may be, and is not yet."""
    path = tmp_path / "signing.key"
    monkeypatch.setenv("CLOISTER_KEY", str(path))
    return path


def test_a_key_is_made_once_and_kept_to_its_owner(place: Path) -> None:
    """The file has mode 0600, its private half has no repr, and the next use reads it."""
    key = host_key()
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert host_key() == key
    assert key.secret.hex() in place.read_text()
    assert key.secret.hex() not in repr(key)
    assert [path.name for path in place.parent.iterdir()] == [place.name]


def test_a_key_is_not_drawn_from_seeded_noise(place: Path) -> None:
    """A test that seeds the noise does not fix the key that is made on the way."""
    with seeded_noise(1):
        first = host_key()
    place.unlink()
    with seeded_noise(1):
        assert host_key() != first


def test_many_processes_make_one_key(place: Path) -> None:
    """Of eight that start at once all sign with the same key."""
    code = "import sys; from cloister.privacy.signing import host_key; sys.stdin.readline(); print(host_key().public)"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    start = [sys.executable, "-c", code]
    pipe = subprocess.PIPE
    workers = [subprocess.Popen(start, stdin=pipe, stdout=pipe, text=True, env=environment) for _ in range(8)]
    shown = [worker.communicate("go\n")[0] for worker in workers]
    assert set(shown) == {host_key().public + "\n"}


def test_the_usual_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without CLOISTER_KEY the key lies in the user's configuration folder, which is made; not in the ledger's data folder."""
    import platformdirs

    monkeypatch.delenv("CLOISTER_KEY")
    monkeypatch.setattr(platformdirs, "user_config_path", lambda name, **_: tmp_path / "config" / name)
    assert host_key().public.startswith("ed25519:")
    assert key_path() == tmp_path / "config" / "cloister" / "signing.key"
    assert key_path().exists()


@pytest.mark.parametrize(
    "content", ["", "x", "Cloister signing key (ed25519). Keep it secret.\n00\n", "\0" * 3000, "\n" + "0" * 64]
)
def test_a_file_of_another_kind_is_no_key(place: Path, content: str) -> None:
    """It is refused in a sentence that does not repeat it."""
    place.write_text(content)
    place.chmod(0o600)
    with pytest.raises(UsageError, match="not a signing key of Cloister"):
        host_key()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
def test_a_key_that_others_can_read_is_refused(place: Path, mode: int) -> None:
    """It proves nothing, and the sentence says what to do."""
    host_key()
    place.chmod(mode)
    with pytest.raises(UsageError, match="chmod 600"):
        host_key()


@pytest.mark.filterwarnings("error")
def test_a_certificate_without_a_key_is_written_where_warnings_are_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A release that was paid for could not be saved under ``-W error``."""
    table = cl.tabulate(pa.table({"x": ["a"]}), ["x"], 1, domains={"x": ["a"]})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "file" / "key"))
    monkeypatch.setattr(warnings, "showwarning", lambda message, *_: print(message))
    table.save(tmp_path / "t.csv")
    assert "this certificate is not signed" in capsys.readouterr().out
    assert (tmp_path / "t.csv").exists()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that is not there, and a folder in place of the file."""
    for path in (tmp_path / "missing" / "key", tmp_path):
        monkeypatch.setenv("CLOISTER_KEY", str(path))
        with pytest.raises(UsageError, match="CLOISTER_KEY=FILE"):
            host_key()


def test_a_signature_fits_one_digest_one_subject_and_one_key(place: Path) -> None:
    """Anything else does not fit, and nothing raises."""
    signature = host_key().sign("certificate", "ab")
    assert fits(signature, "certificate", "ab")
    assert not fits(signature, "ledger record", "ab")
    assert not fits(signature, "certificate", "ac")
    for key, value in ((forger().public, signature.value), (signature.key, "00"), (signature.key, "x"), ("x", ""), ("", "")):
        assert not fits(Signature(key, value), "certificate", "ab")


def test_a_public_key_is_given_as_text_or_in_a_file(place: Path, tmp_path: Path) -> None:
    """Anything else is refused with the command that shows one; a private key is not taken for a public one."""
    public = host_key().public
    (tmp_path / "public").write_text(public + "\n")
    assert read_public_key(f" {public}\n") == read_public_key(str(tmp_path / "public")) == public
    for wrong in ("", "ed25519:00", str(tmp_path), str(place), "\0"):
        with pytest.raises(UsageError, match="cloister ledger key"):
            read_public_key(wrong)


def test_a_key_of_another_user_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever owns the file can sign in its name."""
    key = tmp_path / "signing.key"
    monkeypatch.setenv("CLOISTER_KEY", str(key))
    host_key()
    if key.stat().st_uid == 0:
        os.chown(key, 4242, 4242)
    monkeypatch.setattr(os, "geteuid", lambda: key.stat().st_uid + 1)
    with pytest.raises(UsageError, match="belongs to another user"):
        host_key()


SPELLINGS = {
    "upper case": str.upper,
    "blanks inside": lambda text: " \t".join([text[:2], text[2:]]),
    "a blank at the end": lambda text: text + " ",
    "a line end": lambda text: text + "\n",
    "one letter": lambda text: next(text[:i] + text[i].upper() + text[i + 1 :] for i in range(128) if text[i].isalpha()),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_signature_has_one_spelling(spelling: str, place: Path) -> None:
    """Another one of the same bytes would carry a message that nobody signed."""
    signed = host_key().sign("certificate", "digest")
    assert fits(signed, "certificate", "digest")
    assert not fits(Signature(signed.key, SPELLINGS[spelling](signed.value)), "certificate", "digest")


def test_a_home_folder_that_cannot_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """One sentence, from every door, and before a row is read; what only looks for a key finds none."""
    monkeypatch.setenv("CLOISTER_KEY", "~nosuch/key")
    with pytest.raises(UsageError, match="begins with a home folder that cannot be found"):
        host_key()
    assert own_public_key() is None
    with pytest.raises(UsageError, match="cannot be found"):
        Ledger("~nosuch/ledger.sqlite")

    with pytest.raises(UsageError, match="cannot be found"):
        cl.tabulate(pa.table({"x": ["a", "b"] * 50}), by=["x"], domains={"x": ["a", "b"]}, budget=1)


def test_without_a_home_folder_a_release_is_made_and_not_signed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As on any host that cannot use its key; nothing is made under a folder called ``~``."""
    import pwd

    def nobody(*_: object) -> Any:
        raise KeyError

    for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "CLOISTER_KEY", "CLOISTER_LEDGER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(pwd, "getpwuid", nobody)
    monkeypatch.chdir(tmp_path)
    table = cl.tabulate(pa.table({"x": ["a", "b"] * 50}), by=["x"], domains={"x": ["a", "b"]}, budget=1)
    with pytest.warns(UnsignedRelease, match="home folder, which cannot be found"):
        table.save(tmp_path / "table.json")
    with pytest.raises(UsageError, match="home folder, which cannot be found"):
        Ledger.default()
    assert kept_places.places(None) == []
    assert [path.name for path in tmp_path.iterdir()] == ["table.json"]


def test_keys_of_small_order_are_refused() -> None:
    """Signatures of anything fit them, with a value that needs no secret; nor is a number of p or more a key."""
    p = 2**255 - 19
    d = -121665 * pow(121666, -1, p) % p
    x_squared = (ORDER_8**2 - 1) * pow(d * ORDER_8**2 + 1, -1, p) % p
    assert (ORDER_8**2 + x_squared) % p == 0, "twice the point is one of order 4"
    for y in (0, 1, p - 1, ORDER_8, p - ORDER_8, p, p + 1, 2**255 - 1):
        for sign in (0, 1):
            key = "ed25519:" + (y + sign * 2**255).to_bytes(32, "little").hex()
            for start in ("01" + "00" * 31, "00" * 32, "ec" + "ff" * 30 + "7f"):
                weak = Signature(key, start + "00" * 32)
                assert not any(fits(weak, "certificate", str(i)) for i in range(20))
            with pytest.raises(UsageError, match="small order"):
                read_public_key(key)
