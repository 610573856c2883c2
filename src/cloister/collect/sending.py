"""Sending a report to a service from Python or the command line: the same bytes again do no harm."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from cloister.collect.client import Report
from cloister.collect.collection import Collection
from cloister.collect.storing.credentials import is_code
from cloister.errors import CloisterError, UsageError, by_door
from cloister.parameters import CONTROLS
from cloister.schema.strict_json import read_json

__all__ = ["LOOPBACK", "NotReceived", "ask_service", "check_service", "send"]

TIMEOUT = 30.0
LONGEST_RECEIPT = 2**16  # bytes of what a service says to a report
LONGEST_FACTS = 2**24  # bytes of what a service says of a collection
MOST_SECONDS = 600  # that a service may ask to wait
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NotReceived(CloisterError):
    """A report that a service did not take, or that did not reach it; the same one may be sent again."""

    def __init__(self, words: str, retry_seconds: int = 0) -> None:
        super().__init__(words)
        self.retry_seconds = retry_seconds  # above 0: the service is busy, and asks to come again after so long


def send(report: Report, service: str, *, code: str | None = None) -> str:
    """Send a report to a service, and return once it has stored it.

    Parameters
    ----------
    report : Report
    service : str
        The address of the service, such as ``https://survey.example``, of the survey's page, or the link of an invitation.
    code : str, optional
        Of an invitation, where one is needed and the link does not have it.

    Returns
    -------
    str
        "stored", or "stored before".

    Privacy
    -------
    Nothing but the report leaves, and the code where there is one. The service sees your address, as every server does.
    """
    code = code_in(service, code)
    body = {**({} if code is None else {"code": code}), "report": report.as_dict()}
    url = f"{base_of(service, report.collection)}/v1/collections/{report.collection}/reports"
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    request = urllib.request.Request(url, text, {"Content-Type": "application/json"}, method="POST")
    status, told = exchange(request, LONGEST_RECEIPT)
    is_stored = status == 201 and isinstance(told, dict) and told.get("report") == report.id
    if not is_stored or told.get("status") not in ("stored", "stored before"):
        raise NotReceived("the service did not say that the report is stored. Send the same report again.")
    return str(told["status"])


def ask_service(collection: Collection, service: str, code: str | None = None, *, is_drawn: bool = False) -> None:
    """Refuse a service that would not take a report of this collection, before one is drawn: what is drawn has its cost.

    A report that was drawn before may have been stored, so that a collection that is closed is asked about it all the same.
    """
    base = base_of(service, collection.id)
    _, told = exchange(urllib.request.Request(f"{base}/v1/collections/{collection.id}"), LONGEST_FACTS)
    if not isinstance(told, dict) or told.get("id") != collection.id:
        raise NotReceived("what answered there is no collection service. Give its address, such as https://survey.example.")
    if told.get("terms") != collection.terms:
        raise UsageError(
            "the service asks under other terms than your file says: other questions, values or epsilons. Get its file from "
            f"{base}/v1/collections/{collection.id}/file (JSON), and look at it first."
        )
    if told.get("state") != "open" and not is_drawn:
        raise NotReceived("the service takes no reports of this collection now.")
    given = code_in(service, code)
    if told.get("participation") != "invited" and given is not None:
        raise UsageError("this survey is open to anybody and takes no code. Leave it out.")
    if told.get("participation") == "invited" and given is None:
        needs = "this survey needs the code of your invitation. Give "
        raise UsageError(needs + by_door('code="..." or the whole link.', "it with --code CODE, or the whole link to --to."))
    if given is not None and not is_code(given):
        raise UsageError("the code of an invitation has 26 letters and digits, with or without hyphens. Type it again.")


def check_service(address: Any) -> None:
    """Refuse an address that is not of a service, or that anybody on the way could read and change."""
    try:
        is_text = isinstance(address, str) and not CONTROLS.search(address) and "\\" not in address
        parts = urllib.parse.urlsplit(address if is_text else "")
        is_own = parts.scheme == "http" and parts.hostname in LOOPBACK
    except ValueError:
        parts, is_own = urllib.parse.urlsplit(""), False
    if ((parts.scheme != "https" or not parts.hostname or " " in parts.netloc) and not is_own) or parts.query:
        raise UsageError(
            "a service is reached over https: give its address with https:// before it, such as https://survey.example; http:// "
            "is for this machine alone."
        )


def base_of(service: str, id: str) -> str:
    """The address of a service, from its own, that of a survey's page, or the link of an invitation."""
    check_service(service)
    return service.partition("#")[0].rstrip("/").removesuffix(f"/c/{id}")


def code_in(service: str, code: str | None) -> str | None:
    """The code of an invitation, as it was given (perhaps as its whole link) or in the link that is the service's address."""
    check_service(service)
    return (service.partition("#")[2] or None) if code is None else code.rpartition("#")[2]


def exchange(request: urllib.request.Request, longest: int) -> tuple[int, Any]:
    """The status and the JSON of an answer; `NotReceived` says why there is none."""
    try:
        with opener_of(request).open(request, timeout=TIMEOUT) as answer:
            return answer.status, read_json(answer.read(longest), "the answer of the service", NotReceived)
    except urllib.error.HTTPError as error:
        with error:
            raise refusal(error) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise NotReceived(f"the service cannot be reached ({reason}). Try again later: a report counts once.") from None


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A report is for the service that was named: another one that it points to has not stored it."""

    def redirect_request(self, *_: Any) -> None:
        return None


def opener_of(request: urllib.request.Request) -> urllib.request.OpenerDirector:
    """What sends a request: to this machine directly, since a proxy elsewhere would get it in clear."""
    direct = [] if request.type == "https" else [urllib.request.ProxyHandler({})]
    return urllib.request.build_opener(NoRedirects, *direct)


def refusal(error: urllib.error.HTTPError) -> NotReceived:
    """Why a service did not take a report, in its own words."""
    try:
        told: Any = read_json(error.read(LONGEST_RECEIPT), "the answer", NotReceived)
        detail = told.get("detail", "") if isinstance(told, dict) else ""
    except (CloisterError, OSError, http.client.HTTPException):
        detail = ""
    words = detail if isinstance(detail, str) and 0 < len(detail) <= 300 and detail.isprintable() else ""
    wait = error.headers.get("Retry-After") or ""
    is_busy = error.code in (429, 503) and wait.isascii() and wait.isdigit() and len(wait) < 9
    return NotReceived(
        f"the service did not take the report (status {error.code}). {words}".strip(),
        max(1, min(MOST_SECONDS, int(wait))) if is_busy else 0,
    )
