"""A survey is answered: what is sent, what is shown of it, and what happens when something is missing or done twice."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import ANSWERED, MISSING, RECEIVED, SMOKES, SurveyForm, habits, smoking

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page


def test_a_report_is_sent_once_and_shown_as_it_is(service: RunningService, page: Page, watch: PageWatch) -> None:
    """What is shown are the bytes that were sent; they hold answers of the domain, and nobody else is asked for anything."""
    form = SurveyForm.open(page, service.host(habits("answered")))
    form.answer()
    form.says(RECEIVED)
    shown = form.shown_bytes()
    assert watch.sent == [shown]
    posted = json.loads(shown)
    assert posted.keys() == {"report"}
    hosted = service.hosted("answered")
    assert hosted.check(posted["report"]).answers == posted["report"]["answers"]
    assert service.reports("answered") == 1
    assert watch.hosts == {urlsplit(service.address).netloc}
    assert watch.complaints == []


def test_shapes_of_questions(service: RunningService, page: Page) -> None:
    """Up to 8 values are radio buttons, more are a list; no answer and whatever is not listed are values with words."""
    SurveyForm.open(page, service.host(habits("shapes")))
    assert page.get_by_role("radio").count() == 2 + 4 + 4
    assert page.get_by_role("combobox").count() == 2
    drinks = page.get_by_role("group", name="Drinks")
    assert drinks.locator("label").all_inner_texts() == ["No answer", "tea", "coffee", "Something else"]
    assert [each.get_attribute("value") for each in drinks.get_by_role("radio").all()] == ["", "tea", "coffee", "(other)"]


def test_complaints_would_be_heard(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Planted: a script in the page itself, which its policy forbids."""
    page.goto(service.host(habits("planted")))
    page.evaluate(
        "document.head.append(Object.assign(document.createElement('script'), { textContent: 'globalThis.ran = 1' }))"
    )
    page.wait_for_function("violations.length > 0")
    assert any("script-src" in words for words in watch.complaints)
    assert page.evaluate("globalThis.ran") is None


@pytest.mark.parametrize("missing", ["Do you smoke?", "Lives in", "Pets"])
def test_nothing_is_sent_while_an_answer_is_missing(
    service: RunningService, page: Page, watch: PageWatch, missing: str
) -> None:
    """The first question without an answer gets the focus and words, in a list and among buttons; then it can be sent."""
    id = f"missing-{list(ANSWERED).index(missing)}"
    form = SurveyForm.open(page, service.host(habits(id)))
    form.choose({text: label for text, label in ANSWERED.items() if text != missing})
    form.send()
    form.says(MISSING)
    assert page.locator(".problem:visible", has_text="Choose an answer.").count() == 1
    group = page.locator("[data-question]", has_text=missing)
    expect(group.get_by_text("Choose an answer.")).to_be_visible()
    expect(group.locator("input, select").first).to_be_focused()
    assert watch.sent == []
    form.answer({missing: ANSWERED[missing]})
    form.says(RECEIVED)
    assert service.reports(id) == 1


def test_all_that_is_missing_is_marked(service: RunningService, page: Page, watch: PageWatch) -> None:
    """An empty form has words at each question, and the focus is at the first."""
    form = SurveyForm.open(page, service.host(habits("empty")))
    form.send()
    form.says(MISSING)
    assert page.locator(".problem:visible", has_text="Choose an answer.").count() == 5
    expect(page.get_by_label("no", exact=True)).to_be_focused()
    assert watch.sent == []


def test_a_page_that_is_loaded_again_knows(service: RunningService, page: Page, watch: PageWatch) -> None:
    """Who has answered sees that the report was received, and what it was, and no form."""
    form = SurveyForm.open(page, service.host(smoking("again")))
    form.answer(SMOKES)
    form.says(RECEIVED)
    page.reload()
    form.says(RECEIVED)
    expect(form.form).to_be_hidden()
    assert [form.shown_bytes()] == watch.sent
    assert service.reports("again") == 1


def test_two_tabs_make_one_report(service: RunningService, context: BrowserContext) -> None:
    """Both were open before the first was sent; the second says that a report was received and sends no other one."""
    address = service.host(smoking("tabs"))
    first, second = (SurveyForm.open(context.new_page(), address) for _ in range(2))
    sent = PageWatch(second.page)
    first.answer(SMOKES)
    first.says(RECEIVED)
    second.answer({"Do you smoke?": "yes"})
    second.says(RECEIVED)
    expect(second.form).to_be_hidden()
    assert second.shown_bytes() == first.shown_bytes()
    assert sent.sent == []
    assert service.reports("tabs") == 1


def test_two_tabs_at_the_same_time(service: RunningService, context: BrowserContext) -> None:
    """Buttons that are pressed at once in two tabs make one report, and both tabs say so."""
    address = service.host(smoking("race"))
    tabs = [SurveyForm.open(context.new_page(), address) for _ in range(2)]
    for tab in tabs:
        tab.choose(SMOKES)
    for tab in tabs:  # neither waits for the other
        tab.page.evaluate("document.querySelector('#answers button').click()")
    for tab in tabs:
        tab.says(RECEIVED)
    assert len({tab.shown_bytes() for tab in tabs}) == 1
    assert service.reports("race") == 1


def test_the_form_is_emptied(service: RunningService, page: Page) -> None:
    """True answers do not stay in the page once the report was received."""
    form = SurveyForm.open(page, service.host(habits("emptied")))
    form.answer()
    form.says(RECEIVED)
    assert page.locator("input:checked").count() == 0
    assert page.locator("select").evaluate_all("(all) => all.map((each) => each.selectedIndex)") == [0, 0]
