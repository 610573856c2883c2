"""Where the names of marks stand: beside their own mark, off the others and off one another."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, pi, sin
from typing import NamedTuple

__all__ = ["NAME_SIZE", "MarkedCircle", "NameBox", "place_names"]

NAME_SIZE = 7.5  # points
LETTER = 0.64  # of the size: the width of a letter
DIRECTIONS = tuple(pi * eighths / 4 for eighths in (1, 0, 7, 2, 3, 6, 4, 5))  # right and above is looked for first
DISTANCES = (0.0, 5.0, 11.0)  # points that a name may be farther away from its mark
APART = 1.5  # points between two names


class MarkedCircle(NamedTuple):
    """A round mark, in points."""

    x: float
    y: float
    radius: float


class NameBox(NamedTuple):
    """The place of a name, in points."""

    left: float
    below: float
    right: float
    above: float


def place_names(
    marks: Sequence[MarkedCircle],
    named: Sequence[int],
    names: Sequence[str],
    frame: NameBox,
    lines: Sequence[NameBox] = (),
) -> list[tuple[float, float]]:
    """How far from the middle of its mark the middle of each name is, to the right and up, in points.

    Of several places the first that is free, or that which is covered the least: marks, names, lines and the frame's edges
    are in the way. `named` are the places of those marks that have a name.

    >>> around = NameBox(-50, -50, 50, 50)
    >>> right, up = place_names([MarkedCircle(0, 0, 5), MarkedCircle(8, 8, 5)], [0], ["0"], around)[0]
    >>> right > 5, up < 5
    (True, True)
    """
    boxes: list[NameBox] = []
    offsets = []
    for i, name in zip(named, names, strict=True):
        half_width, half_height = NAME_SIZE * LETTER * max(1, len(name)) / 2, NAME_SIZE / 2
        best: tuple[float, float, float, NameBox] | None = None
        for distance in DISTANCES:
            for angle in DIRECTIONS:
                right = cos(angle) * (marks[i].radius + half_width + 1.0 + distance)
                up = sin(angle) * (marks[i].radius + half_height + 1.0 + distance)
                x, y = marks[i].x + right, marks[i].y + up
                box = NameBox(x - half_width, y - half_height, x + half_width, y + half_height)
                covered = _covered(box, i, marks, boxes, lines, frame) + 0.5 * distance
                if best is None or covered < best[0] - 1e-9:
                    best = covered, right, up, box
        assert best is not None
        boxes.append(best[3])
        offsets.append((best[1], best[2]))
    return offsets


def _covered(
    box: NameBox,
    own: int,
    marks: Sequence[MarkedCircle],
    boxes: Sequence[NameBox],
    lines: Sequence[NameBox],
    frame: NameBox,
) -> float:
    """How much is in the way of a name, in points."""
    covered = 0.0
    for i, mark in enumerate(marks):
        if i == own:
            continue
        nearest_x = min(max(mark.x, box.left), box.right)
        nearest_y = min(max(mark.y, box.below), box.above)
        gap = ((mark.x - nearest_x) ** 2 + (mark.y - nearest_y) ** 2) ** 0.5 - mark.radius
        covered += 20 + min(mark.radius, -gap) if gap < 0 else 0.0
    for other in boxes:
        covered += 40 if _touch(box, other) else 0
    covered += sum(6 for line in lines if _touch(box, line))
    beyond = (frame.left - box.left, box.right - frame.right, frame.below - box.below, box.above - frame.above)
    return covered + 10 * sum(max(0.0, out) for out in beyond)


def _touch(box: NameBox, other: NameBox) -> bool:
    across = min(box.right, other.right) - max(box.left, other.left)
    up = min(box.above, other.above) - max(box.below, other.below)
    return across > -APART and up > -APART
