"""The nearest records of rows with numbers and categories, and how many share that place: compiled loops.

For the holder's measures: distances are floating-point numbers. Squared differences of scaled numbers and 1 for each differing
category are added, categories first, and a record is left as soon as it is farther than all that are kept. A blank among numbers
is NaN: nothing from another blank, 1 from every number. The arguments are documented here, also for the twin in
`nearest_records_numpy`.
"""

from __future__ import annotations

import numpy as np

from cloister.kernels.loops.arrays import F64, I32, I64
from cloister.kernels.loops.compiled import compiled

TIE = 1e-12  # squared distances that differ by no more than rounding are one


@compiled()
def nearest_records(
    numbers: F64, codes: I32, records: F64, record_codes: I32, copies: I64, squares: F64, ties: I64, tied: I64
) -> None:
    """Write the smallest squared distances of each row, which records are nearest, and how many rows these stand for.

    numbers : IN (n, d); codes : IN (n, c); records : IN (m, d); record_codes : IN (m, c); copies : IN (m,) rows of each record
    squares : OUT (n, k) rising, infinite where there are fewer records; ties : OUT (n, t) the first nearest, -1 behind them
    tied : OUT (n,) the copies of all nearest
    """
    n, d = numbers.shape
    m, c = record_codes.shape
    k, t = squares.shape[1], ties.shape[1]
    for i in range(n):
        for place in range(k):
            squares[i, place] = np.inf
        for place in range(t):
            ties[i, place] = -1
        listed = 0
        total_copies = np.int64(0)
        for p in range(m):
            differing = 0
            for j in range(c):
                differing += codes[i, j] != record_codes[p, j]
            square = np.float64(differing)
            limit = max(squares[i, k - 1], squares[i, 0] + TIE)
            for j in range(d):
                if square > limit:
                    break
                move = numbers[i, j] - records[p, j]
                if move == move:
                    square += move * move
                elif not (np.isnan(numbers[i, j]) and np.isnan(records[p, j])):
                    square += 1.0
            if square > limit:
                continue
            if square < squares[i, 0] - TIE:
                listed = 0
                total_copies = np.int64(0)
            if square <= squares[i, 0] + TIE:
                if listed < t:
                    ties[i, listed] = p
                    listed += 1
                total_copies += copies[p]
            place = k - 1
            if square < squares[i, place]:
                while place > 0 and squares[i, place - 1] > square:
                    squares[i, place] = squares[i, place - 1]
                    place -= 1
                squares[i, place] = square
        for place in range(listed, t):
            ties[i, place] = -1
        tied[i] = total_copies
