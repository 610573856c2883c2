"""What a release does not protect from."""

from __future__ import annotations

from collections.abc import Iterator

from cloister.handouts.guarded_columns import guarded_columns, unguarded_columns
from cloister.privacy.guarantees import Local, Syntactic
from cloister.privacy.release import Release
from cloister.report.handout_blocks import Bullets, Chapter, PaperBlock, Subheading

__all__ = ["describe_limits"]

PRIVATE = (
    "From conclusions about people in general. A release is made so that such conclusions can be drawn; they apply to somebody "
    "whether or not that person's row was in the table.",
    "From what is known from elsewhere: what somebody has published, told or left behind in another data set.",
    "From further releases of the same people, here or elsewhere. Their epsilons add up.",
    "For what was taken as public: names of columns, bounds, lists of categories, which columns were used and with which budget.",
    "For the original table: whoever has access to it, or to exact results of it, is not held back by this release.",
)
LOCAL = (
    "From conclusions about people in general. A survey is made so that such conclusions can be drawn.",
    "For the fact that somebody took part, when, and from which address: those who run the network or the service may see it.",
    "From answers to further collections, by other clients, about the same facts. Their epsilons add up.",
    "For what was taken as public: the questions and their possible answers.",
)
SYNTACTIC = (
    "Background knowledge: who knows more of somebody than the treated columns may single out a row or a value.",
    "Several releases: another table about the same people can be laid beside this one.",
)


def describe_limits(release: Release) -> Chapter:
    """The chapter of limits: of the kind of guarantee, then what the certificate itself says."""
    guarantee = release.guarantee
    if isinstance(guarantee, Syntactic):
        general = tuple(_syntactic(release))
    else:
        general = LOCAL if isinstance(guarantee, Local) else PRIVATE
    blocks: list[PaperBlock] = [Bullets(general)]
    kept = [
        f"{name}, if it lies beside this certificate, is for the holder only: no guarantee covers it."
        for name in release.holder_files
    ]
    if release.notes or kept:
        blocks += [Subheading("What the certificate itself notes"), Bullets((*release.notes, *kept))]
    return Chapter("What it does not protect from", tuple(blocks))


def _syntactic(release: Release) -> Iterator[str]:
    """Of a table without noise; a column that a guard looks at is not called homogeneous."""
    guarded, others = guarded_columns(release), unguarded_columns(release)
    if others != ():
        another = f"a column other than {', '.join(guarded)}" if guarded else "another column"
        yield f"Homogeneity: where all rows of a group share a value of {another}, it is known of each of them."
    yield from SYNTACTIC
    if others != ():
        named = f", {', '.join(guarded)} aside" if guarded else ""
        yield f"Columns that are published as they are{named}: nothing was done to them."
