"""Sending reports that lie in files: as many as there are, at the pace that the service allows."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from cloister.collect.client import Report
from cloister.collect.collection import Collection
from cloister.collect.reports import RefusedReport, ReportCheck, read_file
from cloister.collect.sending import NotReceived, ask_service, send
from cloister.errors import DataError, SourceError

__all__ = ["send_files"]

Done = TypeVar("Done")
MOST_WAITS = 20  # in a row, for a service that is busy


def send_files(
    collection: Collection,
    places: Sequence[Path],
    service: str,
    *,
    code: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, int]:
    """Send every report of these files, and count what became of them: "stored", "stored before", or why not.

    Pieces that are no report of the collection are not sent. Who stops in the middle may begin again: a report counts once.
    """
    for place in places:
        if not place.is_file():
            raise SourceError(f"{place}: there is no such file of reports.")
    patiently(partial(ask_service, collection, service, code, is_drawn=True), progress)
    told: Counter[str] = Counter()
    for report in checked_reports(collection, places, told):
        told[patiently(partial(send, report, service, code=code), progress)] += 1
        progress(f"{told.total():,} reports")
    if not told["stored"] + told["stored before"]:
        why = "; ".join(f"{count:,}: {reason}" for reason, count in told.items())
        raise DataError(f"no report was sent. {why or 'There were none.'}")
    return dict(told)


def checked_reports(collection: Collection, places: Sequence[Path], told: Counter[str]) -> Iterator[Report]:
    """The reports of this collection in files; why the others are none is counted."""
    check = ReportCheck.of(collection)
    for place in places:
        for piece in read_file(place, check.longest):
            try:
                if isinstance(piece, RefusedReport):
                    raise piece
                yield check(piece)
            except RefusedReport as why:
                told[f"not sent: {why}"] += 1


def patiently(work: Callable[[], Done], progress: Callable[[str], None]) -> Done:
    """Do something at a service, and wait as long as a busy one asks for."""
    for _ in range(MOST_WAITS):
        try:
            return work()
        except NotReceived as why:
            if not why.retry_seconds:
                raise
            progress(f"the service is busy: waiting for {why.retry_seconds} s")
            time.sleep(why.retry_seconds)
    return work()
