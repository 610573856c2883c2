"""Networks that fail: what was answered is kept, sent again as the same bytes, and counted once."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import NOT_TAKEN, PENDING, RECEIVED, SMOKES, SurveyForm, smoking

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page, Route


def test_answers_wait_for_the_network(
    service: RunningService, context: BrowserContext, page: Page, watch: PageWatch
) -> None:
    """Without a network the page says that the report waits, and sends it by itself when there is one, once."""
    form = SurveyForm.open(page, service.host(smoking("offline")))
    context.set_offline(True)
    form.answer(SMOKES)
    form.says(PENDING)
    expect(form.form).to_be_hidden()
    expect(page.get_by_role("button", name="Forget")).to_be_visible()  # who changes their mind may withdraw it
    kept = form.shown_bytes()
    assert service.reports("offline") == 0
    context.set_offline(False)
    form.says(RECEIVED)
    assert form.bytes.text_content() == kept
    assert set(watch.sent) == {kept}
    assert service.reports("offline") == 1


def test_answers_outlive_their_page(service: RunningService, context: BrowserContext) -> None:
    """A page that is closed while its report waits sends the same bytes, with the same id, when it is opened anew."""
    address = service.host(smoking("closed-page"))
    form = SurveyForm.open(context.new_page(), address)
    context.set_offline(True)
    form.answer(SMOKES)
    form.says(PENDING)
    kept = form.shown_bytes()
    form.page.close()
    context.set_offline(False)
    assert service.reports("closed-page") == 0
    later = SurveyForm(context.new_page())
    watch = PageWatch(later.page)
    later.page.goto(address)
    later.says(RECEIVED)
    assert watch.sent == [kept]
    assert service.reports("closed-page") == 1


def press_until_received(form: SurveyForm) -> None:
    """Press "Try to send now" again and again; while a try is under way that starts no other one."""
    for _ in range(200):
        if form.status.text_content() == RECEIVED:
            return
        form.page.locator("#send-again").dispatch_event("click")
        form.page.wait_for_timeout(50)
    pytest.fail("the report was not received")


def test_trying_now(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A busy service says when to come back; who does not want to wait presses a button, and the report is sent at once."""
    form = SurveyForm.open(page, service.host(smoking("now")))
    page.route("**/reports", lambda route: route.fulfill(status=503, headers={"Retry-After": "600"}), times=1)
    form.answer(SMOKES)
    form.says(PENDING)
    expect(page.get_by_role("button", name="Try to send now")).to_be_visible()
    press_until_received(form)
    expect(page.get_by_role("button", name="Try to send now")).to_be_hidden()
    assert len(watch.sent) == 2
    assert len(set(watch.sent)) == 1
    assert service.reports("now") == 1


@pytest.mark.parametrize("is_invited", [False, True])
def test_a_lost_acknowledgement(service: RunningService, page: Page, watch: PageWatch, is_invited: bool) -> None:
    """A report that was stored, though its sender was not told, is sent again and counted once, also where a code was spent."""
    id = f"lost-{'invited' if is_invited else 'open'}"
    address = service.host(smoking(id), is_invited=is_invited)
    code = f"#{service.inbox.invite(id, 1)[0]}" if is_invited else ""
    form = SurveyForm.open(page, address + code)
    tries = []

    def lose_the_first(route: Route) -> None:
        tries.append(route.request)
        if len(tries) == 1:
            assert route.fetch().status == 201
            assert service.reports(id) == 1
            route.abort()
        else:
            route.continue_()

    page.route("**/reports", lose_the_first)
    form.answer(SMOKES)
    form.says(RECEIVED)
    assert len(watch.sent) == 2
    assert len(set(watch.sent)) == 1
    assert service.reports(id) == 1


def test_only_the_service_acknowledges(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A network that wants a log-in first, and proxies that find no server, have stored nothing: the report is sent again."""
    form = SurveyForm.open(page, service.host(smoking("proxies")))
    replies = [(200, "text/html"), (502, "text/html"), (503, "application/problem+json"), (429, "application/problem+json")]

    def reply(route: Route) -> None:
        if not replies:
            return route.continue_()
        status, kind = replies.pop()
        return route.fulfill(status=status, content_type=kind, body="<p>Log in first")

    page.route("**/reports", reply)
    form.answer(SMOKES)
    press_until_received(form)
    assert len(watch.sent) == 5
    assert len(set(watch.sent)) == 1
    assert service.reports("proxies") == 1


def test_another_host_does_not_acknowledge(service: RunningService, page: Page, watch: PageWatch) -> None:
    """An answer that leads elsewhere, or is about another report, is no receipt: the report goes again, to the service."""
    form = SurveyForm.open(page, service.host(smoking("elsewhere")))
    replies: list[dict[str, Any]] = [
        {"status": 201, "json": {"report": "0" * 32, "status": "stored"}},
        {"status": 201, "json": {}},
        {"status": 201, "body": "null"},
        {"status": 409, "body": "null"},
        {"status": 307, "headers": {"Location": "/v1/health"}},
    ]
    page.route("**/reports", lambda route: route.fulfill(**replies.pop()) if replies else route.continue_())
    form.answer(SMOKES)
    press_until_received(form)
    assert len(watch.sent) == 6
    assert [request.url for request in watch.requests if "health" in request.url] == []
    assert service.reports("elsewhere") == 1


def test_a_report_of_a_tab_that_was_closed_is_sent_by_another(service: RunningService, context: BrowserContext) -> None:
    """Who answers in a second tab, while the first one's report waits, sends that one."""
    address = service.host(smoking("other-tab"))
    second, first = (SurveyForm.open(context.new_page(), address) for _ in range(2))
    first.page.route("**/reports", lambda route: route.abort())
    first.answer(SMOKES)
    first.says(PENDING)
    kept = first.shown_bytes()
    first.page.close()
    second.answer({"Do you smoke?": "yes"})
    second.says(RECEIVED)
    assert second.shown_bytes() == kept
    assert service.reports("other-tab") == 1


def test_a_tab_learns_what_another_has_sent(service: RunningService, context: BrowserContext) -> None:
    """Two tabs wait with one report; when the first has sent it, the second says so too, and sends nothing."""
    address = service.host(smoking("told"))
    context.route("**/reports", lambda route: route.abort())
    tabs = [SurveyForm.open(context.new_page(), address) for _ in range(2)]
    for tab in tabs:
        tab.answer(SMOKES)
        tab.says(PENDING)
    first, second = tabs
    second.page.route("**/reports", lambda route: route.abort())  # whatever it learns it has from the first
    context.unroute("**/reports")
    press_until_received(first)
    press_until_received(second)
    assert service.reports("told") == 1


def test_a_tab_whose_report_another_has_deleted(service: RunningService, context: BrowserContext) -> None:
    """Who made the browser forget in another tab is told to reload this one; nothing is sent, and no error goes unheard."""
    address = service.host(smoking("deleted"))
    context.route("**/reports", lambda route: route.abort())
    first, second = (SurveyForm.open(context.new_page(), address) for _ in range(2))
    watch = PageWatch(second.page)
    for tab in (first, second):
        tab.answer(SMOKES)
        tab.says(PENDING)
    first.page.once("dialog", lambda dialog: dialog.accept())
    first.page.get_by_role("button", name="Forget").click()
    expect(first.form).to_be_visible()
    second.page.bring_to_front()
    second.page.locator("#send-again").dispatch_event("click")
    second.says("Reload the page.")
    assert [words for words in watch.errors if "Failed to load resource" not in words] == []
    assert service.reports("deleted") == 0


def test_a_refusal_of_something_on_the_way_is_none(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A firewall's page is not the service's word: the same report goes again, and counts once."""
    form = SurveyForm.open(page, service.host(smoking("firewall")))

    def swallow(route: Route) -> None:
        route.fetch()  # the service has stored it
        route.fulfill(status=403, content_type="text/html", body="<h1>Forbidden</h1>")

    page.route("**/reports", swallow, times=1)
    form.answer(SMOKES)
    form.says(RECEIVED)
    assert len(set(watch.sent)) == 1
    assert service.reports("firewall") == 1


def test_one_id_a_browser_and_collection(service: RunningService, page: Page, watch: PageWatch) -> None:
    """A report that was refused and is made anew has the id of the first: whatever happened on the way, one is counted."""
    form = SurveyForm.open(page, service.host(smoking("one-id"), is_invited=True))
    codes = service.inbox.invite("one-id", 2)
    for code in ("0" * 26, codes[0]):
        page.get_by_label("Code").fill(code)
        form.answer(SMOKES)
        form.says(NOT_TAKEN if code.startswith("00000") else RECEIVED)
    ids = {json.loads(body)["report"]["report"] for body in watch.sent}
    assert (len(watch.sent), len(ids)) == (2, 1)
