"""A minimality attack on top-down specialization with a guard: what is not published finer tells something, too.

Two groups of people, of which it is public how large they are; some of all of them are ill. The table may be published by
group only if every group has both values (2-diversity). If it is not, who knows the procedure knows that one group has only
one value.

References
----------
R. Wong et al., "Minimality attack in privacy preserving data publishing", VLDB 2007.
"""

from __future__ import annotations

import tempfile
from fractions import Fraction
from math import comb
from pathlib import Path

import pyarrow as pa

import cloister as cl

__all__ = ["posterior_of_small_group"]


def posterior_of_small_group(small: int, large: int, ill: int) -> tuple[float, float]:
    """What is believed of somebody of the smaller group whose table came out whole: from the table alone, and knowing how.

    Every world of as many ill people is equally likely beforehand; those with equally many ill in each group are published
    alike, so each number is tried once, with this program's own top-down specialization, and weighs as many worlds as it has.
    """
    worlds, of_ill = Fraction(0), Fraction(0)
    for in_small in range(max(0, ill - large), min(small, ill) + 1):
        if _is_whole(small, large, in_small, ill):
            weight = Fraction(comb(small, in_small) * comb(large, ill - in_small))
            worlds += weight
            of_ill += weight * Fraction(in_small, small)
    assert worlds, "no world is published whole"
    return ill / (small + large), float(of_ill / worlds)


def _is_whole(small: int, large: int, in_small: int, ill: int) -> bool:
    """Whether a world is published without its groups."""
    in_large = ill - in_small
    table = pa.table(
        {
            "group": ["small"] * small + ["large"] * large,
            "health": ["ill"] * in_small
            + ["well"] * (small - in_small)
            + ["ill"] * in_large
            + ["well"] * (large - in_large),
        }
    )
    model = cl.TopDownSpecialization(
        k=min(small, large),
        quasi=["group"],
        sensitive="health",
        l_diversity=2,
        gain="entropy",
        scope="global",
        identifiers=[],
    )
    with tempfile.TemporaryDirectory() as folder:
        model.publish(table, Path(folder) / "out.csv")
    return model.summary_.classes == 1
