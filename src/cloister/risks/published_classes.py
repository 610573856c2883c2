"""A published table, counted again: whether as many rows look alike as its certificate says."""

from __future__ import annotations

import warnings
from pathlib import Path

from cloister.errors import CloisterError, LikelyMisread, NotChecked, VerificationFailed
from cloister.privacy.release import Release, Syntactic
from cloister.risks.assess import assess
from cloister.risks.risk_report import RiskReport

__all__ = ["check_classes"]


def check_classes(path: Path, release: Release) -> bool:
    """Count the classes of a k-anonymous or averaged table; False: its certificate names no k, or no columns that it is of.

    Where people are counted, whose rows they are is not in the table: then k people have at least k rows.

    Raises
    ------
    NotChecked
        It cannot be read, or lacks a column.
    VerificationFailed
        Fewer rows look alike, or it has more or fewer rows than its certificate says.
    """
    guarantee, quasi = release.guarantee, release.parameters.get("quasi")
    if not isinstance(guarantee, Syntactic) or guarantee.k is None or not isinstance(quasi, list) or not quasi:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LikelyMisread)  # what it looks like is not asked
            counted = assess(str(path), quasi)
        assert isinstance(counted, RiskReport), "nothing is compared"
        rows, k = counted.risk.rows, counted.risk.k
    except CloisterError as error:
        raise NotChecked(f"{path.name} cannot be counted again: {error}") from None
    if rows != release.result.get("rows"):
        raise VerificationFailed(f"{path.name} contradicts itself: its rows are not as many as its certificate says.")
    if rows and k < guarantee.k:
        raise VerificationFailed(
            f"{path.name} contradicts itself: fewer than {guarantee.k:,} rows of it look alike somewhere."
        )
    return True
