"""The first of many labels, as a person wants to see them."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["shown_labels"]

NOTHING_LEFT = "*"


def shown_labels(labels: Sequence[str], most: int) -> tuple[str, ...]:
    """At most so many of the labels that a column is published as; `*` is among them wherever it stands: it says the most.

    >>> shown_labels(["a", "b", "c", "*"], 3), shown_labels(["a", ""], 3)
    (('a', 'b', '*'), ('a', '(blank)'))
    """
    first = list(labels[:most])
    if NOTHING_LEFT in labels and NOTHING_LEFT not in first:
        first[-1] = NOTHING_LEFT
    return tuple(label or "(blank)" for label in first)
