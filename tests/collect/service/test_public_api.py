"""What everybody may ask of the service: facts of collections, and that reports are stored once."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from cloister.collect import Collection, Report
from cloister.collect.service import posted_reports, public_api, report_routes
from cloister.collect.service.app import make_app
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.inbox import Inbox
from tests.collect.service.conftest import ANSWERS, Running, posted, with_code
from tests.collect.survey import survey


def problem(answer: Any, status: int, name: str) -> str:
    """The words of a problem of this status and name."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    facts = answer.json()
    assert facts["type"] == f"urn:cloister:{name}"
    assert facts["status"] == status
    detail: str = facts["detail"]
    return detail


def test_health(running: Running) -> None:
    """The service answers once its store has."""
    assert running.web.get("/v1/health").json()["status"] == "ok"


def test_a_collection_as_clients_need_it(running: Running) -> None:
    """Questions in their order, exact epsilons, and terms that stand in reports; its file can be loaded again."""
    facts = running.web.get("/v1/collections/students").json()
    assert [question["name"] for question in facts["questions"]] == ["smokes", "year", "likes"]
    assert (facts["terms"], facts["epsilon"], facts["state"]) == (running.collection.terms, "3", "open")
    assert (facts["participation"], facts["questions"][2]["values"]) == ("open", ["", "tea", "coffee"])
    assert running.web.get("/v1/collections/invited").json()["participation"] == "invited"
    file = running.web.get("/v1/collections/students/file").json()
    assert Collection(**file) == running.collection
    for id in ("none", "NONE", "a" * 65, "%00", "..%2f"):
        assert running.web.get(f"/v1/collections/{id}").status_code in (404, 422)


def test_a_report_is_stored_once(running: Running) -> None:
    """201 for it, 201 for it again, and a refusal of other answers under its id."""
    body = posted(running.collection)
    first, again = running.post(body), running.post(body)
    assert (first.status_code, first.json()["status"]) == (201, "stored")
    assert (again.status_code, again.json()["status"]) == (201, "stored before")
    answers = {**body["report"]["answers"], "year": "1" if body["report"]["answers"]["year"] != "1" else "2"}
    changed = {**body, "report": {**body["report"], "answers": answers}}
    problem(running.post(changed), 409, "answered")
    assert running.stored() == 1


def test_invitations(running: Running) -> None:
    """A code lets one report in, however it is typed; an acknowledgement that was lost can be had again."""
    collection = running.inbox.get("invited").collection
    code, other = running.inbox.invite("invited", 2)
    body = with_code(collection, f" {code.lower()} ".strip())
    assert running.post(body, "invited").status_code == 201
    assert running.post(body, "invited").json()["status"] == "stored before"
    problem(running.post(with_code(collection, code), "invited"), 403, "not-invited")
    problem(running.post(with_code(collection, other[:-1]), "invited"), 422, "code")
    problem(running.post(posted(collection), "invited"), 422, "form")
    problem(running.post(with_code(running.collection, other)), 422, "form")
    assert running.stored("invited") == 1


def test_closing(running: Running) -> None:
    """A collection that was closed takes nothing new, at once; what is there is acknowledged still."""
    body = posted(running.collection)
    running.post(body)
    running.inbox.close("students")
    problem(running.post(posted(running.collection)), 410, "closed")
    assert running.post(body).status_code == 201
    assert running.web.get("/v1/collections/students").json()["state"] == "closed"


def test_the_servers_clock_opens_and_closes(inbox: Inbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before a collection opens and from its end on nothing is stored, whatever the client's clock says."""
    opens = datetime(2030, 1, 1, tzinfo=UTC)
    hosted = inbox.add(survey(opens=opens, closes=opens + timedelta(days=1)))
    clock = [opens]
    for module in (posted_reports, public_api):
        monkeypatch.setattr(module, "now", lambda: clock[0])
    report = Report(
        hosted.collection.id, hosted.collection.terms, "0" * 32, {"smokes": "no", "year": "1", "likes": ""}
    ).as_dict()
    with TestClient(make_app(ServiceSettings(str(inbox.store.path or inbox.store.url), rate=0))) as web:

        def post(id: str) -> Any:
            return web.post("/v1/collections/students/reports", json={"report": {**report, "report": id}})

        clock[0] = opens - timedelta(microseconds=1)
        problem(post("1" * 32), 403, "not-yet")
        clock[0] = opens
        assert post("2" * 32).status_code == 201
        clock[0] = opens + timedelta(days=1)
        problem(post("3" * 32), 410, "closed")
        assert post("2" * 32).status_code == 201
    assert inbox.count(hosted.number) == 1


def test_a_batch(running: Running) -> None:
    """Each report by itself: those that are stored are, and each of the others says why."""
    good = [posted(running.collection) for _ in range(3)]
    answer = running.post({"reports": good}, path="reports/batch")
    assert (answer.status_code, answer.json()["stored"]) == (201, 3)
    assert [each["report"] for each in answer.json()["results"]] == [each["report"]["report"] for each in good]
    first = good[1]["report"]
    changed = {**first["answers"], "year": "2" if first["answers"]["year"] != "2" else "3"}
    other = {"report": {**first, "answers": changed}}
    mixed = [good[0], posted(running.collection), other, {"report": 1}]
    answer = running.post({"reports": mixed}, path="reports/batch")
    assert (answer.status_code, answer.json()["stored"]) == (207, 2)
    assert [each["status"] for each in answer.json()["results"]] == [201, 201, 409, 422]
    assert running.stored() == 4
    for body in ({"reports": []}, {"reports": good[:1] * 1001}, {"reports": 1}, [], {"reports": [], "more": 1}):
        assert running.post(body, path="reports/batch").status_code == 422


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"version": 2}, "another version"),
    ({"collection": "other"}, "another collection"),
    ({"terms": "0" * 32}, "other terms"),
    ({"seeded": True}, "seeded"),
    ({"more": 1}, "fields that none has"),
    ({"report": "z" * 32}, "proper id"),
    ({"answers": {"smokes": "no"}}, "without an answer"),
    ({"answers": {"smokes": "maybe", "year": "1", "likes": ""}}, "outside its domain"),
    ({"answers": {"smokes": "no", "year": 1, "likes": ""}}, "outside its domain"),
    ({"answers": []}, "unknown question"),
]


@pytest.mark.parametrize(("changes", "words"), REFUSED)
def test_what_is_no_report_is_refused(running: Running, changes: dict[str, Any], words: str) -> None:
    """In words that repeat nothing of it."""
    assert words in problem(running.post(posted(running.collection, **changes)), 422, "report")
    assert running.stored() == 0


@pytest.mark.parametrize(
    ("content", "kind", "status"),
    [
        (b"", "application/json", 400),
        (b"{", "application/json", 400),
        (b"\xff\xfe", "application/json", 400),
        (b'{"report": NaN}', "application/json", 400),
        (b'{"report": 1, "report": 2}', "application/json", 422),
        (b"[" * 2_000, "application/json", 400),
        (b'{"report": ' + b"9" * 500 + b"}", "application/json", 400),
        (b"{}", "text/plain", 415),
        (b"a=1", "application/x-www-form-urlencoded", 415),
        (b"{}", "", 415),
        (b"null", "application/json", 422),
        (b"[]", "application/json", 422),
        (b'"' + b"x" * 10_000_000 + b'"', "application/json", 413),
    ],
)
def test_bodies_that_are_none(running: Running, content: bytes, kind: str, status: int) -> None:
    """Each ends in one sentence and a status of the 400s."""
    headers = {"content-type": kind} if kind else {}
    for path in ("reports", "reports/batch"):
        answer = running.web.post(f"/v1/collections/students/{path}", content=content, headers=headers)
        assert answer.status_code == status or (path == "reports/batch" and answer.status_code in (400, 413, 422))
        assert answer.headers["content-type"] == "application/problem+json"
    assert running.stored() == 0


def test_a_body_without_a_length_is_bounded_too(running: Running) -> None:
    """Chunks are counted as they come."""

    def chunks() -> Any:
        for _ in range(10_000):
            yield b" " * 1_000

    answer = running.web.post(
        "/v1/collections/students/reports", content=chunks(), headers={"content-type": "application/json"}
    )
    problem(answer, 413, "size")


def test_nothing_that_was_sent_comes_back_in_errors(running: Running) -> None:
    """A refusal says what is wrong and repeats no value."""
    secret = "k3rhQ7"
    bodies: list[Any] = [
        {"report": {secret: secret}},
        posted(running.collection, answers={"smokes": secret, "year": "1", "likes": ""}),
        posted(running.collection, terms=secret),
        {secret: 1},
    ]
    for body in bodies:
        assert secret not in running.post(body).text
    assert secret not in running.post(f'{{"{secret}": }}').text
    assert secret not in running.web.get(f"/v1/collections/x?{secret}={secret}").text
    assert secret not in running.web.get(f"/{secret}").text


def test_methods_and_addresses_that_are_not_there(running: Running) -> None:
    """404 and 405 are problems like any other, the latter with what is allowed."""
    assert problem(running.web.get("/nothing"), 404, "http")
    answer = running.web.put("/v1/collections/students/reports", json={})
    problem(answer, 405, "http")
    assert answer.headers["allow"] == "POST"
    assert running.web.post("/client/pages.css").headers["allow"] == "GET, HEAD"


def test_headers_of_pages_and_shared_parts(running: Running) -> None:
    """Pages run their own scripts alone; other sites may use the client and the public API, and nothing of the collector's."""
    page = running.web.get("/c/students")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]
    assert "access-control-allow-origin" not in page.headers
    for path in ("/client/cloister-client.js", "/v1/collections/students", "/v1/health"):
        assert running.web.get(path).headers["access-control-allow-origin"] == "*"
    preflight = running.web.options("/v1/collections/students/reports", headers={"origin": "https://other.example"})
    assert (preflight.status_code, preflight.headers["access-control-allow-headers"]) == (204, "content-type")
    for path in ("/v1/collections", "/v1/collections/students/estimate", "/v1/metrics", "/admin"):
        assert "access-control-allow-origin" not in running.web.get(path, headers=running.headers).headers
        assert running.web.options(path).status_code in (401, 404, 405)
    script = running.web.get("/client/cloister-client.js")
    assert script.headers["content-type"].startswith(("text/javascript", "application/javascript"))
    assert script.headers["cache-control"] == "no-cache"
    for known, status in (("*", 304), (f'"x", W/{script.headers["etag"]}', 304), ('"x"', 200)):
        assert running.web.get("/client/cloister-client.js", headers={"if-none-match": known}).status_code == status
    assert running.web.post("/client/cloister-client.js").status_code == 405
    assert running.web.get("/client/static/pages.css").status_code == 404
    assert running.web.get("/client/../app.py").status_code == 404
    assert running.web.get("/client/%2e%2e/app.py").status_code == 404


def test_the_server_never_sees_an_answer_in_its_page(running: Running) -> None:
    """The page is the same for everybody, says what leaves, and names no other host."""
    text = running.web.get("/c/students").text
    assert text == running.web.get("/c/students").text
    assert "What leaves: your answer in 73.1% of all cases" in text
    assert "http" not in text.replace("http-equiv", "")
    assert json.dumps(ANSWERS) not in text


def test_a_collection_that_was_deleted_is_gone(running: Running) -> None:
    """Also for workers that looked it up a moment ago, and when another one takes its id."""
    running.post(posted(running.collection))
    running.inbox.delete("students")
    body = posted(running.collection)
    assert running.post(body).status_code == 404
    running.inbox.add(replace(survey(epsilon=2), title="another"))
    assert running.post(body).status_code in (404, 422)
    assert running.stored() == 0


def test_both_ways_to_a_route_give_the_same(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reports go past the framework; by way of it they have the same answers."""
    bodies: list[Any] = [posted(running.collection), {"report": 1}, [], {"reports": [posted(running.collection), {}]}]
    paths = ["students/reports", "students/reports/batch", "none/reports"]

    def answers() -> list[tuple[int, str, Any]]:
        found = [running.web.post(f"/v1/collections/{path}", json=body) for path in paths for body in bodies]
        return [(each.status_code, each.headers["content-type"], each.json()) for each in found]

    answers()  # what is stored is stored before, from here on
    directly = answers()
    monkeypatch.setattr(report_routes, "PATH", re.compile("nothing"))
    assert answers() == directly
    assert {status for status, _, _ in directly} == {201, 207, 404, 422}
