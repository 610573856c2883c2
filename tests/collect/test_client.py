"""The client's half: what is sent, what is remembered, and what that costs."""

from __future__ import annotations

import json
import os
import sqlite3
from collections import Counter
from fractions import Fraction
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pytest

from cloister.collect import Client, Collection, check_report
from cloister.collect.client import draw_anew
from cloister.collect.memo import Memo, MemoError
from cloister.errors import UsageError
from cloister.testing import seeded_noise
from tests.collect.survey import survey

MINE = {"smokes": "yes", "year": 2, "likes": None}


def test_a_report_holds_perturbed_answers_and_nothing_else() -> None:
    """A small JSON object: version, whose questions under which terms, an id, and a value of each domain."""
    report = Client(survey()).report(MINE)
    sent = json.loads(report.to_json())
    assert sent.keys() == {"version", "collection", "terms", "report", "answers"}
    assert len(sent["report"]) == 32
    assert all(sent["answers"][q.name] in q.values for q in survey().questions)
    assert check_report(sent, survey()) == report


def test_ids_differ_and_answers_do() -> None:
    """Without a memo each report is drawn anew, and says that repeats cost again."""
    reports = [Client(survey()).report(MINE) for _ in range(200)]
    assert len({report.id for report in reports}) == 200
    assert len({tuple(report.answers.values()) for report in reports}) > 5
    assert "cost their epsilon again" in " ".join(reports[0].notes)


@pytest.mark.parametrize(
    "answers",
    [
        {},
        {"smokes": "yes"},
        {**MINE, "smokes": "maybe"},
        {**MINE, "more": 1},
        {**MINE, "year": 2.5},
        {**MINE, "year": 10**5000},
        {**MINE, "year": ["2"]},
        [],
        None,
        {1: 2},
    ],
)
def test_answers_that_make_no_sense(answers: Any) -> None:
    """One sentence, which does not repeat the answer."""
    with pytest.raises(UsageError) as refused:
        Client(survey()).report(answers)
    assert "maybe" not in str(refused.value)


def test_what_counts_as_a_value() -> None:
    """Blanks around, whole numbers, truth values, no answer, missing words and unlisted values where there is an "(other)"."""
    asked = Collection("q", {"a": {"domain": ["True", "False", "7"], "other": True, "missing": ["?"]}}, 1).questions[0]
    assert [asked.code_of(answer) for answer in (True, False, 7, " 7 ", None, "?", "what")] == [0, 1, 2, 2, 3, 3, 3]


def test_outside_its_time_nothing_is_made() -> None:
    """A collection that is not open yet, or closed, takes no reports."""
    for times in ({"opens": "2999-01-01"}, {"closes": "2001-01-01"}):
        with pytest.raises(UsageError, match="takes no reports now"):
            Client(survey(**times)).report(MINE)


# The memo.


def repeats_equal(client: Client) -> bool:
    """Whether the same answers, sent again and again, are sent alike."""
    return len({tuple(client.report(MINE).answers.values()) for _ in range(40)}) == 1


def test_the_same_answer_is_sent_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a memo forty reports are one, in other processes and collections too; a memo that is ignored is caught."""
    assert repeats_equal(Client(survey(), memo=tmp_path / "memo"))
    first = Client(survey(), memo=tmp_path / "memo").report(MINE)
    assert first.epsilon == 0
    assert not first.notes
    other = Client(Collection("later", {"year": ["1", "2", "3"]}, 1), memo=tmp_path / "memo").report({"year": 2})
    assert other.answers["year"] == first.answers["year"]
    assert other.epsilon == 0
    assert other.id != first.id
    monkeypatch.setattr(Memo, "recall", lambda self, coded: [draw_anew(*each) for each in coded])  # the planted bug
    assert not repeats_equal(Client(survey(), memo=tmp_path / "memo"))


def test_a_changed_answer_is_new_loss_and_is_shown(tmp_path: Path) -> None:
    """So are another epsilon and another domain; a return to an earlier answer costs nothing."""
    memo = tmp_path / "memo"
    costs = [Client(survey(), memo=memo).report({**MINE, "year": year}) for year in (1, 2, 1)]
    assert [report.epsilon for report in costs] == [3, 1, 0]
    assert any("has changed" in note for note in costs[1].notes)
    assert any("counts one of the two" in note for note in costs[1].notes)
    spent = {name: kept.spent for name, kept, _ in costs[2].loss}
    assert spent == {"smokes": 1, "year": 2, "likes": 1}
    dearer = Client(survey(2), memo=memo).report({**MINE, "year": 1})
    assert dearer.epsilon == 6
    assert {name: kept.spent for name, kept, _ in dearer.loss}["year"] == Fraction(4)
    wider = Client(Collection("w", {"year": ["1", "2", "3", "4"]}, 1), memo=memo).report({"year": 1})
    assert wider.epsilon == 1


def test_one_report_a_collection(tmp_path: Path) -> None:
    """A retry has the id of the first report; another collection has another."""
    client = Client(survey(), memo=tmp_path / "memo")
    assert client.report(MINE).id == client.report(MINE).id == Client(survey(), memo=tmp_path / "memo").report(MINE).id
    assert Client(survey(2), memo=tmp_path / "memo").report(MINE).id != client.report(MINE).id


def test_the_memo_is_for_its_owner_alone(tmp_path: Path) -> None:
    """Mode 0600, no answer and no name of a question in it, and refused when others may read it."""
    memo = tmp_path / "memo"
    collection = Collection("q", {"diagnosis": ["cholera-xyz", "plague-xyz"]}, 1)
    Client(collection, memo=memo).report({"diagnosis": "plague-xyz"})
    assert os.stat(memo).st_mode & 0o777 == 0o600
    held = memo.read_bytes()
    assert b"diagnosis" not in held
    sent = [row[0] for row in sqlite3.connect(memo).execute("SELECT sent FROM answers")]
    assert Counter(word in held for word in (b"cholera-xyz", b"plague-xyz")) == {True: len(sent), False: 1}
    os.chmod(memo, 0o644)
    with pytest.raises(MemoError, match="chmod 600"):
        Client(collection, memo=memo)


def test_a_memo_that_is_none(tmp_path: Path) -> None:
    """Another file, a folder, a link, a damaged memo and one of a newer version are refused in a sentence."""
    for name, content in (("text", b"hello, this is a text file of some length, and no memo"), ("empty", b"")):
        (tmp_path / name).write_bytes(content)
        os.chmod(tmp_path / name, 0o600)
        with pytest.raises(MemoError):
            Memo(tmp_path / name)
    with pytest.raises(MemoError):
        Memo(tmp_path)
    Memo(tmp_path / "memo")
    (tmp_path / "link").symlink_to(tmp_path / "memo")
    with pytest.raises(MemoError):
        Memo(tmp_path / "link")
    with pytest.raises(MemoError):
        Memo(tmp_path / "no" / "folder" / "memo")
    with sqlite3.connect(tmp_path / "memo") as rows:
        rows.execute("PRAGMA user_version = 9")
    with pytest.raises(MemoError, match="newer"):
        Memo(tmp_path / "memo")


def test_a_memo_that_was_tampered_with_sends_nothing_foreign(tmp_path: Path) -> None:
    """What it would send must be an answer; a memo without its key is damaged."""
    client = Client(survey(), memo=tmp_path / "memo")
    client.report(MINE)
    with sqlite3.connect(tmp_path / "memo") as rows:
        rows.execute("UPDATE answers SET sent = 'leak'")
    with pytest.raises(MemoError, match="damaged"):
        client.report(MINE)
    Client(survey(), memo=tmp_path / "other").report(MINE)
    changes = [
        "answers SET epsilon = 'abc'",
        "answers SET epsilon = NULL",
        "answers SET epsilon = '-5'",
        "answers SET epsilon = '1e99'",
    ]
    changes += ["reports SET report = 'ann@example.org'", "reports SET report = NULL", "reports SET report = x'00'"]
    for change in changes:
        tampered = tmp_path / "tampered"
        tampered.write_bytes((tmp_path / "other").read_bytes())
        os.chmod(tampered, 0o600)
        with sqlite3.connect(tampered) as rows:
            rows.execute(f"UPDATE {change}")
        with pytest.raises(MemoError, match="damaged"):
            Client(survey(), memo=tampered).report(MINE)
    with sqlite3.connect(tmp_path / "other") as rows:
        rows.execute("CREATE TRIGGER t AFTER INSERT ON answers BEGIN DELETE FROM answers; END")
    with pytest.raises(MemoError, match="damaged"):
        Client(survey(), memo=tmp_path / "other")
    with sqlite3.connect(tmp_path / "memo") as rows:
        rows.execute("DELETE FROM secret")
    with pytest.raises(MemoError, match="damaged"):
        client.report(MINE)


def report_in_process(memo: str) -> tuple[str, ...]:
    report = Client(survey(), memo=memo).report(MINE)
    return (report.id, *report.answers.values())


def test_many_processes_share_a_memo(tmp_path: Path) -> None:
    """Eight at once, on a memo that is not there yet, send one and the same report."""
    with get_context("spawn").Pool(8) as pool:
        reports = pool.map(report_in_process, [str(tmp_path / "memo")] * 16)
    assert len(set(reports)) == 1
    assert os.listdir(tmp_path) == ["memo"]


def test_seeded_noise_is_stamped_and_never_remembered(tmp_path: Path) -> None:
    """A seeded report says so, is refused by collectors, and does not go together with a memo."""
    from cloister.collect.reports import RefusedReport

    with seeded_noise(1):
        report = Client(survey()).report(MINE)
        with pytest.raises(MemoError, match="seeded"):
            Client(survey(), memo=tmp_path / "memo").report(MINE)
    assert json.loads(report.to_json())["seeded"] is True
    with pytest.raises(RefusedReport, match="seeded"):
        check_report(report, survey())
