"""Long names in little room: those that differ look different, without what all of them share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from cloister.report.one_line import one_line
from cloister.report.plot.style import short

__all__ = ["ShownNames", "shorten_names"]

ELLIPSIS = "\N{HORIZONTAL ELLIPSIS}"


class ShownNames(NamedTuple):
    """How each name is written, and what was left out of all the long ones before and behind."""

    texts: dict[str, str]
    head: str = ""
    tail: str = ""


def shorten_names(names: Sequence[str], longest: int, *, are_related: bool = True) -> ShownNames:
    """Each name on one line with at most so many characters; no two that differ are written alike.

    Parameters
    ----------
    names
    longest
    are_related
        Long names are of one kind, such as columns: what all of them share is left out. Else only where they looked alike.

    >>> shorten_names(["paid_monthly_for_food_in_euro", "paid_monthly_for_rent_in_euro", "sex"], 16).texts["sex"]
    'sex'
    >>> shorten_names(["paid_monthly_for_food_in_euro", "paid_monthly_for_rent_in_euro"], 16).texts.values()
    dict_values(['…food…', '…rent…'])
    """
    lines = {name: one_line(name) for name in names}
    long = [name for name, line in lines.items() if len(line) > longest]
    head, tail = _shared([lines[name] for name in long], at_words=True) if are_related else (0, 0)
    texts = _distinct([_core(lines[name], head, tail) for name in long], longest)
    shown = {**lines, **dict(zip(long, texts, strict=True))}
    first = lines[long[0]] if long else ""
    return ShownNames(shown, first[:head], first[len(first) - tail :])


def _distinct(lines: Sequence[str], longest: int) -> list[str]:
    """Lines shortened; those that would look alike without what they share. Each round makes them shorter, so it ends."""
    texts = [short(line, longest) for line in lines]
    for text in {text for text in texts if texts.count(text) > 1}:
        alike = [place for place, each in enumerate(texts) if each == text]
        group = [lines[place] for place in alike]
        if len(set(group)) < 2:  # one name, twice
            continue
        head, tail = _shared(group, at_words=False)
        cores = [_core(line, head, tail) for line in group]
        if max(map(len, cores)) >= max(map(len, group)):
            continue
        for place, core in zip(alike, _distinct(cores, longest), strict=True):
            texts[place] = core
    return texts


def _shared(lines: Sequence[str], *, at_words: bool) -> tuple[int, int]:
    """How many characters all the lines have in common at their beginning and at their end; of each line something is left."""
    if len(lines) < 2:
        return 0, 0
    shortest = min(map(len, lines))
    head = min(_same(lines), shortest - 1)
    tail = min(_same([line[::-1] for line in lines]), shortest - head)
    if at_words:
        head, tail = _word_end(lines[0][:head]), _word_end(lines[0][len(lines[0]) - tail :][::-1])
    if any(len(line) <= head + tail for line in lines):
        tail = 0
    return head, tail


def _same(lines: Sequence[str]) -> int:
    """With how many characters all the lines begin alike."""
    first, last = min(lines), max(lines)  # all others lie between them
    return next(
        (place for place, letters in enumerate(zip(first, last, strict=False)) if letters[0] != letters[1]), len(first)
    )


def _word_end(text: str) -> int:
    """The length of a text without the word that it may end within."""
    return max((place + 1 for place, letter in enumerate(text) if not letter.isalnum()), default=0)


def _core(line: str, head: int, tail: int) -> str:
    return f"{ELLIPSIS * bool(head)}{line[head : len(line) - tail]}{ELLIPSIS * bool(tail)}"
