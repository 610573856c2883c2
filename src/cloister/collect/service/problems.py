"""Errors of the service: problem+json (RFC 9457) that says what to do next and repeats nothing of what was sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException
from starlette.routing import Match, Route

from cloister.collect.storing.intake import Overloaded
from cloister.errors import CloisterError, UsageError

__all__ = [
    "MEDIA_TYPE",
    "HttpProblem",
    "ProblemFacts",
    "add_handlers",
    "documented",
    "problem_from",
    "problem_response",
]

MEDIA_TYPE = "application/problem+json"
TITLES = {
    400: "Bad request",
    401: "Not authorized",
    403: "Not allowed",
    404: "Not found",
    405: "Method not allowed",
    408: "Too slow",
    409: "Conflict",
    410: "Closed",
    413: "Too large",
    415: "Not JSON",
    422: "Refused",
    429: "Too many requests",
    500: "Failed",
    503: "Busy",
}
RETRY_SECONDS = "2"


class ProblemFacts(BaseModel):
    """What went wrong."""

    type: str = Field(description="a name for programs", examples=["urn:cloister:closed"])
    title: str = Field(examples=["Closed"])
    status: int = Field(examples=[410])
    detail: str = Field(description="one sentence for people", examples=["The collection takes no reports any more."])


class HttpProblem(Exception):
    """An error that the client is told."""

    def __init__(self, status: int, name: str, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.name, self.detail, self.headers = status, name, detail, dict(headers or {})

    def facts(self) -> dict[str, Any]:
        """As plain data."""
        title = TITLES.get(self.status, "Error")
        return {"type": f"urn:cloister:{self.name}", "title": title, "status": self.status, "detail": self.detail}


def problem_from(error: Exception) -> HttpProblem:
    """What a client is told of an error that may be told."""
    if isinstance(error, HttpProblem):
        return error
    if isinstance(error, Overloaded):
        detail = "Too many reports wait to be stored. Send this one again in a moment."
        return HttpProblem(503, "busy", detail, {"Retry-After": RETRY_SECONDS})
    if isinstance(error, UsageError):
        return HttpProblem(422, "usage", str(error))
    return HttpProblem(503, "store", "The store does not answer. Try again later.", {"Retry-After": RETRY_SECONDS})


def problem_response(problem: HttpProblem) -> JSONResponse:
    """A problem as it is sent."""
    return JSONResponse(problem.facts(), problem.status, problem.headers, MEDIA_TYPE)


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What OpenAPI says of these errors."""
    schema = {"schema": {"$ref": "#/components/schemas/ProblemFacts"}}
    return {status: {"description": TITLES[status], "content": {MEDIA_TYPE: schema}} for status in statuses}


def allowed_methods(request: Request, routers: Sequence[APIRouter]) -> str:
    """The methods of all routes at an address: Starlette names those of the first one alone."""
    routes = [route for router in routers for route in router.routes if isinstance(route, Route)]
    at_address = [route for route in routes if route.matches(request.scope)[0] is not Match.NONE]
    return ", ".join(sorted({method for route in at_address for method in route.methods or ()}))


def add_handlers(app: FastAPI, routers: Sequence[APIRouter]) -> None:
    """Let every error of an application be told as a problem."""

    async def of_problem(_: Request, error: Exception) -> JSONResponse:
        return problem_response(problem_from(error))

    async def of_http(request: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, HTTPException)
        headers = {
            **(error.headers or {}),
            **({"Allow": methods} if error.status_code == 405 and (methods := allowed_methods(request, routers)) else {}),
        }
        words = {404: "There is nothing at this address.", 405: "This address does not take this method."}
        detail = words.get(error.status_code, "The request cannot be answered.")
        return problem_response(HttpProblem(error.status_code, "http", detail, headers))

    async def of_parameters(_: Request, error: Exception) -> JSONResponse:
        assert isinstance(error, RequestValidationError)
        names = sorted(
            {str(each["loc"][-1]) for each in error.errors() if len(each["loc"]) > 1 and each["loc"][0] != "body"}
        )
        of = f": {', '.join(names)}" if names else ""
        return problem_response(HttpProblem(422, "parameters", f"A parameter is missing or outside its range{of}."))

    app.add_exception_handler(HttpProblem, of_problem)
    app.add_exception_handler(HTTPException, of_http)
    app.add_exception_handler(RequestValidationError, of_parameters)
    app.add_exception_handler(CloisterError, of_problem)
    app.add_exception_handler(Overloaded, of_problem)
