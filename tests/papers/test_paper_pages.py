"""Pages of papers: every text is text, and the certificate says what is claimed."""

from __future__ import annotations

from pathlib import Path

import pytest

from cloister.errors import UsageError
from cloister.papers.paper_folder import write_folder
from cloister.papers.paper_items import RunEffort
from cloister.papers.reproduce import run_items
from cloister.papers.reproduced_row import ReproducedRow
from cloister.papers.run_journal import open_journal
from cloister.privacy.guarantees import Claimed
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency
from tests.papers.toy_paper import toy_paper


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a toy paper."""
    paper, effort = toy_paper(), RunEffort(is_quick=True)
    with open_journal(tmp_path / "journal.jsonl", {"paper": "003"}) as journal:
        rows: dict[str, tuple[ReproducedRow, ...]] = run_items(paper.items, effort, journal)
    write_folder(paper, rows, tmp_path / "003", effort, "1.0")
    return tmp_path / "003"


def test_markup_in_a_page_is_text(folder: Path) -> None:
    """A title, a setting and a question full of markup are shown as they are."""
    page = (folder / "page.html").read_text()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") >= 3
    assert "as printed, run again" in page
    assert "no finite epsilon" in page
    table = [line for line in (folder / "page.md").read_text().splitlines() if "<script>" in line and line.startswith("|")]
    assert len(table) == 1
    assert r"\|" in table[0]


def test_the_certificate_is_a_claim(folder: Path) -> None:
    """It covers every file, is read back, says that nothing is private, and makes no report to hand over."""
    release = Release.from_json((folder / "release.json").read_text())
    check_consistency(release, folder, folder / "release.json", None)
    assert release.guarantee == Claimed("003", "epsilon 1", "nothing")
    assert release.status == "claimed, NOT PRIVATE"
    assert set(release.files) == {path.name for path in folder.iterdir()} - {"release.json"}
    with pytest.raises(UsageError, match="promises nothing"):
        release.promise  # noqa: B018
