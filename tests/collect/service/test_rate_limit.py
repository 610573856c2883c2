"""How many requests an address may make."""

from __future__ import annotations

from starlette.testclient import TestClient

from cloister.collect.service import rate_limit
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
