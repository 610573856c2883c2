"""The collector's pages: what came, what it says so far with error bars, and what may be taken along."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from cloister.collect.collection import Collection
from cloister.collect.collection_files import check_facts
from cloister.collect.planning import plan
from cloister.collect.sending import LOOPBACK
from cloister.collect.service.collector_api import (
    export_reports,
    hosted_facts,
    unzipped,
    zip_response,
    zipped_estimate,
    zipped_rows,
)
from cloister.collect.service.problems import HttpProblem
from cloister.collect.service.running import Service, service_of
from cloister.collect.service.survey_page import LABELS, render
from cloister.collect.storing.inbox import Hosted
from cloister.errors import SchemaError, UsageError
from cloister.schema.strict_json import read_json
from cloister.schema.strict_toml import read_toml

__all__ = ["router"]

COOKIE = "cloister_token"
CERTIFICATE = "estimate.csv.release.json"
MOST_FORM = 2**20  # bytes of one with a file
MOST_SMALL_FORM = 2**12
MOST_BARS = 12
BAR_LENGTH = 300.0  # of a share of 1, in units of the picture: the same for all questions, so that bars can be compared

router = APIRouter(prefix="/admin", include_in_schema=False)


@router.get("")
def show_collections(request: Request) -> Response:
    """All collections, or where the token is asked for."""
    if not is_collector(request):
        return render("login.html", root="", problem="", is_plain=is_plain(request))
    return collections_page(service_of(request))


@router.post("/login")
async def log_in(request: Request) -> Response:
    """Keep the token in a cookie that no script reads and no other page sends."""
    form = await read_form(request)
    if is_plain(request):
        return render("login.html", 403, root="../", problem="", is_plain=True)
    token = form.get("token", "").strip()
    if not await run_in_threadpool(service_of(request).inbox.is_token, token):
        return render("login.html", 401, root="../", problem="This is not the token.", is_plain=False)
    answer = RedirectResponse("../admin", 303)
    is_https = request.url.scheme == "https"
    answer.set_cookie(COOKIE, token, path=cookie_path(request), secure=is_https, httponly=True, samesite="strict")
    return answer


@router.post("/logout")
async def log_out(request: Request) -> Response:
    """Forget the token."""
    await read_form(request)
    answer = RedirectResponse("../admin", 303)
    answer.delete_cookie(COOKIE, path=cookie_path(request))
    return answer


@router.post("/new")
async def create(request: Request) -> Response:
    """Host a collection from its file."""
    form = await read_collectors_form(request, MOST_FORM)
    service = service_of(request)

    def add() -> Hosted:
        text = form.get("file", "")
        read = read_json(text, "the file", SchemaError) if text.lstrip().startswith("{") else read_toml(text, "the file")
        facts = check_facts(read, "the file")
        wanted = read_number(form.get("wanted", ""))
        try:
            return service.inbox.add(Collection(**facts), is_invited=form.get("invited") == "yes", wanted=wanted)
        except TypeError:
            raise SchemaError("the file has a part of the wrong type.") from None

    try:
        hosted = await run_in_threadpool(add)
    except UsageError as error:
        return await run_in_threadpool(collections_page, service, str(error), form)
    return RedirectResponse(f"c/{hosted.collection.id}", 303)


@router.get("/new")
def show_form_again(request: Request) -> Response:
    """Who comes back to the answer of a form finds its page."""
    return RedirectResponse("../admin", 303)


@router.get("/c/{id}")
def show_collection(request: Request, id: str) -> Response:
    """One collection, with live estimates."""
    if not is_collector(request):
        return RedirectResponse("../../admin", 303)
    service = service_of(request)
    return collection_page(request, service, service.find(id))


@router.post("/c/{id}/invite")
async def invite(request: Request, id: str) -> Response:
    """Make codes, and show them once."""
    form = await read_collectors_form(request)
    service = service_of(request)
    hosted = await run_in_threadpool(service.find, id)
    try:
        codes = await run_in_threadpool(service.inbox.invite, id, min(10_000, read_number(form.get("count", "")) or 0))
    except UsageError as error:
        return await run_in_threadpool(collection_page, request, service, hosted, str(error), (), "../../../", 422)
    return await run_in_threadpool(collection_page, request, service, hosted, "", codes, "../../../")


@router.post("/c/{id}/close")
async def close(request: Request, id: str) -> Response:
    """Take no more reports."""
    await change(request, id, service_of(request).inbox.close)
    return RedirectResponse(f"../{id}", 303)


@router.post("/c/{id}/delete")
async def delete(request: Request, id: str) -> Response:
    """Delete a collection and its reports."""
    await change(request, id, service_of(request).inbox.delete)
    return RedirectResponse("../../../admin", 303)


async def change(request: Request, id: str, work: Callable[[str], object]) -> None:
    """Let the collector do something to a collection that is there."""
    await read_collectors_form(request)
    service = service_of(request)
    await run_in_threadpool(service.find, id)
    await run_in_threadpool(work, id)
    service.forget(id)


@router.get("/c/{id}/{file}")
def download(request: Request, id: str, file: str) -> Response:
    """The estimate, the synthetic table, the certificate or the reports."""
    if file in ("invite", "close", "delete"):  # who comes back to the answer of a form finds its page
        return RedirectResponse(f"../{id}", 303)
    must_be_collector(request)
    service = service_of(request)
    hosted = service.find(id)
    if file == "reports.parquet":
        return export_reports(request, id)
    if file == "estimate.zip":
        return zip_response(zipped_estimate(service, hosted), f"{id}-estimate.zip")
    if file == "rows.zip":
        return zip_response(zipped_rows(service, hosted), f"{id}-rows.zip")
    if file == CERTIFICATE:
        headers = {"Content-Disposition": f'attachment; filename="{CERTIFICATE}"'}
        return Response(unzipped(zipped_estimate(service, hosted), CERTIFICATE), 200, headers, "application/json")
    raise HttpProblem(404, "http", "There is nothing at this address.")


def collections_page(service: Service, problem: str = "", form: Mapping[str, str] | None = None) -> HTMLResponse:
    """All collections; what is wrong with a form that would add one, if something is, and the form as it was."""
    kept = form or {}
    return render(
        "collections.html",
        422 if problem else 200,
        root="../" if problem else "",
        collections=[hosted_facts(service, hosted) for hosted in service.inbox.all()],
        problem=problem[:1].upper() + problem[1:],
        file=kept.get("file", ""),
        is_invited=kept.get("invited") == "yes",
        wanted=kept.get("wanted", ""),
        holds_deleted=service.inbox.holds_deleted(),
    )


def collection_page(
    request: Request,
    service: Service,
    hosted: Hosted,
    problem: str = "",
    codes: Any = (),
    root: str = "../../",
    status: int = 200,
) -> HTMLResponse:
    """One collection."""
    facts = hosted_facts(service, hosted)
    found = service.estimated(hosted, joint=False) if facts["reports"] else None
    planned = plan(hosted.collection, hosted.wanted) if hosted.wanted and facts["state"] != "closed" else None
    questions = []
    for place, question in enumerate(hosted.collection.questions):
        rows: list[dict[str, Any]] = []
        if found is not None:
            with service.one_at_a_time():
                rows = bars_of(found.marginal(question.name).rows(), question.name, found.reports)
        questions.append(
            {
                "text": question.text or question.name,
                "rows": rows,
                "more": max(0, len(question.values) - len(rows)) if rows else 0,
                "expected": "" if planned is None else f"{2 * planned.questions[place].error:.1%}",
            }
        )
    return render(
        "collection.html",
        status,
        root=root,
        facts=facts,
        questions=questions,
        guarantee=str(hosted.collection.guarantee),
        address=f"{str(request.base_url).rstrip('/')}/c/{hosted.collection.id}",
        codes=codes,
        problem=problem[:1].upper() + problem[1:],
    )


def bars_of(rows: Any, name: str, reports: int) -> list[dict[str, Any]]:
    """The largest shares of a question, in the order of its values, with two standard errors to either side."""
    listed = [(place, row[name], row["share"], row["standard_error"] / max(1, reports)) for place, row in enumerate(rows)]
    shown = sorted(sorted(listed, key=lambda each: -each[2])[:MOST_BARS])
    return [
        {
            "label": LABELS.get(value, value),
            "width": length(share),
            "low": length(share - 2 * error),
            "high": length(share + 2 * error),
            "words": f"{share:.1%} ± {2 * error:.1%}",
        }
        for _, value, share, error in shown
    ]


def length(share: float) -> float:
    """How long a bar of this share is."""
    return round(BAR_LENGTH * min(1.0, max(0.0, share)), 1)


def is_collector(request: Request) -> bool:
    """Whether the cookie holds the token."""
    token = request.cookies.get(COOKIE)
    return token is not None and service_of(request).inbox.is_token(token)


def must_be_collector(request: Request) -> None:
    """Refuse whoever has no token."""
    if not is_collector(request):
        raise HttpProblem(401, "token", "Log in first, at /admin.")


async def read_collectors_form(request: Request, most: int = MOST_SMALL_FORM) -> dict[str, str]:
    """A form that this site's own page sent, from whoever has the token: nobody else makes the service read a large one."""
    check_origin(request)
    await run_in_threadpool(must_be_collector, request)
    return await read_form(request, most)


async def read_form(request: Request, most: int = MOST_SMALL_FORM) -> dict[str, str]:
    """A form that this site's own page sent."""
    check_origin(request)
    read = bytearray()
    async for chunk in request.stream():
        read += chunk
        if len(read) > most:
            raise HttpProblem(413, "size", f"A form here has at most {most:,} bytes.", {"Connection": "close"})
    try:
        fields = parse_qs(bytes(read).decode(), keep_blank_values=True, max_num_fields=20, errors="strict")
    except (UnicodeDecodeError, ValueError):
        raise HttpProblem(400, "form", "The form cannot be read.") from None
    return {name: values[0] for name, values in fields.items()}


def check_origin(request: Request) -> None:
    """Refuse what another site's page sent."""
    origin, site = request.headers.get("origin"), request.headers.get("sec-fetch-site", "same-origin")
    is_own = origin is None or is_at(origin, request.headers.get("host"))
    if not is_own or site not in ("same-origin", "none"):
        raise HttpProblem(403, "origin", "This form was sent from another site.")


def is_at(origin: str, host: str | None) -> bool:
    """Whether an origin, which may be null or no address at all, is at a host."""
    try:
        return bool(host) and urlsplit(origin).netloc == host
    except ValueError:
        return False


def read_number(text: str) -> int | None:
    """A whole number from a form."""
    digits = text.strip()
    if not digits:
        return None
    if not (digits.isascii() and digits.isdigit() and len(digits) <= 10):
        raise UsageError("a number here has digits alone.")
    return int(digits)


def is_plain(request: Request) -> bool:
    """Whether a token would travel where others can read it: without TLS, from another machine or through a proxy."""
    is_passed_on = any(name in request.headers for name in ("x-forwarded-for", "x-forwarded-proto", "forwarded"))
    return request.url.scheme != "https" and (is_passed_on or request.url.hostname not in LOOPBACK)


def cookie_path(request: Request) -> str:
    """Where the cookie is sent: to these pages alone."""
    return f"{request.scope.get('root_path', '')}/admin"
