"""The half of the API that needs the collector's token: collections, invitations, estimates, exports, metrics."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool

from cloister.collect.collection import Collection
from cloister.collect.collection_files import check_facts
from cloister.collect.estimates import CollectionEstimate
from cloister.collect.packed_reports import pack
from cloister.collect.service import documented_facts as facts
from cloister.collect.service.export_folders import export_folder
from cloister.collect.service.guarding import read_body
from cloister.collect.service.problems import HttpProblem, documented
from cloister.collect.service.running import Service, now, service_of
from cloister.collect.storing.inbox import Hosted
from cloister.collect.storing.stored_reports import StoredReports
from cloister.errors import SchemaError
from cloister.sinks import certificate_path

__all__ = ["hosted_facts", "router", "unzipped", "zipped_estimate", "zipped_rows"]

MOST_CELLS = 2**16  # of a joint distribution that is given as JSON or CSV here; larger ones: export, and estimate elsewhere
MOST_ROWS = 1_000_000  # of a synthetic table
MOST_CODES = 10_000  # in one request
PARQUET = "application/vnd.apache.parquet"
STILL_HELD = (
    "The collection is deleted. The files of the store could not be rewritten yet and still hold it; "
    "that is tried every minute."
)
CHALLENGE = {"WWW-Authenticate": "Bearer"}

Method = Annotated[Literal["em", "norm-sub", "unbiased"], Query(description="how counts are cleaned of noise")]
bearer = HTTPBearer(auto_error=False, description="the collector's token: cloister collect serve --new-token")


def collector(request: Request, given: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)]) -> None:
    """Let only the collector pass."""
    if given is None:
        raise HttpProblem(401, "token", "This needs the collector's token: Authorization: Bearer TOKEN.", CHALLENGE)
    if not service_of(request).inbox.is_token(given.credentials):
        raise HttpProblem(401, "token", "This is not the collector's token.", CHALLENGE)


router = APIRouter(prefix="/v1", tags=["collector"], dependencies=[Depends(collector)])
ERRORS = (401, 404, 422, 429, 503)


@router.get(
    "/collections",
    responses={200: {"model": list[facts.HostedFacts]}, **documented(401, 429, 503)},
    summary="All collections",
)
def list_collections(request: Request) -> JSONResponse:
    """Every collection with its number of reports."""
    service = service_of(request)
    return JSONResponse([hosted_facts(service, hosted) for hosted in service.inbox.all()])


@router.post(
    "/collections",
    status_code=201,
    responses={201: {"model": facts.HostedFacts}, **documented(400, 401, 408, 413, 415, 422, 429, 503)},
    openapi_extra=facts.body_of(facts.NewCollection),
    summary="Host a collection",
)
async def create_collection(request: Request) -> JSONResponse:
    """Take the public file of a collection. The same one again changes nothing."""
    service = service_of(request)
    body = await read_body(request, service.settings)
    keys = {"collection", "participation", "wanted"}
    if not isinstance(body, dict) or "collection" not in body or not body.keys() <= keys:
        raise HttpProblem(
            422, "form", "What is sent here is an object with collection, and participation and wanted if you like."
        )
    participation, wanted = body.get("participation", "open"), body.get("wanted")
    if participation not in ("open", "invited"):
        raise HttpProblem(422, "participation", 'participation must be "open" or "invited".')
    if wanted is not None and (type(wanted) is not int or not 1 <= wanted <= 10**9):
        raise HttpProblem(422, "wanted", "wanted must be a whole number from 1 on: how many reports are hoped for.")

    def add() -> dict[str, Any]:
        hosted = service.inbox.add(read_file(body["collection"]), is_invited=participation == "invited", wanted=wanted)
        return hosted_facts(service, hosted)

    return JSONResponse(await run_in_threadpool(add), 201)


@router.post(
    "/collections/{id}/close",
    responses={200: {"model": facts.HostedFacts}, **documented(*ERRORS)},
    summary="Take no more reports",
)
def close_collection(request: Request, id: facts.CollectionId) -> JSONResponse:
    """Once this is answered no report is stored any more, on no server."""
    service = service_of(request)
    service.find(id)
    closed = service.inbox.close(id)
    service.forget(id)
    return JSONResponse(hosted_facts(service, closed))


@router.delete(
    "/collections/{id}",
    status_code=204,
    responses={
        202: {"model": facts.DeletionFacts, "description": "Deleted, and the files are still to be rewritten"},
        204: {"description": "Deleted, and the files hold nothing of it"},
        **documented(*ERRORS),
    },
    summary="Delete a collection",
    response_class=Response,
)
def delete_collection(request: Request, id: facts.CollectionId) -> Response:
    """Its reports and invitations are deleted too, for good. While somebody reads the store its files still hold them."""
    service = service_of(request)
    service.find(id)
    is_rewritten = service.inbox.delete(id)
    service.forget(id)
    return Response(status_code=204) if is_rewritten else JSONResponse({"detail": STILL_HELD}, 202)


@router.post(
    "/collections/{id}/invitations",
    status_code=201,
    responses={201: {"model": facts.CodesFacts}, **documented(400, 401, 404, 408, 413, 415, 422, 429, 503)},
    openapi_extra=facts.body_of(facts.NewCodes),
    summary="Make invitations",
)
async def invite(request: Request, id: facts.CollectionId) -> JSONResponse:
    """Single-use codes. They are kept as hashes: this is the only time that they are told."""
    service = service_of(request)
    body = await read_body(request, service.settings)
    count = body.get("count") if isinstance(body, dict) and body.keys() == {"count"} else None
    if type(count) is not int or not 1 <= count <= MOST_CODES:
        raise HttpProblem(422, "form", f"What is sent here is an object with count, from 1 to {MOST_CODES:,}.")
    await run_in_threadpool(service.find, id)
    return JSONResponse({"codes": await run_in_threadpool(service.inbox.invite, id, count)}, 201)


@router.get(
    "/collections/{id}/estimate",
    responses={200: {"model": facts.EstimateFacts}, **documented(*ERRORS)},
    summary="What the reports say",
)
def show_estimate(
    request: Request,
    id: facts.CollectionId,
    method: Method = "em",
    joint: Annotated[bool, Query(description="the joint distribution too, where it has at most 65,536 cells")] = False,
) -> JSONResponse:
    """Each question by itself, with standard errors, and the certificate."""
    service = service_of(request)
    hosted = service.find(id)
    found = service.estimated(hosted, method, joint=joint)
    with service.one_at_a_time():
        tables = tables_of(found, joint)
        return JSONResponse(
            {
                "collection": id,
                "reports": found.reports,
                "method": method,
                "tables": [{"questions": list(table.names), "rows": list(table.rows())} for table in tables],
                "release": found.release_.as_dict(),
            }
        )


@router.get(
    "/collections/{id}/clusters",
    responses={200: {"model": facts.ClusterFacts}, **documented(*ERRORS)},
    summary="Clusters of people",
)
def show_clusters(
    request: Request,
    id: facts.CollectionId,
    k: Annotated[int, Query(ge=1, le=100, description="how many")],
    method: Method = "em",
) -> JSONResponse:
    """k-modes of the estimated joint distribution."""
    service = service_of(request)
    found = service.estimated(checked_joint(service.find(id)), method)
    with service.one_at_a_time():
        model = found.cluster(k)
    sizes = [float(size) for size in model.sizes_]
    return JSONResponse({"modes": model.modes_, "sizes": sizes, "cost": model.cost_, "release": model.release_.as_dict()})


ZIP: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}}}
}


@router.get(
    "/collections/{id}/estimate.zip",
    responses={**ZIP, **documented(*ERRORS)},
    response_class=Response,
    summary="Download the estimate",
)
def download_estimate(request: Request, id: facts.CollectionId, method: Method = "em") -> Response:
    """All tables as CSV with the certificate beside: unpack it, and check it with `cloister verify estimate.csv`."""
    service = service_of(request)
    return zip_response(zipped_estimate(service, service.find(id), method), f"{id}-estimate.zip")


@router.get(
    "/collections/{id}/rows.zip",
    responses={**ZIP, **documented(*ERRORS)},
    response_class=Response,
    summary="Download made-up rows",
)
def download_rows(
    request: Request,
    id: facts.CollectionId,
    rows: Annotated[int | None, Query(ge=1, le=MOST_ROWS, description="default: as many as there are reports")] = None,
    method: Method = "em",
) -> Response:
    """A synthetic table as CSV with its certificate."""
    service = service_of(request)
    return zip_response(zipped_rows(service, service.find(id), rows, method), f"{id}-rows.zip")


@router.get(
    "/collections/{id}/reports.parquet",
    responses={
        200: {"content": {PARQUET: {"schema": {"type": "string", "format": "binary"}}}},
        **documented(*ERRORS),
    },
    response_class=Response,
    summary="Export the reports",
)
def export_reports(request: Request, id: facts.CollectionId) -> Response:
    """Packed reports, without ids and in a secret order, for `cloister collect estimate` here or on Spark."""
    service = service_of(request)
    hosted = service.find(id)
    with export_folder() as folder:
        path = folder / "reports.parquet"
        pack(hosted.collection, StoredReports(service.inbox, hosted), path)
        file = path.open("rb")  # it has no name from here on: nothing stays behind, however this ends
        size = path.stat().st_size
    headers = {"Content-Disposition": f'attachment; filename="{id}-reports.parquet"', "Content-Length": str(size)}
    parts = iter(lambda: file.read(2**18), b"")
    return StreamingResponse(parts, 200, headers, PARQUET, BackgroundTask(file.close))


@router.get(
    "/metrics",
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **documented(401, 429, 503)},
    response_class=PlainTextResponse,
    summary="Metrics",
)
def show_metrics(request: Request) -> PlainTextResponse:
    """For Prometheus: what is in the store, and what this worker did."""
    service = service_of(request)
    stored = [
        (each.collection.id, service.inbox.count(each.number), each.state(now()) == "open") for each in service.inbox.all()
    ]
    return PlainTextResponse(service.metrics.text(stored), media_type="text/plain; version=0.0.4")


def hosted_facts(service: Service, hosted: Hosted) -> dict[str, Any]:
    """A collection as its collector sees it."""
    return {
        "id": hosted.collection.id,
        "title": hosted.collection.title,
        "state": hosted.state(now()),
        "participation": "invited" if hosted.is_invited else "open",
        "wanted": hosted.wanted,
        "reports": service.inbox.count(hosted.number),
        "invitations_left": service.inbox.invitations(hosted.number) if hosted.is_invited else 0,
        "terms": hosted.collection.terms,
        "is_settled": hosted.is_settled,
    }


def read_file(given: Any) -> Collection:
    """The collection in a request."""
    try:
        return Collection(**check_facts(given, "the collection"))
    except TypeError:
        raise SchemaError("the collection has a part of the wrong type.") from None


def checked_joint(hosted: Hosted) -> Hosted:
    """A collection whose joint distribution is small enough to be estimated here."""
    if not hosted.collection.joined or hosted.collection.cells > MOST_CELLS:
        raise HttpProblem(
            422, "cells", f"This needs a joint distribution of at most {MOST_CELLS:,} cells. Export the reports instead."
        )
    return hosted


def tables_of(found: CollectionEstimate, joint: bool = True) -> list[Any]:
    """The joint distribution, if it is wanted and small, and each question by itself."""
    collection = found.collection
    is_small = joint and len(collection.joined) > 1 and collection.cells <= MOST_CELLS
    return [*([found.joint()] if is_small else []), *(found.marginal(name) for name in collection.names)]


def zipped_estimate(service: Service, hosted: Hosted, method: str = "em") -> bytes:
    """All tables as CSV and their certificate."""
    found = service.estimated(hosted, method)
    with service.one_at_a_time():
        return zipped("estimate.csv", lambda path: found.save(path, tables_of(found)))


def zipped_rows(service: Service, hosted: Hosted, rows: int | None = None, method: str = "em") -> bytes:
    """A synthetic table as CSV and its certificate."""
    found = service.estimated(hosted, method)
    with service.one_at_a_time():
        return zipped(
            "rows.csv", lambda path: found.save_rows(path, min(found.reports, MOST_ROWS) if rows is None else rows)
        )


def zipped(name: str, save: Callable[[Path], object]) -> bytes:
    """What is saved under a name, and the certificate that lies beside it then."""
    with export_folder() as folder:
        path = folder / name
        save(path)
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in (path, certificate_path(path)):
                archive.write(file, file.name)
        return packed.getvalue()


def unzipped(packed: bytes, name: str) -> bytes:
    """One file of what was zipped."""
    with zipfile.ZipFile(io.BytesIO(packed)) as archive:
        return archive.read(name)


def zip_response(content: bytes, name: str) -> Response:
    """A file to download."""
    return Response(content, media_type="application/zip", headers={"Content-Disposition": f'attachment; filename="{name}"'})
