"""Reports past the framework: what it does for a route costs more than the rest of the way of a report to the disk.

The routes are FastAPI's like all others, so that they are documented and tried with them; a request that is meant for one of them
goes straight to the same functions. tests/collect/service/test_public_api.py holds both ways to the same answers.
"""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

from fastapi import Request

from cloister.collect.collection import ID
from cloister.collect.service.problems import HttpProblem, problem_from, problem_response
from cloister.collect.service.public_api import take_batch, take_report
from cloister.collect.storing.intake import Overloaded
from cloister.errors import CloisterError

__all__ = ["ReportRoutes"]

PATH = re.compile(f"/v1/collections/({ID.pattern})/reports(/batch)?")
ONE = SimpleNamespace(path="/v1/collections/{id}/reports")  # as FastAPI's routes are known to the log
MANY = SimpleNamespace(path="/v1/collections/{id}/reports/batch")


class ReportRoutes:
    """Stands before the framework, and answers requests that bring reports."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        is_post = scope["type"] == "http" and scope["method"] == "POST"
        match = PATH.fullmatch(scope["path"]) if is_post else None
        if match is None:
            await self.app(scope, receive, send)
            return
        scope["route"], take = (MANY, take_batch) if match[2] else (ONE, take_report)
        try:
            answer = await take(Request(scope, receive), match[1])
        except (HttpProblem, CloisterError, Overloaded) as error:
            answer = problem_response(problem_from(error))
        await answer(scope, receive, send)
