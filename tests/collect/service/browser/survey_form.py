"""A survey's page as a person sees it: questions by their texts, answers by their labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cloister.collect import Collection
from tests.collect.service.browser.chromium import expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

__all__ = ["ANSWERED", "MISSING", "NOT_TAKEN", "PENDING", "RECEIVED", "SEND", "SMOKES", "SurveyForm", "habits", "smoking"]

RECEIVED = "Thank you. Your report was received."
PENDING = "will be sent as soon as the service can be reached"
NOT_TAKEN = "Your report was not taken."
MISSING = "Please fill in what is missing"
SEND = "Randomize and send my answers"
MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September"]
TOWNS = ["Aachen", "Bonn", "Celle", "Dessau", "Essen", "Fulda", "Gera", "Hof", "Ilmenau", "Jena", "Kiel", "Lindau"]

ANSWERED = {"Do you smoke?": "no", "Born in": "May", "Lives in": "Jena", "Drinks": "No answer", "Pets": "Something else"}
SMOKES = {"Do you smoke?": "no"}


def smoking(id: str, **changes: Any) -> Collection:
    """A survey of one question, for what does not depend on the questions."""
    return Collection(id, {"smokes": {"text": "Do you smoke?", "domain": ["no", "yes"]}}, epsilon=1, **changes)


def habits(id: str, **changes: Any) -> Collection:
    """A survey with every kind of question: few values and many, one value and bits, no answer and something else."""
    questions = {
        "smokes": {"text": "Do you smoke?", "domain": ["no", "yes"]},
        "born": {"text": "Born in", "domain": MONTHS, "epsilon": "1/3"},
        "town": {"text": "Lives in", "domain": TOWNS, "protocol": "unary"},
        "drinks": {"text": "Drinks", "domain": ["", "tea", "coffee"], "other": True},
        "pets": {"text": "Pets", "domain": ["", "cat", "dog"], "other": True, "protocol": "unary"},
    }
    facts = {"epsilon": 1, "title": "Habits of students", "collector": "the students' council", **changes}
    return Collection(id, questions, **facts)


class SurveyForm:
    """The form on a page that is open."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.form = page.locator("#answers")
        self.status = page.get_by_role("status")
        self.bytes = page.locator("#sent-bytes")

    @classmethod
    def open(cls, page: Page, address: str) -> SurveyForm:
        """Go to a survey, and wait until its script has begun."""
        page.goto(address)
        form = cls(page)
        expect(page.get_by_role("button", name=SEND)).to_be_enabled()
        return form

    def choose(self, answers: Mapping[str, str] = ANSWERED) -> None:
        """Choose answers, by the texts of questions and the labels of values."""
        self.page.bring_to_front()  # browsers hold tabs back that nobody sees
        for text, label in answers.items():
            group = self.page.get_by_role("group", name=text, exact=True)
            if group.count():
                group.get_by_label(label, exact=True).check()
            else:
                self.page.get_by_role("combobox", name=text, exact=True).select_option(label=label)

    def send(self) -> None:
        """Press the button."""
        self.page.get_by_role("button", name=SEND).click()

    def answer(self, answers: Mapping[str, str] = ANSWERED) -> None:
        """Choose answers and send them."""
        self.choose(answers)
        self.send()

    def says(self, words: str) -> None:
        """Wait until the page says this."""
        expect(self.status).to_contain_text(words)

    def shown_bytes(self) -> str:
        """What is shown on request: the exact bytes of the report."""
        self.page.get_by_text("Show exactly what this browser sends").click()
        expect(self.bytes).to_be_visible()
        return self.bytes.text_content() or ""
