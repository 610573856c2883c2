"""A private choice as a value: what was chosen, how near to the best it is, its certificate and its file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

from cloister.choosing.choice_pictures import choice_pictures
from cloister.errors import DataError, SourceError, UsageError
from cloister.parameters import check_path
from cloister.privacy.certificate_json import is_as_written
from cloister.privacy.certified_files import existing_file, faults_told
from cloister.privacy.release import Release
from cloister.privacy.verification import check_consistency
from cloister.report import notebook
from cloister.report.document import Document, Fact, Section, Sentence, with_sentence
from cloister.report.picture import Picture
from cloister.report.plotted import Plotted
from cloister.schema.strict_json import read_json
from cloister.sinks import stage

__all__ = ["KIND", "PrivateChoice", "read_choice"]

KIND = "choice"  # of its certificate
WANTED = "Give a choice that cloister choose or PrivateChoice.save wrote"


@dataclass(frozen=True, slots=True)
class PrivateChoice(Plotted):
    """A released choice.

    Attributes
    ----------
    column : the column that it is about
    score : "count", "rank" or "distance": what it was chosen by
    value : what was chosen: a value of the column's public grid or domain, or one of the options
    within : how near to the best it is, with probability 95%: in rows, in ranks, or in added-up distance
    nearness : the same in words
    rows : the number of rows, at least 1, if it was asked for: noisy under add-remove neighbours
    rows_error : its standard error; 0 where the number is public
    release, release_ : Release, the certificate, under the name that every result of Cloister has it
    """

    column: str
    score: str
    value: Any
    within: float
    nearness: str
    rows: float | None = None
    rows_error: float = 0.0
    release: Release | None = None

    @property
    def release_(self) -> Release | None:
        """The certificate."""
        return self.release

    def certified(self, release: Release) -> PrivateChoice:
        """The same with its certificate."""
        return dataclasses.replace(self, release=release)

    def save(self, path: str | PathLike[str]) -> Release | None:
        """Write the certificate, in whose result the choice stands, as a JSON file."""
        target = Path(check_path(path, "the output", "a new file"))
        if target.suffix.lower() != ".json":
            raise UsageError("a choice is written as .json, which is its certificate. Give it a name that ends so.")
        if self.release is None:
            raise UsageError("a choice without a certificate is not written.")
        with stage(target, directory=False) as staged:
            staged.path.write_text(self.release.to_json(), encoding="utf-8", newline="\n")
            staged.commit()
        return self.release

    @classmethod
    def load(cls, path: str | PathLike[str]) -> PrivateChoice:
        """Read back what `save` or ``cloister choose`` wrote, checked as ``cloister verify`` does it.

        Raises
        ------
        SourceError
            It is no such file.
        DataError
            It was changed, or contradicts itself.
        """
        place = existing_file(path, (".json",), WANTED)
        with faults_told(place.name, WANTED):
            release = read_choice(place)
        if release is None:
            raise SourceError(f"{place.name} is no choice. {WANTED}.")
        check_consistency(release, place.parent)
        facts, result = release.parameters, release.result
        rows = result.get("rows", {"count": None, "standard_error": 0.0})
        return cls(
            facts["column"], facts["score"], result["value"], result["within"], result["nearness"], rows["count"],
            rows["standard_error"], release,
        )  # fmt: skip

    def pictures(self) -> tuple[Picture, ...]:
        """Where the choice lies among its candidates, and how near to the best it is: of its certificate alone."""
        if self.release is None:
            raise UsageError("a choice without a certificate is not drawn.")
        return choice_pictures(self.release)

    def describe(self) -> Document:
        """What was chosen, and how near to the best it is."""
        facts: list[Fact | Sentence] = [Fact("column", self.column), Fact("chosen", str(self.value))]
        if self.rows is not None:
            error = f", standard error {self.rows_error:.3g}" if self.rows_error else ", public"
            facts.append(Fact("rows", f"{self.rows:,.0f}{error}"))
        return Document((Section((*facts, Sentence(self.nearness))),), title="Private choice")

    def _repr_html_(self) -> str:
        shown = self.describe()
        return notebook.html(shown if self.release is None else with_sentence(shown, str(self.release.guarantee)))

    def __repr__(self) -> str:
        return f"PrivateChoice({self.column}: {self.value}, by {self.score}, within {self.within:g})"


def read_choice(path: Path) -> Release | None:
    """The certificate that `save` wrote, which is all of its file; None where it is another file.

    Raises when the file holds it in other words than Cloister writes: blanks and escapes are covered by no signature.
    """
    text = path.read_bytes()
    whole = read_json(text, path.name, advice="Give a choice as it was written.")
    if not isinstance(whole, dict) or whole.get("kind") != KIND:
        return None
    release = Release.from_json(text.decode(errors="replace"))
    if not is_as_written(release, text):
        raise DataError(f"{path.name} was changed after it was written: its certificate is not as Cloister writes it.")
    return release
