"""What clients send: a report, and where people are invited the code that lets it in."""

from __future__ import annotations

from typing import Any

from cloister.collect.reports import OUTSIDE, RefusedReport
from cloister.collect.service.problems import HttpProblem
from cloister.collect.service.running import now
from cloister.collect.storing.credentials import code_hash, is_code
from cloister.collect.storing.inbox import Hosted
from cloister.collect.storing.recording import Incoming, Outcome

__all__ = ["problem_of", "read_posted"]

INVITED, OPEN = {"code", "report"}, {"report"}
NOT_INVITED = "The code of the invitation is unknown, or was used already. Ask whoever invited you for another one."
TOLD = {
    Outcome.OTHER_ANSWERS: (409, "answered", "This participant has answered already, otherwise. The first report counts."),
    Outcome.NOT_INVITED: (403, "not-invited", NOT_INVITED),
    Outcome.CLOSED: (410, "closed", "The collection takes no reports any more."),
    Outcome.GONE: (404, "unknown-collection", "There is no collection of this id."),
}


def read_posted(hosted: Hosted, posted: Any, is_late: bool) -> Incoming:
    """A report from what was sent; an `HttpProblem` says why it is none of this collection."""
    if type(posted) is not dict or posted.keys() != (INVITED if hosted.is_invited else OPEN):
        needs = 'This survey needs the code of your invitation: send {"code": "...", "report": {...}}, and nothing else.'
        takes = 'This survey needs no code: send an object with report, such as {"report": {...}}, and nothing else.'
        raise HttpProblem(422, "form", needs if hosted.is_invited else takes)
    fields = posted["report"]
    try:
        answers = hosted.codes.encode(hosted.check.answers_of(fields))
    except RefusedReport as why:
        raise refused(str(why)) from None
    except ValueError:
        raise refused(OUTSIDE) from None
    hashed = None
    if hosted.is_invited:
        if not is_code(posted["code"]):
            raise HttpProblem(422, "code", "The code of an invitation has 26 letters and digits.")
        hashed = code_hash(posted["code"])
    return Incoming(hosted.number, bytes.fromhex(fields["report"]), answers, hashed, is_late)


def refused(why: str) -> HttpProblem:
    """What a client is told of a report that is none."""
    return HttpProblem(422, "report", why[:1].upper() + why[1:])


def problem_of(outcome: Outcome, hosted: Hosted) -> HttpProblem | None:
    """What a client is told of a report that is not stored."""
    if outcome.is_there:
        return None
    if outcome is Outcome.CLOSED and hosted.state(now()) == "not yet":
        return HttpProblem(403, "not-yet", "The collection does not take reports yet.")
    return HttpProblem(*TOLD[outcome])
