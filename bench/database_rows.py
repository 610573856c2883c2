"""Five million rows from PostgreSQL: how long a command takes, and how much memory, which must not grow with the table."""

from __future__ import annotations

import tempfile
from pathlib import Path

from tests.postgres_server import postgres_server

from bench.measure import keep, show
from bench.risk import command

ROWS = (500_000, 5_000_000)


def main() -> None:
    import psycopg

    rows = []
    with postgres_server() as url, tempfile.TemporaryDirectory() as folder:
        with psycopg.connect(url, autocommit=True) as server:
            for count in ROWS:
                server.execute(
                    f"CREATE TABLE people_{count} AS SELECT id, random() AS x, random() AS y, (id % 7)::text AS region "
                    f"FROM generate_series(1, {count}) AS id"
                )
        for count in ROWS:
            table = ("--sql-table", f"people_{count}", "--json")
            spent = (
                "--columns",
                "x,y",
                "--bounds",
                "0,1",
                "--k",
                "5",
                "--epsilon",
                "1",
                "--out",
                str(Path(folder) / f"{count}"),
            )
            taken, cores, peak, _ = command("cluster", url, *table, *spent)
            rows.append({"rows": count, "verb": "cluster", "seconds": taken, "cores": cores, "peak_gb": peak})
    show("rows of PostgreSQL", rows)
    keep("database_rows", rows)


if __name__ == "__main__":
    main()
