"""A service in a process of its own, and the store that it writes to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from cloister.collect import Collection
from cloister.collect.storing.inbox import Hosted, Inbox
from cloister.collect.storing.recording import Incoming, record

__all__ = ["RunningService"]


@dataclass(frozen=True)
class RunningService:
    """A service and its store, into which tests look and to which they add collections."""

    address: str
    inbox: Inbox
    token: str

    def host(self, collection: Collection, **how: Any) -> str:
        """Host another collection, and give the address of its page."""
        self.inbox.add(collection, **how)
        return self.survey(collection.id)

    def survey(self, id: str) -> str:
        """The address of a respondent's page."""
        return f"{self.address}/c/{id}"

    def fill(self, id: str, count: int) -> None:
        """Store reports of people who all answer with the first value."""
        hosted = self.hosted(id)
        sent = {
            question.name: question.answering().perturb(np.zeros(count, dtype=np.int64))
            for question in hosted.collection.questions
        }
        reports = [
            Incoming(
                hosted.number,
                os.urandom(16),
                hosted.codes.encode({name: answers[place] for name, answers in sent.items()}),
            )
            for place in range(count)
        ]
        with self.inbox.store.kept_open() as connection:
            record(connection, reports)

    def hosted(self, id: str) -> Hosted:
        """A collection as the store has it."""
        return self.inbox.get(id)

    def reports(self, id: str) -> int:
        """How many reports of a collection are stored."""
        return self.inbox.count(self.hosted(id).number)
