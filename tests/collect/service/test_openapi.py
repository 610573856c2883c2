"""The OpenAPI document is what the service does: Schemathesis tries it, and fuzzed bodies never end in a fault of the server."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cloister.collect import Report
from cloister.collect.storing.inbox import Inbox
from tests.collect.service.conftest import Running
from tests.collect.service.live_service import LiveService, live_service
from tests.collect.survey import survey

EXAMPLES = 8
CONFIG = """
headers = {{ Authorization = "Bearer {token}" }}
generation.max-examples = {examples}
[checks.positive_data_acceptance]
# what has the right form may still be of another collection, come too late, or come twice
expected-statuses = ["2xx", "403", "404", "409", "410", "422"]
"""


@pytest.fixture(scope="module")
def hosting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LiveService, Path]]:
    """A service with the small survey, and the configuration of Schemathesis for it."""
    pytest.importorskip("schemathesis", reason="schemathesis is absent: pip install schemathesis")
    folder = tmp_path_factory.mktemp("service")
    inbox = Inbox(folder / "reports.db")
    inbox.create()
    inbox.add(survey())
    config = folder / "schemathesis.toml"
    config.write_text(CONFIG.format(token=inbox.renew_token(), examples=EXAMPLES))
    with live_service(folder, "--store", folder / "reports.db") as service:
        yield service, config


def schemathesis(hosting: tuple[LiveService, Path], *flags: str, more: str = "") -> str:
    """Run Schemathesis on the service; what it found."""
    service, config = hosting
    own = config.with_name("own.toml")
    own.write_text(more + config.read_text())
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(own), "run", "--no-color"]
    done = subprocess.run(
        [*command, *flags, f"{service.address}/v1/openapi.json"],
        capture_output=True,
        text=True,
        cwd=config.parent,
        timeout=300,
    )
    return "" if done.returncode == 0 else done.stdout[-6_000:] + done.stderr[-2_000:]


@pytest.mark.slow
def test_schemathesis_finds_nothing(hosting: tuple[LiveService, Path]) -> None:
    """All of its checks, in all of its phases, on every operation."""
    assert schemathesis(hosting) == ""
    assert hosting[0].errors.read_text() == ""


@pytest.mark.slow
def test_schemathesis_finds_nothing_on_a_collection_that_is_there(hosting: tuple[LiveService, Path]) -> None:
    """The same where the collection exists, without closing or deleting it."""
    flags = ["--exclude-method", "DELETE", "--exclude-path-regex", "close$", "--phases", "coverage,fuzzing"]
    assert schemathesis(hosting, *flags, more='parameters = { id = "students" }\n') == ""


def test_the_document_says_what_bodies_and_errors_are(running: Running) -> None:
    """Every route has its errors, every body a schema with an example, and each reference leads somewhere."""
    document = running.web.get("/v1/openapi.json").json()
    text = json.dumps(document)
    for name in {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}:
        assert name in document["components"]["schemas"]
    for path, methods in document["paths"].items():
        for method, facts in methods.items():
            assert "429" in facts["responses"], (method, path)
            if "requestBody" in facts:
                reference = facts["requestBody"]["content"]["application/json"]["schema"]["$ref"]
                schema = document["components"]["schemas"][reference.rpartition("/")[2]]
                assert "example" in schema


Json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=10,
)


def places(body: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in a body, from its whole to its leaves."""
    yield path
    if isinstance(body, dict):
        for key, value in body.items():
            yield from places(value, (*path, key))


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_changed_bodies_never_fail_the_server(running: Running, data: st.DataObject) -> None:
    """A proper body in which any part is replaced, removed or doubled is taken or refused: no status from 500 on."""
    report = Report("students", running.collection.terms, "2" * 32, {"smokes": "no", "year": "1", "likes": "tea"})
    body = {"report": report.as_dict()}
    path = data.draw(st.sampled_from(list(places(body))))
    changed = copy.deepcopy(body)
    if not path:
        changed = data.draw(Json)
    else:
        inside = changed
        for key in path[:-1]:
            inside = inside[key]
        if data.draw(st.booleans()):
            del inside[path[-1]]
        else:
            inside[path[-1]] = data.draw(Json)
    for sent, where in ((changed, "reports"), ({"reports": [changed, body]}, "reports/batch")):
        text = json.dumps(sent).encode()
        if data.draw(st.booleans()):
            at = data.draw(st.integers(0, len(text)))
            text = text[:at] + data.draw(st.binary(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]
        answer = running.web.post(
            f"/v1/collections/students/{where}", content=text, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (201, 207) or 400 <= answer.status_code < 500
