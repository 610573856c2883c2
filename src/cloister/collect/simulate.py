"""A collection played through on a table that one has: every row answers, and what comes of it is compared with the truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.clustering.chance import public_chance
from cloister.collect.collection import Collection
from cloister.collect.estimates import CollectionEstimate, estimate
from cloister.collect.packed_reports import packed_schema, perturbed_rows
from cloister.collect.protocols.randomized_response import NO_ANSWER
from cloister.collect.questions import Question
from cloister.encode import Codes, Encoding
from cloister.errors import UsageError
from cloister.kernels.keyed import Keyed, RowKeys
from cloister.parameters import check_progress, check_whole
from cloister.privacy import noise
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, TextTable
from cloister.synthesis.cell_rows import whole_counts
from cloister.vault import EngineChoice, Unprotected, Vault

__all__ = ["Simulation", "simulate"]

MOST_PEOPLE = 50_000_000  # 2 GB of reports of ten questions while they are put in a secret order
HOLDER = "For the holder of the table only: the comparison shows exact counts of it. The reports themselves are private."
ERRORS = "The standard error is about the population that these people are drawn from: about themselves it is smaller."
MOST_COMPARED = 12


@dataclass(frozen=True, slots=True, eq=False)
class Simulation:
    """What a collection would have given on a table.

    Attributes
    ----------
    estimate : CollectionEstimate, from reports that the rows of the table would have sent
    reports : the reports, packed
    truth : Unprotected, how many rows hold each combination of answers
    left_out : for the holder: how many rows cannot answer, by the question that does not take what they hold
    """

    estimate: CollectionEstimate
    reports: pa.Table = field(repr=False)
    truth: Unprotected[Keyed] = field(repr=False)
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def collection(self) -> Collection:
        """The collection that was played through."""
        return self.estimate.collection

    def true_counts(self, names: tuple[str, ...]) -> NDArray[np.float64]:
        """For the holder: how many people hold each combination of answers to some questions."""
        axes = [self.collection.names.index(name) for name in names]
        shape = tuple(len(self.collection.question(name).values) for name in names)
        cells = np.ravel_multi_index(tuple(self.truth.value.keys[:, axis] for axis in axes), shape)
        counts = np.bincount(cells, weights=self.truth.value.counts, minlength=int(np.prod(shape)))
        return counts.reshape(shape).astype(np.float64)

    def distance(self, names: tuple[str, ...] | None = None) -> float:
        """For the holder: the total variation between estimate and truth, of some questions or of all that are joined."""
        table = self.estimate.joint() if names is None else self.estimate.marginal(names)
        true = self.true_counts(table.names)
        return float(np.abs(table.shares - true / max(1.0, true.sum())).sum() / 2)

    def as_dict(self) -> dict[str, Any]:
        """As plain data."""
        joined = len(self.collection.joined)
        return {
            "collection": self.collection.id,
            "reports": self.estimate.reports,
            "method": self.estimate.method,
            "total_variation": {name: self.distance((name,)) for name in self.collection.names},
            "total_variation_of_joint": self.distance() if joined > 1 and self.estimate.has_joint else None,
            "left_out": dict(self.left_out),
            "stamp": self.truth.stamp,
        }

    def describe(self) -> Document:
        """How near the estimate came, for the holder."""
        blocks: list[Any] = [Fact("reports", f"{self.estimate.reports:,}"), Fact("method", self.estimate.method)]
        blocks += [
            Fact("left out", f'{count:,} rows hold something that is no value of "{name}": a client would refuse it')
            for name, count in self.left_out.items()
        ]
        rows = [[name, f"{self.distance((name,)):.1%}"] for name in self.collection.names]
        blocks.append(
            TextTable.of(
                ["question", "misplaced"], rows, title="the share of people who are in the wrong place (total variation)"
            )
        )
        if len(self.collection.joined) > 1 and self.estimate.has_joint:
            cells = f"{self.collection.cells:,}"
            blocks.append(Fact(f"of the joint distribution of {cells} cells", f"{self.distance():.1%}"))
        for name in self.collection.names:
            table, true = self.estimate.marginal(name), self.true_counts((name,))
            shown = np.argsort(-true, kind="stable")[:MOST_COMPARED]
            lines = [
                [table.values[0][i] or '""', f"{true[i] / max(1.0, true.sum()):.1%}", f"{table.shares[i]:.1%}",
                 f"{table.errors[i] / max(1, table.reports):.1%}"]
                for i in shown
            ]  # fmt: skip
            blocks.append(TextTable.of([name, "true", "estimated", "std. error"], lines))
        blocks += [Sentence(ERRORS), Sentence(HOLDER)]
        return Document((Section(tuple(blocks)),), title=f"Simulation of {self.collection.id}")

    def _repr_html_(self) -> str:
        return notebook.html(self.describe())


def simulate(
    collection: Collection | str | PathLike[str],
    data: Any,
    *,
    people: int | None = None,
    method: str = "em",
    engine: EngineChoice = None,
    table: str | None = None,
    ledger: Any = None,
    random_state: Any = None,
    progress: Callable[[str], None] | None = None,
) -> Simulation:
    """Let every row of a table answer a collection, and compare what comes of it with the truth.

    Parameters
    ----------
    collection : Collection, or the path of its file
    data : anything with rows; its columns are called as the questions
        Rows with a cell that is none of a question's values are left out, as a client refuses it, and counted.
    people : int, optional
        How many people answer, with the distribution of the table. None: its rows.
    method, progress : as in `estimate`
    engine, table, ledger : as in every verb over rows
    random_state : for who answers when `people` is given; never for the noise

    Privacy
    -------
    Reads exact counts through the holder's door: what is compared is for the holder only, and the ledger records that. Each
    report has the guarantee of the collection, and reports come out in a secret order.
    """
    chosen = collection if isinstance(collection, Collection) else Collection.load(collection)
    count = None if people is None else check_whole(people, "people", 1, MOST_PEOPLE)
    step = check_progress(progress) if progress is not None else lambda _: None
    random = public_chance(random_state)
    encoding = Encoding(categories=tuple(coder_of(question) for question in chosen.questions))
    holder = Vault.holding(data, purpose=f"simulate the collection {chosen.id}", engine=engine, table=table, ledger=ledger)
    step("counting the table")
    holder.record()
    counted = holder.count(encoding, RowKeys(len(chosen.questions)))
    beyond = counted.value.keys == [len(question.values) for question in chosen.questions]  # (cells, questions)
    left_out = {
        question.name: int(counted.value.counts[beyond[:, axis]].sum()) for axis, question in enumerate(chosen.questions)
    }
    able = ~beyond.any(axis=1)
    truth = replace(counted, value=Keyed(counted.value.keys[able], counted.value.counts[able]))
    rows = int(truth.value.counts.sum())
    if not rows:
        raise UsageError(
            "no row of the table can answer: there are none, or each holds something that is no value of a question."
        )
    if (count or rows) > MOST_PEOPLE:
        raise UsageError(f"at most {MOST_PEOPLE:,} people answer in a simulation. Give a smaller number of people.")
    answering = truth.value.counts
    if count is not None:
        answering = whole_counts(truth.value.counts.astype(np.float64), count, random)
    step(f"perturbing the answers of {int(answering.sum()):,} people")
    mark = noise.seeding_mark()
    codes = np.repeat(truth.value.keys, answering, axis=0)  # (people, questions)
    codes = codes[noise.permutation(len(codes))]  # equal rows lie together until here
    schema = packed_schema(chosen, noise.is_seeded())
    reports = pa.Table.from_batches(list(perturbed_rows(chosen, codes, schema)), schema)
    found = estimate(chosen, reports, method=method, progress=progress)
    missing = {name: count for name, count in left_out.items() if count}
    return Simulation(replace(found, seeded=noise.seeded_since(mark)), reports, truth, missing)


def coder_of(question: Question) -> Codes:
    """The codes of a question's column; what is no value of it has the code beyond them, as a client would refuse it."""
    if question.category.other:
        return Codes.over(question.name, question.category)
    return Codes(question.name, (*question.values, NO_ANSWER), len(question.values), question.category.form)
