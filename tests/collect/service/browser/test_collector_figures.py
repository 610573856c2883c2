"""The collector's page in a browser: figures that come up to date, and that say so when they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from cloister.collect import Client
from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import smoking

if TYPE_CHECKING:
    from playwright.sync_api import Page

UPDATE = 11_000  # milliseconds: a little more than the page waits


@pytest.fixture
def clock(page: Page) -> Page:
    """A page whose timers run when the test says so."""
    page.clock.install()
    return page


def log_in(page: Page, service: RunningService) -> None:
    """Open the collector's page."""
    page.goto(f"{service.address}/admin")
    page.get_by_label("Token").fill(service.token)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="Collections")).to_be_visible()


def send(service: RunningService, page: Page, id: str) -> None:
    """A report of somebody else."""
    report = Client(service.hosted(id).collection).report({"smokes": "no"})
    sent = page.request.post(f"{service.address}/v1/collections/{id}/reports", data={"report": report.as_dict()})
    assert sent.status == 201


def test_figures_come_up_to_date(service: RunningService, clock: Page) -> None:
    """A report that comes while the page is open is counted in it, also where the page is the answer of a form."""
    service.host(smoking("figures"))
    service.host(smoking("codes"), is_invited=True)
    log_in(clock, service)
    clock.goto(f"{service.address}/admin/c/figures")
    expect(clock.get_by_text("No report has come yet.")).to_be_visible()
    send(service, clock, "figures")
    clock.clock.run_for(UPDATE)
    expect(clock.get_by_text("So few reports say little")).to_be_visible()
    clock.goto(f"{service.address}/admin/c/codes")
    clock.get_by_role("button", name="Make codes").click()
    expect(clock.get_by_text("10 invitations are left")).to_be_visible()
    service.inbox.invite("codes", 5)
    clock.clock.run_for(UPDATE)
    expect(clock.get_by_text("15 invitations are left")).to_be_visible()
    expect(clock.get_by_text("New invitations")).to_be_visible()  # what is shown once stays
    survey = clock.get_by_role("link", name=f"{service.address}/c/codes").get_attribute("href")
    assert survey == f"{service.address}/c/codes"  # and links still lead where they should


def test_figures_that_are_old_say_so(service: RunningService, clock: Page) -> None:
    """A service that is away, and a token that is void, are told beside the figures; when it is back they are new again."""
    service.host(smoking("stale"))
    log_in(clock, service)
    clock.goto(f"{service.address}/admin/c/stale")
    stale = clock.locator("#stale")
    clock.context.set_offline(True)
    clock.clock.run_for(UPDATE)
    expect(stale).to_contain_text("the service does not answer")
    clock.context.set_offline(False)
    clock.clock.run_for(UPDATE)
    expect(stale).to_be_empty()
    clock.context.clear_cookies()
    clock.clock.run_for(UPDATE)
    expect(stale).to_contain_text("Reload the page to log in again")
    service.inbox.delete("stale")
