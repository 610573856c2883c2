"""One browser and one service for all tests of pages, and a fresh context for each.

Both end with this folder: while Playwright's synchronous interface is in use, nothing else in the process can run an event loop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pytest

from cloister.collect.storing.inbox import Inbox
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.live_service import live_service

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="package")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service without collections: each test adds its own."""
    folder = tmp_path_factory.mktemp("service")
    inbox = Inbox(folder / "reports.db")
    inbox.create()
    with live_service(folder, "--store", folder / "reports.db") as live:
        yield RunningService(live.address, inbox, inbox.renew_token())
    assert live.errors.read_text() == ""


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    from tests.collect.service.browser.chromium import launched

    with launched() as browser:
        yield browser


@pytest.fixture
def new_context(browser: Browser) -> Iterator[Callable[..., BrowserContext]]:
    """Contexts that know nothing of each other: browsers of different people."""
    from tests.collect.service.browser.chromium import PATIENCE_MS

    contexts = []

    def make(**options: Any) -> BrowserContext:
        contexts.append(browser.new_context(**options))
        contexts[-1].set_default_timeout(PATIENCE_MS)
        return contexts[-1]

    yield make
    for context in contexts:
        context.close()


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """One person's browser."""
    return new_context()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    """A tab."""
    return context.new_page()


@pytest.fixture
def watch(page: Page) -> PageWatch:
    """What the tab does."""
    return PageWatch(page)
