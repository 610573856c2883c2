"""Tables anonymized end to end, from rows to a file: every guard counted again by other means."""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import cloister as cl
from cloister.anonymization.reporting.curve import curve
from cloister.anonymization.searching.guards import GUARDS
from cloister.anonymization.writing import rewriting
from cloister.anonymization.writing.apply import apply_recoding
from cloister.anonymization.writing.recoding import Recoding
from cloister.engines.base import Shuffle
from cloister.engines.local import shuffle
from cloister.errors import CloisterError, EngineError, SchemaError, UsageError
from cloister.privacy.release import Release
from cloister.schema.hierarchies import Hierarchy, flat
from cloister.vault import Holder
from tests.anonymization.searching import guards_by_hand as counting

LETTERS = Hierarchy.from_paths([("a", "ab", "*"), ("b", "ab", "*"), ("c", "cd", "*"), ("d", "cd", "*")])
ANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


def read(path: Path) -> list[dict[str, str]]:
    """The rows of a file as texts, blanks as empty ones."""
    if path.suffix == ".csv":
        with path.open(newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))
    return [
        {name: "" if cell is None else str(cell) for name, cell in row.items()} for row in pq.read_table(path).to_pylist()
    ]


def publish(model: cl.TopDownSpecialization, table: Any, suffix: str = ".csv") -> tuple[list[dict[str, str]], Release]:
    """Publish into a folder of its own: the rows that came out, and the certificate."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / f"out{suffix}"
        release = model.publish(table, out)
        assert sorted(path.name for path in Path(folder).iterdir()) == [out.name, f"{out.name}.release.json"]
        return read(out), release


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Any small table: letters with a hierarchy, numbers and days without one, texts, blanks, several rows a person."""
    n = draw(st.integers(0, 30))

    def column(values: st.SearchStrategy[Any], kind: pa.DataType) -> pa.Array:
        narrow = draw(st.booleans())
        cells = st.sampled_from(draw(st.lists(values, min_size=1, max_size=2))) if narrow else values
        blanks = st.none() if draw(st.booleans()) else cells
        return pa.array(draw(st.lists(st.one_of(cells, cells, blanks), min_size=n, max_size=n)), kind)

    return pa.table(
        {
            "who": column(st.integers(0, 12), pa.int64()),
            "letter": column(st.sampled_from("abcd"), pa.string()),
            "number": column(st.sampled_from([-2.5, 0.0, 1.0, 7.25, 1e9]), pa.float64()),
            "day": column(st.dates(date(2020, 1, 1), date(2020, 1, 9)), pa.date32()),
            "word": column(st.sampled_from(["x", " y", 'it\'s, "z"', "*"]), pa.string()),
            "secret": column(st.sampled_from(["s1", "s2", "s3"]), pa.string()),
        }
    )


@ANY
@given(
    table=tables(),
    quasi=st.lists(st.sampled_from(["letter", "number", "day", "word"]), min_size=1, max_size=4, unique=True),
    k=st.one_of(st.integers(2, 5), st.just("n"), st.just("n + 1")),
    suppression=st.sampled_from([0.0, 0.3]),
    scope=st.sampled_from(["global", "local"]),
    gain=st.sampled_from(["loss", "entropy", "distance"]),
    guard=st.sampled_from([{}, *({name: bound} for name, bound in counting.BOUNDS.items())]),
    per_person=st.booleans(),
    suffix=st.sampled_from([".csv", ".parquet"]),
    shuffle=st.booleans(),
)
def test_any_table_holds_every_guard_or_is_refused(
    table: pa.Table, quasi: list[str], k: Any, suppression: float, scope: str, gain: str, guard: dict[str, Any],
    per_person: bool, suffix: str, shuffle: bool,
) -> None:  # fmt: skip
    """Whatever goes in, what comes out passes an independent count of every guard, or a clear refusal says why not."""
    n = table.num_rows
    k = {"n": max(n, 2), "n + 1": max(n + 1, 2)}.get(k, k)
    facts = [f'[columns.{name}]\nkind = "text"\n' for name in ("who",)]
    schema = cl.Schema.from_text('unit = "who"\n' + "".join(facts)) if per_person else None
    keyed = {"who": "who"} if not per_person else {}
    model = cl.TopDownSpecialization(
        k=k, quasi=quasi, hierarchies={"letter": LETTERS} if "letter" in quasi else None, scope=scope,
        suppression=suppression if scope == "global" else 0.0, gain=gain if scope == "global" else None,
        sensitive="secret" if guard else None, schema=schema, shuffle=shuffle, **guard,
    )  # fmt: skip
    try:
        rows, release = publish(model, table, suffix)
    except UsageError:
        must_hold = n >= k and not guard and not per_person
        if must_hold:
            raise
        return
    published = [tuple(row[name] for name in quasi) for row in rows]
    secret = [row["secret"] for row in rows]
    assert len(rows) == n - (0 if model.summary_.is_starred else model.summary_.suppressed)
    assert model.summary_.suppressed <= suppression * n + 1e-9
    assert counting.smallest(published) >= k
    assert counting.smallest(published) == model.summary_.smallest
    asked = [GUARDS[name].make(bound, 0, False) for name, bound in guard.items()]
    assert counting.guards_hold(published, secret, k, asked, slack=1e-9)
    if per_person:
        assert "who" not in rows[0]
        if not shuffle and len(rows) == n:
            fewest = counting.fewest_persons(published, table["who"].to_pylist())
            assert fewest == model.summary_.people >= k
    else:
        assert model.summary_.people is None
    assert all(row.keys() == {*table.column_names} - ({"who"} if not keyed else set()) for row in rows)
    assert release.adds_up()


def people(n: int = 200) -> pa.Table:
    """A table with an identifier, quasi-identifiers with a hierarchy and without, and columns that ride along."""
    random = np.random.default_rng(1)
    return pa.table(
        {
            "salary": random.integers(0, 9, n) * 1000.5,
            "name": [f"person {i}" for i in range(n)],
            "letter": random.choice(list("abcd"), n, p=[0.5, 0.3, 0.15, 0.05]),
            "note": [f'line one,\nline "two" {i % 3}' for i in range(n)],
            "age": random.integers(20, 60, n),
        }
    )


def model(**settings: Any) -> cl.TopDownSpecialization:
    return cl.TopDownSpecialization(
        **{"k": 5, "quasi": ["age", "letter"], "hierarchies": {"letter": LETTERS}, "identifiers": ["name"], **settings}
    )


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_keep_their_order_and_the_rest_is_untouched(suffix: str, tmp_path: Path) -> None:
    """Identifiers go, quasi-identifiers are recoded in place, other columns and the order of rows stay."""
    table = people()
    model().publish(table, tmp_path / f"out{suffix}")
    rows = read(tmp_path / f"out{suffix}")
    assert list(rows[0]) == ["salary", "letter", "note", "age"]
    assert [float(row["salary"]) for row in rows] == table["salary"].to_pylist()
    assert [row["note"] for row in rows] == table["note"].to_pylist()


def test_the_types_of_other_columns_stay(tmp_path: Path) -> None:
    """In Parquet a column that rides along keeps its type."""
    table = people().append_column("when", pa.array([date(2020, 1, 1)] * 200)).append_column("tags", pa.array([["x"]] * 200))
    model(keep_unique=["tags"]).publish(table, tmp_path / "out.parquet")
    out = pq.read_table(tmp_path / "out.parquet")
    for name in ("salary", "note", "when", "tags"):
        assert out[name].equals(table[name])


def test_lists_are_refused_in_csv(tmp_path: Path) -> None:
    """CSV has no lists: the refusal names the column and nothing is written."""
    table = people().append_column("tags", pa.array([["x"]] * 200))
    with pytest.raises(UsageError, match="tags"):
        model().publish(table, tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_pseudonyms_are_keyed_hashes(tmp_path: Path) -> None:
    """The same name becomes the same pseudonym, under another key another one, and the key is nowhere in the output."""
    key = tmp_path / "key"
    seen = []
    for i, secret in enumerate(["a secret of some length", "another secret of some length"]):
        key.write_text(secret + "\n")
        made = model(pseudonyms=["name"], key_file=key)
        release = made.publish(people(), tmp_path / f"{i}.csv")
        seen.append([row["name"] for row in read(tmp_path / f"{i}.csv")])
        for path in tmp_path.glob(f"{i}.csv*"):
            assert secret.encode() not in path.read_bytes()
        assert any("key" in note for note in release.notes)
    import hashlib
    import hmac

    expected = hmac.new(b"another secret of some length", b"person 7", hashlib.sha256).hexdigest()[:32]
    assert seen[1][7] == expected
    assert not set(seen[0]) & set(seen[1])


def test_keys_come_from_the_environment_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A key in a variable works like one in a file; a short one is refused."""
    monkeypatch.setenv("PSEUDONYM_KEY", "0123456789abcdef")
    model(pseudonyms=["name"], key_variable="PSEUDONYM_KEY").publish(people(), tmp_path / "out.csv")
    monkeypatch.setenv("PSEUDONYM_KEY", "short")
    with pytest.raises(UsageError, match="16"):
        model(pseudonyms=["name"], key_variable="PSEUDONYM_KEY").publish(people(), tmp_path / "other.csv")


def test_a_crash_in_the_middle_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the rewrite fails after some batches there is no output, no certificate and no staging."""
    monkeypatch.setattr("cloister.sources.in_memory.BATCH_ROWS", 20)
    seen: list[int] = []

    def failing(self: Recoding) -> Any:
        def rewrite(batch: pa.RecordBatch) -> pa.RecordBatch:
            seen.append(1)
            if len(seen) > 4:
                raise MemoryError("out of memory at person 99")
            return whole(batch)

        whole = original(self)
        return rewrite

    original = Recoding.rewriter
    monkeypatch.setattr(Recoding, "rewriter", failing)
    with pytest.raises(EngineError) as told:
        model().publish(people(), tmp_path / "out.csv")
    assert len(seen) > 4
    assert "person 99" not in str(told.value)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("fault", ["lost row", "wrong label", "raw value"])
def test_an_output_that_is_not_what_was_planned_is_refused(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted faults of the rewrite are caught by the second count, and nothing is published."""

    def faulty(self: rewriting.Rewriting, batch: pa.RecordBatch) -> pa.RecordBatch:
        made = right(self, batch)
        if fault == "lost row":
            return made.slice(1)
        letters = made.column("letter").to_pylist()
        letters[0] = "a raw value" if fault == "raw value" else ("*" if letters[0] != "*" else "ab")
        return made.set_column(made.schema.get_field_index("letter"), "letter", pa.array(letters))

    right = rewriting.Rewriting.map_batch
    monkeypatch.setattr(rewriting.Rewriting, "map_batch", faulty)
    with pytest.raises(EngineError, match="counted again"):
        model().publish(people(), tmp_path / "out.parquet")
    assert not list(tmp_path.iterdir())


def test_a_table_without_its_certificate_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the certificate cannot be put in place the table does not stay either."""

    def failing(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("cloister.sinks.staging.show_copy", failing)
    with pytest.raises(CloisterError, match="space"):
        model().publish(people(), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_an_unknown_value_is_refused_without_showing_it(tmp_path: Path) -> None:
    """A value that the hierarchy lacks is told by column, count and file, never by itself."""
    table = people().set_column(2, "letter", pa.array(["Zaphod"] * 3 + ["a"] * 197))
    with pytest.raises(SchemaError, match='column "letter": 3 rows') as told:
        model().publish(table, tmp_path / "out.csv")
    assert "Zaphod" not in str(told.value)
    assert not list(tmp_path.iterdir())


def test_people_are_counted_where_the_schema_names_a_unit(tmp_path: Path) -> None:
    """Forty rows of two people are not a class of five: with a unit people count, and its column goes."""
    table = pa.table({"who": ["p", "q"] * 20 + [f"r{i}" for i in range(40)], "letter": ["c"] * 40 + ["a"] * 40})
    schema = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n')
    settings = {"k": 5, "quasi": ["letter"], "hierarchies": {"letter": LETTERS}}
    assert cl.TopDownSpecialization(**settings, identifiers=["who"]).publish(table, tmp_path / "rows.csv")
    assert {row["letter"] for row in read(tmp_path / "rows.csv")} == {"a", "c"}
    release = cl.TopDownSpecialization(**settings, schema=schema).publish(table, tmp_path / "people.csv")
    assert {row["letter"] for row in read(tmp_path / "people.csv")} == {"*"}
    assert "person" in str(release.guarantee)


FIVE = cl.Schema.from_text('unit = "who"\n[columns.who]\nkind = "text"\n')


def test_diversity_counts_people_where_k_does(tmp_path: Path) -> None:
    """Five people who all have cancer are not diverse because one of them has four other rows."""
    others = ["flu", "cold", "measles", "mumps"]
    table = pa.table({"who": [*"abcde", *"eeee"], "age": [40] * 9, "disease": ["cancer"] * 5 + others})
    settings: dict[str, Any] = {"k": 5, "quasi": ["age"], "sensitive": "disease", "schema": FIVE}
    for guard in ({"l_diversity": 3}, {"l_diversity": 2}, {"entropy_l_diversity": 1.5}):
        with pytest.raises(UsageError, match="diversity"):
            cl.TopDownSpecialization(**settings, **guard).publish(table, tmp_path / "out.csv")
    by_rows = {**settings, "schema": None, "identifiers": ["who"], "l_diversity": 3}
    release = cl.TopDownSpecialization(**by_rows).publish(table, tmp_path / "rows.csv")
    assert any("count rows" in note for note in release.notes)


def test_closeness_counts_people_where_k_does(tmp_path: Path) -> None:
    """One person's hundred rows do not make a class like the table; the certificate says that people were counted."""
    who = [f"a{i}" for i in range(10)] + ["a0"] * 100 + [f"b{i}" for i in range(10)]
    table = pa.table({"who": who, "age": [30] * 110 + [60] * 10, "ill": ["no"] * 10 + ["yes"] * 100 + ["yes"] * 10})
    model = cl.TopDownSpecialization(k=5, quasi=["age"], sensitive="ill", t_closeness=0.2, schema=FIVE)
    release = model.publish(table, tmp_path / "out.csv")
    assert model.summary_.columns[0].labels == ("*",)  # by rows the two ages are within 0.1 of the table
    assert any("count people" in note for note in release.notes)


def test_a_blank_is_no_diverse_value(tmp_path: Path) -> None:
    """Flu and blanks are one value: a class of them is not 2-diverse."""
    table = pa.table({"age": [40] * 10, "disease": ["flu"] * 5 + [None] * 3 + [""] * 2})
    with pytest.raises(UsageError, match="diversity"):
        cl.TopDownSpecialization(k=5, quasi=["age"], sensitive="disease", l_diversity=2).publish(table, tmp_path / "out.csv")


def test_minimality_is_noted_for_global_recodings_with_guards(tmp_path: Path) -> None:
    """With guards a global recoding too shows what was not published finer."""
    settings: dict[str, Any] = {"sensitive": "salary", "scope": "global"}
    guarded = model(l_diversity=2, **settings).publish(people(), tmp_path / "guarded.csv")
    assert any("Minimality" in note for note in guarded.notes)
    plain = model(scope="global").publish(people(), tmp_path / "plain.csv")
    assert not any("inimality" in note for note in plain.notes)


def test_a_population_may_stand_in_for_rows(tmp_path: Path) -> None:
    """With a population table a rare value may be published if enough people of the population hold it."""
    table = pa.table({"letter": ["a", "b", "c", "d"] * 2})
    settings = {"k": 2, "quasi": ["letter"], "hierarchies": {"letter": LETTERS}, "k_map": 5}
    many = pa.table({"letter": list("abcd") * 5})
    few = pa.table({"letter": list("abcd") * 5 + ["unknown"] * 9}).slice(3)
    cl.TopDownSpecialization(**settings, population=many).publish(table, tmp_path / "many.csv")
    assert {row["letter"] for row in read(tmp_path / "many.csv")} == set("abcd")
    cl.TopDownSpecialization(**settings, population=few).publish(table, tmp_path / "few.csv")
    assert {row["letter"] for row in read(tmp_path / "few.csv")} == {"ab", "cd"}


def test_shuffled_rows_are_the_same_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A secret order changes nothing but the order, however many buckets it goes through."""
    monkeypatch.setattr(shuffle, "BUCKET_ROWS", 30)
    model().publish(people(), tmp_path / "plain.csv")
    model(shuffle=True).publish(people(), tmp_path / "shuffled.csv")
    plain, shuffled = (read(tmp_path / name) for name in ("plain.csv", "shuffled.csv"))
    assert plain != shuffled
    assert Counter(map(str, plain)) == Counter(map(str, shuffled))


def test_every_order_of_rows_is_equally_likely() -> None:
    """All 24 orders of four rows dealt into two buckets come up: chi-squared with an error rate of 1e-6."""
    from cloister.privacy.noise import integers, permutation
    from tests.chisquare import chi_square_ok

    seen: Counter[tuple[int, ...]] = Counter()
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(shuffle, "BUCKET_ROWS", 2)
        rows, target = pa.table({"row": [0, 1, 2, 3]}), Path(folder) / "out.parquet"
        for _ in range(1200):
            shuffle.write_shuffled(rows.to_batches(), rows.schema, target, "parquet", Shuffle(4, integers, permutation))
            seen[tuple(pq.read_table(target)["row"].to_pylist())] += 1
    assert len(seen) == 24
    assert chi_square_ok(list(seen.values()), [1 / 24] * 24)


def test_the_ledger_records_it(tmp_path: Path) -> None:
    """A named table has the release in its ledger, tied to the certificate, at no epsilon."""
    ledger = cl.Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 3)
    release = model(table="people", ledger=ledger).publish(people(), tmp_path / "out.csv")
    entry = ledger.entries("people")[0]
    assert (entry.kind, entry.release_hash) == ("holder", release.digest())
    assert ledger.audit("people").epsilon_spent == 0
    assert release.ledger == {"table": "people", "entry": entry.id, "head": entry.digest}


def test_a_table_that_is_not_in_the_ledger_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The ledger is asked before the first row."""
    monkeypatch.setattr(Holder, "count", lambda *_: pytest.fail("rows were read"))
    with pytest.raises(CloisterError, match="ledger"):
        model(table="people", ledger=cl.Ledger(tmp_path / "ledger.sqlite")).publish(people(), tmp_path / "out.csv")


def test_the_certificate_says_what_it_is(tmp_path: Path) -> None:
    """The certificate is syntactic, lists what is not protected, and reads back the same."""
    release = model(scope="local").publish(people(), tmp_path / "out.csv")
    text = (tmp_path / "out.csv.release.json").read_text()
    again = Release.from_json(text)
    assert str(again.guarantee) == "syntactic: k = 5, not differentially private"
    assert again.digest() == release.digest()
    told = " ".join(again.notes)
    for word in ("Homogeneity", "Background knowledge", "Several releases", "minimality"):
        assert word in told


def test_many_numbers_become_intervals(tmp_path: Path) -> None:
    """A column with more numbers than codes is cut into intervals first; every value lies in what it is published as."""
    numbers = np.random.default_rng(2).normal(50, 10, 6000)
    cl.TopDownSpecialization(k=50, quasi=["x0"]).publish(numbers[:, None], tmp_path / "out.csv")
    labels = [row["x0"] for row in read(tmp_path / "out.csv")]
    assert len(set(labels)) > 20
    for number, label in zip(numbers, labels, strict=True):
        low, high = label.strip("[()]").split(", ")
        assert float(low) <= number < float(high) or (label.endswith("]") and number == float(high))


def test_public_bounds_stand_at_the_ends(tmp_path: Path) -> None:
    """With bounds in the schema the outermost labels show them, not the smallest and largest age."""
    schema = cl.Schema.from_text('[columns.age]\nkind = "number"\nbounds = [0, 120]\nrole = "quasi"\n')
    cl.TopDownSpecialization(k=20, schema=schema, identifiers=["name"]).publish(people(), tmp_path / "out.csv")
    labels = {row["age"] for row in read(tmp_path / "out.csv")}
    assert any(label.startswith("[0, ") for label in labels)
    assert any(label.endswith(", 120]") for label in labels)


def test_codes_with_zeros_in_front_are_no_numbers(tmp_path: Path) -> None:
    """Postal codes are published whole or not at all, never as an interval."""
    codes = ["01234"] * 30 + ["11234"] * 30
    cl.TopDownSpecialization(k=5, quasi=["zip"]).publish(pa.table({"zip": codes}), tmp_path / "out.csv")
    assert {row["zip"] for row in read(tmp_path / "out.csv")} == {"01234", "11234"}


def test_it_is_an_estimator() -> None:
    """Parameters are stored as given, listed, changed and cloned as scikit-learn does."""
    made = model(k=7, hierarchies="trees")
    assert clone(made).get_params() == made.get_params()
    assert made.set_params(k=9).k == 9
    with pytest.raises(UsageError, match="hierarchies"):
        made.set_params(hierarchy="x")


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"k": 0}, "k must"),
        ({"quasi": None}, "quasi-identifiers"),
        ({"quasi": ["agee"], "hierarchies": None}, 'Did you mean "age"'),
        ({"quasi": "age"}, "list"),
        ({"scope": "regional"}, "scope"),
        ({"gain": "greed"}, "gain"),
        ({"gain": "class"}, "target"),
        ({"suppression": 1.0}, "below 1"),
        ({"scope": "local", "suppression": 0.1}, "no row"),
        ({"l_diversity": 2}, "sensitive"),
        ({"sensitive": "salary"}, "l-diversity"),
        ({"sensitive": "age", "l_diversity": 2}, "both"),
        ({"identifiers": ["age"]}, "both"),
        ({"k_map": 5}, "population"),
        ({"pseudonyms": ["name"]}, "key"),
        ({"ordered": True}, "t-closeness"),
        ({"hierarchies": {"salary": flat(["x"])}}, "salary"),
        ({"hierarchies": "nowhere"}, "directory"),
    ],
)
def test_what_makes_no_sense_is_refused_before_a_row_is_read(settings: dict[str, Any], word: str, tmp_path: Path) -> None:
    """Every refusal names what is wrong, and nothing is written."""
    with pytest.raises(UsageError, match=word):
        model(**settings).publish(people(), tmp_path / "out.csv")
    assert not list(tmp_path.iterdir())


def test_the_made_up_pupils(tmp_path: Path) -> None:
    """As LETEO found on its table: without suppression the course level is lost, with 1% nearly everything stays."""
    from cloister.datasets import write_pupils

    write_pupils(tmp_path / "pupils")
    table, facts = tmp_path / "pupils" / "pupils.csv", {"k": 10, "schema": tmp_path / "pupils" / "pupils.toml"}
    whole = cl.TopDownSpecialization(**facts, hierarchies=tmp_path / "pupils" / "trees", scope="global")
    whole.publish(table, tmp_path / "whole.csv")
    kept = {column.name: len(column.labels) for column in whole.summary_.columns}
    assert kept == {"sex": 2, "system": 3, "level": 1, "state": 12, "region": 4}
    few = cl.TopDownSpecialization(**facts, hierarchies=tmp_path / "pupils" / "trees", suppression=0.01)
    few.publish(table, tmp_path / "few.csv")
    assert few.summary_.loss < 0.25 * whole.summary_.loss
    finest = cl.TopDownSpecialization(**facts, hierarchies=tmp_path / "pupils" / "trees")
    finest.publish(table, tmp_path / "finest.csv")
    assert finest.release_.parameters["scope"] == "local"
    assert finest.summary_.loss < few.summary_.loss


@pytest.mark.parametrize("k", [1, 0, -1, True, 1.5, "2", None])
@pytest.mark.parametrize("door", ["publish", "plan", "curve", "apply"])
def test_k_is_two_or_more(k: Any, door: str, tmp_path: Path) -> None:
    """With k = 1 nobody looks like anybody else: refused before the table is opened, at every door."""
    found = model()
    found.publish(people(), tmp_path / "out.csv")
    if door == "apply" and k is None:  # there it is left out
        return
    doors: dict[str, Any] = {
        "publish": lambda: model(k=k).publish(tmp_path / "absent.csv", tmp_path / "new.csv"),
        "plan": lambda: model(k=k).plan(["age", "letter", "name"]),
        "curve": lambda: curve(model(), tmp_path / "absent.csv", ks=[k, 5]),
        "apply": lambda: apply_recoding(found.recoding_, tmp_path / "absent.csv", tmp_path / "new.csv", k=k),
    }
    with pytest.raises(UsageError, match="k must be a whole number of at least 2"):
        doors[door]()
