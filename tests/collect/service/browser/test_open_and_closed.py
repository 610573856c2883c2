"""Surveys that are over, have not begun, or end while somebody answers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import NOT_TAKEN, RECEIVED, SEND, SMOKES, SurveyForm, smoking

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import BrowserContext, Page

DAY = timedelta(days=1)


def test_a_survey_that_is_over(service: RunningService, page: Page, watch: PageWatch) -> None:
    """After its end a survey says so, and has no form."""
    page.goto(service.host(smoking("expired", closes=datetime.now(UTC) - DAY)))
    form = SurveyForm(page)
    form.says("This survey is closed.")
    expect(form.form).to_have_count(0)
    expect(page.get_by_role("button")).to_have_count(0)
    assert watch.complaints == []


def test_a_survey_that_has_not_begun(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Before it opens a survey says when it does, and has no form."""
    opens = datetime(2100, 2, 1, 9, 30, tzinfo=UTC)
    page.goto(service.host(smoking("future", opens=opens)))
    form = SurveyForm(page)
    form.says("This survey has not begun. It begins 1 February 2100, 09:30 UTC.")
    expect(form.form).to_have_count(0)
    assert watch.complaints == []


def test_a_survey_that_ends_while_its_form_is_open(service: RunningService, page: Page) -> None:
    """Who sends too late is told that the report was not taken, and is not asked again."""
    form = SurveyForm.open(page, service.host(smoking("ending")))
    service.inbox.close("ending")
    form.answer(SMOKES)
    form.says(NOT_TAKEN)
    form.says("takes no reports any more")
    expect(form.form).to_be_hidden()
    assert service.reports("ending") == 0


def test_a_report_that_waited_until_the_end(service: RunningService, context: BrowserContext, page: Page) -> None:
    """A report that was made in time and could not be sent is refused after the end, and the page says so when it is opened."""
    address = service.host(smoking("waited"))
    form = SurveyForm.open(page, address)
    context.set_offline(True)
    form.answer(SMOKES)
    form.says("will be sent")
    service.inbox.close("waited")
    context.set_offline(False)
    form.says(NOT_TAKEN)
    page.goto(address)
    form.says(NOT_TAKEN)
    assert service.reports("waited") == 0


def test_who_has_answered_sees_it_after_the_end(service: RunningService, page: Page) -> None:
    """A survey that was closed tells whoever answered it that the report was received."""
    address = service.host(smoking("over"))
    form = SurveyForm.open(page, address)
    form.answer(SMOKES)
    form.says(RECEIVED)
    service.inbox.close("over")
    page.wait_for_timeout(1_100)  # for a second the service does not look a collection up again
    page.goto(address)
    form.says(RECEIVED)
    expect(form.form).to_have_count(0)


def test_a_page_without_scripts(service: RunningService, new_context: Callable[..., BrowserContext]) -> None:
    """Without JavaScript the page says why it does not work, and no answer can be sent as it is."""
    page = new_context(java_script_enabled=False).new_page()
    watch = PageWatch(page)
    page.goto(service.host(smoking("no-script")))
    assert "This page needs JavaScript" in page.content()  # Playwright's browser does not show it
    page.get_by_label("yes").check()
    page.get_by_label("yes").press("Enter")
    expect(page.get_by_role("button", name=SEND)).to_be_disabled()
    assert [request.url for request in watch.requests if "?" in request.url or request.method != "GET"] == []
