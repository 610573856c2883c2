"""Tables to try things on: a made-up table of students."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cloister.schema import Category, Column, Neighbours, Number, Role, Schema

__all__ = ["STUDENTS", "students"]

STUDENTS = Schema(
    columns=(
        Column("student_id", Number(bounds=(1, 1_000_000), step=1), Role.IDENTIFIER),
        Column("age", Number(bounds=(15, 45), step=1), Role.QUASI),
        Column("level", Category(domain=("bachelor", "master", "doctor")), Role.QUASI),
        Column("hours_online", Number(bounds=(0, 60), step=0.5)),
        Column("forum_posts", Number(bounds=(0, 120), step=1)),
        Column("grade", Number(bounds=(0, 20), step=0.5), Role.SENSITIVE),
    ),
    table="students",
    neighbours=Neighbours.ADD_REMOVE,
)
"""What is publicly known about the table of students: the bounds follow from what the columns mean."""

KINDS = {  # made-up habits: share, then mean and spread of age, hours online, forum posts and grade
    "steady": (0.45, (20, 2), (18, 4), (25, 8), (13, 1.5)),
    "quiet": (0.30, (22, 3), (6, 2), (4, 3), (9, 2)),
    "working": (0.15, (33, 4), (10, 3), (12, 5), (14, 2)),
    "keen": (0.10, (19, 1.5), (42, 6), (85, 12), (17, 1.2)),
}


def students(rows: int = 20_000, seed: int = 7) -> pa.Table:
    """A made-up table of students in four kinds: nobody's data."""
    random = np.random.default_rng(seed)  # demo: the table is made up, nothing in it is noise
    kind = random.choice(len(KINDS), rows, p=[share for share, *_ in KINDS.values()])
    columns = {}
    for j, name in enumerate(("age", "hours_online", "forum_posts", "grade")):
        means = np.array([spec[1 + j][0] for spec in KINDS.values()])[kind]
        spreads = np.array([spec[1 + j][1] for spec in KINDS.values()])[kind]
        bounds = STUDENTS[name].kind.bounds  # type: ignore[union-attr]
        assert isinstance(bounds, tuple)
        step = 0.5 if name in ("hours_online", "grade") else 1
        columns[name] = np.clip(np.rint(random.normal(means, spreads) / step) * step, bounds[0], bounds[1])
    levels = np.where(columns["age"] < 22, "bachelor", np.where(random.random(rows) < 0.7, "master", "doctor"))
    return pa.table(
        {
            "student_id": random.permutation(rows) + 1,
            "age": columns["age"].astype(np.int64),
            "level": levels,
            "hours_online": columns["hours_online"],
            "forum_posts": columns["forum_posts"].astype(np.int64),
            "grade": columns["grade"],
        }
    )
