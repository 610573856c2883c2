"""Every page in every state that looks different, opened once."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import MISSING, PENDING, RECEIVED, SurveyForm, habits

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

__all__ = ["STATES", "log_in", "open_state"]

LONG = "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenpolierer"


def fresh(service: RunningService, page: Page) -> None:
    SurveyForm.open(page, service.host(habits("state-fresh", closes=datetime(2100, 1, 1, tzinfo=UTC))))
    page.get_by_text("How this works").click()


def missing(service: RunningService, page: Page) -> None:
    form = SurveyForm.open(page, service.host(habits("state-missing")))
    form.send()
    form.says(MISSING)


def pending(service: RunningService, page: Page) -> None:
    page.route("**/reports", lambda route: route.abort())
    form = SurveyForm.open(page, service.host(habits("state-pending")))
    form.answer()
    form.says(PENDING)


def sent(service: RunningService, page: Page) -> None:
    form = SurveyForm.open(page, service.host(habits("state-sent")))
    form.answer()
    form.says(RECEIVED)
    form.shown_bytes()


def closed(service: RunningService, page: Page) -> None:
    page.goto(service.host(habits("state-closed", title=LONG, closes=datetime.now(UTC) - timedelta(days=1))))


def invited(service: RunningService, page: Page) -> None:
    form = SurveyForm.open(page, service.host(habits("state-invited"), is_invited=True))
    form.send()
    form.says(MISSING)


def login(service: RunningService, page: Page) -> None:
    page.context.clear_cookies()  # another tab may be logged in
    page.goto(f"{service.address}/admin")
    page.get_by_label("Token").fill("wrong")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("alert")).to_have_text("This is not the token.")


def collections(service: RunningService, page: Page) -> None:
    service.host(habits("state-listed", title=f"{LONG} {LONG}"), wanted=1_000_000)
    log_in(service, page)


def collection(service: RunningService, page: Page) -> None:
    service.host(habits("state-estimated", title=LONG), wanted=1_000)
    service.fill("state-estimated", 200)
    log_in(service, page)
    page.goto(f"{service.address}/admin/c/state-estimated")
    expect(page.get_by_text("200 of 1,000 wanted")).to_be_visible()


def invitations(service: RunningService, page: Page) -> None:
    service.host(habits("state-codes"), is_invited=True)
    log_in(service, page)
    page.goto(f"{service.address}/admin/c/state-codes")
    page.get_by_role("button", name="Make codes").click()
    expect(page.get_by_role("heading", name="New invitations")).to_be_visible()


STATES: dict[str, Callable[[RunningService, Page], None]] = {
    "fresh survey": fresh,
    "survey with missing answers": missing,
    "survey whose report waits": pending,
    "survey that was answered": sent,
    "closed survey": closed,
    "survey for invited people": invited,
    "login": login,
    "list of collections": collections,
    "collection with estimates": collection,
    "collection with new invitations": invitations,
}


def open_state(service: RunningService, context: BrowserContext, state: str) -> Page:
    """A page in one of the `STATES`."""
    page = context.new_page()
    STATES[state](service, page)
    return page


def log_in(service: RunningService, page: Page) -> None:
    """Open the collector's list of collections."""
    page.goto(f"{service.address}/admin")
    if page.get_by_label("Token").count():  # else another tab has done it
        page.get_by_label("Token").fill(service.token)
        page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Collections", exact=True)).to_be_visible()
