"""Groups of near rows, taken two at a time from the two ends of what is left: compiled loops for microaggregation.

Rows that are in a group leave: the last row takes the place of each, so that a pass goes over what is left alone. Which row
is farthest or nearest does not depend on places: ties go to the lowest index in the input.

Numbers come as multiples of one power of two, few enough digits that sums of all rows are exact: means can be kept up to date
row by row, and the twin in `microaggregate_numpy` has the same ones. The arguments are documented here, also for the twin.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.kernels.loops.compiled import compiled

CHUNK = 2048  # rows at a time: their distances stay in the cache while column after column is added


@compiled()
def write_distances(
    numbers: F64, codes: I32, left: int, point: F64, modes: I32, is_squared: bool, weight: float, distances: F64
) -> None:
    """Write the distance of each row that is left from a point.

    numbers : IN (d, n); codes : IN (c, n); point : IN (d,); modes : IN (c,); distances : OUT (n,), as many as are left
    """
    for begin in range(0, left, CHUNK):
        end = min(begin + CHUNK, left)
        part = distances[begin:end]
        part[:] = 0.0
        for j in range(numbers.shape[0]):
            values, value = numbers[j, begin:end], point[j]
            if is_squared:
                for i in range(end - begin):
                    move = values[i] - value
                    part[i] += move * move
            else:
                for i in range(end - begin):
                    part[i] += abs(values[i] - value)
        for j in range(codes.shape[0]):
            held, mode = codes[j, begin:end], modes[j]
            for i in range(end - begin):
                part[i] += weight if held[i] != mode else 0.0


@compiled()
def find_farthest(distances: F64, index: I64, left: int) -> int:
    """The place of the row with the largest distance."""
    best, most = 0, distances[0]
    for i in range(1, left):
        if distances[i] > most or (distances[i] == most and index[i] < index[best]):
            best, most = i, distances[i]
    return best


@compiled()
def insert_nearest(distance: float, row: int, place: int, count: int, k: int, near: F64, rows: I64, places: I64) -> int:
    """Keep a row among the k nearest so far, in order of distance and index; returns how many there are.

    near, rows, places : IN/OUT (k,) distances, indices and places of the nearest
    """
    at = count if count < k else k - 1
    if count == k and not (distance < near[at] or (distance == near[at] and row < rows[at])):
        return count
    while at > 0 and (distance < near[at - 1] or (distance == near[at - 1] and row < rows[at - 1])):
        near[at], rows[at], places[at] = near[at - 1], rows[at - 1], places[at - 1]
        at -= 1
    near[at], rows[at], places[at] = distance, row, place
    return min(count + 1, k)


@compiled()
def find_nearest_rows(distances: F64, index: I64, left: int, k: int, places: I64) -> int:
    """Write the places of the k nearest rows; returns how many they are."""
    near, rows = np.empty(k, np.float64), np.empty(k, np.int64)
    count = 0
    worst = np.inf
    for i in range(left):
        if distances[i] <= worst:
            count = insert_nearest(distances[i], index[i], i, count, k, near, rows, places)
            if count == k:
                worst = near[k - 1]
    return count


@compiled()
def find_rows_of_nearest_people(
    distances: F64, index: I64, people: I32, persons: int, left: int, k: int, places: I64
) -> int:
    """Write the places of the nearest rows, as many as it takes until k different people are among them; returns how many.

    people : IN (n,) whose each row is, by place
    """
    first, row_of = np.full(persons, np.inf), np.full(persons, -1, np.int64)  # the nearest row of each person
    for i in range(left):
        p = people[i]
        if row_of[p] < 0 or distances[i] < first[p] or (distances[i] == first[p] and index[i] < row_of[p]):
            first[p], row_of[p] = distances[i], index[i]
    near, rows, ignored = np.empty(k, np.float64), np.empty(k, np.int64), np.empty(k, np.int64)
    found = 0
    for p in range(persons):
        if row_of[p] >= 0:
            found = insert_nearest(first[p], row_of[p], p, found, k, near, rows, ignored)
    count = 0
    for i in range(left):
        if distances[i] < near[k - 1] or (distances[i] == near[k - 1] and index[i] <= rows[k - 1]):
            places[count] = i
            count += 1
    return count


@compiled()
def find_group(distances: F64, index: I64, people: I32, persons: int, left: int, k: int, places: I64) -> int:
    """Write the places of a group around the point that the distances are from; returns how many rows it has."""
    if persons:
        return find_rows_of_nearest_people(distances, index, people, persons, left, k, places)
    return find_nearest_rows(distances, index, left, k, places)


@compiled()
def write_center(sums: F64, counts: I64, offsets: I64, left: int, point: F64, modes: I32) -> None:
    """Write the means and the most common codes of the rows that are left; the lowest code of equally common ones.

    sums : IN (d,); counts : IN (all values,) rows that hold each value; offsets : IN (c + 1,); point : OUT; modes : OUT
    """
    for j in range(len(point)):
        point[j] = sums[j] / left
    for j in range(len(modes)):
        best = offsets[j]
        for v in range(offsets[j] + 1, offsets[j + 1]):
            if counts[v] > counts[best]:
                best = v
        modes[j] = best - offsets[j]


@compiled()
def take_rows(
    numbers: F64, codes: I32, offsets: I64, index: I64, people: I32, rows_of: I32, sums: F64, counts: I64,
    left: int, units: int, places: I64, group: int, groups: I32,
) -> tuple[int, int]:  # fmt: skip
    """Put the rows at some places into a group, and out of what is left; returns the rows and the people that are left.

    rows_of : IN/OUT (persons,) rows that are left of each; empty where rows count
    """
    in_order = np.sort(places)
    for t in range(len(in_order) - 1, -1, -1):  # from the last place, so that the row that moves is not in the group
        i = in_order[t]
        groups[index[i]] = group
        left -= 1
        if len(rows_of):
            rows_of[people[i]] -= 1
            units -= 1 if rows_of[people[i]] == 0 else 0
            people[i] = people[left]
        else:
            units -= 1
        for j in range(numbers.shape[0]):
            sums[j] -= numbers[j, i]
            numbers[j, i] = numbers[j, left]
        for j in range(codes.shape[0]):
            counts[offsets[j] + codes[j, i]] -= 1
            codes[j, i] = codes[j, left]
        index[i] = index[left]
    return left, units


@compiled()
def group_rows(
    numbers: F64, codes: I32, offsets: I64, people: I32, persons: int, k: int, pairs_from: int, is_squared: bool,
    weight: float, groups: I32,
) -> int:  # fmt: skip
    """Write the group of each row; returns how many groups there are. Rows that are too few for one keep -1.

    numbers : IN (d, n) scaled, overwritten; codes : IN (c, n), overwritten; offsets : IN (c + 1,) where the values of each
    column begin; people : IN (n,) whose each row is, overwritten, or empty; persons : how many there are, 0 if rows count;
    k : rows, or people, of a group; pairs_from : while so many are left, groups are made around the row farthest from the
    center and the row farthest from that one; is_squared : squared differences, not absolute ones; weight : what a
    differing code adds; groups : OUT (n,)
    """
    d, n = numbers.shape
    c = codes.shape[0]
    index = np.arange(n)
    sums, counts = np.zeros(d), np.zeros(offsets[-1], np.int64)
    for j in range(d):
        for i in range(n):
            sums[j] += numbers[j, i]
    for j in range(c):
        for i in range(n):
            counts[offsets[j] + codes[j, i]] += 1
    rows_of = np.zeros(persons, np.int32)
    for i in range(n if persons else 0):
        rows_of[people[i]] += 1
    units = int((rows_of > 0).sum()) if persons else n
    distances, places = np.empty(n), np.empty(n, np.int64)
    point, other = np.empty(d), np.empty(d)
    modes, other_modes = np.empty(c, np.int32), np.empty(c, np.int32)
    groups[:] = -1
    left, group = n, 0
    while units >= 2 * k or (units >= k and left >= 2 * k):
        write_center(sums, counts, offsets, left, point, modes)
        write_distances(numbers, codes, left, point, modes, is_squared, weight, distances)
        r = find_farthest(distances, index, left)
        point[:], modes[:] = numbers[:, r], codes[:, r]
        write_distances(numbers, codes, left, point, modes, is_squared, weight, distances)
        s = find_farthest(distances, index, left)
        other[:], other_modes[:] = numbers[:, s], codes[:, s]
        is_pair = units >= pairs_from
        count = find_group(distances, index, people, persons, left, k, places)
        left, units = take_rows(
            numbers, codes, offsets, index, people, rows_of, sums, counts, left, units, places[:count], group, groups
        )
        group += 1
        if is_pair:
            write_distances(numbers, codes, left, other, other_modes, is_squared, weight, distances)
            count = find_group(distances, index, people, persons, left, k, places)
            left, units = take_rows(
                numbers, codes, offsets, index, people, rows_of, sums, counts, left, units, places[:count], group, groups
            )
            group += 1
    if units >= k:
        groups[index[:left]] = group
        group += 1
    return group
