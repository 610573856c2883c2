"""The collector's pages: a token opens them, other sites cannot use them, and they do what they say."""

from __future__ import annotations

import io
import re
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from markupsafe import escape

from cloister.cli.verify import read_release
from cloister.privacy import store_scrubbing
from cloister.privacy.verification import check_consistency
from tests.collect.service.conftest import Running, posted
from tests.collect.survey import survey

FILE = """
id = "coffee"
epsilon = 1
[questions.drinks]
domain = ["tea", "coffee"]
"""


@pytest.fixture
def logged_in(running: Running) -> Running:
    """A browser that has logged in."""
    answer = running.web.post("/admin/login", data={"token": running.token}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "../admin")
    return running


def test_logging_in(running: Running) -> None:
    """The cookie is for these pages alone and out of reach of scripts; a wrong token gets none."""
    assert "Token" in running.web.get("/admin").text
    wrong = running.web.post("/admin/login", data={"token": "no"})
    assert (wrong.status_code, "set-cookie" in wrong.headers) == (401, False)
    cookie = running.web.post("/admin/login", data={"token": running.token}, follow_redirects=False).headers["set-cookie"]
    for part in ("HttpOnly", "Path=/admin", "SameSite=strict"):
        assert part in cookie
    assert "Secure" not in cookie
    over_tls = running.web.post(
        "https://localhost/admin/login", data={"token": running.token}, follow_redirects=False
    ).headers["set-cookie"]
    assert "Secure" in over_tls


def test_a_new_token_logs_everybody_out(logged_in: Running) -> None:
    """The cookie holds the token, and is compared each time."""
    assert "students" in logged_in.web.get("/admin").text
    logged_in.inbox.renew_token()
    assert "students" not in logged_in.web.get("/admin").text
    logged_in.web.post("/admin/logout")
    assert not logged_in.web.cookies


@pytest.mark.parametrize("action", ["new", "c/students/close", "c/students/delete", "c/invited/invite"])
def test_forms_of_other_sites_do_nothing(logged_in: Running, action: str) -> None:
    """A form needs the cookie, and must come from the service's own page."""
    foreign: list[dict[str, str]] = [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://["},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
    ]
    for headers in foreign:
        answer = logged_in.web.post(f"/admin/{action}", data={"count": "1", "file": FILE}, headers=headers)
        assert answer.status_code == 403
    logged_in.web.cookies.clear()
    assert logged_in.web.post(f"/admin/{action}", data={"count": "1", "file": FILE}).status_code == 401
    assert [each.collection.id for each in logged_in.inbox.all()] == ["invited", "students"]
    assert not logged_in.inbox.get("students").is_closed


def test_hosting_from_the_page(logged_in: Running) -> None:
    """A TOML file that is pasted; one that is none is told so, and nothing is lost."""
    own = {"origin": "http://localhost", "sec-fetch-site": "same-origin"}
    answer = logged_in.web.post("/admin/new", data={"file": FILE, "invited": "yes", "wanted": "50"}, headers=own)
    assert answer.status_code == 200
    assert "coffee" in str(answer.url)
    hosted = logged_in.inbox.get("coffee")
    assert (hosted.is_invited, hosted.wanted) == (True, 50)
    wrong = [("id = ", "77"), ("", ""), (FILE, "x"), ('id = "a"\nquestions = 3\nepsilon = 1', ""), ('{"id": ', "")]
    for file, wanted in wrong:
        answer = logged_in.web.post("/admin/new", data={"file": file, "wanted": wanted, "invited": "yes"}, headers=own)
        assert answer.status_code == 422
        assert 'role="alert"' in answer.text
        # what was typed and ticked is still there: what is mended must not be hosted for anybody
        assert escape(file) in answer.text
        assert f'value="{wanted}"' in answer.text
        assert 'value="yes" checked' in answer.text


def test_hosting_from_json(logged_in: Running) -> None:
    """The file as the service itself gives it out does as well."""
    file = logged_in.web.get("/v1/collections/students/file").text.replace('"students"', '"copied"')
    assert logged_in.web.post("/admin/new", data={"file": file}).status_code == 200
    assert logged_in.inbox.get("copied").collection.questions == logged_in.collection.questions


def test_no_token_over_plain_http(running: Running) -> None:
    """From another machine the token is neither asked for nor taken without TLS: anybody on the way could read it."""
    page = running.web.get("http://survey.example/admin").text
    assert "plain http" in page
    assert "<form" not in page
    sent = running.web.post("http://survey.example/admin/login", data={"token": running.token}, follow_redirects=False)
    assert (sent.status_code, "set-cookie" in sent.headers) == (403, False)
    assert "<form" in running.web.get("https://survey.example/admin").text
    passed_on = {"x-forwarded-for": "203.0.113.5"}  # by a proxy that does not say for which host
    assert running.web.post("/admin/login", data={"token": running.token}, headers=passed_on).status_code == 403


def test_large_forms_are_the_collectors(running: Running) -> None:
    """Without the token nobody makes the service read one: it would keep all others waiting."""
    large = {"token": "x" * 2**13, "file": "x" * 2**13}
    assert running.web.post("/admin/login", data=large).status_code == 413
    assert running.web.post("/admin/new", data=large).status_code == 401
    running.web.post("/admin/login", data={"token": running.token})
    assert running.web.post("/admin/new", data=large).status_code == 422


def test_coming_back_to_the_answer_of_a_form(logged_in: Running) -> None:
    """Its address, opened or reloaded, leads to the page that the form was on."""
    for path, page in (("/admin/new", "/admin"), ("/admin/c/invited/invite", "/admin/c/invited")):
        answer = logged_in.web.get(path)
        assert (answer.status_code, answer.url.path) == (200, page)


def test_the_page_of_a_collection(logged_in: Running) -> None:
    """How many came, live estimates with error bars, what error to expect, and everything to take along."""
    empty = logged_in.web.get("/admin/c/students").text
    assert "No report has come yet" in empty
    reports = [posted(logged_in.collection) for _ in range(40)]
    logged_in.post({"reports": reports}, path="reports/batch")
    text = logged_in.web.get("/admin/c/students").text
    assert "40 of 1,000 wanted" in text
    assert re.search(r"\d+\.\d% ± \d+\.\d%", text)
    assert "With 1,000 reports: each ± at most 6.8%" in text
    for file in ("estimate.zip", "rows.zip", "estimate.csv.release.json", "reports.parquet"):
        answer = logged_in.web.get(f"/admin/c/students/{file}")
        assert answer.status_code == 200
        assert "attachment" in answer.headers["content-disposition"]
    assert logged_in.web.get("/admin/c/students/secrets").status_code == 404
    assert logged_in.web.get("/admin/c/none").status_code == 404


def test_a_certificate_that_was_taken_alone(logged_in: Running, tmp_path: Path) -> None:
    """It is the signed one of the estimate, and verifies beside the file of that."""
    logged_in.post(posted(logged_in.collection))
    packed = logged_in.web.get("/admin/c/students/estimate.zip").content
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        archive.extract("estimate.csv", tmp_path)
    certificate = tmp_path / "estimate.csv.release.json"
    certificate.write_bytes(logged_in.web.get(f"/admin/c/students/{certificate.name}").content)
    read = read_release(tmp_path / "estimate.csv")
    check_consistency(*read)
    assert list(read.certificate.files) == ["estimate.csv"]


def test_inviting_closing_and_deleting(logged_in: Running) -> None:
    """Codes are shown once, as links; a closed collection stays, a deleted one is gone."""
    page = logged_in.web.post("/admin/c/invited/invite", data={"count": "2"}).text
    links = re.findall(r"http://localhost/c/invited#[0-9A-Z-]{30}", page)
    assert len(set(links)) == 2
    assert links[0] not in logged_in.web.get("/admin/c/invited").text
    for count in ("", "0", "x"):
        assert logged_in.web.post("/admin/c/invited/invite", data={"count": count}).status_code == 422
    assert "closed" in logged_in.web.post("/admin/c/invited/close").text
    refused = logged_in.web.post("/admin/c/invited/invite", data={"count": "1"})
    assert (refused.status_code, "is closed: a code would let nobody in" in refused.text) == (422, True)
    assert "admin/c/invited" not in logged_in.web.post("/admin/c/invited/delete").text
    assert logged_in.inbox.find("invited") is None


def test_the_list_says_that_files_hold_a_deleted_collection(logged_in: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as that is so, and in the part of the page that is brought up to date."""
    monkeypatch.setattr(store_scrubbing, "TRIES", 2)
    sentence = "still hold a collection that was deleted"
    with logged_in.inbox.store.reading() as reader:
        reader.exec_driver_sql("SELECT count(*) FROM cloister_reports")
        page = logged_in.web.post("/admin/c/students/delete").text
        assert sentence in page.partition('id="live"')[2].partition("</section>")[0]
    logged_in.inbox.settle_ended(datetime.now(UTC))
    assert sentence not in logged_in.web.get("/admin").text


def test_pages_show_texts_as_texts(logged_in: Running) -> None:
    """HTML in a title, a question or a value is shown, not run."""
    hostile = '<img src=x onerror="alert(1)">'
    facts: Any = {"id": "hostile", "title": hostile, "collector": hostile, "epsilon": 1}
    facts["questions"] = {hostile: {"text": hostile, "domain": [hostile, "</script>"]}}
    logged_in.inbox.add(replace(survey(), id="other"))
    from cloister.collect import Collection

    collection = logged_in.inbox.add(Collection(**facts)).collection
    body = {
        "version": 1,
        "collection": "hostile",
        "terms": collection.terms,
        "report": "0" * 32,
        "answers": {hostile: hostile},
    }
    assert logged_in.post({"report": body}, "hostile").status_code == 201
    for path in ("/admin", "/admin/c/hostile", "/c/hostile"):
        text = logged_in.web.get(path).text
        assert "<img" not in text
        assert "&lt;img" in text


@pytest.mark.parametrize("path", ["/", "/c/none", "/c/a/b", "/admin/c/none", "/admin/c/students/none"])
def test_errors_for_people_are_pages(logged_in: Running, path: str) -> None:
    """Who mistypes a link in a browser sees a sentence, and no JSON; programs get a problem as everywhere."""
    page = logged_in.web.get(path, headers={"accept": "text/html,*/*"})
    assert (page.status_code, page.headers["content-type"]) == (404, "text/html; charset=utf-8")
    assert "<h1>Not found</h1>" in page.text
    assert logged_in.web.get(path).headers["content-type"] == "application/problem+json"
