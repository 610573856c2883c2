"""The respondent's page: questions, and in one sentence each what leaves the browser. Answers never come here."""

from __future__ import annotations

from datetime import datetime
from fractions import Fraction
from math import ceil, exp
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.concurrency import run_in_threadpool

from cloister.collect.protocols import RandomizedResponse, UnaryEncoding
from cloister.collect.protocols.channel import UNIT
from cloister.collect.questions import Question
from cloister.collect.service.running import now, service_of
from cloister.collect.storing.inbox import Hosted
from cloister.schema.numerals import amount_text

__all__ = ["HERE", "percent", "render", "router"]

HERE = Path(__file__).parent
MOST_BUTTONS = 8  # values that are shown one below the other; more are in a list to choose from
MOST_EXPLAINED = 10  # of epsilon: beyond that the factor says nothing to anybody
LABELS = {"": "No answer", "(other)": "Something else"}

router = APIRouter(include_in_schema=False)
pages = Environment(
    loader=FileSystemLoader(HERE / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template: str, status: int = 200, **facts: Any) -> HTMLResponse:
    """A page."""
    return HTMLResponse(pages.get_template(template).render(**facts), status)


@router.get("/c/{id}")
async def show_survey(request: Request, id: str) -> HTMLResponse:
    """A collection as a form. What is sent is made in the browser (cloister-client.js)."""
    hosted = await service_of(request).hosted(id)
    state = hosted.state(now())
    return HTMLResponse(await run_in_threadpool(hosted.written, f"page {state}", lambda: survey_page(hosted, state)))


def survey_page(hosted: Hosted, state: str) -> str:
    """The page, which is the same for everybody."""
    collection = hosted.collection
    return pages.get_template("survey.html").render(
        root="../",
        service="..",
        collection=collection,
        state=state,
        is_invited=hosted.is_invited,
        opens=shown_moment(collection.opens),
        closes=shown_moment(collection.closes),
        questions=[shown_question(question) for question in collection.questions],
        guarantee=what_it_means(collection.guarantee.epsilon),
    )


def what_it_means(epsilon: Fraction) -> str:
    """The guarantee of a whole report, for people."""
    amount = amount_text(epsilon)
    whole = f"e to the power of {amount}" if epsilon > MOST_EXPLAINED else f"{ceil(10 * exp(epsilon)) / 10:,}"
    return (
        "Epsilon measures how much a report can tell. Whoever sees yours, and whatever else they know: the odds between any "
        "two answers of yours to a question change by at most a factor of e to the power of its epsilon (2.8 at epsilon 1), and "
        f"those between any two ways to answer all questions by at most {whole} (epsilon {amount})."
    )


def shown_question(question: Question) -> dict[str, Any]:
    """A question as the page shows it."""
    return {
        "name": question.name,
        "text": question.text or question.name,
        "leaves": what_leaves(question),
        "shape": "radio" if len(question.values) <= MOST_BUTTONS else "list",
        "choices": [{"value": value, "label": LABELS.get(value, value)} for value in question.values],
    }


def what_leaves(question: Question) -> str:
    """One sentence on what is sent of an answer."""
    protocol = question.answering()
    epsilon = f"Epsilon {amount_text(question.epsilon)}."
    if isinstance(protocol, UnaryEncoding):
        lie = percent(Fraction(protocol.lie_units, UNIT))
        return (
            f"What leaves: a yes or a no for each of the {len(question.values):,} answers, by chance: yes for yours in 50% of "
            f"all cases, for every other one in {lie}. {epsilon}"
        )
    assert isinstance(protocol, RandomizedResponse)
    truth, lie = percent(protocol.channel.truth), percent(protocol.channel.lie)
    if len(question.values) == 2:
        return f"What leaves: your answer in {truth} of all cases, the other one in {lie}, by chance. {epsilon}"
    others = len(question.values) - 1
    return f"What leaves: your answer in {truth} of all cases, each of the {others:,} others in {lie}, by chance. {epsilon}"


def percent(share: Fraction) -> str:
    """A probability for people, never rounded to certainty.

    >>> percent(Fraction(7311, 10000)), percent(Fraction(99996, 100000)), percent(Fraction(1, 10**6))
    ('73.1%', 'more than 99.9%', 'less than 0.1%')
    """
    if share > Fraction(999, 1000):
        return "more than 99.9%"
    return "less than 0.1%" if share < Fraction(1, 1000) else f"{float(share):.1%}"


def shown_moment(moment: datetime | None) -> str:
    """A moment for people."""
    return "" if moment is None else f"{moment.day} {moment:%B %Y, %H:%M} UTC"
