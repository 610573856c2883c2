"""Multiply a table by a Kronecker product of matrices with one number on the diagonal and another beside it.

The channel of a question, its inverse and the elementwise square of that are all of this form. Small axes that lie side by side
are joined to one dense matrix, which BLAS multiplies faster than NumPy walks short rows; a large axis takes its sum instead.

Privacy
-------
Arithmetic on reports, which are public.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cloister.collect.protocols.channel import Channel

__all__ = ["Mixing", "Table", "Transition", "mix"]

Table = npt.NDArray[np.float64]
DENSE = 64  # axes are joined while their dense matrix has at most so many rows
BLOCK = 2**16  # cells worked on at once: they stay in the processor's cache


@dataclass(frozen=True, slots=True)
class Mixing:
    """The symmetric matrix of one axis that replaces x by own * x + shared * (the sum of x along the axis)."""

    size: int
    own: float
    shared: float

    def dense(self) -> Table:
        """The matrix itself."""
        return np.full((self.size, self.size), self.shared) + self.own * np.eye(self.size)


class Transition:
    """What answers become on their way through independent channels, as a matrix that is never written out.

    It is symmetric, since a channel is: the transpose, which the expectation step needs, is the same product.
    """

    def __init__(self, channels: Sequence[Channel]) -> None:
        self.factors = _joined([Mixing(channel.size, channel.contrast, float(channel.lie)) for channel in channels])

    def __call__(self, table: Table) -> Table:
        """The product with a table, as a new one."""
        product = table.copy(order="C")
        _multiply(product, self.factors)
        return product


def mix(table: Table, mixings: Sequence[Mixing]) -> None:
    """Multiply a table by the Kronecker product of the matrices of its axes, in place.

    Parameters
    ----------
    table
        IN and OUT: contiguous, with one axis for each matrix.
    """
    _multiply(table, _joined(mixings))


def _joined(mixings: Sequence[Mixing]) -> list[Mixing | Table]:
    """The factors from the first axis to the last: a dense matrix for small axes side by side, `Mixing` for a large one."""
    factors: list[Mixing | Table] = []
    for mixing in mixings:
        last = factors[-1] if factors else None
        if mixing.size > DENSE:
            factors.append(mixing)
        elif isinstance(last, np.ndarray) and len(last) * mixing.size <= DENSE:
            factors[-1] = np.kron(last, mixing.dense()).astype(np.float64)
        else:
            factors.append(mixing.dense())
    return factors


def _multiply(table: Table, factors: Sequence[Mixing | Table]) -> None:
    """Apply each factor to its axes, a block of cells after the other."""
    assert table.flags.c_contiguous, "a view of any other table would be a copy"
    right = table.size
    for factor in factors:
        size = factor.size if isinstance(factor, Mixing) else len(factor)
        right //= size
        view = table.reshape(-1, size, right)
        rows = max(1, BLOCK // (size * right))
        columns = right if rows > 1 else max(1, BLOCK // size)
        for top in range(0, len(view), rows):
            for start in range(0, right, columns):
                block = view[top : top + rows, :, start : start + columns]
                if isinstance(factor, Mixing):
                    sums = block.sum(axis=1, keepdims=True)
                    block *= factor.own
                    block += factor.shared * sums
                elif right == 1:
                    block[:, :, 0] = block[:, :, 0] @ factor  # one product of matrices, in place of one for each row
                else:
                    block[...] = np.matmul(factor, block)
