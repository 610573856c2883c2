"""How the values of a column generalise: trees of labels, read from files, built from public facts, drafted."""

from __future__ import annotations

from cloister.schema.hierarchies.build import calendar, flat, intervals, prefix
from cloister.schema.hierarchies.read import find_hierarchies, read_hierarchy
from cloister.schema.hierarchies.templates import draft, draft_from_values
from cloister.schema.hierarchies.tree import MISSING, UNKNOWN, Hierarchy

__all__ = [
    "MISSING",
    "UNKNOWN",
    "Hierarchy",
    "calendar",
    "draft",
    "draft_from_values",
    "find_hierarchies",
    "flat",
    "intervals",
    "prefix",
    "read_hierarchy",
]
