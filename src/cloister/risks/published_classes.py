"""A published table, counted again: whether as many rows look alike as its certificate says."""

from __future__ import annotations

from pathlib import Path

from cloister.errors import CloisterError, VerificationFailed
from cloister.privacy.release import Release, Syntactic
from cloister.risks.assess import assess
from cloister.risks.risk_report import RiskReport

__all__ = ["check_classes"]


def check_classes(path: Path, release: Release) -> bool:
    """Count the classes of a k-anonymous or averaged table; False: its certificate names no k, or no columns that it is of.

    Where people are counted, whose rows they are is not in the table: then k people have at least k rows.

    Raises
    ------
    VerificationFailed
        Fewer rows look alike, or it has more or fewer rows than its certificate says.
    """
    guarantee, quasi = release.guarantee, release.parameters.get("quasi")
    if not isinstance(guarantee, Syntactic) or guarantee.k is None or not isinstance(quasi, list) or not quasi:
        return False
    try:
        counted = assess(str(path), quasi)
        assert isinstance(counted, RiskReport), "nothing is compared"
        rows, k = counted.risk.rows, counted.risk.k
    except CloisterError:
        raise VerificationFailed(f"{path.name} contradicts itself: it is not the table of its certificate.") from None
    if rows != release.result.get("rows"):
        raise VerificationFailed(f"{path.name} contradicts itself: its rows are not as many as its certificate says.")
    if rows and k < guarantee.k:
        raise VerificationFailed(
            f"{path.name} contradicts itself: fewer than {guarantee.k:,} rows of it look alike somewhere."
        )
    return True
