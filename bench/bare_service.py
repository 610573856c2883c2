"""The floor of a collection service: FastAPI under the same uvicorn, a body parsed, its rows committed, and nothing else.

``python -m bench.bare_service PLACE PORT WORKERS``; a place is a SQLite file or a PostgreSQL URL.
"""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from collections.abc import Callable, Sequence
from typing import Any

import uvicorn
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse

PLACE = "CLOISTER_BENCH_BARE_PLACE"  # how worker processes are told
TABLE = "CREATE TABLE IF NOT EXISTS bare (id TEXT NOT NULL, answers TEXT NOT NULL)"
Rows = Sequence[tuple[str, str]]


def connect_sqlite(place: str) -> Callable[[Rows], None]:
    """What commits rows durably on one kept connection."""
    connection = sqlite3.connect(place, timeout=30, isolation_level=None)
    for statement in ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL", TABLE):
        connection.execute(statement)

    def commit(rows: Rows) -> None:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("INSERT INTO bare VALUES (?, ?)", rows)
        connection.execute("COMMIT")

    return commit


def connect_postgres(place: str) -> Callable[[Rows], None]:
    """The same on PostgreSQL, which commits synchronously unless its server is told otherwise."""
    import psycopg

    connection = psycopg.connect(place)

    def commit(rows: Rows) -> None:
        with connection.transaction(), connection.cursor() as cursor:
            if len(rows) == 1:
                cursor.execute("INSERT INTO bare VALUES (%s, %s)", rows[0])
            else:
                cursor.executemany("INSERT INTO bare VALUES (%s, %s)", rows)

    return commit


def make_app() -> FastAPI:
    """One worker's application; it commits in its event loop, where a thread would only cost."""
    place = os.environ[PLACE]
    commit = (connect_postgres if place.startswith("postgresql") else connect_sqlite)(place)
    app = FastAPI(openapi_url=None)

    def row(report: Any) -> tuple[str, str]:
        return report["report"], json.dumps(report["answers"])

    @app.post("/reports", status_code=201)
    async def take_report(request: Request) -> JSONResponse:
        report = json.loads(await request.body())["report"]
        commit([row(report)])
        return JSONResponse({"report": report["report"], "status": "stored"}, 201)

    @app.post("/reports/batch", status_code=201)
    async def take_batch(request: Request) -> JSONResponse:
        rows = [row(posted["report"]) for posted in json.loads(await request.body())["reports"]]
        commit(rows)
        return JSONResponse({"stored": len(rows)}, 201)

    return app


def main(place: str, port: str, workers: str) -> None:
    """Serve until told to end."""
    os.environ[PLACE] = place
    if place.startswith("postgresql"):
        import psycopg

        with psycopg.connect(place) as connection:
            connection.execute(TABLE)
    uvicorn.run(
        "bench.bare_service:make_app",
        factory=True,
        port=int(port),
        workers=int(workers),
        http="httptools",
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=30,
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
