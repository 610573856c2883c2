"""Section 4.1 of paper 003: whoever knows the distances of a record to enough centres knows the record.

|x - c_i|^2 - |x - c_0|^2 = |c_i|^2 - |c_0|^2 - 2 (c_i - c_0) x is linear in x: with more than d centres in general position it
has one solution. The paper takes this as its reason for noise on the centres. Noise on the centres does not help: noisy centres
are published, and distances to them are as good as distances to exact ones.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from cloister.clustering.seeding.points_kmeans import lloyd
from cloister.papers.compared_lines import BANDS, compared_lines, lines_picture
from cloister.papers.dedp_kmeans.printed import NoisyRounds, dp_kmeans
from cloister.papers.dedp_kmeans.two_sets import DP, ClusteredSet, read_set, sound_centers
from cloister.papers.form_columns import form_cells, number_text
from cloister.papers.paper_items import Item, ItemTask, RunEffort
from cloister.papers.reproduced_row import Form, ReproducedRow
from cloister.report.picture import Picture

__all__ = ["DISTANCES", "recover_records"]

Floats = NDArray[np.float64]
SOURCE = "section 4.1"
SHARE = "share of records recovered to 0.1% of every column"
ERROR = "median error of a recovered value, in column widths"
NEAR = 1e-3
EPSILON = 1.0
ROUNDS = (1, 3, 4, 5, 6, 8)
MOST_ROUNDS = max(ROUNDS)
NAME = "Wine"


def recover_records(centers: Floats, distances: Floats) -> Floats:
    """Records (n, d) from their distances (n, m) to m known centres (m, d); of several solutions the one nearest to a centre.

    >>> corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> recover_records(corners, np.array([[0.5, (0.7**2 + 0.4**2) ** 0.5, (0.3**2 + 0.6**2) ** 0.5]])).round(6).tolist()
    [[0.3, 0.4]]
    """
    first, others = centers[0], centers[1:] - centers[0]
    known = ((others**2).sum(axis=1) - (distances[:, 1:] ** 2 - distances[:, :1] ** 2)) / 2  # (n, m - 1)
    solved: Floats = np.linalg.lstsq(others, known.T, rcond=1e-10)[0].T
    return np.asarray(solved + first)


def _setting(rounds: int) -> str:
    return f"{NAME}, distances of {rounds} round{'s' if rounds > 1 else ''}"


def _rounds_of(setting: str) -> float | None:
    return float(setting.split(" of ")[1].split()[0]) if " of " in setting else None


def _rows(setting: str, form: Form, exact: Floats, guesses: Floats, seed: int, **more: float) -> list[ReproducedRow]:
    errors = np.abs(guesses - exact)
    values = {SHARE: float((errors.max(axis=1) <= NEAR).mean()), ERROR: float(np.median(errors))}
    return [
        ReproducedRow(setting, form, measure, value, SOURCE, seed=seed, **more)  # type: ignore[arg-type]
        for measure, value in values.items()
    ]


def _path_rows(form: Form, seed: int, path: Floats, exact: Floats, **more: float) -> list[ReproducedRow]:
    """What is recovered from the distances to the centres of the first rounds."""
    rows: list[ReproducedRow] = []
    for rounds in ROUNDS:
        centers = path[:rounds].reshape(-1, path.shape[2])
        distances = np.sqrt(((exact[:, None] - centers[None]) ** 2).sum(axis=2))
        rows += _rows(_setting(rounds), form, exact, recover_records(centers, distances), seed, **more)
    return rows


def _attacked(seed: int, effort: RunEffort) -> list[ReproducedRow]:
    found = read_set(NAME, effort.data)
    rows = found.normalised()
    exact = rows.value
    printed = [
        ReproducedRow(
            _setting(rounds),
            "printed",
            SHARE,
            1.0 if enough else None,
            SOURCE,
            note="" if enough else "fewer equations than columns: nothing is said",
        )
        for rounds, enough in ((rounds, rounds * found.clusters > exact.shape[1]) for rounds in ROUNDS)
    ]
    plain = _exact_path(exact, found.clusters, seed)
    noisy = dp_kmeans(rows, found.clusters, EPSILON, seed, NoisyRounds(most=MOST_ROUNDS, stops=False)).value.path
    return [
        *(printed if seed == 0 else []),
        *_path_rows("plain", seed, plain, exact),
        *_path_rows("as printed", seed, noisy, exact, claimed=EPSILON, epsilon=math.inf),
        *_sound(found, exact, seed),
    ]


def _exact_path(exact: Floats, clusters: int, seed: int) -> Floats:
    """The centres of each round of k-means without noise, (rounds, k, d); once it has converged they repeat."""
    path = [exact[np.random.default_rng(seed).choice(len(exact), clusters, replace=False)]]
    while len(path) < MOST_ROUNDS:
        path.append(lloyd(exact, np.ones(len(exact)), path[-1], 1).centers)
    return np.array(path)


def _sound(found: ClusteredSet, exact: Floats, seed: int) -> list[ReproducedRow]:
    """Released centres and no distances: the best that is left is to guess a record by its nearest centre."""
    raw = found.rows.value
    centers = (sound_centers(found, DP, EPSILON, seed, is_raw=False) - raw.min(axis=0)) / np.ptp(raw, axis=0)
    labels = ((exact[:, None] - centers[None]) ** 2).sum(axis=2).argmin(axis=1)
    return _rows(f"{NAME}, no distances leave", "sound", exact, centers[labels], seed, epsilon=EPSILON)


def _tasks(effort: RunEffort) -> list[ItemTask]:
    return [ItemTask(f"seed {seed}", partial(_attacked, seed, effort)) for seed in range(effort.pick(10, 2))]


def _finds(rows: Sequence[ReproducedRow]) -> list[str]:
    cells = form_cells(rows)
    sentences = []
    for form, words in (
        ("plain", "exact centres, as k-means has them"),
        ("as printed", "noisy centres, as DP k-means publishes them"),
    ):
        shares = {_rounds_of(key[0]): forms[form].value for key, forms in cells.items() if key[1] == SHARE and form in forms}
        most = max(shares.values(), key=lambda share: share or 0.0) or 0.0
        whole = [rounds for rounds, share in shares.items() if share is not None and rounds is not None and share >= 0.99]
        sentences.append(
            f"With distances to {words}, every record (99% of them at least) is recovered from {min(whole):g} rounds on."
            if whole
            else f"With distances to {words}, at most {most:.0%} of the records are recovered in {MOST_ROUNDS} rounds."
        )
    noisy = [forms["as printed"].value or 0.0 for key, forms in cells.items() if key[1] == SHARE and "as printed" in forms]
    sentences.append(
        "The noise on the centres is no answer to this attack: the centres are published, so distances to them still "
        "give the record. What must not leave are the distances."
        if max(noisy) >= 0.99
        else "The noise on the centres hinders this attack in the rounds that were tried."
    )
    share = cells[f"{NAME}, no distances leave", SHARE]["sound"].value or 0.0
    error = cells[f"{NAME}, no distances leave", ERROR]["sound"].value or 0.0
    sentences.append(
        f"From the sound release, which hands out no distance, {share:.0%} of the records are recovered; a value guessed "
        f"by the nearest centre is off by {number_text(error)} of its column's width in the median."
    )
    return sentences


def _draws(rows: Sequence[ReproducedRow]) -> list[Picture]:
    runs = [row for row in rows if row.form != "printed"]
    return [
        lines_picture(
            "Records recovered from distances",
            compared_lines(runs, SHARE, _rounds_of),
            BANDS,
            x_label="rounds whose distances are known, three centres each",
            label="share of records",
        )
    ]


DISTANCES = Item(
    "distance-attack",
    "Section 4.1: distances reveal a record",
    "The paper warns that an attacker who sees the distances of a record to the centres of enough rounds can solve for "
    "the record, and adds noise to the centres for that reason. Wine has 13 columns and 3 centres a round: five rounds "
    "are enough equations. The attack is run on exact centres, on noisy ones, and on what a sound release hands out.",
    _tasks,
    _finds,
    _draws,
)
