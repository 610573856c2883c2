"""The service behind a proxy with TLS: the configuration of the docs, as it stands."""

from __future__ import annotations

import datetime
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from cloister.collect.storing.inbox import Inbox
from tests.collect.service.live_service import live_service
from tests.collect.survey import survey

DOCS = Path(__file__).resolve().parents[3] / "docs" / "collect-service.md"


def make_certificate(folder: Path) -> None:
    """A certificate for survey.example that signs itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "survey.example")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("survey.example")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    (folder / "survey.example.pem").write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    form = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "survey.example.key").write_bytes(key.private_bytes(*form))


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[int, Inbox, Path]]:
    """The port of nginx before a service that lets an address ask 20 times a minute."""
    nginx = shutil.which("nginx") or next((path for path in ["/usr/sbin/nginx"] if os.path.exists(path)), None)
    if nginx is None:
        pytest.skip("nginx is not installed here")
    folder = tmp_path_factory.mktemp("proxied")
    inbox = Inbox(folder / "reports.db")
    inbox.create()
    inbox.add(survey())
    make_certificate(folder)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with live_service(folder, "--store", folder / "reports.db", rate=20) as service:
        (shown,) = re.findall(r"^```nginx\n(.*?)^```$", DOCS.read_text(), re.MULTILINE | re.DOTALL)
        block = shown.replace("listen 443 ssl", f"listen 127.0.0.1:{port} ssl").replace("/etc/ssl", str(folder))
        block = block.replace("127.0.0.1:8000", f"127.0.0.1:{urlsplit(service.address).port}")
        places = " ".join(
            f"{kind}_temp_path {folder / kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder / 'pid'}; error_log {folder / 'errors'};\n"
            f"events {{}}\nhttp {{ {places}\n{block} }}\n"
        )
        process = subprocess.Popen([nginx, "-c", str(folder / "nginx.conf"), "-p", str(folder)])
        try:
            end = time.monotonic() + 20
            while time.monotonic() < end and process.poll() is None:
                with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                    break
                time.sleep(0.05)
            assert process.poll() is None, (folder / "errors").read_text()
            yield port, inbox, folder
        finally:
            process.terminate()
            process.wait(20)


def ask(
    proxied: tuple[int, Inbox, Path], path: str, data: bytes | None = None, headers: dict[str, str] | None = None
) -> str:
    """Ask through the proxy as a browser would that trusts its certificate."""
    port, _, folder = proxied
    context = ssl.create_default_context(cafile=str(folder / "survey.example.pem"))
    with (
        socket.create_connection(("127.0.0.1", port), timeout=10) as plain,
        context.wrap_socket(plain, server_hostname="survey.example") as secure,
    ):
        lines = [f"{'POST' if data is not None else 'GET'} {path} HTTP/1.1", "Host: survey.example", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
        lines += [f"Content-Length: {len(data)}"] if data is not None else []
        secure.sendall("\r\n".join([*lines, "", ""]).encode() + (data or b""))
        answer = b""
        while part := secure.recv(65536):
            answer += part
    return answer.decode()


def test_pages_and_cookies_over_tls(proxied: tuple[int, Inbox, Path]) -> None:
    """The page comes through, links are of the public host, and the collector's cookie is for https alone."""
    page = ask(proxied, "/c/students")
    assert page.startswith("HTTP/1.1 200")
    assert "Content-Security-Policy".lower() in page.lower()
    token = proxied[1].renew_token()
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": "https://survey.example"}
    answer = ask(proxied, "/admin/login", f"token={token}".encode(), form)
    assert answer.startswith("HTTP/1.1 303")
    assert "Secure" in answer
    listed = ask(proxied, "/admin/c/students", None, {"Cookie": f"cloister_token={token}"})
    assert "https://survey.example/c/students" in listed


def test_requests_are_counted_by_the_clients_address(proxied: tuple[int, Inbox, Path]) -> None:
    """What a client writes into X-Forwarded-For does not help it: the proxy writes its own."""
    answers = [ask(proxied, "/c/students", None, {"X-Forwarded-For": f"203.0.113.{i}"}) for i in range(25)]
    assert answers[-1].startswith("HTTP/1.1 429")
