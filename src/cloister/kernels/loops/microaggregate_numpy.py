"""The NumPy twin of `microaggregate`: the same groups, for tables that are small enough not to load a compiler for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.loops.arrays import F64, I32, I64


def group_rows(
    numbers: F64, codes: I32, offsets: I64, people: I32, persons: int, k: int, pairs_from: int, is_squared: bool,
    weight: float, groups: I32,
) -> int:  # fmt: skip
    """Write the group of each row; returns how many groups there are. The input stays as it is."""
    groups[:] = -1
    left = np.arange(numbers.shape[1])  # ascending, so that the first of equals has the lowest index
    group = 0

    def distances_from(point: F64, modes: I32) -> F64:
        distances = np.zeros(len(left))
        for values, value in zip(numbers[:, left], point, strict=True):
            move = values - value
            distances += move * move if is_squared else np.abs(move)
        for held, mode in zip(codes[:, left], modes, strict=True):
            distances += np.where(held != mode, weight, 0.0)
        return distances

    def units_left() -> int:
        return len(np.unique(people[left])) if persons else len(left)

    def take_nearest(distances: F64) -> None:
        nonlocal left, group
        places = _nearest(distances, people[left] if persons else None, k)
        groups[left[places]] = group
        left = np.delete(left, places)
        group += 1

    while (units := units_left()) >= 2 * k or (units >= k and len(left) >= 2 * k):
        r = left[np.argmax(distances_from(*_center(numbers[:, left], codes[:, left], offsets)))]
        distances = distances_from(numbers[:, r], codes[:, r])
        s = left[np.argmax(distances)]
        take_nearest(distances)
        if units >= pairs_from:
            take_nearest(distances_from(numbers[:, s], codes[:, s]))
    if units_left() >= k:
        groups[left] = group
        group += 1
    return group


def _center(numbers: F64, codes: I32, offsets: I64) -> tuple[F64, I32]:
    """Means and most common codes."""
    values = np.diff(offsets)
    modes = [np.argmax(np.bincount(held, minlength=most)) for held, most in zip(codes, values, strict=True)]
    return numbers.sum(axis=1) / numbers.shape[1], np.array(modes, np.int32)


def _nearest(distances: F64, people: I32 | None, k: int) -> NDArray[np.intp]:
    """The places of the k nearest rows; with people, of as many as it takes until k of them are there."""
    order = np.argsort(distances, kind="stable")
    if people is None:
        return order[:k]
    firsts = np.sort(np.unique(people[order], return_index=True)[1])  # where each person comes up first
    return order[: firsts[k - 1] + 1]
