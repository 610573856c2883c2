"""Pictures as SVG inside a page."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from cloister.report.one_line import one_line
from cloister.report.picture import Picture
from cloister.report.plot import inline_svg
from tests.report.pictures import EVERY_PANEL, HOSTILE, PANELS

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def drawn() -> str:
    return inline_svg(EVERY_PANEL)


def test_it_is_an_element_of_a_page(drawn: str) -> None:
    """One svg element, with a role and a name, as wide as its place: no prolog, no fixed width."""
    root = ElementTree.fromstring(drawn)
    assert drawn.startswith("<svg ")
    assert root.tag == f"{SVG}svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == root.find(f"{SVG}title").text == one_line(EVERY_PANEL.heading)
    assert root.find(f"{SVG}desc").text == one_line(EVERY_PANEL.caption)
    assert root.get("viewBox")
    assert not {"width", "height"} & set(root.keys())


def test_it_loads_nothing(drawn: str) -> None:
    """References are to parts of itself or to images that it holds; there are no scripts, styles or links."""
    root = ElementTree.fromstring(drawn)
    names = {element.get("id") for element in root.iter() if element.get("id")}
    assert not {element.tag for element in root.iter()} & {f"{SVG}script", f"{SVG}style", f"{SVG}a", f"{SVG}foreignObject"}
    for element in root.iter():
        for key, value in element.attrib.items():
            assert not re.search(r"https?:|javascript:|@import", value), key
            if key == "href":
                assert value.startswith("data:image/png;base64,") or value[1:] in names
            for name in re.findall(r"url\(#([^)]+)\)", value):
                assert name in names


def test_hostile_names_are_text(drawn: str) -> None:
    """Markup and formulas in names are shown as they are, on one line and shortened."""
    texts = ["".join(element.itertext()) for element in ElementTree.fromstring(drawn).iter(f"{SVG}text")]
    begin = HOSTILE[:12]
    assert any(text.startswith(begin) for text in texts)
    assert max(map(len, texts)) < 130
    assert not any("\n" in text.strip() or "\u202e" in text for text in texts)


def test_colours_are_the_pages(drawn: str) -> None:
    """Every colour but white and those of a table of shares is a variable with a fallback, so that a dark page can be read."""
    left = set(re.findall(r"(?<!, )#[0-9a-f]{6}\b", inline_svg(Picture("", (*PANELS[:10], PANELS[-1])))))
    assert "var(--chart-1, #0072b2)" in drawn
    assert "var(--ink, #1f2328)" in drawn
    assert left <= {"#ffffff"}


def test_the_same_picture_is_the_same_bytes(drawn: str) -> None:
    """Drawn again it is equal, and another picture has other ids."""
    assert inline_svg(EVERY_PANEL) == drawn
    names = [set(re.findall(r' id="([^"]+)"', svg)) for svg in (drawn, inline_svg(Picture("another", PANELS[:4])))]
    assert all(names)
    assert not names[0] & names[1]
