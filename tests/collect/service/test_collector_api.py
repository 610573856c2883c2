"""What the collector may ask with the token, and nobody without it."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from cloister.collect import Client, estimate
from cloister.collect.service.running import MOST_QUEUED
from cloister.collect.storing import unsettled
from cloister.collect.storing.inbox import InboxError
from cloister.privacy import store_scrubbing
from tests.collect.service.conftest import ANSWERS, Running, posted
from tests.collect.survey import survey

ROUTES = [
    ("GET", "/v1/collections"),
    ("POST", "/v1/collections"),
    ("POST", "/v1/collections/students/close"),
    ("DELETE", "/v1/collections/students"),
    ("POST", "/v1/collections/students/invitations"),
    ("GET", "/v1/collections/students/estimate"),
    ("GET", "/v1/collections/students/estimate.zip"),
    ("GET", "/v1/collections/students/rows.zip"),
    ("GET", "/v1/collections/students/clusters?k=2"),
    ("GET", "/v1/collections/students/reports.parquet"),
    ("GET", "/v1/metrics"),
]


def fill(running: Running, count: int = 60) -> None:
    """Send reports in a batch."""
    reports = [posted(running.collection) for _ in range(count)]
    assert running.post({"reports": reports}, path="reports/batch").status_code == 201


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_without_the_token_nothing_opens(running: Running, method: str, path: str) -> None:
    """No token, another one, an old one, another scheme: 401, before anything else is looked at."""
    old = running.token
    running.inbox.renew_token()
    tried: list[dict[str, str]] = [{}, {"Authorization": f"Bearer {old}"}, {"Authorization": f"Basic {old}"}]
    tried += [{"Authorization": "Bearer "}, {"Authorization": "Bearer ü"}, {"Cookie": f"cloister_token={old}"}]
    for headers in tried:
        raw = {name: value.encode() for name, value in headers.items()}
        answer = running.web.request(method, path, headers=raw, json={} if method == "POST" else None)
        assert answer.status_code == 401, answer.text
        assert answer.headers["www-authenticate"] == "Bearer"
    assert running.inbox.get("students").is_closed is False


def test_a_wrong_token_is_told_from_none(running: Running) -> None:
    """Who renewed the token and sends the old one learns it."""
    wrong = running.web.get("/v1/collections", headers={"Authorization": "Bearer no"})
    assert wrong.json()["detail"] == "This is not the collector's token."
    assert "Authorization: Bearer TOKEN" in running.web.get("/v1/collections").json()["detail"]


def test_the_route_list_is_whole(running: Running) -> None:
    """Every route of the collector's half is in the list above."""
    paths = running.web.get("/v1/openapi.json").json()["paths"]
    guarded = {
        (method.upper(), path.replace("{id}", "students"))
        for path, methods in paths.items()
        for method, facts in methods.items()
        if facts.get("security")
    }
    assert guarded == {(method, path.partition("?")[0]) for method, path in ROUTES}


def test_hosting_a_collection(running: Running) -> None:
    """The same again changes nothing, another one under the id is refused, and what is no collection is told so."""
    body: dict[str, Any] = {
        "collection": survey(title="New").facts() | {"id": "new"},
        "participation": "invited",
        "wanted": 5,
    }
    for _ in range(2):
        answer = running.web.post("/v1/collections", json=body, headers=running.headers)
        assert answer.status_code == 201
        assert answer.json() | {"terms": ""} == {
            "id": "new", "title": "New", "state": "open", "participation": "invited", "wanted": 5, "reports": 0,
            "invitations_left": 0, "terms": "", "is_settled": False,
        }  # fmt: skip
    faulty: list[Any] = [
        {**body, "participation": "open"},
        {**body, "participation": "all"},
        {**body, "wanted": True},
        {**body, "wanted": 0},
        {**body, "more": 1},
        {"collection": {"id": "x"}},
        {"collection": {"id": "X Y", "questions": {"a": ["b", "c"]}, "epsilon": 1}},
        {"collection": {"id": "x", "questions": {"a": ["b", "c"]}}},
        {"collection": {"id": "x", "questions": {"a": [1, {}]}, "epsilon": []}},
        {"collection": []},
        [],
    ]
    for each in faulty:
        answer = running.web.post("/v1/collections", json=each, headers=running.headers)
        assert answer.status_code == 422, each
        assert answer.headers["content-type"] == "application/problem+json"
    listed = running.web.get("/v1/collections", headers=running.headers).json()
    assert [each["id"] for each in listed] == ["invited", "new", "students"]


def test_invitations(running: Running) -> None:
    """As many codes as were asked for, of a collection that has them."""
    path = "/v1/collections/invited/invitations"
    answer = running.web.post(path, json={"count": 3}, headers=running.headers)
    assert answer.status_code == 201
    assert len(set(answer.json()["codes"])) == 3
    for asked, body, status in (
        (path, {"count": 0}, 422),
        (path, {"count": 10_001}, 422),
        (path, {"count": "1"}, 422),
        (path, {}, 422),
        ("/v1/collections/students/invitations", {"count": 1}, 422),
        ("/v1/collections/none/invitations", {"count": 1}, 404),
    ):
        assert running.web.post(asked, json=body, headers=running.headers).status_code == status
    running.inbox.close("invited")
    refused = running.web.post(path, json={"count": 1}, headers=running.headers)
    assert (refused.status_code, "is closed" in refused.json()["detail"]) == (422, True)


def test_estimates(running: Running) -> None:
    """Each question with errors, the joint on request, by each method, from all reports so far."""
    fill(running)
    path = "/v1/collections/students/estimate"
    found = running.web.get(path, headers=running.headers).json()
    assert (found["reports"], [table["questions"] for table in found["tables"]]) == (60, [["smokes"], ["year"], ["likes"]])
    rows = found["tables"][0]["rows"]
    assert sum(row["count"] for row in rows) == pytest.approx(60)
    assert all(row["standard_error"] > 0 for row in rows)
    assert found["release"]["guarantee"]["epsilon"] == "3"
    whole = running.web.get(path, params={"joint": "true", "method": "unbiased"}, headers=running.headers).json()
    assert len(whole["tables"][0]["rows"]) == 18
    fill(running, 1)
    assert running.web.get(path, headers=running.headers).json()["reports"] == 61
    assert running.web.get(path, params={"method": "clip"}, headers=running.headers).status_code == 422


def test_no_reports_yet(running: Running) -> None:
    """An estimate of nothing is empty, and no fault."""
    for path in ("estimate", "estimate.zip", "rows.zip", "reports.parquet"):
        answer = running.web.get(f"/v1/collections/students/{path}", headers=running.headers)
        assert answer.status_code == 200, answer.text
    clusters = running.web.get("/v1/collections/students/clusters", params={"k": 2}, headers=running.headers)
    assert clusters.status_code == 422


def test_clusters(running: Running) -> None:
    """k-modes of the estimate, with its certificate."""
    fill(running)
    found = running.web.get("/v1/collections/students/clusters", params={"k": 2}, headers=running.headers).json()
    assert len(found["modes"]) == 2
    assert set(found["modes"][0]) == {"smokes", "year", "likes"}
    for k in (0, 101, "x"):
        answer = running.web.get("/v1/collections/students/clusters", params={"k": k}, headers=running.headers)
        assert answer.status_code == 422


@pytest.mark.parametrize("name", ["estimate", "rows"])
def test_downloads_verify(running: Running, tmp_path: Path, name: str) -> None:
    """What is downloaded lies beside its certificate, which `cloister verify` accepts."""
    fill(running)
    answer = running.web.get(f"/v1/collections/students/{name}.zip", headers=running.headers)
    assert f"students-{name}.zip" in answer.headers["content-disposition"]
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        archive.extractall(tmp_path / "unpacked")
    assert sorted(file.name for file in (tmp_path / "unpacked").iterdir()) == [f"{name}.csv", f"{name}.csv.release.json"]
    table = tmp_path / "unpacked" / f"{name}.csv"
    done = subprocess.run([sys.executable, "-m", "cloister", "verify", str(table)], capture_output=True)
    assert done.returncode == 0, done.stderr


def test_the_export_can_be_estimated_elsewhere(running: Running, tmp_path: Path) -> None:
    """Packed reports give the counts that the service has, under checked terms."""
    fill(running)
    answer = running.web.get("/v1/collections/students/reports.parquet", headers=running.headers)
    (tmp_path / "reports.parquet").write_bytes(answer.content)
    found = estimate(running.collection, str(tmp_path / "reports.parquet"))
    assert (found.reports, found.terms_checked) == (60, True)


def test_closing_and_deleting(running: Running) -> None:
    """Closed: no more reports. Deleted: nothing is left."""
    fill(running, 1)
    closed = running.web.post("/v1/collections/students/close", headers=running.headers)
    assert closed.json()["state"] == "closed"
    assert running.post(posted(running.collection)).status_code == 410
    assert running.web.delete("/v1/collections/students", headers=running.headers).status_code == 204
    assert running.web.delete("/v1/collections/students", headers=running.headers).status_code == 404
    assert running.web.get("/v1/collections/students").status_code == 404


def test_deleting_while_somebody_reads(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is deleted all the same, and the collector is told that the files still hold it until they are rewritten."""
    monkeypatch.setattr(store_scrubbing, "TRIES", 2)
    fill(running, 1)
    with running.inbox.store.reading() as reader:
        reader.exec_driver_sql("SELECT count(*) FROM cloister_reports")
        answer = running.web.delete("/v1/collections/students", headers=running.headers)
        assert (answer.status_code, list(answer.json())) == (202, ["detail"])
        assert "tried every minute" in answer.json()["detail"]
        assert running.web.get("/v1/collections/students").status_code == 404
    responses = running.web.get("/v1/openapi.json").json()["paths"]["/v1/collections/{id}"]["delete"]["responses"]
    assert {"202", "204"} <= responses.keys()
    assert "content" not in responses["204"]


def test_deleting_when_rewriting_fails(running: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full is told by 202 and not by 503: what was to be deleted is."""

    def fail(*_: object) -> bool:
        raise InboxError("the disk is full.")

    monkeypatch.setattr(unsettled, "scrub", fail)
    assert running.web.delete("/v1/collections/students", headers=running.headers).status_code == 202
    assert running.inbox.find("students") is None


def test_metrics(running: Running) -> None:
    """What is stored, what came, and what was answered, as Prometheus reads it."""
    fill(running, 2)
    running.post(posted(running.collection, version=7))
    text = running.web.get("/v1/metrics", headers=running.headers).text
    assert 'cloister_collect_stored{collection="students"} 2\n' in text
    assert 'outcome="stored"} 2\n' in text
    assert 'outcome="refused"} 1\n' in text
    assert 'status="422"} 1\n' in text


def test_a_report_from_python_reaches_the_service(running: Running) -> None:
    """JSON of a report is all that is needed."""
    report = Client(running.collection).report(ANSWERS)
    body = {"report": json.loads(report.to_json())}
    assert running.post(body).status_code == 201


def test_an_export_leaves_nothing_behind(running: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever a client asks for, such as a part that is not there."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    fill(running)
    for range_ in ("bytes=9999999-", "bytes=0-10", "nonsense"):
        headers = {**running.headers, "Range": range_}
        assert running.web.get("/v1/collections/students/reports.parquet", headers=headers).status_code == 200
    assert not list((tmp_path / "temporary").iterdir())


def test_estimates_do_not_queue_without_end(running: Running) -> None:
    """Each would hold a thread that others need: who comes behind many is told to come again."""
    service: Any = running.web.app.state.service  # type: ignore[attr-defined]
    for _ in range(MOST_QUEUED):
        assert service._queue.acquire(blocking=False)
    answer = running.web.get("/v1/collections/students/estimate", headers=running.headers)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    for _ in range(MOST_QUEUED):
        service._queue.release()
    assert running.web.get("/v1/collections/students/estimate", headers=running.headers).status_code == 200
