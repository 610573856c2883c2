"""A small survey that the tests of collections share."""

from __future__ import annotations

from cloister.collect import Collection

VALUES = {"smokes": ("no", "yes"), "year": ("1", "2", "3"), "likes": ("", "tea", "coffee")}


def survey(epsilon: object = 1, **changes: object) -> Collection:
    """Three questions of 2, 3 and 3 values; the last takes no answer for one."""
    return Collection("students", {name: list(values) for name, values in VALUES.items()}, epsilon, **changes)
