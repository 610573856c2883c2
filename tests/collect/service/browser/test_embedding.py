"""The client in other pages: from another origin it works, over plain http it refuses."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cloister.collect import Collection
from cloister.collect.service.public_api import collection_facts
from cloister.collect.storing.inbox import Hosted
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import SurveyForm, smoking

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route

EMBEDDING = """<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>waiting</title><script type="module">
import {{ Respondent }} from "{service}/client/cloister-client.js";
const opening = Respondent.open({{ service: "{service}/", id: "{id}", terms: "{terms}" }});
const respondent = await opening.catch((failure) => {{ document.title = failure.message; }});
respondent.addEventListener("change", (event) => {{ document.title = event.detail.state; }});
globalThis.respondent = respondent;
await respondent.answer({{ smokes: "no" }});
</script>"""


@contextmanager
def other_site(html: str) -> Iterator[str]:
    """The address of a site of one page."""

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(html.encode())

        def log_message(self, *words: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_page_of_another_site(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A page from elsewhere imports the client from the service and sends a report; no cookie and no referrer goes along."""
    collection = smoking("embedded")
    service.host(collection)
    with other_site(EMBEDDING.format(service=service.address, id="embedded", terms=collection.terms)) as address:
        page.goto(address)
        page.wait_for_function("document.title === 'sent'")
    assert service.reports("embedded") == 1
    assert watch.sent == [page.evaluate("respondent.kept().then((kept) => kept.body)")]
    assert watch.hosts == {urlsplit(service.address).netloc, urlsplit(address).netloc}
    (posted,) = [request for request in watch.requests if request.method == "POST"]
    assert not {"cookie", "referer"} & posted.all_headers().keys()
    assert watch.errors == []


def test_a_page_over_plain_http(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Where anybody on the way could change the script the page says that it needs https, and sends nothing."""
    address = service.host(smoking("plain-http"))

    def from_the_service(route: Route) -> None:
        route.fulfill(response=route.fetch(url=route.request.url.replace("http://survey.example", service.address)))

    page.route("http://survey.example/**", from_the_service)
    page.goto(address.replace(service.address, "http://survey.example"))
    SurveyForm(page).says("Answers are perturbed only on pages that came over https.")
    assert watch.sent == []


def test_terms_that_were_agreed_to(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A page that names the terms is not fooled by a service that asks the same at another epsilon."""
    service.host(smoking("lowered"))
    terms = "0" * 32
    with other_site(EMBEDDING.format(service=service.address, id="lowered", terms=terms)) as address:
        page.goto(address)
        page.wait_for_function("document.title.includes('not those that were expected')")
    assert watch.sent == []


def test_a_page_whose_facts_were_swapped(service: RunningService, page: Page, watch: PageWatch) -> None:
    """What the page says that leaves, and what the client was told, must be of the same terms."""
    address = service.host(smoking("shown"))
    other = Collection("shown", {"smokes": {"text": "Do you smoke?", "domain": ["no", "yes"]}}, epsilon=100)
    facts = collection_facts(Hosted(1, other), "open")
    page.route("**/v1/collections/shown", lambda route: route.fulfill(json=facts))
    page.goto(address)
    SurveyForm(page).says("not those that were expected")
    assert watch.sent == []


def test_a_collection_that_is_not_what_its_terms_say(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Facts that a page brings along are checked as those of a service: at another epsilon the terms are others."""
    collection = smoking("brought")
    service.host(collection)
    facts = collection_facts(Hosted(1, collection), "open")
    script = """async ([service, collection, terms, id]) => {
        const { Respondent } = await import(`${service}/client/cloister-client.js`);
        return Respondent.open({ service, collection, terms, id }).then(() => "opened", (failure) => failure.message);
    }"""
    dearer = {**facts, "questions": [{**each, "epsilon": "100"} for each in facts["questions"]]}
    with other_site("<!doctype html><title>x</title>") as address:
        page.goto(address)
        for brought, terms, id, opened in (
            (facts, collection.terms, "brought", True),
            (dearer, collection.terms, "brought", False),
            (facts, collection.terms, "other", False),
            (facts, "", "brought", False),  # a page that forgot to fill them in
        ):
            words = page.evaluate(script, [service.address, brought, terms, id])
            assert (words == "opened") is opened, words
    assert watch.sent == []


def test_a_report_is_for_its_service(service: RunningService, context: BrowserContext) -> None:
    """What waits for a service that is away is not sent to another one that asks the same."""
    collection = smoking("copied")
    service.host(collection)
    page = context.new_page()
    html = "<!doctype html><title>x</title>"
    with other_site(html) as address:
        page.goto(address)
        script = """async ([service, module]) => {
            const { Respondent } = await import(module);
            const respondent = await Respondent.open({ service, id: "copied" });
            const before = await respondent.kept();
            if (before === null) await respondent.answer({ smokes: "no" });
            return before;
        }"""
        module = f"{service.address}/client/cloister-client.js"
        page.route("**/reports", lambda route: route.abort())
        assert page.evaluate(script, [service.address, module]) is None
        page.unroute("**/reports")
        elsewhere = service.address.replace("127.0.0.1", "localhost")
        assert page.evaluate(script, [elsewhere, module]) is None
