"""The browser's client draws from the law that Python's client is held to: in Node, and in Chromium."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cloister.collect.protocols import channel_for
from cloister.collect.protocols.channel import UNIT, lie_units
from tests.collect.protocols.law_bounds import are_within_bounds
from tests.collect.service.browser.client_copies import HERE, PLANTED, client_with, run_in_node
from tests.collect.service.browser.running_service import RunningService

if TYPE_CHECKING:
    from playwright.sync_api import Page

EPSILON = "1/2"
DRAWS = 30_000  # of one answer: lies that are 5% too likely leave the bounds
BITS = 10
COUNT_IN_PAGE = """async ({ client, counter, cases }) => {
    const [loaded, { countAnswers }] = await Promise.all([import(client), import(counter)]);
    return cases.map((each) => countAnswers(loaded, each));
}"""

Counter = Callable[[list[dict[str, Any]]], list[list[int]]]


def case(protocol: str, size: int, code: int, draws: int) -> dict[str, Any]:
    """An answer that is perturbed many times."""
    values = [f"value {place}" for place in range(size)]
    question = {"name": "q", "values": values, "epsilon": EPSILON, "protocol": protocol}
    return {"question": question, "code": code, "draws": draws}


def value_law_holds(counter: Counter, draws: int = DRAWS) -> bool:
    """Whether each pair of one of three answers and a report is as frequent as it should."""
    channel = channel_for(Fraction(EPSILON), 3)
    counted = counter([case("randomized-response", 3, code, draws) for code in range(3)])
    laws = [[float(channel.truth if sent == code else channel.lie) for sent in range(3)] for code in range(3)]
    return all(are_within_bounds(counts, law, draws, 9) for counts, law in zip(counted, laws, strict=True))


def bit_law_holds(counter: Counter, draws: int = DRAWS) -> bool:
    """Whether each bit of an answer is 1 as often as it should."""
    lie = lie_units(Fraction(EPSILON), 1) / UNIT
    (counts,) = counter([case("unary", BITS, 7, draws)])
    law = [0.5 if place == 7 else lie for place in range(BITS)]
    return are_within_bounds(counts, law, draws, BITS)


def in_node(folder: Path, bug: str | None = None) -> Counter:
    """Counts in Node."""
    return lambda cases: run_in_node("count_answers.mjs", folder, cases, bug)


def in_page(page: Page, bug: str | None = None) -> Counter:
    """Counts in a page of the service, with the client that it serves; one with a bug is put in its place."""
    script = (HERE / "count_answers.mjs").read_text(encoding="utf-8")
    page.route("**/client/counter.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))
    client = "/client/cloister-client.js"
    if bug is not None:
        client = f"/client/bug-{[*PLANTED].index(bug)}.js"  # a page loads what is at an address once
        page.route(f"**{client}", lambda route: route.fulfill(body=client_with(bug), content_type="text/javascript"))
    return lambda cases: page.evaluate(COUNT_IN_PAGE, {"client": client, "counter": "/client/counter.js", "cases": cases})


def test_the_law_in_node(tmp_path: Path) -> None:
    """Values and bits have their probabilities, at an error of 1e-6 each."""
    assert value_law_holds(in_node(tmp_path))
    assert bit_law_holds(in_node(tmp_path))


def test_bugs_are_caught_in_node(tmp_path: Path) -> None:
    """Planted: a lie that may be the truth, bits that are coins, and lies that are 5% too likely."""
    assert not value_law_holds(in_node(tmp_path, "a lie may be the truth"), draws=5_000)
    assert not bit_law_holds(in_node(tmp_path, "every bit is a coin"), draws=5_000)
    assert not bit_law_holds(in_node(tmp_path, "lies are 5% too likely"))


def test_the_law_in_the_browser(service: RunningService, page: Page) -> None:
    """The module that the service serves draws from the law in Chromium; one with a bug is caught there."""
    page.goto(f"{service.address}/admin")
    assert value_law_holds(in_page(page))
    assert bit_law_holds(in_page(page))
    assert not value_law_holds(in_page(page, "a lie may be the truth"), draws=5_000)
    assert not bit_law_holds(in_page(page, "every bit is a coin"), draws=5_000)
