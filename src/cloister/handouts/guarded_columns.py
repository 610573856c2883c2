"""Which published columns the guards of a table look at, and what may be said of the others."""

from __future__ import annotations

import re

from cloister.privacy.guarantees import Syntactic
from cloister.privacy.release import Release
from cloister.report.one_line import one_line

__all__ = ["guarded_columns", "guards_of_values", "published_as_they_are", "unguarded_columns"]

AS_THEY_ARE = ("untouched", "kept", "sensitive")  # results of a certificate: columns whose values were not changed
DIVERSITY = re.compile(r"(?:distinct|entropy) l-diversity, l = ([0-9.e+]+) \(")
CLOSENESS = re.compile(r"t-closeness, t = ([0-9.e+-]+), (?:equal|ordered) distance \(")


def guards_of_values(release: Release) -> dict[str, str]:
    """The guards that bound what a group tells of a column, in words, and that column; an l or t of 1 bounds nothing."""
    guarantee, bounding = release.guarantee, {}
    if isinstance(guarantee, Syntactic) and guarantee.k is not None:
        for words in guarantee.also:
            diverse, close = DIVERSITY.match(words), CLOSENESS.match(words)
            found = diverse or close
            if found and (float(found[1]) > 1 if diverse else float(found[1]) < 1):
                bounding[words] = words[found.end() : -1]
    return bounding


def guarded_columns(release: Release) -> tuple[str, ...]:
    """The columns of which a guard bounds what a group tells, as a reader is shown their names."""
    return tuple(dict.fromkeys(guards_of_values(release).values()))


def published_as_they_are(release: Release) -> tuple[str, ...] | None:
    """The columns whose values were not changed; None: the certificate does not list them."""
    listed = [release.result[key] for key in AS_THEY_ARE if isinstance(release.result.get(key), list | tuple)]
    return tuple(dict.fromkeys(str(name) for names in listed for name in names)) if listed else None


def unguarded_columns(release: Release) -> tuple[str, ...] | None:
    """Those of them that no guard looks at; None: they are not known."""
    names, guarded = published_as_they_are(release), guarded_columns(release)
    return None if names is None else tuple(name for name in names if one_line(name) not in guarded)
