"""The public file of a collection: what it takes, what it refuses, and that it comes back as it was."""

from __future__ import annotations

from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister.collect import Collection
from cloister.errors import CloisterError, SchemaError, UsageError
from cloister.schema import Category, Column, Number, Schema
from tests.collect.survey import survey


def test_it_says_what_an_answer_costs() -> None:
    """Epsilon for each answer that differs, and the sum for all of them."""
    guarantee = survey("0.1").guarantee
    assert guarantee.epsilon == Fraction(3, 10)
    assert "epsilon 0.1 for each answer that differs; 0.3 for all 3 answers" in str(guarantee)


@pytest.mark.parametrize("ending", [".toml", ".json"])
def test_a_file_comes_back_as_it_was(tmp_path: Path, ending: str) -> None:
    """Names with blanks and quotes, fractions, moments, texts, other and missing."""
    questions: dict[str, Any] = {
        'how "old"': {"domain": ["<18", "18+"], "text": "How old are you?", "other": True, "missing": ["?"]},
        "blood type": {"domain": ["", "A", "B"], "epsilon": "2/3"},
        "city": {"domain": [str(i) for i in range(50)], "protocol": "auto"},
    }
    collection = Collection(
        "clinic.1", questions, "0.5", "A clinic", "Blood", "2026-12-01", datetime(2027, 1, 1, tzinfo=UTC)
    )
    path = tmp_path / f"clinic{ending}"
    collection.save(path)
    assert Collection.load(path) == collection
    assert Collection.load(path).terms == collection.terms
    assert collection.question("city").protocol == "unary"
    assert collection.question("blood type").epsilon == Fraction(2, 3)


def test_terms_are_what_an_answer_means() -> None:
    """They change with a value, an order, an epsilon, a protocol or the id, and not with a title."""
    terms = survey().terms
    others = [
        survey(2),
        Collection("other", {"smokes": ["no", "yes"]}, 1),
        Collection("students", {"smokes": ["yes", "no"]}, 1),
        Collection("students", {"smokes": ["no", "yes"]}, 1),
        Collection("students", {"smokes": ["no", "yes"]}, 1, protocol="unary"),
    ]
    assert len({terms, *(other.terms for other in others)}) == 6
    assert survey(title="A title", closes="2030-01-01").terms == terms


def test_a_schema_makes_questions() -> None:
    """Its categories are questions; a column that is none is refused by name."""
    facts = Schema([Column("sex", Category(("f", "m"))), Column("town", Category(("a", "b"), other=True))])
    assert Collection("s", facts, 1).question("town").values == ("a", "b", "(other)")
    with pytest.raises(SchemaError, match='"age"'):
        Collection("s", Schema([Column("age", Number((0, 99)))]), 1)


BAD: list[dict[str, Any]] = [
    {"id": "Students 2026"},
    {"id": ""},
    {"id": 5},
    {"id": "x" * 65},
    {"questions": {}},
    {"questions": []},
    {"questions": "smokes"},
    {"questions": {"smokes": []}},
    {"questions": {"smokes": ["yes"]}},
    {"questions": {"smokes": ["yes", "yes "]}},
    {"questions": {"smokes": [1, 2]}},
    {"questions": {"smokes": "yes"}},
    {"questions": {"": ["a", "b"]}},
    {"questions": {" a": ["a", "b"]}},
    {"questions": {"a\nb": ["a", "b"]}},
    {"questions": {"a": ["a", "b"], "A": ["a", "b"]}},
    {"questions": {"a": ["a\x00", "b"]}},
    {"questions": {"a": {"domain": ["a", "b"], "wrong": 1}}},
    {"questions": {"a": {"text": "no domain"}}},
    {"questions": {"a": {"domain": ["a", "b"], "text": "two\nlines"}}},
    {"questions": {"a": {"domain": ["a", "b"], "text": 5}}},
    {"questions": {"a": {"domain": ["a", "b"], "missing": 7}}},
    {"questions": {5: ["a", "b"]}},
    {"questions": {"Count": ["a", "b"]}},
    {"questions": {"a": ["a", "*"]}},
    {"questions": {"a": {"domain": list(map(str, range(5000))), "protocol": "unary"}}},
    {"epsilon": None},
    {"epsilon": 0},
    {"epsilon": -1},
    {"epsilon": "one"},
    {"epsilon": float("nan")},
    {"epsilon": 101},
    {"epsilon": "0.0001"},
    {"protocol": "magic"},
    {"protocol": 5},
    {"opens": "soon"},
    {"opens": "2026-12-01T09:00:00"},
    {"opens": 5},
    {"opens": "2027-01-01", "closes": "2026-01-01"},
    {"title": "two\nlines"},
    {"collector": 7},
]


@pytest.mark.parametrize("wrong", BAD, ids=str)
def test_what_makes_no_sense_is_refused_in_a_sentence(wrong: dict[str, Any]) -> None:
    """One error of Cloister's own, never a raw one."""
    with pytest.raises(CloisterError) as refused:
        Collection(**{"id": "s", "questions": {"smokes": ["no", "yes"]}, "epsilon": 1, **wrong})
    assert str(refused.value).endswith((".", '."'))


FILES = {
    "a.toml": [
        'id = "s"',
        "questions = 5",
        "[questions]\n",
        'id = "s"\n[questions.a]\ndomain = ["a", "b"]\n',
        "\xff",
        "a = [" * 500,
        "",
    ],
    "a.json": [
        "[]",
        "{",
        '{"id": "s"}',
        '{"id": "s", "id": "t"}',
        '{"id": "s", "questions": {}, "more": 1}',
        "5",
        "[" * 10**5,
    ],
}


@pytest.mark.parametrize(("name", "text"), [(name, text) for name, texts in FILES.items() for text in texts])
def test_broken_files_are_refused_in_a_sentence(tmp_path: Path, name: str, text: str) -> None:
    """Whatever they hold."""
    path = tmp_path / name
    path.write_text(text, encoding="latin-1")
    with pytest.raises(CloisterError):
        Collection.load(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    """They are refused with what to do, and nothing is written over."""
    with pytest.raises(SchemaError, match="collect new"):
        Collection.load(tmp_path / "none.toml")
    survey().save(tmp_path / "s.toml")
    with pytest.raises(CloisterError):
        survey().save(tmp_path / "s.toml")
    with pytest.raises(UsageError, match=r"\.toml or \.json"):
        survey().save(tmp_path / "s.txt")


def test_the_door_of_the_package() -> None:
    """The room is reached through the package."""
    assert cl.collect.Collection is Collection
