"""Reports as they arrive: each is checked by itself and taken or refused; none can end the count of the others.

A report is JSON (see `client.Report`). Files hold one a line (``.jsonl``, ``.ndjson``), one, or a list of them (``.json``).
Packed reports are a table with one column a question, as `pack` writes it: checked, each id counted once, and without ids.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from errno import ENOENT
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from cloister.collect.client import REPORT_VERSION, Report
from cloister.collect.collection import Collection
from cloister.collect.memo import REPORT_ID
from cloister.collect.protocols import AnswerProtocol
from cloister.errors import CloisterError, SourceError, UsageError
from cloister.privacy import noise
from cloister.schema.strict_json import read_json
from cloister.sources.source import BATCH_ROWS, present

__all__ = ["JSON_ENDINGS", "CheckedReports", "JsonReports", "RefusedReport", "check_report", "parsed", "read_reports"]

JSON_ENDINGS = (".jsonl", ".ndjson", ".json")
LONGEST_FILE = 2**23  # characters of a .json file, which is read whole
FRAME = 1_000  # characters of a report beside its answers, and some blanks
MIXED = "reports in JSON and other files cannot be mixed. Pack the former first: cloister collect pack."
OUTSIDE = "an answer outside its domain."
FIELDS = {"version", "collection", "terms", "report", "answers"}


class RefusedReport(CloisterError):
    """A report that is not counted, with one sentence why, which quotes nothing of it."""


@dataclass(frozen=True, slots=True)
class ReportCheck:
    """What a report of a collection must be: made once, asked for each."""

    collection: str
    terms: str
    protocols: Mapping[str, AnswerProtocol]
    longest: int  # characters of its JSON, however it is escaped

    @classmethod
    def of(cls, collection: Collection) -> ReportCheck:
        """The check of a collection's reports."""
        letters = sum(len(question.name) + max(map(len, question.values)) for question in collection.questions)
        bits = sum(len(question.values) for question in collection.questions if not question.answering().joins)
        longest = FRAME + 12 * (letters + 4 * len(collection.questions)) + bits
        return cls(collection.id, collection.terms, collection.answering(), longest)

    def __call__(self, data: Any) -> Report:
        """The report that this plain data is; `RefusedReport` says why it is none of this collection."""
        try:
            fields = data.as_dict() if isinstance(data, Report) else data
        except (TypeError, ValueError):
            raise RefusedReport("a report is an object.") from None
        answers = self.answers_of(fields)
        for name, protocol in self.protocols.items():
            if not isinstance(answers[name], str) or not protocol.is_answer(answers[name]):
                raise RefusedReport(OUTSIDE)
        return Report(self.collection, self.terms, fields["report"], {name: answers[name] for name in self.protocols})

    def answers_of(self, fields: Any) -> Mapping[str, Any]:
        """The answers of a report of this collection, one to each question, whatever they are."""
        if type(fields) is dict and self._is_own(fields):  # nearly always
            return fields["answers"]  # type: ignore[no-any-return]
        if problem := self._foreign(fields):
            raise RefusedReport(problem)
        answers: Any = fields["answers"]
        if not isinstance(answers, Mapping) or not answers.keys() <= self.protocols.keys():
            raise RefusedReport("an answer to an unknown question.")
        if answers.keys() != self.protocols.keys():
            raise RefusedReport("a question without an answer.")
        return answers

    def _is_own(self, fields: dict[str, Any]) -> bool:
        """Whether this is a report of the collection; False: `_foreign` and what follows it say why not."""
        answers, id = fields.get("answers"), fields.get("report")
        return (
            fields.keys() == FIELDS
            and fields["terms"] == self.terms
            and fields["collection"] == self.collection
            and type(fields["version"]) is int
            and fields["version"] == REPORT_VERSION
            and type(id) is str
            and REPORT_ID.fullmatch(id) is not None
            and type(answers) is dict
            and answers.keys() == self.protocols.keys()
        )

    def _foreign(self, fields: Any) -> str | None:
        """Why this is no report of the collection, whatever its answers are; None: it may be one."""
        if not isinstance(fields, Mapping):
            return "a report is an object."
        if type(fields.get("version")) is not int or fields["version"] != REPORT_VERSION:
            return "a report of another version."
        if fields.get("seeded") is True:
            return "a report made with seeded noise, which protects nobody."
        if fields.keys() != FIELDS:
            return "a report with fields that none has, or without some that all have."
        if fields["collection"] != self.collection:
            return "a report of another collection."
        if fields["terms"] != self.terms:
            return "a report under other terms: questions, values, epsilons or protocols differ."
        if not isinstance(fields["report"], str) or not REPORT_ID.fullmatch(fields["report"]):
            return "a report without a proper id."
        return None


def check_report(data: Any, collection: Collection) -> Report:
    """The report that this plain data is; `RefusedReport` says why it is none of this collection."""
    return ReportCheck.of(collection)(data)


class CheckedReports(ABC):
    """Reports as a source of rows that were checked one by one: one column a question, without those that are refused."""

    __slots__ = ()

    collection: Collection
    refused: Counter[str]  # in the last pass, by reason

    @property
    def names(self) -> tuple[str, ...]:
        return self.collection.names

    @property
    def in_memory(self) -> bool:
        return False

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The answers, one column a question; see `sources.source.Source`."""


@dataclass(slots=True)
class JsonReports(CheckedReports):
    """Reports in JSON; every pass reads and checks them anew."""

    collection: Collection
    places: tuple[Path, ...] = ()
    given: tuple[Any, ...] = ()  # reports in memory
    refused: Counter[str] = field(default_factory=Counter)

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        wanted = present(self.names, columns)
        schema = pa.schema([(name, pa.string()) for name in wanted])
        self.refused = Counter()
        for answers in self._taken():
            yield pa.record_batch(
                [pa.array([each[name] for each in answers], pa.string()) for name in wanted], schema=schema
            )

    def _taken(self) -> Iterator[list[Mapping[str, str]]]:
        """The answers of the reports that count, some at a time."""
        check, seen = ReportCheck.of(self.collection), SeenIds()
        reports: list[Report] = []
        for data in self._read(check.longest):
            try:
                if isinstance(data, RefusedReport):
                    raise data
                reports.append(check(data))
            except RefusedReport as why:
                self.refused[str(why)] += 1
            if len(reports) == BATCH_ROWS:
                yield self._first(reports, seen)
                reports = []
        if reports:
            yield self._first(reports, seen)

    def _first(self, reports: list[Report], seen: SeenIds) -> list[Mapping[str, str]]:
        """The answers of the reports whose ids were not there before."""
        is_first = seen.add([report.id for report in reports])
        if twice := int((~is_first).sum()):
            self.refused["a report whose id was there before."] += twice
        return [report.answers for report, first in zip(reports, is_first.tolist(), strict=True) if first]

    def _read(self, longest: int) -> Iterator[Any]:
        yield from self.given
        for place in self.places:
            yield from read_file(place, longest)


def read_file(place: Path, longest: int) -> Iterator[Any]:
    """What a file of reports holds, piece by piece; a piece that is no JSON is handed out as why it is refused."""
    try:
        if not place.is_file():  # a pipe may never end
            raise FileNotFoundError(ENOENT, "no such file")
        with place.open("r", encoding="utf-8", errors="replace", newline="\n") as lines:
            if place.suffix.lower() == ".json":
                whole = read_one(lines.read(LONGEST_FILE + 1), LONGEST_FILE)
                yield from whole if isinstance(whole, list) else [whole]
                return
            while line := lines.readline(longest + 1):
                is_whole = len(line) <= longest
                while line and not line.endswith("\n") and not is_whole:  # the rest of a line that is no report
                    line = lines.readline(longest + 1)
                if not is_whole:
                    yield RefusedReport("a line that is too long for a report.")
                elif line.strip():
                    yield read_one(line, longest)
    except OSError as error:
        raise SourceError(f"{place}: the reports cannot be read ({error.strerror}).") from None


def read_one(text: str, longest: int) -> Any:
    """Parsed JSON, or why it is refused."""
    if len(text) > longest:
        return RefusedReport("a file that is too long. Put one report a line into a .jsonl file.")
    try:
        return read_json(text.removeprefix("\ufeff"), "a report", RefusedReport)
    except RefusedReport:
        return RefusedReport("text that is no JSON.")


class SeenIds:
    """Ids that were there: 8 bytes each, a hash under a key of this run, so that nobody can make two of them meet."""

    def __init__(self) -> None:
        self._key, _ = noise.secret()
        self._runs: list[NDArray[np.uint64]] = []  # sorted, each at most half as long as the one before

    def add(self, ids: Iterable[str]) -> NDArray[np.bool_]:
        """Which of these ids are new, also among themselves."""
        import hashlib

        hashes = np.array(
            [int.from_bytes(hashlib.blake2b(each.encode(), digest_size=8, key=self._key).digest()) for each in ids],
            np.uint64,
        )
        order = np.argsort(hashes, kind="stable")
        ranked = hashes[order]
        is_new = np.ones(len(hashes), dtype=np.bool_)
        is_new[order[1:]] = ranked[1:] != ranked[:-1]
        for run in self._runs:
            at = np.minimum(np.searchsorted(run, hashes), len(run) - 1)
            is_new &= run[at] != hashes
        if is_new.any():
            self._runs.append(np.sort(hashes[is_new]))
        while len(self._runs) > 1 and len(self._runs[-1]) * 2 > len(self._runs[-2]):
            last = self._runs.pop()
            self._runs[-1] = np.sort(np.concatenate([self._runs[-1], last]))
        return is_new


def read_reports(collection: Collection, reports: Any) -> Any:
    """Reports as a source of rows: JSON that is checked one by one, or packed ones, which any engine can read.

    Parameters
    ----------
    collection : Collection
    reports : path or paths of files, or of a folder of JSON files; reports or dicts of them; any table with one column a question
    """
    if isinstance(reports, str | PathLike):
        reports = [reports]
    if isinstance(reports, Report) or (isinstance(reports, Mapping) and "answers" in reports):
        reports = [reports]
    if isinstance(reports, list | tuple) and all(isinstance(each, str | PathLike) for each in reports):
        places = [file for each in reports for file in json_files(each)]
        if places and len(places) >= len(reports) and all(place.suffix.lower() in JSON_ENDINGS for place in places):
            return JsonReports(collection, tuple(places))
        if any(place.suffix.lower() in JSON_ENDINGS for place in places):
            raise SourceError(
                "reports in JSON and packed ones cannot be mixed. Pack the former first: cloister collect pack."
            )
        return list(reports) if reports else JsonReports(collection)
    is_list = isinstance(reports, list | tuple) or (
        hasattr(reports, "__next__") and not hasattr(reports, "__arrow_c_stream__")
    )
    if is_list:
        return JsonReports(collection, given=tuple(reports))
    return reports


def json_files(each: str | PathLike[str]) -> list[Path]:
    """The files that a path stands for: those of a folder that hold reports in JSON, if it is one."""
    path = Path(each)
    try:
        files = list(path.iterdir()) if path.is_dir() else []
    except OSError as error:
        raise SourceError(f"{path}: the reports cannot be read ({error.strerror}).") from None
    shown = [file for file in files if file.name[0] not in "._" and file.is_file()]
    found = [file for file in shown if file.suffix.lower() in JSON_ENDINGS]
    if found and len(found) < len(shown):
        raise SourceError(f"{path}: {MIXED}")
    return sorted(found) or [path]


def parsed(reports: Any) -> Any:
    """Reports in which the text of a report, as `Report.to_json` gives it, is parsed; paths stay what they are."""
    if isinstance(reports, str) and reports.lstrip().startswith("{"):
        reports = [reports]
    if hasattr(reports, "__next__") and not hasattr(reports, "__arrow_c_stream__"):  # gone through once
        reports = tuple(reports)
    if not isinstance(reports, list | tuple):
        return reports
    if any(hasattr(each, "__arrow_c_stream__") or hasattr(each, "__arrow_c_array__") for each in reports):
        raise UsageError(
            "several tables of reports are given as a list. Put them into one, or give the paths of their files."
        )
    texts = [isinstance(each, str) and each.lstrip().startswith("{") for each in reports]
    if not any(texts):
        return reports
    if any(isinstance(each, str | PathLike) and not is_text for each, is_text in zip(reports, texts, strict=True)):
        raise UsageError("reports as text and paths of files cannot be mixed. Give one or the other.")
    return [read_one(each, LONGEST_FILE) if is_text else each for each, is_text in zip(reports, texts, strict=True)]
