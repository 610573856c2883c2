"""Counters of a worker process, and what is in the store, as Prometheus reads it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable

from cloister.collect.storing.recording import Outcome

__all__ = ["Metrics"]

NAMES = {outcome: outcome.name.lower() for outcome in Outcome}


class Metrics:
    """What one worker did since it started."""

    def __init__(self) -> None:
        self.responses: Counter[int] = Counter()
        self.reports: Counter[str] = Counter()

    def answered(self, status: int) -> None:
        """A request was answered."""
        self.responses[status] += 1

    def judged(self, outcomes: Iterable[Outcome]) -> None:
        """Reports were stored or not."""
        self.reports.update(NAMES[outcome] for outcome in outcomes)

    def refused(self) -> None:
        """A report was no report of its collection."""
        self.reports["refused"] += 1

    def text(self, stored: Iterable[tuple[str, int, bool]]) -> str:
        """All of it; `stored`: id, number of reports and whether it is open, of each collection."""
        worker = f'worker="{os.getpid()}"'
        collections = list(stored)
        lines = [
            "# HELP cloister_collect_stored Reports in the store.",
            "# TYPE cloister_collect_stored gauge",
            *(f'cloister_collect_stored{{collection="{id}"}} {count}' for id, count, _ in collections),
            "# HELP cloister_collect_open Whether a collection takes reports.",
            "# TYPE cloister_collect_open gauge",
            *(f'cloister_collect_open{{collection="{id}"}} {int(is_open)}' for id, _, is_open in collections),
            "# HELP cloister_collect_reports_total Reports that came to this worker, by what became of them.",
            "# TYPE cloister_collect_reports_total counter",
            *(f'cloister_collect_reports_total{{{worker},outcome="{k}"}} {n}' for k, n in sorted(self.reports.items())),
            "# HELP cloister_collect_responses_total Answers of this worker, by status.",
            "# TYPE cloister_collect_responses_total counter",
            *(f'cloister_collect_responses_total{{{worker},status="{k}"}} {n}' for k, n in sorted(self.responses.items())),
        ]
        return "\n".join(lines) + "\n"
