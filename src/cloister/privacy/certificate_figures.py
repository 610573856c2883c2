"""Figures of a certificate that follow from others of it: where two of them disagree, one was changed.

Anybody who changes a certificate that is not signed can make its hashes fit. What is compared here cannot be changed alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from cloister.privacy.budgets import Identifiability, MixedIdentifiability
from cloister.privacy.choice_figures import count_of, of_choice
from cloister.privacy.guarantees import Claimed, Guarantee, Local, Syntactic
from cloister.privacy.identifiability import epsilon_from_rho
from cloister.privacy.release import Release
from cloister.privacy.worlds import identifiability_note
from cloister.report.one_line import one_line
from cloister.schema import Neighbours
from cloister.schema.numerals import read_exact_text

__all__ = ["find_contradiction"]

TABLE, RECODED, CHOICE, COUNTED = "k-anonymous table", "rows under a saved recoding", "choice", "table"
LOCAL_KINDS = ("local estimate", "local rows", "local k-modes")
SMALLEST_LOCAL, LARGEST_LOCAL = Fraction(1, 1000), Fraction(100)  # epsilon of a question
COUNTS = ("rows", "classes", "smallest")  # of the published rows
DIVERSITY = re.compile(r"(?:distinct|entropy) l-diversity, l = ([0-9.e+]+)")
CLOSENESS = re.compile(r"t-closeness, t = ([0-9.e+-]+)")
STATED_K = re.compile(r"\bk = ([0-9]+)")
ROUNDING = 1e-9  # of a mean over all cells
SLACK = Fraction(1, 10**9)  # of an epsilon that follows from a rho
PRINTED = ("printed", "reproduction")  # kinds of what is only claimed
PERSON = re.compile(r'person \(at most ([0-9,]+) rows? each, column "(.*)"\)')
PER_ROW, PER_PERSON = "The guarantee is per row:", "The guarantee is per person,"  # how notes begin


def find_contradiction(release: Release) -> str | None:
    """What in a certificate cannot be true of one release, in words; None: nothing that is known of.

    Notes are compared where they state whom the guarantee protects. That a note is missing is not found.
    """
    try:
        if isinstance(release.guarantee, Claimed) or release.kind in PRINTED:
            is_printed = isinstance(release.guarantee, Claimed) and release.kind in PRINTED
            return None if is_printed else "it is called otherwise than what a paper claims is"
        if isinstance(release.guarantee, Local):
            return next(_of_reports(release, release.guarantee), None)
        found = _of_table(release, release.guarantee) if isinstance(release.guarantee, Syntactic) else _of_release(release)
        return next(found, None)
    except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError):
        return "a figure of it is missing, or is of another kind than that release has"


def _of_table(release: Release, guarantee: Syntactic) -> Iterator[str]:
    """Of a table without noise: k, its guards, and what was counted of its classes."""
    parameters, result = release.parameters, release.result
    must_have = release.version > 1 and release.kind in (TABLE, RECODED)
    if not must_have and not {"smallest", "k"} <= {*parameters, *result}:
        return
    rows, classes, smallest = (count_of(result[name]) for name in COUNTS)
    people = count_of(result["people"]) if result.get("people") is not None else None
    fewest = smallest if people is None else people
    yield from _of_k(release, guarantee, fewest if classes else None)
    yield from _of_guards(guarantee.also, parameters, fewest if classes else None)
    if "people" in result and (people is None) != (guarantee.unit == "row"):
        yield "whom k counts is not whom its classes were counted by"
    if people is not None and people > smallest:
        yield "a class has more people than rows"
    if classes * smallest > rows or bool(classes) != bool(rows):
        yield "its classes have more rows than the table"
    if "average" in result and not math.isclose(result["average"], rows / classes if classes else 0, rel_tol=1e-9):
        yield "the average class is not rows over classes"
    yield from _of_lost(result, rows)
    if "columns" in result and [column["name"] for column in result["columns"]] != list(parameters["quasi"]):
        yield "the columns that it shows are not its quasi-identifiers"


def _of_reports(release: Release, guarantee: Local) -> Iterator[str]:
    """Of what follows from reports of the local model: each question is a step, and none is charged."""
    steps = [(event.step, event.kind, event.cost().epsilon) for event in release.events]
    if [(kind, epsilon) for _, kind, epsilon in steps] != [("local", epsilon) for epsilon in guarantee.epsilons]:
        yield "its steps are not the questions of its guarantee"
    questions = release.parameters["questions"]
    asked = [(one_line(name), "local", read_exact_text(facts["epsilon"])) for name, facts in questions.items()]
    if steps != asked:
        yield "its steps are not its questions"
    if guarantee.unit != "report" or release.ledger is not None:
        yield "a report of the local model is charged by nobody, and protects whoever sent it"
    count_of(release.result["reports"])
    if count_of(release.result["refused"]) != sum(map(count_of, release.result["refused_why"].values())):
        yield "as many reports were refused as there are reasons, and it says another number"
    if release.kind not in LOCAL_KINDS:
        yield "it is called something that no reports give"
    if not SMALLEST_LOCAL <= min(guarantee.epsilons) <= max(guarantee.epsilons) <= LARGEST_LOCAL:
        yield "an answer costs less or more than any does"
    if not isinstance(release.result["terms_checked"], bool):
        yield "it does not say whether its terms were checked"


def _of_lost(result: Mapping[str, Any], rows: int) -> Iterator[str]:
    """Of what a table lost: rows that were suppressed, and the mean over its cells, from 0 to 1."""
    if "suppressed" in result and count_of(result["suppressed"]) > rows and result.get("is_starred"):
        yield "more rows are published as * than there are"
    if "loss" in result and not -ROUNDING <= result["loss"] <= 1 + ROUNDING:
        yield "the information lost lies outside 0 and 1"


def _of_k(release: Release, guarantee: Syntactic, fewest: int | None) -> Iterator[str]:
    """Of the k that is promised, was asked for and was counted; `fewest`: rows or people in a class, None: there is none."""
    asked = release.parameters["k"]
    if guarantee.k is None:
        if asked is not None:
            yield "it promises no k, and one was asked for"
        return
    promised = f"it promises k = {guarantee.k}, and"
    if fewest is not None and fewest < guarantee.k:
        yield f"{promised} its smallest class has fewer"
    if guarantee.k < count_of(asked) or (release.kind != RECODED and guarantee.k != asked):  # a recoding may give more
        yield f"{promised} another k was asked for"
    if any(int(stated) != guarantee.k for stated in STATED_K.findall(str(release.result.get("reason", "")))):
        yield f"{promised} its search stopped at another"


def _of_guards(also: Sequence[str], parameters: Mapping[str, Any], fewest: int | None) -> Iterator[str]:
    """Of the guards beside k; `fewest` as in `_of_k`."""
    asked = parameters.get("guards", also)
    columns = [one_line(column) for column in parameters.get("sensitive", ())]
    stated = len(asked) == len(also) and all(
        words in (guard, *(f"{guard} ({column})" for column in columns)) for guard, words in zip(asked, also, strict=True)
    )
    if not stated:
        yield "the guards that it promises are not those that were asked for"
    for words in also:
        if (found := DIVERSITY.match(words)) and fewest is not None and float(found[1]) > fewest:
            yield f"it promises l = {found[1]}, and a class has fewer rows or people than that"
        if (found := CLOSENESS.match(words)) and not 0 <= float(found[1]) <= 1:
            yield "its t lies outside 0 and 1"


def _of_release(release: Release) -> Iterator[str]:
    """Of a private release: its steps, the shape of its result, and whom its notes say that it protects."""
    if not release.adds_up():
        yield "the steps of this release add up to more than its guarantee"
    if any(event.kind == "local" for event in release.events):
        yield "a step of it is an answer of the local model, and its guarantee is another"
    unit, result, parameters = release.guarantee.unit, release.result, release.parameters
    if "identifiability" in parameters:
        yield from _of_rho(release, parameters["identifiability"])
    if "centers" in result:
        yield from _of_centers(result, parameters)
    if release.kind == COUNTED:
        yield from _of_cells(result, parameters)
    person = PERSON.fullmatch(unit)
    if release.kind == CHOICE:
        yield from of_choice(release, 1 if person is None else int(person[1].replace(",", "")))
    yield from _of_notes(release.notes, unit, person)


def _of_notes(notes: Sequence[str], unit: str, person: re.Match[str] | None) -> Iterator[str]:
    """Of notes that say whom a release protects; `person`: its guarantee is per person."""
    for note in notes:
        if note.startswith(PER_ROW) and unit != "row":
            yield "a note says that it protects a row, and its guarantee a person"
        if note.startswith(PER_PERSON):
            # the guarantee spells out a backslash before a u, so that no name looks like what one_line makes of another
            named = person and person[2].replace("\\u005cu", "\\u")
            wanted = person and (f'column "{named}" names people', f"At most {person[1]} row")
            if not wanted or not all(words in note for words in wanted):
                yield "a note says of whom it protects something else than its guarantee"


def _of_centers(result: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Of clusters: how many there are, of which columns."""
    centers = result["centers"]
    lengths = {len(centers), len(result.get("sizes", centers)), parameters.get("n_clusters", len(centers))}
    widths = {len(center) for center in centers} | ({len(parameters["columns"])} if "columns" in parameters else set())
    if len(lengths) > 1 or len(widths) > 1:
        yield "its centres are not as many, or not in as many columns, as it says"
    if "domains" in parameters:
        yield from _of_modes(centers, parameters)


def _of_cells(result: Mapping[str, Any], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Of a table of counts: none is negative, and its quantiles are some."""
    if not result.get("total", 0) >= 0:
        yield "its counts add up to less than nothing"
    for wanted in parameters.get("quantiles", {}).values():
        numbers = wanted["quantiles"]
        if (
            not numbers
            or sorted({*numbers}) != numbers
            or not 0 < numbers[0] <= numbers[-1] < 1
            or count_of(wanted["bins"]) < 1
        ):
            yield "its quantiles are not rising numbers between 0 and 1, of a number with bins"


def _of_modes(centers: Sequence[Sequence[Any]], parameters: Mapping[str, Any]) -> Iterator[str]:
    """Of centres with categories: each is a value that its column has, and a number lies where there are none."""
    domains = parameters["domains"]
    for name, values in zip(parameters["columns"], zip(*centers, strict=True), strict=True):
        if name in domains and not set(values) <= set(domains[name]):
            yield "a centre has a category that its column does not have"
        if name not in domains and not all(isinstance(value, int | float) for value in values):
            yield "a centre has no number where its column has numbers"
    gamma = parameters["gamma"]
    gammas = gamma if isinstance(gamma, list) else [gamma]
    if not all(each > 0 for each in gammas):
        yield "its gamma is not above 0"
    if len(gammas) not in (1, len(centers)):
        yield "its gammas are not as many as its centres"


def _of_rho(release: Release, stated: Mapping[str, Any]) -> Iterator[str]:
    """Of a budget that was stated as a rho: its epsilon is no more than the rho allows, or those of its parts together."""
    guarantee = release.guarantee
    assert isinstance(guarantee, Guarantee)
    parts = [stated] if "rho" in stated else [stated["numbers"], stated["categories"]]
    allowed = sum(epsilon_from_rho(read_exact_text(part["rho"]), part["worlds"]) for part in parts)
    if guarantee.epsilon > allowed + SLACK or guarantee.delta or guarantee.neighbours is not Neighbours.REPLACE_ONE:
        yield "it promises more by its rho than by its guarantee"
    budgets = [Identifiability(read_exact_text(part["rho"]), part["worlds"]) for part in parts]
    told = identifiability_note(budgets[0] if len(budgets) == 1 else MixedIdentifiability(*budgets))
    if any(note.startswith("Rho:") and note not in told for note in release.notes):
        yield "a note says something else of its rho than its numbers"
