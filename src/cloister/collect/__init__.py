"""Collecting without a trusted party: every answer is perturbed by whoever gives it, before it leaves.

A `Collection` is a public file. `Client` is the half of whoever answers; `estimate` that of whoever collects. `plan` says what
error to expect, `simulate` plays a collection through on a table.
"""

from cloister.collect.client import Client, Report
from cloister.collect.collection import Collection
from cloister.collect.estimates import CollectionEstimate, estimate
from cloister.collect.local_kmodes import LocalKModes
from cloister.collect.packed_reports import pack
from cloister.collect.planning import plan
from cloister.collect.questions import Question
from cloister.collect.reports import check_report
from cloister.collect.saved_estimates import SavedEstimate
from cloister.collect.sending import send
from cloister.collect.simulate import simulate

__all__ = [
    "Client",
    "Collection",
    "CollectionEstimate",
    "LocalKModes",
    "Question",
    "Report",
    "SavedEstimate",
    "check_report",
    "estimate",
    "pack",
    "plan",
    "send",
    "simulate",
]
