"""The page that stays with the holder: it looks different, only its owner reads it, and nothing of it is handed over."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from cloister.privacy.ledger import Ledger
from tests.cli.test_report_cli import refused
from tests.collect.service.browser.npm_packages import validate_html
from tests.handouts.published import run

ORIGINAL = ("--against", "students.csv", "--schema", "students.toml")


def measure(pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, name: str, out: Path) -> tuple[str, Path]:
    """The page that is handed over of a release, and where the holder's own is."""
    monkeypatch.chdir(pages[name].parent)
    run("report", name, "-o", out, "--ledger", "ledger.sqlite", *ORIGINAL)
    return out.read_text(encoding="utf-8"), out.with_name(f"{out.stem}.holder.html")


@pytest.mark.parametrize(
    ("name", "figure"),
    [
        ("alike.csv", "fewest rows that look alike (k)"),
        ("averaged.csv", "fewest rows that look alike (k)"),
        ("made_up.csv", "In short"),
        ("clusters", "How well the clusters fit the original"),
    ],
)
def test_the_holder_sees_before_and_after(
    pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str, figure: str
) -> None:
    """Its file is the owner's alone, its page says so, is valid, and the page beside it has nothing of it."""
    _, stays = measure(pages, monkeypatch, name, tmp_path / "page.html")
    own = stays.read_text(encoding="utf-8")
    assert stays.stat().st_mode & 0o777 == 0o600
    assert "Not to be handed over" in own
    assert 'class="holder"' in own
    assert figure in own
    assert validate_html([stays], tmp_path) == []


def test_nothing_of_it_is_on_the_page_that_is_handed_over(
    pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The first page is the one that is made without the original."""
    with_original, _ = measure(pages, monkeypatch, "alike.csv", tmp_path / "first.html")
    run("report", "alike.csv", "-o", tmp_path / "second.html", "--ledger", "ledger.sqlite")
    uses = re.compile(r"uses by the holder</dt><dd>\d+")  # what the ledger counts; the first page is made before it measures
    assert uses.sub("", with_original) == uses.sub("", (tmp_path / "second.html").read_text(encoding="utf-8"))


def test_the_ledger_knows_of_it(pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Exact results are the holder's use, and are written down."""
    before = Ledger(pages["clusters"].parent / "ledger.sqlite").account("students").holder_uses
    measure(pages, monkeypatch, "clusters", tmp_path / "page.html")
    assert Ledger(pages["clusters"].parent / "ledger.sqlite").account("students").holder_uses == before + 1


def test_numbers_are_not_compared(pages: dict[str, Path], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A table of counts has its own errors; the refusal says what --against is for, and leaves no page."""
    monkeypatch.chdir(pages["table.csv"].parent)
    said = refused("report", "table.csv", "-o", tmp_path / "page.html", *ORIGINAL)
    assert "--against is for released rows and for clusters" in said
    assert not list(tmp_path.iterdir())
