"""The auditor on a peer: diffprivlib's k-means, replayed exactly on two neighbouring tables.

`peer_audit.py` observes the draws in the peers' environment; the laws of its two mechanisms are here, and the verdict is that
of `cloister.testing`.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from fractions import Fraction
from math import exp, log
from pathlib import Path
from typing import Any

import numpy as np

from bench.measure import keep, run_peer, show
from cloister.testing.exact_audit import ExactAudit, verdict
from cloister.testing.noise_laws import Law
from cloister.testing.walks import ObservedStep, Walk

EPSILON = 1.0
ROWS = 500


@dataclass(frozen=True)
class BoundedLaplaceLaw:
    """Laplace noise drawn again until the value lies in its bounds: density exp(-|x - v| / scale) / (2 scale C(v))."""

    scale: float
    lower: float
    upper: float

    def kept(self, exact: float) -> float:
        """C(v): how much of the noise around a value lies in the bounds."""
        return 1 - (exp((self.lower - exact) / self.scale) + exp((exact - self.upper) / self.scale)) / 2

    def inside(self, exact: float) -> float:
        """Values outside are clipped first."""
        return min(max(exact, self.lower), self.upper)

    def loss(self, released: float, exact: float, other: float) -> float:
        one, two = self.inside(exact), self.inside(other)
        nearer = (abs(released - two) - abs(released - one)) / self.scale
        return nearer + log(self.kept(two) / self.kept(one))

    def worst(self, exact: float, other: float) -> tuple[float, float]:
        return self.loss(self.inside(exact), exact, other), self.loss(self.inside(other), other, exact)

    def precision(self, exact: float, other: float) -> Fraction:
        return Fraction(0)

    def form(self, exact: float) -> object:
        return None


@dataclass(frozen=True)
class FoldedGeometricLaw:
    """Discrete Laplace noise on a count, folded back at one half: P(k) = g(k - v) + g(1 - k - v) for k >= 1."""

    scale: float
    lower: float

    def chance(self, released: float, exact: float) -> float:
        """In units of (1 - a) / (1 + a)."""
        return exp(-abs(released - exact) / self.scale) + exp(-abs(1 - released - exact) / self.scale)

    def loss(self, released: float, exact: float, other: float) -> float:
        return log(self.chance(released, exact) / self.chance(released, other))

    def worst(self, exact: float, other: float) -> tuple[float, float]:
        # beyond both counts the ratio only comes nearer to that of the unfolded tails
        values = range(1, int(max(exact, other)) + 100)
        return max(self.loss(k, exact, other) for k in values), max(self.loss(k, other, exact) for k in values)

    def precision(self, exact: float, other: float) -> Fraction:
        return Fraction(0)

    def form(self, exact: float) -> object:
        return None


def law_of_step(step: dict[str, Any]) -> Law:
    """The law of a step that the peer took."""
    if step["kind"] == "LaplaceBoundedDomain":
        return BoundedLaplaceLaw(step["scale"], step["lower"], step["upper"])
    return FoldedGeometricLaw(step["scale"], step["lower"])


def audit_walks(first: dict[str, Any], second: dict[str, Any], epsilon: float) -> ExactAudit:
    """The verdict on two fits of the peer."""
    walks = [
        Walk([ObservedStep(law_of_step(step), step["exact"], step["released"]) for step in walk["steps"]])
        for walk in (first, second)
    ]
    findings = []
    if [step.law for step in walks[0].steps] != [step.law for step in walks[1].steps]:
        lengths = " and ".join(str(len(walk.steps)) for walk in walks)
        findings.append(f"the fits draw noise {lengths} times: rows decide how often")
        for walk in walks:
            walk.steps.clear()  # which draw of the one answers which of the other is not known
    if first["error"] != second["error"]:
        findings.append("only one of the fits ends in an error")
    return verdict((Fraction(epsilon), Fraction(0)), walks[0], walks[1], findings)


def audit_peer(one: np.ndarray, other: np.ndarray, clusters: int, epsilon: float) -> ExactAudit:
    """Audit diffprivlib's k-means on two arrays with bounds 0 and 1."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tables.npz"
        np.savez(path, one=one, other=other)
        walks = run_peer("peer_audit.py", str(path), str(clusters), str(epsilon))
    return audit_walks(walks["first"], walks["second"], epsilon)


def main() -> None:
    rows = []
    for columns, clusters in [(1, 1), (2, 1), (8, 1), (64, 1), (2, 2)]:
        crowd = np.zeros((ROWS, columns))
        if clusters > 1:
            crowd[:, 0] = 0.1
        audit = audit_peer(np.vstack([crowd, np.ones((1, columns))]), crowd, clusters, EPSILON)
        rows.append(
            {
                "columns": columns,
                "clusters": clusters,
                "claimed": EPSILON,
                "found": None if audit.parted else audit.largest_loss,
                "verdict": "holds for these tables" if audit.holds else "; ".join(audit.findings),
            }
        )
    show("audit of diffprivlib 0.6.6 KMeans: rows at a corner, one row more at the opposite corner", rows)
    keep("audit", rows)


if __name__ == "__main__":
    main()
