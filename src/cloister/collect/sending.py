"""Sending a report to a service from Python or the command line: the same bytes again do no harm."""

from __future__ import annotations

import http.client
import json
import urllib.error
import urllib.parse
import urllib.request
from typing import Any

from cloister.collect.client import Report
from cloister.errors import CloisterError, UsageError
from cloister.parameters import CONTROLS
from cloister.schema.strict_json import read_json

__all__ = ["NotReceived", "check_service", "send"]

TIMEOUT = 30.0
LONGEST_ANSWER = 2**16  # bytes of what a service says
LOOPBACK = ("127.0.0.1", "::1", "localhost")


class NotReceived(CloisterError):
    """A report that a service did not take, or that did not reach it; the same one may be sent again."""

    exit_code = 1


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
    check_service(service)
    page, _, linked = service.partition("#")
    code = linked or None if code is None else code
    body = json.dumps(
        {**({} if code is None else {"code": code}), "report": report.as_dict()}, ensure_ascii=False, separators=(",", ":")
    ).encode()
    base = page.rstrip("/").removesuffix(f"/c/{report.collection}")
    url = f"{base}/v1/collections/{report.collection}/reports"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="POST")
    try:
        with DIRECTLY.open(request, timeout=TIMEOUT) as answer:
            told = read_json(answer.read(LONGEST_ANSWER), "the answer of the service", NotReceived)
            is_stored = answer.status == 201 and isinstance(told, dict) and told.get("report") == report.id
    except urllib.error.HTTPError as error:
        with error:
            raise NotReceived(refusal(error)) from None
    except (OSError, ValueError, http.client.HTTPException) as error:
        reason = getattr(error, "reason", error)
        raise NotReceived(f"the service cannot be reached ({reason}). Send the same report again later.") from None
    if not is_stored or told.get("status") not in ("stored", "stored before"):
        raise NotReceived("the service did not say that the report is stored. Send the same report again.")
    return str(told["status"])


def check_service(address: Any) -> None:
    """Refuse an address that is not of a service, or that anybody on the way could read and change."""
    try:
        parts = urllib.parse.urlsplit(address if isinstance(address, str) and not CONTROLS.search(address) else "")
        is_own = parts.scheme == "http" and parts.hostname in LOOPBACK
    except ValueError:
        parts, is_own = urllib.parse.urlsplit(""), False
    if ((parts.scheme != "https" or not parts.hostname or " " in parts.netloc) and not is_own) or parts.query:
        raise UsageError("a service is reached over https, such as https://survey.example; http is for this machine alone.")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """A report is for the service that was named: another one that it points to has not stored it."""

    def redirect_request(self, *_: Any) -> None:
        return None


def refusal(error: urllib.error.HTTPError) -> str:
    """Why a service did not take a report, in its own words."""
    try:
        told: Any = read_json(error.read(LONGEST_ANSWER), "the answer", NotReceived)
        detail = told.get("detail", "") if isinstance(told, dict) else ""
    except (CloisterError, OSError):
        detail = ""
    words = detail if isinstance(detail, str) and 0 < len(detail) <= 300 and detail.isprintable() else ""
    return f"the service did not take the report (status {error.code}). {words}".strip()


DIRECTLY = urllib.request.build_opener(NoRedirects)
