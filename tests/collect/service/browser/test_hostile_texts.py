"""Collections whose texts are HTML and scripts: they are shown as they are, and run nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from cloister.collect import Collection
from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_states import log_in
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import RECEIVED, SurveyForm

if TYPE_CHECKING:
    from playwright.sync_api import Page

IMAGE = "<img src=x onerror=\"globalThis.hacked = 'image'\">"
SCRIPT = "\"></script><script>globalThis.hacked = 'script'</script>"
ATTRIBUTE = "' onfocus='globalThis.hacked = 1' autofocus x=\" onfocus=\"globalThis.hacked = 1\""
TEMPLATE = "{{ 7 * 7 }}{% raw %}"
MARK = "\ufeffa byte order mark"
QUESTIONS = {
    SCRIPT: {"text": f"Question {IMAGE}", "domain": [IMAGE, SCRIPT, ATTRIBUTE]},
    "__proto__": {"text": f"Question {SCRIPT}", "domain": ["constructor", "__proto__", MARK]},
    ATTRIBUTE: {"domain": [IMAGE, TEMPLATE, "javascript:globalThis.hacked=1", *map(str, range(8))]},
}
ANSWERS = {f"Question {IMAGE}": ATTRIBUTE, f"Question {SCRIPT}": MARK, ATTRIBUTE: TEMPLATE}


def hostile(id: str) -> Collection:
    """A collection that nobody should host."""
    return Collection(id, QUESTIONS, epsilon=1, title=f"Title {IMAGE} {SCRIPT}", collector=f"{SCRIPT} {ATTRIBUTE}")


def assert_harmless(page: Page, watch: PageWatch) -> None:
    """Nothing of the texts has become an element, an attribute or a script."""
    assert page.evaluate("globalThis.hacked") is None
    assert page.locator("img, script:not([src]), [onerror], [onfocus], [autofocus]").count() == 0
    assert watch.complaints == []


def test_the_respondents_page(service: RunningService, page: Page, watch: PageWatch) -> None:
    """The survey shows such texts, can be answered, and what is sent has such names and values."""
    form = SurveyForm.open(page, service.host(hostile("hostile")))
    collection = hostile("hostile")
    expect(page.get_by_role("heading", level=1)).to_have_text(collection.title)
    assert page.title() == collection.title
    assert_harmless(page, watch)
    form.answer(ANSWERS)
    form.says(RECEIVED)
    posted = json.loads(form.shown_bytes())
    assert watch.sent == [json.dumps(posted, ensure_ascii=False, separators=(",", ":"))]
    assert posted["report"]["answers"].keys() == QUESTIONS.keys()
    assert service.reports("hostile") == 1
    assert_harmless(page, watch)


def test_the_collectors_pages(service: RunningService, page: Page, watch: PageWatch) -> None:
    """The list of collections and the estimates show such texts, also when they bring themselves up to date."""
    page.clock.install()
    collection = hostile("hostile-estimated")
    service.host(collection)
    service.fill(collection.id, 50)
    log_in(service, page)
    link = page.get_by_role("link", name=collection.title)
    expect(link.first).to_be_visible()
    assert_harmless(page, watch)
    page.goto(f"{service.address}/admin/c/{collection.id}")
    expect(page.get_by_role("heading", level=1)).to_have_text(collection.title)
    assert page.get_by_role("heading", level=2).all_inner_texts()[:2] == [f"Question {IMAGE}", f"Question {SCRIPT}"]
    assert IMAGE in page.locator(".label").all_inner_texts()
    assert_harmless(page, watch)
    service.fill(collection.id, 1)
    page.clock.run_for(11_000)
    expect(page.get_by_text("51", exact=True)).to_be_visible()
    assert_harmless(page, watch)
