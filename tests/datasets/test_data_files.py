"""Files of data sets: the folder first, then the cache, then the network, which is a server on loopback here."""

from __future__ import annotations

import errno
import gzip
import hashlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from cloister.datasets import data_files
from cloister.datasets.data_files import cache_folder, find_bytes
from cloister.datasets.dataset import DataFile
from cloister.datasets.load import SETS
from cloister.errors import SinkError, SourceError

ROWS = b"1,2,3\n" * 50_000
DIGEST = hashlib.sha256(ROWS).hexdigest()


class Server(BaseHTTPRequestHandler):
    """Answers by the path that is asked for."""

    asked: list[str]

    def do_GET(self) -> None:
        type(self).asked.append(self.path)
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path.startswith("/moved"):
            self.send_response(302)
            self.send_header(
                "Location", {"/moved": "/rows", "/moved-away": "file:///etc/hostname"}.get(self.path, self.path)
            )
            self.end_headers()
            return
        body = gzip.compress(ROWS) if self.path == "/rows.gz" else ROWS
        self.send_response(200)
        if self.path != "/short-without-length":
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        is_short = self.path.startswith("/short")
        self.wfile.write(body[: len(body) // 2] if is_short else body)

    def log_message(self, *words: object) -> None:
        pass


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where the server is; the cache is a folder of the test's own."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    Server.asked = []
    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def rows_at(address: str, name: str = "rows.data", digest: str = DIGEST) -> DataFile:
    return DataFile(name, digest, address)


def cached_files() -> list[str]:
    return sorted(os.listdir(cache_folder())) if cache_folder().exists() else []


@pytest.mark.parametrize(("path", "name"), [("rows", "rows.data"), ("moved", "rows.data"), ("rows.gz", "rows.data.gz")])
def test_a_file_is_fetched_once(server: str, path: str, name: str) -> None:
    """It is checked and kept, also behind a redirect and packed; the second time nobody is asked."""
    for _ in range(2):
        assert find_bytes(rows_at(f"{server}/{path}", name), None, True) == ROWS
    assert len(Server.asked) == 1 + (path == "moved")
    assert cached_files() == [name]


@pytest.mark.parametrize(
    ("path", "digest", "message"),
    [
        ("rows", "0" * 64, "its SHA-256 differs. Nothing was kept"),
        ("short", DIGEST, "was cut off on the way"),
        ("short-without-length", DIGEST, "its SHA-256 differs"),
        ("missing", DIGEST, "the server answered 404"),
        ("moved-in-circles", DIGEST, "the server answered 302"),
        ("moved-away", DIGEST, "the server answered 302"),
    ],
)
def test_what_is_not_the_file_is_not_kept(server: str, path: str, digest: str, message: str) -> None:
    """A wrong checksum, a cut connection, no such file, redirects to nowhere: one sentence, and an empty cache."""
    with pytest.raises(SourceError, match=message) as told:
        find_bytes(rows_at(f"{server}/{path}", digest=digest), None, True)
    assert "CLOISTER_DATA" in str(told.value)
    assert cached_files() == []


def test_nobody_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that does not answer is told without its password."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(SourceError, match=r"http://127.0.0.1/rows cannot be reached"):
        find_bytes(rows_at("http://user:secret@127.0.0.1:9/rows"), None, True)


def test_an_endless_answer_is_ended(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More than any set holds is not read to its end."""
    monkeypatch.setattr(data_files, "MOST_BYTES", 1000)
    with pytest.raises(SourceError, match="holds more than 1,000 bytes"):
        find_bytes(rows_at(f"{server}/rows"), None, True)


def test_a_disk_that_is_full(server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be written leaves nothing behind, and says why."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "no space")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(SinkError, match=r"No space left on device\. Make room"):
        find_bytes(rows_at(f"{server}/rows"), None, True)
    assert cached_files() == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are the system's")
def test_a_disk_that_is_full_on_the_way(server: str) -> None:
    """With the system's own limit on file sizes: a write that fails half-way leaves nothing behind either."""
    code = f"""
import resource, signal
from cloister.datasets.data_files import find_bytes
from cloister.datasets.dataset import DataFile
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
find_bytes(DataFile("rows.data", "{DIGEST}", "{server}/rows"), None, True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "SinkError" in done.stderr
    assert "File too large. Make room" in done.stderr
    assert cached_files() == []


def test_the_folder_comes_first(server: str, tmp_path: Path) -> None:
    """A file in the user's folder is taken and nobody is asked; one that is not the known one is refused, not passed over."""
    file = rows_at(f"{server}/rows")
    (tmp_path / file.name).write_bytes(ROWS)
    assert find_bytes(file, str(tmp_path), True) == ROWS
    (tmp_path / file.name).write_bytes(ROWS[:-1])
    with pytest.raises(SourceError, match=r"rows.data is not the rows.data that is known"):
        find_bytes(file, str(tmp_path), True)
    (tmp_path / file.name).unlink()
    (tmp_path / file.name).mkdir()
    with pytest.raises(SourceError, match=r"cannot be read: Is a directory"):
        find_bytes(file, str(tmp_path), True)
    assert Server.asked == []


def test_a_damaged_file_in_the_cache_is_fetched_again(server: str) -> None:
    """It is replaced by the right one."""
    file = rows_at(f"{server}/rows")
    find_bytes(file, None, True)
    (cache_folder() / file.name).write_bytes(b"half")
    assert find_bytes(file, None, True) == ROWS
    assert (cache_folder() / file.name).read_bytes() == ROWS


def test_packed_bytes_that_are_damaged(tmp_path: Path) -> None:
    """A packed file that cannot be unpacked is not the known one."""
    file = DataFile("rows.data.gz", DIGEST)
    for packed in (gzip.compress(ROWS)[:-9], b"no gzip", gzip.compress(b"others")):
        (tmp_path / file.name).write_bytes(packed)
        with pytest.raises(SourceError, match="SHA-256 differs"):
            find_bytes(file, str(tmp_path), False)


def test_addresses_are_those_of_public_archives() -> None:
    """Every address is an https one, of the file that it is kept as."""
    files = [file for facts in SETS.values() for file in facts.files]
    assert all(len(file.sha256) == 64 for file in files)
    known = [file for file in files if file.address]
    assert len(known) == 10
    assert all(file.address.startswith("https://") and file.address.endswith(f"/{file.name}") for file in known)
