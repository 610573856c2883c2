"""Reports that are handed over: what they say of each kind of release, and what they never say."""

from __future__ import annotations

import html
import re
from pathlib import Path

import pytest

from tests.handouts.published import HOSTILE, VERBS, run

CHAPTERS = (
    "What was released, and what was not",
    "The guarantee",
    "What an attacker could do",
    "How the budget was spent",
    "What it does not protect from",
    "How to check it",
    "For a data protection impact assessment",
    "Glossary",
)


def text_of(page: Path) -> str:
    """What a reader sees, as one line."""
    body = page.read_text(encoding="utf-8").partition("</head>")[2]
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", body)).split())


@pytest.mark.parametrize("name", VERBS)
def test_every_release_has_a_report(pages: dict[str, Path], name: str) -> None:
    """All chapters are there, with the guarantee as the certificate has it."""
    text = text_of(pages[name])
    for chapter in CHAPTERS:
        assert chapter in text
    assert "To be filled in by the controller" in text


@pytest.mark.parametrize("name", VERBS)
def test_nothing_is_run_or_loaded(pages: dict[str, Path], name: str) -> None:
    """No script, no address, and no tag that could bring one."""
    page = pages[name].read_text(encoding="utf-8")
    tags = {tag.lower() for tag in re.findall(r"<([a-zA-Z]+)", page)}
    assert not tags & {"script", "img", "link", "iframe", "object", "embed", "audio", "video", "form", "base"}
    assert set(re.findall(r"url\((.)", page)) <= {"#"}  # a part of the page itself
    assert all(place.startswith(("#", "data:image/png;")) for place in re.findall(r'href="([^"]*)"', page))
    assert not re.search(r"""\s(src|on[a-z]+)\s*=""", re.sub(r"&lt;.*?&gt;", "", page))


@pytest.mark.parametrize("name", ["estimate.csv", "modes.csv"])
def test_markup_in_names_is_text(pages: dict[str, Path], name: str) -> None:
    """A question full of markup stands there as it was written."""
    assert HOSTILE in " ".join(html.unescape(pages[name].read_text(encoding="utf-8")).split())


def test_the_promise_is_in_plain_words_with_its_numbers(pages: dict[str, Path]) -> None:
    """e to the power of epsilon 1 is 2.72, rounded up; with a delta that is said too."""
    assert "no outcome would become more than 2.72 times as likely." in text_of(pages["clusters"])
    assert "beyond that by a probability of at most 0.000001" in text_of(pages["gaussian"])


def test_posteriors_are_bounds_for_pure_releases_alone(pages: dict[str, Path]) -> None:
    """Epsilon 1 under add-remove: fifty-fifty becomes at most 88.1%; with a delta no such bound is shown."""
    assert "88.1%" in text_of(pages["clusters"])
    gaussian = text_of(pages["gaussian"])
    assert "How sure can somebody become" not in gaussian
    assert "has no bound where delta is above 0" in gaussian


def test_a_large_epsilon_is_called_large(pages: dict[str, Path]) -> None:
    """From 5 on a fifty-fifty guess can become near certainty."""
    assert "fifty-fifty guess about somebody can become near certainty" in text_of(pages["table.json"])
    assert "fifty-fifty" not in text_of(pages["table.csv"])


def test_what_is_left_is_what_the_ledger_says(pages: dict[str, Path]) -> None:
    """The first charge of 1 left 39 of 40."""
    text = text_of(pages["clusters"])
    assert "39 left of 40; 1 spent" in text
    assert "labels.parquet" in text


@pytest.mark.parametrize("name", ["alike.csv", "averaged.csv", "recoded.csv"])
def test_tables_without_noise_promise_no_privacy(pages: dict[str, Path], name: str) -> None:
    """They say that they are not differentially private, and what an attacker may know."""
    text = text_of(pages[name])
    assert "not differentially private" in text
    assert "No number bounds what an attacker learns who knows more than that." in text
    assert "times as likely" not in text


def test_columns_without_treatment_are_named(pages: dict[str, Path]) -> None:
    """What was published as it is stands out, and so does what was left out."""
    text = text_of(pages["alike.csv"])
    assert "Published as they are, with nothing done to them: hours_online, forum_posts, grade." in text
    assert "left out altogether: student_id" in text


@pytest.mark.parametrize("name", ["clusters", "mixed", "derived", "cells.parquet", "table.csv", "table.json"])
def test_what_was_released_is_drawn(pages: dict[str, Path], name: str) -> None:
    """Pictures stand in the page itself, in the page's colours, with words for those who hear it."""
    page = pages[name].read_text(encoding="utf-8")
    assert "<svg" in page
    assert 'role="img"' in page
    assert "var(--chart-1" in page or "data:image/png" in page


def test_without_matplotlib_the_tables_are_there(
    pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A page needs no picture: the numbers stand in its tables."""
    monkeypatch.setattr("cloister.handouts.shown_pictures.has_pictures", lambda: False)
    run("report", pages["clusters"].parent / "clusters", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<svg" not in page
    assert "Centres of the clusters" in page


def test_no_machine_path_is_handed_over(pages: dict[str, Path]) -> None:
    """Neither the folder of the release nor the place of the ledger."""
    for page in pages.values():
        text = page.read_text(encoding="utf-8")
        assert str(page.parent) not in text
        assert "ledger.sqlite" not in text
