"""Chromium as Playwright drives it. Tests that need a browser are skipped where one of the two is missing."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

__all__ = ["PATIENCE_MS", "expect", "launched"]

OPTIONS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 15_000  # with what a page should do at once, on a busy machine

playwright: Any
expect: Any
try:
    from playwright import sync_api as playwright
    from playwright.sync_api import expect
except ImportError:  # `launched` skips the test
    playwright = expect = None
else:
    expect.set_options(timeout=PATIENCE_MS)


@contextmanager
def launched() -> Iterator[Browser]:
    """A browser without a window."""
    if playwright is None:
        pytest.skip('pages need Playwright: pip install "cloister[dev]"')
    found = shutil.which("chromium")
    if found is None:
        pytest.skip("pages need Chromium: apt-get install chromium")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=found, args=OPTIONS)
        yield browser
        browser.close()
