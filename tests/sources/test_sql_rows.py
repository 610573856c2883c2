"""Databases: tables and queries of SQLite, DuckDB and PostgreSQL, read once over connections that cannot write."""

from __future__ import annotations

import datetime as dt
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cloister as cl
from cloister.errors import CloisterError, DataError, SourceError
from cloister.file_options import Files
from cloister.sources.opening import open_source
from tests.postgres_server import postgres_server

NAMES = ["ann", "bob", "", "é\n,\"'", None]
SCHEMA = "CREATE TABLE people (id INTEGER, name TEXT, pay DOUBLE PRECISION, born DATE, cents NUMERIC(20, 2), ok BOOLEAN)"
ROWS: list[tuple[Any, ...]] = [
    (number, NAMES[number % 5], number / 4, dt.date(2000, 1, 1 + number), f"{number}.50", number % 2 == 0)
    for number in range(10)
]


def sqlite_file(path: Path) -> str:
    """A file of SQLite with the table of people."""
    with sqlite3.connect(path) as database:
        database.execute(SCHEMA)
        rows = [(*row[:3], row[3].isoformat(), row[4], int(row[5])) for row in ROWS]
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", rows)
        database.execute("CREATE VIEW doubled AS SELECT p.* FROM people p JOIN people q ON p.ok = q.ok")
    database.close()
    return f"sqlite:///{path}"


def duckdb_file(path: Path) -> str:
    """The same in a file of DuckDB."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(path)) as database:
        database.execute(SCHEMA)
        database.executemany("INSERT INTO people VALUES (?, ?, ?, ?, ?, ?)", ROWS)
        database.execute("CREATE VIEW doubled AS SELECT p.* FROM people p JOIN people q ON p.ok = q.ok")
    return f"duckdb:///{path}"


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The same in PostgreSQL."""
    with postgres_server() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as database:
            database.execute(SCHEMA)
            with database.cursor() as cursor:
                cursor.executemany("INSERT INTO people VALUES (%s, %s, %s, %s, %s, %s)", ROWS)
            database.execute("CREATE VIEW doubled AS SELECT p.* FROM people p JOIN people q ON p.ok = q.ok")
            database.execute("CREATE MATERIALIZED VIEW kept AS SELECT * FROM people")
        yield url


@pytest.fixture(params=["sqlite", "duckdb", "postgresql"])
def url(request: Any, tmp_path: Path) -> str:
    """The URL of a database with people in it."""
    if request.param == "postgresql":
        return str(request.getfixturevalue("server"))
    return {"sqlite": sqlite_file, "duckdb": duckdb_file}[request.param](tmp_path / "people.db")


def rows_of(url: str, **options: Any) -> list[dict[str, Any]]:
    """All rows."""
    source = open_source(Files(url, **options))
    return [row for batch in source.batches(source.names) for row in batch.to_pylist()]


def test_a_table_comes_back_as_it_was_written(url: str) -> None:
    """Numbers, texts with quotes and line ends, nulls and empty texts: as typed, or as the texts that CSV would have."""
    rows = rows_of(url, sql_table="people")
    assert [row["name"] for row in rows] == [row[1] for row in ROWS]
    assert [float(row["pay"]) for row in rows] == [row[2] for row in ROWS]
    assert [str(row["born"])[:10] for row in rows] == [row[3].isoformat() for row in ROWS]
    assert [float(row["cents"]) for row in rows] == [float(row[4]) for row in ROWS]


def test_a_query_is_read_for_a_holder_whatever_it_does(url: str) -> None:
    """Joins, groups and limits are the holder's to choose."""
    grouped = rows_of(url, query="SELECT name, count(*) AS n FROM people GROUP BY name ORDER BY n LIMIT 2; ")
    assert len(grouped) == 2
    report = cl.risk(Files(url, query="SELECT name, ok FROM doubled -- all of them"), quasi=["ok"])
    assert report is not None


@pytest.mark.parametrize(
    "query",
    [
        "SELECT pay FROM people",
        "SELECT * FROM people WHERE id > 2 AND NOT (name = 'bob' OR name IS NULL)",
        "SELECT p.pay AS pay, p.name FROM people p WHERE id BETWEEN -1 AND 5 AND name IN ('ann', 'bob') AND name LIKE 'a%'",
    ],
)
def test_row_by_row_queries_are_private(url: str, query: str) -> None:
    """Columns by name and comparisons with constants: the certificate says per row of the result."""
    model = cl.KMeans(1, 1.0, (0, 3), columns=["pay"]).fit(Files(url, query=query))
    assert model.release_.adds_up()
    assert any("per row of the result" in note for note in model.release_.notes)


REFUSED = [
    "SELECT pay FROM people LIMIT 5",
    "SELECT pay FROM people ORDER BY pay",
    "SELECT pay FROM people OFFSET 2",
    "SELECT DISTINCT pay FROM people",
    "SELECT p.pay FROM people p JOIN people q ON p.ok = q.ok",
    "SELECT p.pay FROM people p, people q",
    "SELECT sum(pay) AS pay FROM people",
    "SELECT pay FROM people GROUP BY pay",
    "SELECT sum(pay) OVER () AS pay FROM people",
    "SELECT pay FROM (SELECT pay FROM people) AS x",
    "SELECT pay FROM people UNION ALL SELECT pay FROM people",
    "WITH x AS (SELECT pay FROM people) SELECT pay FROM x",
    "SELECT random() AS pay FROM people",
    "SELECT pay FROM people WHERE random() < 0.5",
    "SELECT pay FROM people WHERE pay > (SELECT avg(pay) FROM people)",
    "SELECT pay FROM people WHERE EXISTS (SELECT 1 FROM people)",
    "SELECT CAST(name AS INTEGER) AS pay FROM people",
    "SELECT 1 / pay AS pay FROM people",
    "SELECT pay FROM people WHERE 1 / pay > 2",
    "SELECT pay FROM people WHERE pay > id",
    "SELECT pay FROM people WHERE name LIKE 'a\\'",
    "SELECT pay FROM doubled",
]


@pytest.mark.parametrize("query", REFUSED)
def test_queries_in_which_a_person_may_change_many_rows_are_refused(url: str, tmp_path: Path, query: str) -> None:
    """They are refused before the charge, with what to do instead."""
    ledger = cl.Ledger(str(tmp_path / "ledger.sqlite"))
    ledger.create("people", "add-remove", 3)
    with pytest.raises(SourceError, match=r"table|schema|accept|parsed"):
        cl.KMeans(1, 1.0, (0, 3), columns=["pay"], table="people", ledger=ledger).fit(Files(url, query=query))
    assert ledger.account("people").epsilon_spent == 0


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sql_table": "nobody"}, "there is no such table"),
        ({"query": "SELECT nothing FROM people"}, "accept"),
        ({"query": "DELETE FROM people"}, "one SELECT"),
        ({"query": "SELECT 1; DROP TABLE people"}, "one SELECT"),
        ({"query": "SELEC"}, "one SELECT|parsed"),
        ({}, "which rows"),
        ({"sql_table": "people", "query": "SELECT 1"}, "one of the two"),
        ({"sql_table": "people", "skip": 1}, "skip means nothing"),
    ],
)
def test_wrong_questions_get_a_sentence(url: str, options: dict[str, Any], said: str) -> None:
    """What is wrong is said before a row is read."""
    with pytest.raises(SourceError, match=said):
        open_source(Files(url, **options) if options else url)


def test_views_are_for_holders_alone(url: str) -> None:
    """A view may join; a table of rows does not."""
    assert len(rows_of(url, sql_table="doubled")) > len(ROWS)
    with pytest.raises(SourceError, match="view"):
        cl.KMeans(1, 1.0, (0, 3), columns=["pay"]).fit(Files(url, sql_table="doubled"))


@pytest.mark.parametrize(("kind", "column"), [("sqlite", "rowid"), ("duckdb", "rowid"), ("postgresql", "ctid")])
def test_places_of_rows_are_no_columns(kind: str, column: str, request: Any, tmp_path: Path) -> None:
    """Where a row lies depends on the others."""
    make = {"sqlite": sqlite_file, "duckdb": duckdb_file}.get(kind)
    url = make(tmp_path / "p.db") if make else request.getfixturevalue("server")
    with pytest.raises(SourceError, match="no column of the table"):
        cl.KMeans(1, 1.0, (0, 3), columns=["pay"]).fit(Files(url, query=f"SELECT pay, {column} AS place FROM people"))


def test_all_passes_see_one_state(url: str, tmp_path: Path) -> None:
    """Rows that come while a release is made are not in it: the first pass is kept."""
    if url.startswith("duckdb"):
        return  # it lets no other connection write meanwhile
    source = open_source(Files(url, sql_table="people"))
    before = sum(batch.num_rows for batch in source.batches(["id"]))
    more = "INSERT INTO people (id) VALUES (99)"
    if url.startswith("sqlite"):
        with sqlite3.connect(url.removeprefix("sqlite:///")) as database:
            database.execute(more)
        database.close()
    else:
        import psycopg

        with psycopg.connect(url, autocommit=True) as other:
            other.execute(more)
    assert sum(batch.num_rows for batch in source.batches(["id"])) == before
    assert len(rows_of(url, sql_table="people")) == before + 1
    if url.startswith("postgresql"):
        with psycopg.connect(url, autocommit=True) as other:
            other.execute("DELETE FROM people WHERE id = 99")


def test_nobody_can_write_through_a_source(server: str) -> None:
    """Functions that write are refused by the transaction, and the message holds no value."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE FUNCTION grab() RETURNS int AS 'DELETE FROM people; SELECT 1' LANGUAGE sql VOLATILE")
    source = open_source(Files(server, query="SELECT grab() AS x"))
    with pytest.raises(DataError, match="SQLSTATE 25006"):
        list(source.batches(["x"]))
    with psycopg.connect(server) as database:
        assert database.execute("SELECT count(*) FROM people").fetchone() == (10,)


def test_a_row_that_ends_a_holders_query_is_not_quoted(server: str) -> None:
    """PostgreSQL would say which value it could not read."""
    source = open_source(Files(server, query="SELECT name::int AS x FROM people WHERE name = 'ann'"))
    with pytest.raises(DataError) as caught:
        list(source.batches(["x"]))
    assert "ann" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_password_is_never_shown(tmp_path: Path) -> None:
    """Neither in an error nor in the repr of what was asked for."""
    url = "postgresql://ann:hunter2@127.0.0.1:9/people"
    with pytest.raises(SourceError, match="cannot be reached") as caught:
        open_source(Files(url, sql_table="people"))
    assert "hunter2" not in str(caught.value) + repr(caught.value.__context__) + repr(Files(url, sql_table="people"))


@pytest.mark.parametrize(
    "url", ["sqlite:///nowhere.db", "duckdb:///nowhere.duckdb", "sqlite://people.db", "postgresql://h:port/x"]
)
def test_urls_of_nothing_get_a_sentence(url: str) -> None:
    """A file that is not there is not made."""
    with pytest.raises(SourceError):
        open_source(Files(url, sql_table="people"))
    assert not Path("nowhere.db").exists()


def test_a_file_that_is_no_database_gets_a_sentence(tmp_path: Path) -> None:
    """And a database that is given as a file says how to ask it."""
    (tmp_path / "x.db").write_text("age,sex\n1,f\n")
    for scheme in ("sqlite", "duckdb"):
        with pytest.raises(SourceError, match=rf"no {scheme}|no SQLite|no DuckDB"):
            open_source(Files(f"{scheme}:///{tmp_path}/x.db", sql_table="people"))
    sqlite_file(tmp_path / "p.sqlite")
    duckdb_file(tmp_path / "p.duckdb")
    for name in ("p.sqlite", "p.duckdb"):
        with pytest.raises(SourceError, match=r"sqlite:///|duckdb:///"):
            open_source(tmp_path / name)


def test_cells_of_sqlite_are_read_one_by_one(tmp_path: Path) -> None:
    """Its columns have no types: a text among numbers changes no number, and bytes that are no UTF-8 are a text."""
    with sqlite3.connect(tmp_path / "odd.db") as database:
        database.execute("CREATE TABLE odd (x)")
        cells = [(1,), (1.0,), (2.5,), ("1.50",), (b"\xff\xfe",), (None,), ("",), (2**60,)]
        database.executemany("INSERT INTO odd VALUES (?)", cells)
        database.execute("INSERT INTO odd VALUES (CAST(x'e9' AS TEXT))")
    database.close()
    rows = rows_of(f"sqlite:///{tmp_path}/odd.db", sql_table="odd")
    assert [row["x"] for row in rows] == ["1", "1", "2.5", "1.50", "ÿþ", None, "", str(2**60), "é"]


def test_a_unit_bounds_rows_of_a_table(url: str, tmp_path: Path) -> None:
    """A guarantee per person reads the column that names people, as elsewhere."""
    schema = cl.Schema.from_toml(write_schema(tmp_path))
    model = cl.KMeans(1, 1.0, (0, 3), columns=["pay"], schema=schema).fit(Files(url, sql_table="people"))
    assert any("per person" in note for note in model.release_.notes)


def write_schema(folder: Path) -> Path:
    path = folder / "people.toml"
    path.write_text(
        'unit = "name"\nmax_rows = 1\n[columns.pay]\nkind = "number"\nbounds = [0, 3]\n'
        '[columns.name]\nkind = "category"\ndomain = ["ann"]\n'
    )
    return path


def test_special_numbers_of_postgresql_are_read(server: str) -> None:
    """Infinities and NaN, huge decimals and far dates end no reading."""
    query = (
        "SELECT 'NaN'::float8 AS a, '-Infinity'::float8 AS b, 'NaN'::numeric AS c, 'infinity'::date AS d, "
        "'0044-03-15 BC'::date AS e, 1e200::numeric AS f, '{1,2}'::int[] AS g, '\\x00ff'::bytea AS h, interval '1 day' AS i"
    )
    (row,) = rows_of(server, query=query)
    assert row["a"] != row["a"]
    assert row["b"] == float("-inf")
    assert (row["c"], row["d"], row["e"], row["g"], row["h"]) == ("NaN", "infinity", "0044-03-15 BC", "{1,2}", "\\x00ff")


def test_every_error_is_one_of_ours(url: str) -> None:
    """A source that fails says so in the project's own words."""
    with pytest.raises(CloisterError):
        open_source([url, url])
