"""A service in this process, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the service is absent: pip install 'cloister[collect]'")

from starlette.testclient import TestClient

from cloister.collect import Client, Collection
from cloister.collect.service.app import make_app
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.inbox import Inbox
from tests.collect.survey import survey

ANSWERS = {"smokes": "no", "year": 2, "likes": "tea"}


@dataclass(frozen=True)
class Running:
    """A service, its store, and what a collector sends along."""

    web: TestClient
    inbox: Inbox
    token: str
    collection: Collection

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}

    def post(self, body: Any, id: str = "students", path: str = "reports") -> Any:
        """Send a report as JSON."""
        return self.web.post(f"/v1/collections/{id}/{path}", json=body)

    def stored(self, id: str = "students") -> int:
        """How many reports are stored."""
        return self.inbox.count(self.inbox.get(id).number)


def posted(asked: Collection, **changes: Any) -> dict[str, Any]:
    """A new report as a browser sends it."""
    return {"report": {**Client(asked).report(ANSWERS).as_dict(), **changes}}


def with_code(collection: Collection, code: str) -> dict[str, Any]:
    """A new report with the code of an invitation."""
    return {"code": code, "report": Client(collection).report(ANSWERS).as_dict()}


@pytest.fixture
def running(inbox: Inbox) -> Iterator[Running]:
    """A service that hosts the small survey for anybody, and one for invited people."""
    place = str(inbox.store.path or inbox.store.url)
    collection = inbox.add(survey(), wanted=1000).collection
    inbox.add(replace(survey(), id="invited"), is_invited=True)
    with TestClient(make_app(ServiceSettings(place, rate=0)), base_url="http://localhost") as web:
        yield Running(web, inbox, inbox.renew_token(), collection)
