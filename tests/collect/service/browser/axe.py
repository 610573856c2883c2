"""axe-core in a page that Playwright has open: what keeps somebody from using it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.collect.service.browser.npm_packages import installed

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["COLOURS", "NARROW", "WIDE", "violations"]

NARROW, WIDE = {"width": 320, "height": 640}, {"width": 1280, "height": 800}
COLOURS = ["color-contrast", "link-in-text-block"]  # the rules that can differ between light and dark
RUN_AXE = """async (rules) => {
    const found = await axe.run(document, { resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) });
    return found.violations.map((each) => `${each.id}: ${each.nodes.map((node) => node.target.join(" ")).join(", ")}`);
}"""


def violations(page: Page, rules: list[str] | None = None) -> list[str]:
    """What axe-core finds in a page as it is."""
    if not page.evaluate("'axe' in globalThis"):
        page.evaluate(installed("axe-core/axe.min.js").read_text(encoding="utf-8"))
    found: list[str] = page.evaluate(RUN_AXE, rules)
    return found
