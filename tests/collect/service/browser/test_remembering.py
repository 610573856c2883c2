"""What a browser remembers: the same answer to the same question is perturbed once, until it is told to forget."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING

from cloister.collect import Collection
from tests.collect.service.browser.chromium import expect
from tests.collect.service.browser.page_watch import PageWatch
from tests.collect.service.browser.running_service import RunningService
from tests.collect.service.browser.survey_form import RECEIVED, SMOKES, SurveyForm, smoking

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

COUNT = 12  # at this epsilon two perturbed answers are equal by chance 1 time in 4, and all of them less than 1e-6
CHOOSE_ALL = "(place) => document.querySelectorAll('fieldset').forEach((q) => q.querySelectorAll('input')[place].click())"


def many(id: str, epsilon: str = "1/10") -> Collection:
    """Twelve questions of four values."""
    return Collection(id, {f"question {place}": ["a", "b", "c", "d"] for place in range(COUNT)}, epsilon=epsilon)


def sent_answers(page: Page, address: str, place: int = 2) -> dict[str, str]:
    """Answer every question with the value at a place, and give what was sent."""
    watch = PageWatch(page)
    form = SurveyForm.open(page, address)
    page.evaluate(CHOOSE_ALL, place)
    form.send()
    form.says(RECEIVED)
    answers: dict[str, str] = json.loads(watch.sent[-1])["report"]["answers"]
    return answers


def test_the_same_answer_is_perturbed_once(service: RunningService, new_context: Callable[[], BrowserContext]) -> None:
    """Two surveys with the same questions get the same perturbed answers from one browser; another browser draws its own."""
    addresses = [service.host(many(id)) for id in ("memo-1", "memo-2")]
    context, other = new_context(), new_context()
    first, second = (sent_answers(context.new_page(), address) for address in addresses)
    assert first == second
    assert sent_answers(other.new_page(), addresses[0]) != first
    assert (service.reports("memo-1"), service.reports("memo-2")) == (2, 1)


def test_another_answer_or_another_price_is_perturbed_anew(service: RunningService, context: BrowserContext) -> None:
    """What was sent for one value, or at one epsilon, says nothing about what is sent for another."""
    first, other_value, other_price = (
        sent_answers(context.new_page(), service.host(many(id, epsilon)), place)
        for id, epsilon, place in (("fresh-1", "1/10", 2), ("fresh-2", "1/10", 3), ("fresh-3", "1/9", 2))
    )
    assert len({json.dumps(answers) for answers in (first, other_value, other_price)}) == 3


def test_ids_are_drawn_for_each_survey(service: RunningService, context: BrowserContext) -> None:
    """No id of a report is the same in two surveys: nobody can join them by it."""
    bodies = []
    for id in ("joined-1", "joined-2"):
        form = SurveyForm.open(context.new_page(), service.host(smoking(id)))
        form.answer(SMOKES)
        form.says(RECEIVED)
        bodies.append(json.loads(form.shown_bytes()))
    ids = [body["report"]["report"] for body in bodies]
    assert len(set(ids)) == 2


def test_forgetting(service: RunningService, context: BrowserContext) -> None:
    """A browser that was told to forget shows the form again, and perturbs the same answers anew."""
    page = context.new_page()
    address = service.host(many("forgotten"))
    before = sent_answers(page, address)
    forget = page.get_by_role("button", name="Forget what this browser remembers of surveys here")
    page.once("dialog", lambda dialog: dialog.dismiss())
    forget.click()
    expect(page.locator("#answers")).to_be_hidden()  # who did not mean it has lost nothing
    page.once("dialog", lambda dialog: dialog.accept())
    forget.click()
    expect(page.locator("#answers")).to_be_visible()
    assert sent_answers(context.new_page(), address) != before


def test_forgetting_in_another_tab(service: RunningService, context: BrowserContext) -> None:
    """A tab whose memory was deleted by another one says what to do."""
    first, second = (SurveyForm.open(context.new_page(), service.host(smoking(id))) for id in ("tab-1", "tab-2"))
    first.answer(SMOKES)
    first.says(RECEIVED)
    first.page.once("dialog", lambda dialog: dialog.accept())
    first.page.get_by_role("button", name="Forget").click()
    expect(first.form).to_be_visible()
    second.answer(SMOKES)
    second.says("deleted, perhaps in another tab. Reload the page.")
    assert service.reports("tab-2") == 0
    second.page.reload()
    second.answer(SMOKES)
    second.says(RECEIVED)
