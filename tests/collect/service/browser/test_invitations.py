"""Surveys for invited people: a code comes with the address, works once, and can be corrected."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from cloister.collect.storing.credentials import new_code
from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import MISSING, NOT_TAKEN, RECEIVED, SMOKES, SurveyForm, smoking

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


def test_a_code_comes_with_the_address(service: RunningService, page: Page, watch: PageWatch) -> None:
    """The code behind # is filled in and leaves the address bar; the server is not sent it before the report."""
    address = service.host(smoking("by-link"), is_invited=True)
    (code,) = service.inbox.invite("by-link", 1)
    form = SurveyForm.open(page, f"{address}#{code}")
    expect(page.get_by_label("Code")).to_have_value(code)
    assert page.url == address
    assert not any(code in request.url for request in watch.requests if request.method == "POST")
    form.answer(SMOKES)
    form.says(RECEIVED)
    (sent,) = watch.sent
    assert json.loads(sent).keys() == {"code", "report"}
    assert json.loads(sent)["code"] == code
    assert form.shown_bytes() == sent
    assert (service.reports("by-link"), service.inbox.invitations(service.hosted("by-link").number)) == (1, 0)
    assert watch.complaints == []


def test_a_code_works_once(service: RunningService, new_context: Callable[[], BrowserContext]) -> None:
    """In another browser the same code is refused, and the page says why."""
    address = service.host(smoking("once"), is_invited=True)
    (code,) = service.inbox.invite("once", 1)
    first, second = (SurveyForm.open(new_context().new_page(), f"{address}#{code}") for _ in range(2))
    first.answer(SMOKES)
    first.says(RECEIVED)
    second.answer(SMOKES)
    second.says(NOT_TAKEN)
    second.says("The code of the invitation is unknown, or was used already.")
    assert service.reports("once") == 1


def test_a_wrong_code_can_be_corrected(service: RunningService, page: Page, watch: PageWatch) -> None:
    """After a code that nobody was given, and one that is none, the right one works, and the answers are still there."""
    address = service.host(smoking("corrected"), is_invited=True)
    (code,) = service.inbox.invite("corrected", 1)
    form = SurveyForm.open(page, address)
    form.choose(SMOKES)
    for wrong, words in ((new_code(), "unknown, or was used already"), ("no code", "26 letters and digits")):
        page.get_by_label("Code").fill(wrong)
        form.send()
        form.says(words)
        expect(page.get_by_label("no", exact=True)).to_be_checked()
    page.get_by_label("Code").fill(f" {code.lower().replace('-', ' ')} ")  # as people type
    form.send()
    form.says(RECEIVED)
    answers = [json.loads(body)["report"]["answers"] for body in watch.sent]
    assert answers == answers[:1] * 3  # perturbed once
    assert service.reports("corrected") == 1


def test_a_missing_code(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Without a code nothing is sent, and the field gets the focus and words."""
    form = SurveyForm.open(page, service.host(smoking("no-code"), is_invited=True))
    form.answer(SMOKES)
    form.says(MISSING)
    expect(page.get_by_text("Type the code of your invitation.")).to_be_visible()
    expect(page.get_by_label("Code")).to_be_focused()
    assert watch.sent == []


def test_an_invitation_opened_in_a_tab_that_is_open(service: RunningService, page: Page) -> None:
    """A second link to the same page is no new page for the browser; its code is taken all the same, and whatever it holds."""
    address = service.host(smoking("same-tab"), is_invited=True)
    SurveyForm.open(page, f"{address}#100%")
    expect(page.get_by_label("Code")).to_have_value("100%")
    page.evaluate("location.hash = 'ABCDE'")
    expect(page.get_by_label("Code")).to_have_value("ABCDE")
    page.wait_for_function("location.hash === ''")


def test_another_persons_link_in_the_same_browser(service: RunningService, context: BrowserContext) -> None:
    """A browser that has answered says that the code of the new link was not used; it stays good."""
    address = service.host(smoking("shared-browser"), is_invited=True)
    first, second = service.inbox.invite("shared-browser", 2)
    form = SurveyForm.open(context.new_page(), f"{address}#{first}")
    form.answer(SMOKES)
    form.says(RECEIVED)
    later = SurveyForm(context.new_page())
    later.page.goto(f"{address}#{second}")
    later.says("The code in your link was not used")
    assert service.inbox.invitations(service.hosted("shared-browser").number) == 1
