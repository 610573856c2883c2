"""The papers by their numbers; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module

from cloister.papers.paper_items import Paper

__all__ = ["ROOMS", "load_paper"]

ROOMS = {
    "000": "di_clustering",
    "001": "leteo",
    "002": "ldpk_modes",
    "003": "dedp_kmeans",
    "004": "icmd_dp",
}
"""The folder of each paper, whose module `paper` has its `PAPER`."""


def load_paper(number: str) -> Paper:
    """The paper of a number.

    >>> load_paper("003").number
    '003'
    """
    paper = import_module(f"cloister.papers.{ROOMS[number]}.paper").PAPER
    assert isinstance(paper, Paper), number
    assert paper.number == number, number
    return paper
