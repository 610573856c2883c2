"""The sound form of ICMD-DP taken apart, for attacks: the exact sums of its groups, and its noise drawn for many runs at once.

The plan, the order, the sums and the noise are those of ``PrivateMicrodata(method="insensitive")``: a test compares them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cloister.kernels.keyed import InOrder, distinct
from cloister.microdata.private.insensitive import BlockSteps, block_steps
from cloister.microdata.private.request import RowsRequest
from cloister.microdata.private.row_task import RowTask
from cloister.papers.holder_rows import holder_rows
from cloister.privacy.mechanisms import Laplace
from cloister.schema import Schema
from cloister.testing import seeded_noise

__all__ = ["InsensitiveSums", "insensitive_steps", "insensitive_sums"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class InsensitiveSums:
    """The sums of the numbers of each group, exact, and what is released of them.

    Privacy: exact, for whoever attacks with both tables in hand. Not a release.
    """

    task: RowTask
    steps: BlockSteps
    sums: NDArray[np.int64]  # (groups, d), in grid steps

    @property
    def means(self) -> Floats:
        """The exact means of the groups in ranges from the lower bound, (groups, d)."""
        return self._in_ranges(self.sums)

    @property
    def scale(self) -> float:
        """The scale of the noise of a sum, in grid steps."""
        assert isinstance(self.steps.means, Laplace)
        return float(self.steps.means.scales["sums"])

    def cost(self, other: InsensitiveSums) -> float:
        """The largest loss that noisy sums of two neighbouring tables have: what Laplace noise lets through of their distance."""
        return float(np.abs(self.sums - other.sums).sum()) / self.scale

    def released(self, runs: int, seed: int) -> Floats:
        """The noisy means of so many runs, clipped into their bounds as they are released, (runs, groups, d)."""
        assert self.steps.means is not None
        with seeded_noise(seed):
            noise = self.steps.means.draw("sums", runs * self.sums.size).reshape(runs, *self.sums.shape)
        return np.clip(self._in_ranges(self.sums + noise), 0.0, 1.0)

    def _in_ranges(self, sums: NDArray[Any]) -> Floats:
        halves = self.task.domain.halves
        return np.asarray(sums / self.steps.blocks.lengths[:, None] / (2 * halves) + 0.5)


def insensitive_steps(schema: Schema, rows: int, k: int, epsilon: str) -> tuple[RowTask, BlockSteps]:
    """What is released of a table of so many rows, and with which noise: no row is read."""
    request = RowsRequest(budget=epsilon, method="insensitive", k=k, schema=schema, neighbours="replace-one")
    task = request.task(schema.names)
    return task, block_steps(task, rows, k)


def insensitive_sums(data: Any, schema: Schema, k: int, epsilon: str) -> InsensitiveSums:
    """The sums of a table's groups along the public order."""
    table = holder_rows(data, schema.names).value
    task, steps = insensitive_steps(schema, table.num_rows, k, epsilon)
    rows = task.domain.encoding.encode(table.combine_chunks().to_batches()[0])
    columns = rows.numbers.shape[1] + rows.codes.shape[1]
    ranked = distinct(InOrder(steps.blocks.order, columns).keys(rows))
    return InsensitiveSums(task, steps, steps.sums.summary(ranked)["sums"])
