"""How many requests an address may make."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from starlette.testclient import TestClient

from cloister.collect.service import public_api, rate_limit
from cloister.collect.service.app import make_app
from cloister.collect.service.rate_limit import RateLimit
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.inbox import Inbox
from tests.collect.service.conftest import posted
from tests.collect.survey import survey


def test_a_bucket_is_filled_within_a_minute() -> None:
    """As many at once as a minute allows, then one after another; addresses do not share."""
    limit = RateLimit(60)
    assert [limit.seconds_to_wait("192.0.2.1", 0.0) for _ in range(60)] == [0.0] * 60
    assert limit.seconds_to_wait("192.0.2.1", 0.0) == 1.0
    assert limit.seconds_to_wait("192.0.2.2", 0.0) == 0.0
    assert limit.seconds_to_wait("192.0.2.1", 1.0) == 0.0
    assert limit.seconds_to_wait("192.0.2.1", 1.5) == 0.5


def test_addresses_are_not_kept() -> None:
    """Neither as text nor as bytes; one IPv6 household is one, and IPv4 in IPv6 is IPv4."""
    limit = RateLimit(1)
    for address in ("192.0.2.1", "2001:db8::1"):
        assert limit.seconds_to_wait(address, 0.0) == 0.0
    for address in ("::ffff:192.0.2.1", "2001:db8::ffff"):
        assert limit.seconds_to_wait(address, 0.0) > 0
    assert b"192.0.2.1" not in b"".join(limit._buckets)
    assert all(len(name) == 16 for name in limit._buckets)


def test_hosts_behind_nat64_are_told_apart() -> None:
    """An address that holds one of IPv4 counts as that one, not as the network of the translator."""
    limit = RateLimit(1)
    for address in ("64:ff9b::192.0.2.1", "64:ff9b::192.0.2.2", "64:ff9b::c000:203"):
        assert limit.seconds_to_wait(address, 0.0) == 0.0
    for address in ("192.0.2.1", "64:ff9b::c000:202", "192.0.2.3"):
        assert limit.seconds_to_wait(address, 0.0) > 0


def test_more_is_charged_whatever_is_left() -> None:
    """Once; then the address is in debt, which its own request may deepen and no other one, and which ends within an hour."""
    limit = RateLimit(60)
    for _ in range(60):
        limit.seconds_to_wait("192.0.2.1", 0.0)
    assert limit.charge("192.0.2.1", 10, now=0.0) == 0.0
    assert limit.charge("192.0.2.1", 10, now=0.0) == 11.0
    assert limit.charge("192.0.2.1", 20, paid=10, now=0.0) == 0.0
    assert limit.seconds_to_wait("192.0.2.1", 30.0) == 1.0
    assert limit.charge("192.0.2.1", 10**9, now=30.0) == 0.0
    assert limit.seconds_to_wait("192.0.2.1", 30.0) == 3601.0


def test_memory_is_bounded() -> None:
    """The address that was quiet longest is forgotten first."""
    limit = RateLimit(1)
    for number in range(rate_limit.MOST_ADDRESSES + 10):
        limit.seconds_to_wait(str(number), 0.0)
    assert len(limit._buckets) == rate_limit.MOST_ADDRESSES


def test_a_batch_counts_as_many_as_it_has(inbox: Inbox) -> None:
    """A large one goes through and leaves a debt; so does one with very many bytes."""
    collection = inbox.add(survey()).collection
    with TestClient(make_app(ServiceSettings(str(inbox.store.path or inbox.store.url), rate=100))) as web:
        batch = {"reports": [posted(collection) for _ in range(150)]}
        assert web.post("/v1/collections/students/reports/batch", json=batch).status_code == 201
        refused = web.post("/v1/collections/students/reports", json=posted(collection))
        assert refused.status_code == 429
        assert 25 <= int(refused.headers["retry-after"]) <= 32


def test_people_are_told_in_a_page(inbox: Inbox) -> None:
    """Who reloads a page too often sees a sentence and when to come back, not JSON."""
    inbox.add(survey())
    with TestClient(make_app(ServiceSettings(str(inbox.store.path or inbox.store.url), rate=1))) as web:
        asked = [web.get("/c/students", headers={"accept": "text/html,*/*"}) for _ in range(2)]
        assert [page.status_code for page in asked] == [200, 429]
        assert "<h1>Too many requests</h1>" in asked[1].text
        assert 1 <= int(asked[1].headers["retry-after"]) <= 60
        assert f"Try again in {asked[1].headers['retry-after']} seconds." in asked[1].text


def app_of(inbox: Inbox, rate: int, **more: Any) -> Any:
    """A service with a rate."""
    return make_app(ServiceSettings(str(inbox.store.path or inbox.store.url), rate=rate, **more))


async def send_heads_first(
    app: Any, bodies: list[bytes], meanwhile: Callable[[], object]
) -> list[tuple[int, dict[str, Any]]]:
    """Batches whose heads are all let in before any of their bodies comes; something happens in between."""
    waiting, is_over = asyncio.Semaphore(0), asyncio.Event()

    async def send_one(body: bytes) -> tuple[int, dict[str, Any]]:
        messages: list[Any] = []

        async def receive() -> Any:
            waiting.release()
            await is_over.wait()
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            messages.append(message)

        path = "/v1/collections/students/reports/batch"
        headers = [(b"content-type", b"application/json")]
        scope = {"type": "http", "method": "POST", "path": path, "headers": headers, "client": ("192.0.2.1", 1)}
        await app({**scope, "query_string": b"", "root_path": ""}, receive, send)
        return messages[0]["status"], json.loads(messages[1]["body"])

    async with asyncio.timeout(20):
        tasks = [asyncio.create_task(send_one(body)) for body in bodies]
        for _ in tasks:
            await waiting.acquire()
        meanwhile()
        is_over.set()
        return await asyncio.gather(*tasks)


@pytest.mark.parametrize(("size", "is_drained"), [(150, True), (500, True), (500, False)])
def test_batches_that_waited_for_an_empty_bucket(
    inbox: Inbox, monkeypatch: pytest.MonkeyPatch, size: int, is_drained: bool
) -> None:
    """Those that find a debt when they have arrived are refused, large ones unread; one batch beyond the rate is stored."""
    rate, count = 600, 6
    collection = inbox.add(survey()).collection
    parsed: list[int] = []
    parse = public_api.quick_json
    monkeypatch.setattr(public_api, "quick_json", lambda text: (parsed.append(1), parse(text))[1])
    app = app_of(inbox, rate)

    def drain() -> None:
        while is_drained and not app.state.service.limit.seconds_to_wait("192.0.2.1"):
            pass

    bodies = [json.dumps({"reports": [posted(collection) for _ in range(size)]}).encode() for _ in range(count)]
    assert (len(bodies[0]) > 2**16) == (size == 500)
    with TestClient(app) as web:
        answers = web.portal.call(send_heads_first, app, bodies, drain)
    stored = [facts["stored"] for status, facts in answers if status == 201]
    refused = [facts for status, facts in answers if status == 429]
    assert len(stored) + len(refused) == count
    assert sum(stored) <= (size if is_drained else rate + size)
    assert stored
    assert all("Try again in" in facts["detail"] for facts in refused)
    assert len(parsed) == 1 or size < 500 or not is_drained


def test_a_batch_that_is_larger_than_the_rate(inbox: Inbox) -> None:
    """It goes through, with its own bytes and reports as a debt that ends within an hour."""
    collection = inbox.add(survey()).collection
    with TestClient(app_of(inbox, 1)) as web:
        batch = {"reports": [posted(collection) for _ in range(500)]}
        assert web.post("/v1/collections/students/reports/batch", json=batch).status_code == 201
        refused = web.get("/v1/collections/students")
        assert (refused.status_code, 3_000 < int(refused.headers["retry-after"]) <= 3_660) == (429, True)


def test_files_of_pages_are_free(inbox: Inbox, caplog: pytest.LogCaptureFixture) -> None:
    """A page that came is never without its script; what was asked stands in the log by its kind."""
    inbox.add(survey())
    names = ["pages.css", "survey-page.js", "cloister-client.js"]
    with caplog.at_level(logging.INFO, "cloister.collect"), TestClient(app_of(inbox, 1, access_log=True)) as web:
        assert web.get("/c/students").status_code == 200
        assert [web.get(f"/client/{name}").status_code for name in names] == [200] * 3
        assert web.get("/client/none.js").status_code == 404
        assert web.get("/c/students").status_code == 429
        assert web.get("/client/pages.css").status_code == 200
    lines = [record.getMessage() for record in caplog.records]
    assert sum(line.startswith("GET /client 200") for line in lines) == 4
    assert sum(line.startswith("GET /client 404") for line in lines) == 1


def test_reports_do_not_lock_the_collector_out(inbox: Inbox) -> None:
    """The collector's pages and routes have a bucket of their own, in which guesses of the token count."""
    collection = inbox.add(survey()).collection
    token = {"Authorization": f"Bearer {inbox.renew_token()}"}
    with TestClient(app_of(inbox, 3), base_url="http://localhost") as web:
        statuses = [web.post("/v1/collections/students/reports", json=posted(collection)).status_code for _ in range(4)]
        assert statuses == [201, 201, 201, 429]
        assert web.get("/admin").status_code == 200
        assert web.get("/v1/collections", headers=token).status_code == 200
        assert web.post("/admin/login", data={"token": "no"}).status_code == 401
        assert web.post("/admin/login", data={"token": "no"}).status_code == 429
        assert web.get("/v1/metrics", headers={"Authorization": "Bearer no"}).status_code == 429
        assert web.get("/v1/health").status_code == 429
