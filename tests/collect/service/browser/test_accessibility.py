"""Pages for everybody: no violation that axe-core finds, nothing beside a narrow screen, and a keyboard is enough."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from tests.collect.service.browser.axe import COLOURS, NARROW, WIDE, violations
from tests.collect.service.browser.chromium import PATIENCE_MS, expect
from tests.collect.service.browser.page_states import STATES, open_state
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import RECEIVED, SurveyForm, habits

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

Opened = Callable[[str], Any]


@pytest.fixture(scope="module")
def opened(service: RunningService, browser: Browser) -> Iterator[Opened]:
    """Pages in each state, opened when they are first asked for."""
    context = browser.new_context(viewport=WIDE)
    context.set_default_timeout(PATIENCE_MS)
    pages: dict[str, Page] = {}

    def page_in(state: str) -> Page:
        if state not in pages:
            pages[state] = open_state(service, context, state)
        pages[state].bring_to_front()
        return pages[state]

    yield page_in
    context.close()


@pytest.mark.parametrize("state", STATES)
def test_no_violations(opened: Opened, state: str) -> None:
    """At 320 and at 1280 pixels, light and dark."""
    page = opened(state)
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        for scheme, rules in (("light", None), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)
            assert violations(page, rules) == [], (size, scheme)


def test_violations_would_be_found(service: RunningService, page: Page) -> None:
    """Planted: a list to choose from without its label, and words that are paler than they may be in the dark."""
    page.emulate_media(color_scheme="dark")
    page.goto(service.host(habits("unlabelled")))
    assert violations(page) == []
    page.evaluate("document.querySelector('label[for=q2]').remove()")
    page.evaluate("document.documentElement.style.setProperty('--quiet', '#555')")
    assert {fault.partition(":")[0] for fault in violations(page)} >= {"color-contrast", "select-name"}


@pytest.mark.parametrize("state", STATES)
def test_a_narrow_screen_shows_all(opened: Opened, state: str) -> None:
    """At 320 pixels no page is wider than the screen."""
    page = opened(state)
    page.set_viewport_size(NARROW)
    assert page.evaluate("[innerWidth, document.documentElement.scrollWidth]") == [320, 320]


def test_a_keyboard_is_enough(service: RunningService, new_context: Callable[..., BrowserContext]) -> None:
    """Tab, Space, arrows and Enter answer every question and send the report, on a narrow screen."""
    page = new_context(viewport=NARROW).new_page()
    form = SurveyForm.open(page, service.host(habits("keyboard")))
    answered = []
    for _ in range(20):
        page.keyboard.press("Tab")
        kind = page.evaluate("document.activeElement.type ?? document.activeElement.tagName")
        if kind == "radio":
            page.keyboard.press("Space")
            page.keyboard.press("ArrowDown")
        elif kind == "select-one":
            page.keyboard.press("ArrowDown")
        elif kind == "submit":
            break
        answered.append(kind)
    assert answered == ["radio", "select-one", "select-one", "radio", "radio"]
    assert page.locator("input:checked").evaluate_all("(all) => all.map((each) => each.value)") == ["yes", "tea", "cat"]
    page.keyboard.press("Enter")
    form.says(RECEIVED)
    expect(form.status).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(form.bytes).to_be_visible()
    assert service.reports("keyboard") == 1
