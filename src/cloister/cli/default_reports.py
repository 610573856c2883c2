"""``--report`` without a file: the page stands beside the output, under its name with ``.report.html`` after it.

The parser has no options whose value may be left out, so the words are looked at before it: a ``--report`` that stands last, or
before another flag, gets a word that stands for that page. What follows it otherwise is its file, as of every flag.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from cloister.errors import UsageError

__all__ = ["ALONE", "BESIDE", "name_reports", "page_beside"]

FLAG, SUFFIX = "--report", ".report.html"
BESIDE = f"<OUT>{SUFFIX}"  # what the flag alone stands for, until the output is known
ALONE = "Where --report stands last or before another flag, without a file, the page is OUT.report.html."


def name_reports(arguments: Sequence[str]) -> list[str]:
    """The words of a command, in which every ``--report`` has a value.

    >>> name_reports(["cluster", "--report", "--k", "3"])[1].removeprefix("--report=") == BESIDE
    True
    >>> name_reports(["cluster", "--report", "page.html", "--", "--report"])
    ['cluster', '--report', 'page.html', '--', '--report']
    """
    words = list(arguments)
    flags = words[: words.index("--")] if "--" in words else words
    for place, word in enumerate(flags):
        after = flags[place + 1 : place + 2]
        if word == FLAG and (not after or (after[0].startswith("-") and after[0] != "-")):
            words[place] = f"{FLAG}={BESIDE}"
    return words


def page_beside(out: Path | None) -> Path:
    """The page of an output whose report was asked for without a name."""
    if out is None:
        raise UsageError(f"{FLAG} alone is a page beside the output: give --out too, or say which page ({FLAG} page.html).")
    place = out if out.name not in ("", "..") else Path(os.path.abspath(out))
    return place.with_name(f"{place.name}{SUFFIX}")
