"""Databases: no row decides whether a private run succeeds, nor how other rows are read."""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cloister.errors import SourceError
from cloister.file_options import Files
from cloister.sources.databases import postgres as postgres_reader
from cloister.sources.databases import sqlite as sqlite_reader
from cloister.sources.databases.duckdb import KINDS
from cloister.sources.databases.row_queries import parse_query, row_query
from cloister.sources.opening import open_source
from tests.postgres_server import postgres_server

SERVER_TABLES = """
    CREATE COLLATION loose (provider = icu, locale = 'und', deterministic = false);
    CREATE DOMAIN word AS text;
    CREATE TABLE odd (s text, n text COLLATE loose, j json[], i int, "CTID" text, d date, w word);
    CREATE TABLE family (s text);
    CREATE TABLE child () INHERITS (family);
    CREATE EXTENSION file_fdw;
    CREATE SERVER other FOREIGN DATA WRAPPER file_fdw;
    CREATE FOREIGN TABLE grandchild () INHERITS (child) SERVER other OPTIONS (filename '/dev/null');
    CREATE TABLE marked (s text);
    INSERT INTO marked VALUES (E'\\uFEFFb'), ('a');
    CREATE TYPE mood AS ENUM ('calm', 'glad');
    CREATE TABLE fine (m mood, u uuid, t interval, r int4range, x xml, c char);
    CREATE TABLE arrays (a text[]); CREATE TABLE binary_json (b jsonb); CREATE TABLE own (r fine); CREATE TABLE bits (v varbit);
    CREATE TABLE long ("s""{}" varchar, t text, j json, b bytea, i int, c char(9));
    INSERT INTO long VALUES ('abcdef', '""', '[1,2,3]', 'abcdef', 123456, 'abcdef');
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A server with tables in which a row could end a reading."""
    with postgres_server() as url:
        import psycopg

        with psycopg.connect(url, autocommit=True) as database:
            database.execute(SERVER_TABLES)
            for encoding in ("WIN1252", "LATIN1"):
                database.execute(f"CREATE DATABASE {encoding} ENCODING '{encoding}' TEMPLATE template0")
        for encoding in ("win1252", "latin1"):
            with psycopg.connect(url.replace("/postgres", f"/{encoding}"), autocommit=True) as database:
                database.execute("CREATE TABLE odd (s text); INSERT INTO odd VALUES ('a')")
        yield url


def test_cells_are_cut_before_a_row_is_too_long_for_the_server(server: str, monkeypatch: Any) -> None:
    """It stops at a row of a gigabyte, which a text of 600 million quotes makes; for the holder nothing is cut."""
    monkeypatch.setattr(postgres_reader, "CUT_CHARACTERS", 16)
    source: Any = open_source(Files(server, sql_table="long"))
    source.check_per_row()
    (row,) = [row for batch in source.batches(source.names) for row in zip(*batch.to_pydict().values(), strict=True)]
    assert row == ("abcd", '""', "[1,2", r"\x61626364", 123456, "abcdef   ")
    source = open_source(Files(server, query="SELECT t, j FROM long"))
    assert [batch.to_pylist() for batch in source.batches(["t", "j"])] == [[{"t": '""', "j": "[1,2,3]"}]]


@pytest.mark.parametrize("table", ["arrays", "binary_json", "own", "bits"])
def test_types_without_an_end_are_refused_before_the_charge(server: str, table: str) -> None:
    """The server stops at a row of a gigabyte, and such cells cannot be cut: whether one is there must not matter."""
    with pytest.raises(SourceError, match="longer than the server can send"):
        check(server, sql_table=table)
    open_source(Files(server, sql_table=table))  # for the holder nothing is refused
    check(server, sql_table="fine")


def check(url: str, **options: Any) -> None:
    """What a private verb asks before it charges."""
    open_source(Files(url, **options)).check_per_row()  # type: ignore[attr-defined]


EXTREMES = {
    "VARCHAR": ["''", "'x'", "'1'"],
    "BOOLEAN": ["true"],
    "DATE": ["'infinity'", "'-infinity'", "'5000000-01-01'"],
    "TIMESTAMP": ["'infinity'", "'-infinity'", "'290000-01-01'"],
    "FLOAT": ["'nan'", "'-inf'", "3.4e38"],
    "DOUBLE": ["'nan'", "'-inf'", "1.7e308"],
    "BIGINT": [f"'{-(2**63)}'", f"'{2**63 - 1}'"],
    "HUGEINT": [f"'{-(2**127)}'", f"'{2**127 - 1}'"],
    "UTINYINT": ["0", "255"],
    "UHUGEINT": ["0", f"'{2**128 - 1}'"],
}
CONSTANTS = [
    *("0", "1", "-1", "255", str(2**63 - 1), str(-(2**127 - 1)), str(2**128 - 1), "1.5", "1e30", "1e-31"),
    *(
        "0.0000000000000000000000000000001",
        "TRUE",
        "'x'",
        "'1'",
        "'2020-01-01'",
        "'9999-12-31 23:59:59.999999'",
        "'2020-02-30'",
    ),
]


@pytest.mark.parametrize("kind", EXTREMES)
def test_what_duckdb_may_compare_fails_on_no_row(kind: str) -> None:
    """Every condition that is let through runs over the extremes of its column's type."""
    database = pytest.importorskip("duckdb").connect()
    database.execute(f"CREATE TABLE t (v {kind})")
    for value in EXTREMES[kind]:
        database.execute(f"INSERT INTO t VALUES ({value})")
    allowed = 0
    for constant in CONSTANTS:
        forms = ("v = {}", "v > {}", "v IN ({}, NULL)", "v BETWEEN {0} AND {0}", "v IS {}", "v LIKE {}")
        for condition in (form.format(constant) for form in forms):
            try:
                query = row_query(parse_query(f"SELECT v FROM t WHERE {condition}", "duckdb"), "duckdb")
            except SourceError:
                continue
            if query.compared[0].never_fails(KINDS[kind]):
                database.sql(query.text).fetchall()
                allowed += 1
    assert allowed >= 4


@pytest.mark.parametrize(
    ("kind", "condition"),
    [
        *(("VARCHAR", each) for each in ("v = 1", "v IN (1, 2)", "v = TRUE", "v IS TRUE")),
        *(("ENUM('1', 'x')", "v = 1"), ("JSON", "v = 1"), ("BIGINT", "v > 0.0000000000000000000000000000001")),
        *(("HUGEINT", "v > 1.5"), ("UHUGEINT", "v > -1"), ("DECIMAL(38, 10)", "v > 1"), ("DATE", "v > '2020-02-30'")),
    ],
)
def test_comparisons_that_convert_cells_of_duckdb_are_refused(tmp_path: Path, kind: str, condition: str) -> None:
    """The column would be converted to the constant's type, and one cell could not be."""
    with pytest.importorskip("duckdb").connect(str(tmp_path / "x.duckdb")) as database:
        database.execute(f"CREATE TABLE t (s VARCHAR, v {kind})")
    with pytest.raises(SourceError, match=r"may fail on some rows|comparisons of columns|accept"):
        check(f"duckdb:///{tmp_path}/x.duckdb", query=f"SELECT s FROM t WHERE {condition}")


def test_computed_columns_are_refused(tmp_path: Path) -> None:
    """They are computed when they are read, and fail on the row that does not fit."""
    with pytest.importorskip("duckdb").connect(str(tmp_path / "x.duckdb")) as database:
        database.execute("CREATE TABLE t (s VARCHAR, v VARCHAR, g INT AS (CAST(v AS INT)))")
    with sqlite3.connect(tmp_path / "x.db") as file:
        file.execute("CREATE TABLE t (s, n INT, g INT AS (abs(n)))")
    file.close()
    for url in (f"duckdb:///{tmp_path}/x.duckdb", f"sqlite:///{tmp_path}/x.db"):
        with pytest.raises(SourceError, match="generated columns"):
            check(url, sql_table="t")


def test_functions_in_a_file_of_sqlite_are_named_as_the_reason(tmp_path: Path) -> None:
    """SQLite opens no such file for reading of what strangers wrote."""
    with sqlite3.connect(tmp_path / "x.db") as file:
        file.execute("CREATE TABLE t (s, g AS (json_extract(s, '$.x')))")
    file.close()
    with pytest.raises(SourceError, match=r"generated column|generated columns"):
        check(f"sqlite:///{tmp_path}/x.db", sql_table="t")


def test_long_texts_of_sqlite_come_in_more_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch of Arrow holds 2 GiB of text, and no row may be one too many."""
    monkeypatch.setattr(sqlite_reader, "BATCH_CHARACTERS", 100)
    with sqlite3.connect(tmp_path / "x.db") as file:
        file.execute("CREATE TABLE t (s)")
        file.executemany("INSERT INTO t VALUES (?)", [("x" * 60,)] * 5)
    file.close()
    source = open_source(Files(f"sqlite:///{tmp_path}/x.db", sql_table="t"))
    assert [batch.num_rows for batch in source.batches(["s"])] == [2, 2, 1]


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("n LIKE 'x%'", "may fail"),
        ("j = '{}'", "may fail"),
        ("w = 'a'", "may fail"),
        ("i > 1.5", "may fail"),
        ("ctid = '(0,1)'", "no column"),
    ],
)
def test_comparisons_of_other_types_of_postgresql_are_refused(server: str, condition: str, said: str) -> None:
    """Collations, lists of JSON, domains and places of rows may fail at a row or look at others."""
    with pytest.raises(SourceError, match=said):
        check(server, query=f"SELECT s FROM odd WHERE {condition}")


def test_plain_comparisons_of_postgresql_are_taken_until_somebody_redefines_them(server: str) -> None:
    """An operator that fits the types exactly goes before the server's own."""
    import psycopg

    query = """SELECT s FROM odd WHERE s LIKE 'a%' AND i > 1 AND d < '2020-01-01' AND "CTID" = 'x' AND j IS NULL"""
    check(server, query=query)
    with psycopg.connect(server, autocommit=True) as database:
        database.execute("CREATE FUNCTION same(varchar, varchar) RETURNS bool LANGUAGE sql AS 'SELECT 1 / 0 = 1'")
        database.execute("CREATE OPERATOR public.= (leftarg = varchar, rightarg = varchar, function = same)")
        try:
            with pytest.raises(SourceError, match="may fail"):
                check(server, query=query)
        finally:
            database.execute("DROP FUNCTION same CASCADE")


def test_parts_of_a_table_are_tables(server: str) -> None:
    """A foreign table among those that inherit may be a view elsewhere."""
    with pytest.raises(SourceError, match="foreign"):
        check(server, sql_table="family")


def test_encodings_that_utf8_does_not_hold_are_refused(server: str) -> None:
    """A byte of Windows-1252 that stands for nothing would end the reading; Latin-1 has no such."""
    check(server.replace("/postgres", "/latin1"), sql_table="odd")
    with pytest.raises(SourceError, match="encoded in WIN1252"):
        check(server.replace("/postgres", "/win1252"), sql_table="odd")


def test_a_byte_order_mark_is_of_its_row(server: str) -> None:
    """Arrow drops one at the start of what it is given, which is where a batch begins."""
    source = open_source(Files(server, sql_table="marked"))
    assert [row["s"] for batch in source.batches(["s"]) for row in batch.to_pylist()] == ["\ufeffb", "a"]


def test_a_refused_query_leaves_no_transaction(server: str) -> None:
    """Others may change the table at once."""
    import psycopg

    for options in ({"query": "SELECT s FROM odd LIMIT 1"}, {"query": "SELEC"}, {"sql_table": "family"}):
        with pytest.raises(SourceError) as caught:
            check(server, **options)
        assert caught.value is not None  # the error is kept
        with psycopg.connect(server, autocommit=True) as database:
            open_ones = database.execute("SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in%'").fetchone()
        assert open_ones == (0,)


def test_no_time_limit_of_the_server_ends_a_reading(server: str) -> None:
    """How long rows take would otherwise decide, after the charge, whether a run succeeds."""
    from cloister.sources.databases.connection import DatabaseUrl

    url = f"{server}?options=-c%20statement_timeout%3D60000%20-c%20idle_in_transaction_session_timeout%3D60000"
    database: Any = DatabaseUrl("postgresql", url, "", "server").connect()
    limits = [
        database._connection.execute(f"SHOW {name}").fetchone()[0]
        for name in ("statement_timeout", "idle_in_transaction_session_timeout")
    ]
    database.close()
    assert limits == ["0", "0"]


@pytest.mark.parametrize(
    "data",
    [
        "postgresql://u:12/SECRET@host/db",
        "postgresql://u:12?SECRET@host/db",
        "postgresql://u:12#SECRET@host/db",
        "host=db.example password=SECRET dbname=x",
        "mysql://u:12/SECRET@host/db",
    ],
)
def test_passwords_in_broken_urls_are_not_shown(data: str) -> None:
    """A slash in a password ends the host before it."""
    for asked in (data, Files(data, sql_table="t")):
        with pytest.raises(SourceError) as caught:
            open_source(asked)
        assert "SECRET" not in str(caught.value)
        assert ":12" not in str(caught.value)


def test_queries_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The parser would log what it does not know, with a value in it."""
    with caplog.at_level(logging.DEBUG), pytest.raises(SourceError):
        parse_query("VACUUM people 'ann'", "postgres")
    assert not caplog.records


@pytest.mark.parametrize("kind", ["UHUGEINT", "BIGNUM", "TIME WITH TIME ZONE"])
def test_types_that_leave_duckdb_as_other_values_are_refused(tmp_path: Path, kind: str) -> None:
    """The largest UHUGEINT came as -1, a BIGNUM as bytes; the other columns of such a table are read."""
    url = f"duckdb:///{tmp_path}/x.duckdb"
    with pytest.importorskip("duckdb").connect(str(tmp_path / "x.duckdb")) as database:
        database.execute(f"CREATE TABLE t (s INTEGER, v {kind}); INSERT INTO t VALUES (5, NULL)")
    with pytest.raises(SourceError, match=f'"v" is of the type {kind}'):
        open_source(Files(url, sql_table="t"))
    assert [batch.to_pylist() for batch in open_source(Files(url, query="SELECT s FROM t")).batches(["s"])] == [[{"s": 5}]]
