"""A paper of two items that takes no time, for the tests of runs and pages."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from cloister.papers.compared_lines import compared_lines, lines_picture
from cloister.papers.paper_items import Item, ItemTask, Paper, RunEffort
from cloister.papers.reproduced_row import ReproducedRow
from cloister.report.picture import Picture

HOSTILE = '<script>alert("x")</script> | a'


def toy_paper(before: Callable[[str], None] = lambda name: None) -> Paper:
    """A paper; `before` is called with the name of each task that runs."""

    def tasks(effort: RunEffort) -> Sequence[ItemTask]:
        return [ItemTask(f"epsilon {e}, {seed}", work(e, seed)) for e in (1, 2) for seed in range(effort.pick(4, 2))]

    def work(epsilon: int, seed: int) -> Callable[[], list[ReproducedRow]]:
        def rows() -> list[ReproducedRow]:
            before(f"epsilon {epsilon}, {seed}")
            at = f"epsilon {epsilon}"
            printed = [ReproducedRow(at, "printed", "F", 0.9, "table 1", claimed=epsilon)] if seed == 0 else []
            return [
                *printed,
                ReproducedRow(
                    at, "as printed", "F", 0.5 + seed / 10, "table 1", claimed=epsilon, epsilon=math.inf, seed=seed
                ),
                ReproducedRow(at, "sound", "F", 0.6 + seed / 10, "table 1", epsilon=epsilon, seed=seed),
            ]

        return rows

    def missing(effort: RunEffort) -> Sequence[ItemTask]:
        row = ReproducedRow(HOSTILE, "printed", "F", None, "figure 2", note="figure without numbers in our text")
        return [ItemTask("one", lambda: [row])]

    def draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
        return [lines_picture("F over epsilon", compared_lines(rows, "F", lambda setting: float(setting.split()[1])))]

    items = (
        Item("f-over-epsilon", "F over epsilon", "Does F rise?", tasks, lambda rows: [f"{len(rows)} rows."], draws),
        Item("shape", HOSTILE, HOSTILE, missing),
    )
    return Paper(
        "003", HOSTILE, "Somebody, 2020", ("It promised.",), ("It does not hold.",), "epsilon 1", "nothing", (), items
    )
