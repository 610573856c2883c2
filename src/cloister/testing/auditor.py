"""`audit`: try a mechanism on two neighbouring tables, exactly or from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cloister.errors import UsageError
from cloister.privacy.budgets import as_budget
from cloister.testing.black_box import BlackBoxAudit, attack
from cloister.testing.exact_audit import ExactAudit, replay

__all__ = ["audit"]


def audit(
    mechanism: Callable[[Any], Any],
    neighbours: tuple[Any, Any],
    claimed: Any = None,
    *,
    runs: int | None = None,
    confidence: float = 1 - 1e-6,
) -> ExactAudit | BlackBoxAudit:
    """Try whether a mechanism keeps what it claims on two neighbouring tables.

    Parameters
    ----------
    mechanism : callable
        From a table to what is released.
    neighbours : pair of tables
        Which differ as much as the claim allows: by a row, or by a person.
    claimed : number, PureDP, ApproxDP or Identifiability, optional
        What is promised; a number is an epsilon. A release of Cloister says it itself, in its certificate.
    runs : int, optional
        None: exactly, without sampling, for releases of Cloister (`replay`). A number: from outside, for anything callable,
        by so many runs on each table (`attack`).
    confidence : float
        With which the bound of many runs holds.

    Returns
    -------
    ExactAudit or BlackBoxAudit
        `holds`, `findings`, and `largest_loss`: the epsilon that was found, to be compared with the claimed one.

    Privacy
    -------
    For the holder: an audit sees the rows, and what is released under it is stamped NOT PRIVATE.

    Examples
    --------
    A mean that forgets to clip:

    >>> import numpy as np
    >>> from cloister.testing import audit
    >>> noise = np.random.default_rng(0)
    >>> found = audit(lambda rows: sum(rows) + noise.laplace(0, 1), ([0.0, 8.0], [0.0]), claimed=1, runs=1000)
    >>> found.holds, found.largest_loss > 3
    (False, True)
    """
    if runs is None:
        return replay(mechanism, neighbours, None if claimed is None else as_budget(claimed))
    if claimed is None:
        raise UsageError("what is promised? Give claimed=, an epsilon or a budget.")
    return attack(mechanism, neighbours, as_budget(claimed), runs, confidence)
