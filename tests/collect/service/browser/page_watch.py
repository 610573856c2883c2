"""What a page asks of the network, and what it complains about."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from playwright.sync_api import ConsoleMessage, Page, Request

__all__ = ["PageWatch"]

KEEP_VIOLATIONS = """
globalThis.violations = [];
document.addEventListener("securitypolicyviolation", (event) => {
  violations.push(`${event.violatedDirective} ${event.blockedURI}`);
});
"""


class PageWatch:
    """Watches a page from before it is loaded."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.requests: list[Request] = []
        self.errors: list[str] = []
        page.add_init_script(KEEP_VIOLATIONS)
        page.on("request", self._see)
        page.on("console", self._hear)
        page.on("pageerror", lambda error: self.errors.append(str(error)))

    def _see(self, request: Request) -> None:
        self.requests.append(request)

    def _hear(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.errors.append(message.text)

    @property
    def hosts(self) -> set[str]:
        """Whom the page asked for anything; what stands in an address itself (data:) is nobody."""
        return {host for request in self.requests if (host := urlsplit(request.url).netloc)}

    @property
    def sent(self) -> list[str]:
        """The bodies of the reports that were sent, tries that failed among them."""
        return [
            request.post_data or ""
            for request in self.requests
            if request.method == "POST" and request.url.endswith("/reports")
        ]

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, and what the page's policy forbade."""
        return [*self.errors, *self.page.evaluate("globalThis.violations ?? []")]
