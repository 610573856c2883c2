"""Reports in a browser: valid, for everybody, from 320 px on, and without a network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.collect.service.browser.axe import COLOURS, NARROW, WIDE, violations
from tests.collect.service.browser.chromium import launched
from tests.collect.service.browser.npm_packages import validate_html
from tests.handouts.published import VERBS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

LOOKED_AT = ("clusters", "table.csv", "alike.csv", "estimate.csv")  # one of each guarantee and form


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window."""
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A tab."""
    with browser.new_context(viewport=WIDE) as context:
        yield context.new_page()


def test_pages_are_valid_html(pages: dict[str, Path], tmp_path: Path) -> None:
    """html-validate finds nothing in any report."""
    assert validate_html([pages[name] for name in VERBS], tmp_path) == []


def test_faults_would_be_found(pages: dict[str, Path], tmp_path: Path) -> None:
    """Planted: a paragraph that never ends, and an id twice."""
    broken = tmp_path / "broken.html"
    broken.write_text(pages["clusters"].read_text(encoding="utf-8").replace("</h1>", '</h1><p id="chapter-1">', 1))
    assert {fault.split()[1] for fault in validate_html([broken], tmp_path)} >= {"no-dup-id:"}


@pytest.mark.parametrize("name", LOOKED_AT)
def test_no_violations(pages: dict[str, Path], page: Page, name: str) -> None:
    """axe-core finds nothing at 320 and at 1280 pixels, light and dark; and nothing is wider than a narrow screen."""
    page.goto(pages[name].as_uri())
    for size in (NARROW, WIDE):
        page.set_viewport_size(size)
        for scheme, rules in (("light", None), ("dark", COLOURS)):
            page.emulate_media(color_scheme=scheme)
            assert violations(page, rules) == [], (size, scheme)
        assert page.evaluate("document.documentElement.scrollWidth") == size["width"]


@pytest.mark.parametrize("name", LOOKED_AT)
def test_nothing_is_asked_of_a_network(pages: dict[str, Path], page: Page, name: str) -> None:
    """The file itself is all that is read, and the page has nothing to complain of."""
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))
    page.goto(pages[name].as_uri())
    page.wait_for_load_state("networkidle")
    assert asked == [pages[name].as_uri()]
    assert said == []


def test_paper_shows_all(pages: dict[str, Path], page: Page, tmp_path: Path) -> None:
    """On A4 no table is cut, and a dark screen prints dark ink on white."""
    page.emulate_media(media="print", color_scheme="dark")
    page.set_viewport_size({"width": 660, "height": 933})  # what A4 has between its margins, in pixels
    for name in LOOKED_AT:
        page.goto(pages[name].as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") == 660
        assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
