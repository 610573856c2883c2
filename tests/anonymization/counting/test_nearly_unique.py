"""Columns of nearly unique values: refused by name until somebody says what they are, and noted where they are published."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from typer.testing import CliRunner

import cloister as cl
from cloister.anonymization.counting import nearly_unique as uniqueness
from cloister.anonymization.writing.apply import apply_recoding
from cloister.cli import app
from cloister.errors import UsageError
from cloister.schema import Role
from cloister.schema.drafts import draft
from cloister.sources.opening import open_source


def patients(n: int = 200) -> pa.Table:
    """Numbers that name their rows, under names that do not say so, beside a column that names nobody."""
    random = np.random.default_rng(3)
    return pa.table(
        {
            "MRN": 700_000 + random.permutation(n),
            "patient_no": [f"{i:05}" for i in random.permutation(n)],
            "NHS number": random.permutation(n) * 7 + 4_000_000_000,
            "age": random.integers(20, 60, n),
            "ward": random.integers(1, 6, n),
        }
    )


NUMBERS = ["MRN", "patient_no", "NHS number"]


def publish(table: Any, out: Path, **settings: Any) -> cl.TopDownSpecialization:
    model = cl.TopDownSpecialization(**{"k": 5, "quasi": ["age"], **settings})
    model.publish(table, out)
    return model


@pytest.mark.parametrize(
    "settings", [{}, {"identifiers": []}, {"schema": '[columns.age]\nkind = "number"\nrole = "quasi"\n'}]
)
def test_unique_numbers_are_refused_all_at_once(settings: dict[str, Any], tmp_path: Path) -> None:
    """Three numbers that name their rows are refused together, with a schema and without, and nothing is written."""
    if "schema" in settings:
        settings = {"schema": cl.Schema.from_text(settings["schema"])}
    with pytest.raises(UsageError) as refused:
        publish(patients(), tmp_path / "out.csv", **settings)
    assert all(f'"{name}"' in str(refused.value) for name in NUMBERS)
    assert '"ward"' not in str(refused.value)
    assert "--keep-unique 'MRN,patient_no,NHS number'" in str(refused.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("coded", [False, True])
def test_texts_that_differ_in_blanks_alone_are_different(coded: bool, tmp_path: Path) -> None:
    """They are published with their blanks, so each may name its row."""
    notes = pa.array([f"x{' ' * i}" for i in range(50)] + [f"x{chr(0xA0) * i}" for i in range(1, 51)])
    table = pa.table({"age": [30, 40] * 50, "note": notes.dictionary_encode() if coded else notes})
    with pytest.raises(UsageError, match='"note"'):
        publish(table, tmp_path / "out.csv")
    same = pa.table({"age": [30, 40] * 50, "note": ["x ", " x"] * 50})
    publish(same, tmp_path / "out.csv")


def test_they_are_dropped_or_confirmed(tmp_path: Path) -> None:
    """Named identifiers are dropped; a confirmed column is published, and the certificate says what it is."""
    dropped = publish(patients(), tmp_path / "dropped.csv", identifiers=NUMBERS)
    assert dropped.summary_.untouched == ("ward",)
    assert not any("nearly unique" in note for note in dropped.release_.notes)
    kept = publish(patients(), tmp_path / "kept.csv", identifiers=NUMBERS[1:], keep_unique=["MRN"])
    assert kept.summary_.untouched == ("MRN", "ward")
    assert any('"MRN" are nearly unique' in note for note in kept.release_.notes)


def test_a_sensitive_column_is_confirmed_by_its_name(tmp_path: Path) -> None:
    """A sensitive column may be nearly unique; the certificate says so."""
    table = patients().drop_columns(NUMBERS[1:])
    settings = {"sensitive": "MRN", "l_diversity": 2}
    told = publish(table, tmp_path / "out.csv", **settings).release_.notes
    assert any('"MRN" are nearly unique' in note for note in told)
    by_role = cl.Schema.from_text('[columns.MRN]\nkind = "number"\nrole = "sensitive"\n')
    told = publish(table, tmp_path / "by-role.csv", schema=by_role).release_.notes
    assert any('"MRN" are nearly unique' in note for note in told)


@pytest.mark.parametrize(("different", "is_refused"), [(180, True), (179, False)])
def test_the_line_is_nine_in_ten(different: int, is_refused: bool, tmp_path: Path) -> None:
    """At 180 different values of 200 a column is refused, at 179 it is not; blanks do not count."""
    cells = [*range(different), *([0] * (200 - different)), *([None] * 100)]
    table = pa.table({"age": [30] * 300, "code": pa.array(cells, pa.int64())})
    if is_refused:
        with pytest.raises(UsageError, match="code"):
            publish(table, tmp_path / "out.csv")
    else:
        publish(table, tmp_path / "out.csv")


def test_small_tables_are_left_alone(tmp_path: Path) -> None:
    """Nineteen rows are too few to tell."""
    publish(pa.table({"age": [30] * 19, "pay": np.arange(19)}), tmp_path / "out.csv")
    with pytest.raises(UsageError, match="pay"):
        publish(pa.table({"age": [30] * 20, "pay": np.arange(20)}), tmp_path / "again.csv")


def test_a_value_counts_once_a_person(tmp_path: Path) -> None:
    """A dwelling on each of five rows of a person names the person, though only a fifth of the cells differ."""
    who = np.repeat(np.arange(60), 5)
    table = pa.table({"who": who, "age": who % 3, "dwelling": 1000 + who, "ward": who % 4})
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n')
    publish(table, tmp_path / "rows.csv", identifiers=["who"])  # by rows nothing is seen
    with pytest.raises(UsageError, match='"dwelling"'):
        publish(table, tmp_path / "people.csv", schema=schema)


def test_a_sample_of_values_tells_the_same(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of a large table a sample of the values is looked at, each with all its rows: unique columns are found, others not."""
    monkeypatch.setattr(uniqueness, "_SAMPLED", 500)
    n = 5_000
    table = pa.table({"age": [30] * n, "number": np.arange(n), "twice": np.arange(n) // 2})
    with pytest.raises(UsageError) as refused:
        publish(table, tmp_path / "out.csv")
    assert '"number"' in str(refused.value)
    assert '"twice"' not in str(refused.value)


def test_a_saved_recoding_refuses_them_too(tmp_path: Path) -> None:
    """A column that the recoding publishes as it is may name other rows, though it did not name the first ones."""
    rows = patients()
    first = rows.select(["age", "ward"])
    for name in NUMBERS:
        first = first.append_column(name, pa.array(np.arange(rows.num_rows) % 4))
    recoding = publish(first, tmp_path / "first.csv").recoding_
    with pytest.raises(UsageError) as refused:
        apply_recoding(recoding, patients(), tmp_path / "second.csv")
    assert all(f'"{name}"' in str(refused.value) for name in NUMBERS)
    release = apply_recoding(recoding, patients(), tmp_path / "third.csv", identifiers=NUMBERS[:2], keep_unique=NUMBERS[2:])
    assert any('"NHS number" are nearly unique' in note for note in release.notes)


def test_drafts_name_them_identifiers() -> None:
    """A draft gives unique whole numbers and texts the role; a measurement with decimals keeps its own."""
    table = patients().append_column("score_cm", pa.array(np.random.default_rng(1).normal(170, 9, 200)))
    roles = {column.name: column.role for column in draft(open_source(table)).columns}
    assert [name for name, role in roles.items() if role is Role.IDENTIFIER] == NUMBERS


def test_the_command_line(tmp_path: Path) -> None:
    """The command refuses, and publishes what is confirmed by name."""
    data = tmp_path / "patients.csv"
    pyarrow.csv.write_csv(patients(), data)
    words = ["anonymize", str(data), "--k", "5", "--quasi", "age", "--out", str(tmp_path / "out.csv")]
    refused = CliRunner().invoke(app, words)
    assert refused.exit_code == 2
    assert "MRN" in refused.output
    done = CliRunner().invoke(app, [*words, "--keep-unique", "MRN", "--identifiers", "patient_no,NHS number"])
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("by_people", [False, True])
def test_a_frequent_word_hides_no_identifier(by_people: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """92% different values beside one frequent word are found in a sample, whichever word it is, and half are not."""
    monkeypatch.setattr(uniqueness, "_SAMPLED", 2_000)
    n = 20_000
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n') if by_people else None
    for word in ("unknown", "none", "n/a", "-", "tbd", "x", "other", "nil", "void", "blank", "zero", "any"):
        frequent = np.arange(n) % 25 < 2
        cells = np.where(frequent, word, np.char.add("P", np.arange(n).astype(str)))
        half = np.where(np.arange(n) % 2, word, np.char.add("P", np.arange(n).astype(str)))
        table = pa.table({"who": np.arange(n), "age": [30] * n, "number": cells, "half": half})
        with pytest.raises(UsageError) as refused:
            publish(table, tmp_path / "out.csv", schema=schema, identifiers=["who"])
        assert '"number"' in str(refused.value)
        assert '"half"' not in str(refused.value)


@pytest.mark.parametrize(
    "cells",
    [
        pa.array(range(60), pa.duration("s")),
        pa.array([bytes([i, 200]) for i in range(60)], pa.binary(2)),
        pa.array([bytes([i, 200]) for i in range(60)], pa.binary()),
    ],
)
def test_bytes_and_durations_are_compared(cells: pa.Array, tmp_path: Path) -> None:
    """Durations and bytes that name their rows are refused too; the same ones in every row are not."""
    with pytest.raises(UsageError, match='"code"'):
        publish(pa.table({"age": [30] * 60, "code": cells}), tmp_path / "out.parquet")
    publish(pa.table({"age": [30] * 60, "code": cells.take(pa.array([0] * 60))}), tmp_path / "out.parquet")


@pytest.mark.parametrize("by_people", [False, True])
def test_what_is_published_is_counted(by_people: bool, tmp_path: Path) -> None:
    """A column whose values repeat in removed rows alone is nearly unique in what is left, and refused."""
    illnesses = [["flu", "cold", "gout"][i % 3] for i in range(200)] + ["hiv"] * 60
    table = pa.table(
        {
            "who": [f"w{i}" for i in range(260)],
            "sex": ["F", "M"] * 130,
            "code": ["20"] * 200 + ["99"] * 60,
            "contact": [f"p{i}@x.org" for i in range(200)] + ["none"] * 60,
            "illness": illnesses,
        }
    )
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n') if by_people else None
    settings = {"quasi": ["sex", "code"], "sensitive": "illness", "l_diversity": 2, "suppression": 0.3, "schema": schema}
    for suffix in ("csv", "parquet"):
        with pytest.raises(UsageError, match='"contact"'):
            publish(table, tmp_path / f"out.{suffix}", identifiers=["who"], **settings)
        assert not list(tmp_path.iterdir())
    kept = publish(table, tmp_path / "kept.csv", identifiers=["who"], keep_unique=["contact"], **settings)
    assert any('"contact" are nearly unique' in note for note in kept.release_.notes)


@pytest.mark.parametrize("by_people", [False, True])
def test_what_a_saved_recoding_publishes_is_counted(by_people: bool, tmp_path: Path) -> None:
    """Rows that the recoding does not describe are removed, and with them all contacts that repeat."""
    facts = 'unit = "who"\n[columns.who]\nkind = "text"\n[columns.code]\nkind = "category"\ndomain = ["a", "b"]\n'
    schema = cl.Schema.from_text(facts) if by_people else None
    n = 400
    first = pa.table({"who": [f"w{i}" for i in range(n)], "code": ["a", "b"] * 200, "contact": ["none"] * n})
    recoding = publish(first, tmp_path / "a.csv", quasi=["code"], identifiers=["who"], schema=schema).recoding_
    other = pa.table(
        {
            "who": [f"w{i}" for i in range(300)],
            "code": ["a", "b"] * 100 + [f"z{i}" for i in range(100)],
            "contact": [f"p{i}@x.org" for i in range(200)] + ["none"] * 100,
        }
    )
    with pytest.raises(UsageError, match='"contact"'):
        apply_recoding(recoding, other, tmp_path / "b.csv", k=5)
    assert not (tmp_path / "b.csv").exists()
    apply_recoding(recoding, other, tmp_path / "b.csv", k=5, keep_unique=["contact"])


@pytest.mark.parametrize(
    ("kind", "missing", "filled", "typed"),
    [
        ("category", "NA", [f"p{i}@x.org" for i in range(400)], False),
        ("number", "-999", list(range(400)), True),
        ("number", "-999", [f"{i}.0" for i in range(400)], False),
    ],
)
@pytest.mark.parametrize("by_people", [False, True])
def test_words_for_missing_values_are_not_counted(
    by_people: bool, kind: str, missing: str, filled: list[Any], typed: bool, tmp_path: Path
) -> None:
    """84% of the cells differ, and the others hold what the schema says is missing: all that are filled are different."""
    blank = int(missing) if typed else missing + ".0" * (kind == "number")
    cells = [cell if i % 100 < 84 else blank for i, cell in enumerate(filled)]
    table = pa.table({"who": [str(i) for i in range(400)], "age": [30] * 400, "contact": cells})
    facts = f'[columns.contact]\nkind = "{kind}"\nmissing = ["{missing}"]\n[columns.who]\nkind = "text"\n'
    schema = cl.Schema.from_text(('unit = "who"\n' if by_people else "") + facts)
    with pytest.raises(UsageError, match='"contact"'):
        publish(table, tmp_path / "out.csv", schema=schema, identifiers=["who"])


def test_a_moment_is_not_its_day(tmp_path: Path) -> None:
    """Dates of a schema are compared as they are published, with their times."""
    table = pa.table({"age": [30] * 400, "seen": [f"2020-01-01 {i // 60:02}:{i % 60:02}:00" for i in range(400)]})
    with pytest.raises(UsageError, match='"seen"'):
        publish(table, tmp_path / "out.csv", schema=cl.Schema.from_text('[columns.seen]\nkind = "date"\nmissing = ["?"]\n'))


@pytest.mark.parametrize("by_people", [False, True])
def test_a_sparse_column_of_a_large_table_is_counted_whole(
    by_people: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Twenty-four cells that all differ, among very many blanks: whether a sample holds one of them decides nothing."""
    monkeypatch.setattr(uniqueness, "_SAMPLED", 500)
    n, columns = 20_000, 40
    random = np.random.default_rng(5)
    cells: dict[str, Any] = {"who": np.arange(n), "age": [30] * n}
    for j in range(columns):
        for name, words in (("alias", [f"{random.bytes(8).hex()}" for _ in range(24)]), ("team", list("abc") * 8)):
            column = np.full(n, None, object)
            column[random.choice(n, 24, replace=False)] = words
            cells[f"{name}{j}"] = pa.array(column, pa.string())
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n') if by_people else None
    with pytest.raises(UsageError) as refused:
        publish(pa.table(cells), tmp_path / "out.parquet", identifiers=["who"], schema=schema)
    assert all(f'"alias{j}"' in str(refused.value) for j in range(columns))
    assert not any(f'"team{j}"' in str(refused.value) for j in range(columns))


def test_a_draft_confirms_nothing(tmp_path: Path) -> None:
    """Card numbers, notes and incomes that all differ are named like sensitive columns; a guess does not let them out."""
    random = np.random.default_rng(4)
    n = 300
    table = pa.table(
        {
            "sex": random.choice(["F", "M"], n).tolist(),
            "credit_card": random.choice(10**15, n, replace=False) + 4 * 10**15,
            "treatment_notes": [f"seen on day {i}" for i in range(n)],
            "income": random.normal(3_000, 500, n),
            "grade": random.integers(1, 6, n),
        }
    )
    schema = draft(open_source(table))
    roles = {column.name: column.role for column in schema.columns}
    assert roles["credit_card"] == roles["treatment_notes"] == Role.IDENTIFIER
    assert roles["income"] is Role.OTHER
    assert roles["grade"] is Role.SENSITIVE
    with pytest.raises(UsageError, match='"income"'):
        publish(table, tmp_path / "out.csv", quasi=["sex"], schema=schema)
    without = table.drop_columns(["income"])
    model = publish(without, tmp_path / "out.csv", quasi=["sex"], schema=draft(open_source(without)))
    assert model.summary_.untouched == ("grade",)


def visits(name: str) -> pa.Table:
    """600 people with five rows each, under this name."""
    random = np.random.default_rng(3)
    who = random.permutation(np.arange(3_000) % 600)
    return pa.table({name: [f"M-{i:06}" for i in who], "age": random.integers(20, 60, 3_000)})


@pytest.mark.parametrize("name", ["mrn", "Patient", "patient nr", "NHS number"])
def test_record_numbers_that_repeat_are_refused_until_named(name: str, tmp_path: Path) -> None:
    """A name that says nothing but that it stands for people, and each value in a few rows."""
    settings: dict[str, Any] = {"k": 10, "quasi": ["age"]}
    with pytest.raises(UsageError, match=f'"{name}"') as refused:
        cl.TopDownSpecialization(**settings).publish(visits(name), tmp_path / "out.csv")
    assert "--keep-unique" in str(refused.value)
    assert not list(tmp_path.iterdir())
    made = cl.TopDownSpecialization(**settings, keep_unique=[name])
    made.publish(visits(name), tmp_path / "kept.csv")
    assert any(f'"{name}" is named like' in note for note in made.release_.notes)
    cl.TopDownSpecialization(**settings, identifiers=[name]).publish(visits(name), tmp_path / "dropped.csv")


@pytest.mark.parametrize("name", ["visits", "number", "patient heart rate", "personal"])
def test_other_columns_that_repeat_are_published(name: str, tmp_path: Path) -> None:
    """A refusal by name does not hit what is named otherwise."""
    cl.TopDownSpecialization(k=10, quasi=["age"]).publish(visits(name), tmp_path / "out.csv")
    short = pa.table({"patient": ["in", "out"] * 200, "age": [30, 40] * 200})
    cl.TopDownSpecialization(k=10, quasi=["age"]).publish(short, tmp_path / "short.csv")
