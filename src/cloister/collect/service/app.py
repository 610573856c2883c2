"""The service as an ASGI application: the API, the pages, and what stands before them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware

from cloister.collect.service import collector_api, collector_pages, documented_facts, public_api, survey_page
from cloister.collect.service.client_files import ClientFiles
from cloister.collect.service.export_folders import remove_abandoned
from cloister.collect.service.guarding import CLIENT, RequestGuard
from cloister.collect.service.problems import HttpProblem, ProblemFacts, add_handlers
from cloister.collect.service.report_routes import ReportRoutes
from cloister.collect.service.running import Service
from cloister.collect.service.settings import ServiceSettings
from cloister.collect.storing.intake import Overloaded
from cloister.errors import CloisterError

__all__ = ["make_app"]

API_VERSION = "1"
DEEPEST = 8  # folders of an address that are counted; pages have three
DESCRIPTION = "Collects reports whose answers were perturbed by whoever gave them, and estimates from them."


def make_app(settings: ServiceSettings) -> FastAPI:
    """One worker's application; its store must be there."""
    service = Service(settings)

    @asynccontextmanager
    async def alive(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(remove_abandoned)
        service.intake.start()
        settling = asyncio.create_task(service.settle_now_and_then())
        yield
        settling.cancel()
        await run_in_threadpool(service.intake.stop)  # what was taken is stored, and whoever sent it is told

    app = FastAPI(
        title="Cloister collections",
        version=API_VERSION,
        description=DESCRIPTION,
        openapi_url="/v1/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=alive,
        redirect_slashes=False,
        middleware=[
            Middleware(
                RequestGuard,
                settings=settings,
                metrics=service.metrics,
                limit=service.limit,
                collector_limit=service.collector_limit,
                tell=as_asked,
            ),
            Middleware(ReportRoutes),
        ],
    )
    app.state.service = service
    routers = (public_api.router, collector_api.router, survey_page.router, collector_pages.router)
    for router in routers:
        app.include_router(router)
    app.mount(CLIENT, ClientFiles(survey_page.HERE / "static"))
    add_handlers(app, routers)
    add_pages(app)
    describe(app)
    return app


def add_pages(app: FastAPI) -> None:
    """Tell errors as a page where a person asked for one in a browser."""
    for kind in (HttpProblem, HTTPException, CloisterError, Overloaded):
        told = app.exception_handlers[kind]

        async def tell(request: Request, error: Exception, told: Any = told) -> Response:
            return as_asked(request.scope, await told(request, error))

        app.add_exception_handler(kind, tell)


def as_asked(scope: Any, problem: Response) -> Response:
    """A problem as a page where a person asked for one in a browser, else as it is."""
    path: str = scope["path"]
    if path.startswith(("/v1/", "/client/")) or "text/html" not in Headers(scope=scope).get("accept", ""):
        return problem
    root = "../" * min(path.count("/") - 1, DEEPEST)  # the way from a page to the first one
    page = survey_page.render("problem.html", problem.status_code, problem=json.loads(bytes(problem.body)), root=root)
    for name in ("allow", "connection", "retry-after"):
        if name in problem.headers:
            page.headers[name] = problem.headers[name]
    return page


def describe(app: FastAPI) -> None:
    """Put what bodies and errors are into the OpenAPI document: the service reads the former by itself."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        document = made()
        schemas = document.setdefault("components", {}).setdefault("schemas", {})
        bodies = (
            documented_facts.PostedReport,
            documented_facts.Batch,
            documented_facts.NewCollection,
            documented_facts.NewCodes,
        )
        for model in (ProblemFacts, *bodies):
            schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
            schemas.update(schema.pop("$defs", {}))
            schemas[model.__name__] = schema
        for unused in ("HTTPValidationError", "ValidationError"):
            schemas.pop(unused, None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]
