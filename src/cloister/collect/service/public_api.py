"""The half of the API that everybody may use: what a collection asks, and where reports are sent."""

from __future__ import annotations

import json
from typing import Any

import orjson
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.concurrency import run_in_threadpool

from cloister.collect.service import documented_facts as facts
from cloister.collect.service.guarding import charge, read_body
from cloister.collect.service.posted_reports import problem_of, read_posted
from cloister.collect.service.problems import HttpProblem, documented
from cloister.collect.service.running import now, service_of
from cloister.collect.storing.inbox import Hosted
from cloister.collect.storing.recording import Outcome
from cloister.errors import SourceError

__all__ = ["collection_facts", "router"]

router = APIRouter(prefix="/v1", tags=["public"])
AROUND = 2_000  # bytes of a request beside its report


@router.get("/health", responses={200: {"model": facts.HealthFacts}, **documented(429, 503)}, summary="Whether it works")
async def health(request: Request) -> JSONResponse:
    """Answer once the store has answered."""
    await service_of(request).be_well()
    return JSONResponse({"status": "ok"})


@router.get(
    "/collections/{id}",
    responses={200: {"model": facts.CollectionFacts}, **documented(404, 422, 429, 503)},
    summary="What a collection asks",
)
async def show_collection(request: Request, id: facts.CollectionId) -> Response:
    """All that a client needs to make a report."""
    hosted = await service_of(request).hosted(id)
    state = hosted.state(now())
    text = await run_in_threadpool(hosted.written, f"facts {state}", lambda: json.dumps(collection_facts(hosted, state)))
    return Response(text, media_type="application/json")


@router.get(
    "/collections/{id}/file",
    responses={200: {"content": {"application/json": {"schema": {"type": "object"}}}}, **documented(404, 422, 429, 503)},
    summary="The public file of a collection",
)
async def show_file(request: Request, id: facts.CollectionId) -> JSONResponse:
    """As `cloister collect` reads it: save it with the ending .json."""
    return JSONResponse((await service_of(request).hosted(id)).collection.facts())


@router.post(
    "/collections/{id}/reports",
    status_code=201,
    responses={
        201: {"model": facts.StoredReport},
        **documented(400, 403, 404, 408, 409, 410, 413, 415, 422, 429, 503),
    },
    openapi_extra=facts.body_of(facts.PostedReport),
    summary="Send a report",
)
async def take_report(request: Request, id: facts.CollectionId) -> Response:
    """Answer 201 once the report is on the disk, also where it was there before: it may be sent again at any time."""
    service = service_of(request)
    hosted = await service.hosted(id)
    posted = await read_body(request, service.settings, 4 * hosted.check.longest + AROUND, quick_json)
    try:
        incoming = read_posted(hosted, posted, hosted.state(now()) != "open")
    except HttpProblem:
        service.metrics.refused()
        raise
    (outcome,) = await service.intake.take([incoming])
    service.metrics.judged([outcome])
    if (problem := problem_of(outcome, hosted)) is not None:
        service.forget(id)
        raise problem
    return written({"report": incoming.report.hex(), "status": outcome.value}, 201)


@router.post(
    "/collections/{id}/reports/batch",
    status_code=201,
    responses={
        201: {"model": facts.BatchResult, "description": "All are on the disk"},
        207: {"model": facts.BatchResult, "description": "Some are not: each says why"},
        **documented(400, 404, 408, 413, 415, 422, 429, 503),
    },
    openapi_extra=facts.body_of(facts.Batch),
    summary="Send many reports",
)
async def take_batch(request: Request, id: facts.CollectionId) -> Response:
    """Each report is stored or refused by itself; 201 where all are on the disk, else 207."""
    service = service_of(request)
    hosted = await service.hosted(id)
    body = await read_body(request, service.settings, parse=quick_json)
    if not isinstance(body, dict) or body.keys() != {"reports"} or not isinstance(body["reports"], list):
        raise HttpProblem(422, "form", "A batch is an object with reports, a list, and nothing else.")
    if not 1 <= len(body["reports"]) <= service.settings.batch_reports:
        raise HttpProblem(422, "batch", f"A batch has between 1 and {service.settings.batch_reports:,} reports.")
    charge(request, len(body["reports"]) - 1)
    is_late = hosted.state(now()) != "open"
    results: list[dict[str, Any]] = []
    incoming, places = [], []
    for place, posted in enumerate(body["reports"]):
        try:
            report = read_posted(hosted, posted, is_late)
            results.append({"report": posted["report"]["report"], "status": 201})
            incoming.append(report)
            places.append(place)
        except HttpProblem as why:
            service.metrics.refused()
            results.append({"report": None, **told(why)})
    outcomes = await service.intake.take(incoming) if incoming else []
    service.metrics.judged(outcomes)
    for place, outcome in zip(places, outcomes, strict=True):
        if outcome is not Outcome.STORED and (problem := problem_of(outcome, hosted)) is not None:
            results[place].update(told(problem))
    stored = sum([result["status"] == 201 for result in results])
    return written({"stored": stored, "results": results}, 201 if stored == len(results) else 207)


def quick_json(text: bytes) -> Any:
    """The JSON of reports. Each part is compared with what it must be, so that it need not be read strictly."""
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        raise SourceError("the request: not valid JSON.") from None


def written(content: Any, status: int) -> Response:
    """An answer in JSON."""
    return Response(orjson.dumps(content), status, media_type="application/json")


def told(problem: HttpProblem) -> dict[str, Any]:
    """A problem of one report of a batch."""
    return {key: value for key, value in problem.facts().items() if key in ("status", "type", "detail")}


def collection_facts(hosted: Hosted, state: str) -> dict[str, Any]:
    """A collection as clients get it: questions in their order, with exact epsilons."""
    collection = hosted.collection
    return {
        "id": collection.id,
        "title": collection.title,
        "collector": collection.collector,
        **{word: moment and moment.isoformat() for word in ("opens", "closes") for moment in [getattr(collection, word)]},
        "state": state,
        "participation": "invited" if hosted.is_invited else "open",
        "terms": collection.terms,
        "epsilon": str(collection.guarantee.epsilon),
        "questions": [
            {
                "name": question.name,
                "text": question.text,
                "values": list(question.values),
                "other": question.category.other,
                "epsilon": str(question.epsilon),
                "protocol": question.protocol,
            }
            for question in collection.questions
        ],
    }
