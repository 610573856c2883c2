"""A private choice as it is asked for: checked, planned without a row, and run in the vault."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import Any

from cloister.choosing.column_places import CategoryPlaces, DayPlaces, PublicValues, public_values, stated_kind
from cloister.choosing.named_scores import FINEST_QUANTILE, SCORES, Asked
from cloister.choosing.private_choice import KIND, PrivateChoice
from cloister.column_names import missing_column
from cloister.errors import UsageError, by_door
from cloister.kernels import Rows
from cloister.kernels.per_unit import for_unit
from cloister.kernels.scores import Scoring, TotalDistance, reach_for
from cloister.parameters import check_flag, check_names, check_path, check_progress, check_text, unknown_choice
from cloister.privacy.budgets import ApproxDP, Budget, PureDP, as_budget, check_digits, exact, relation, split
from cloister.privacy.choice_words import nearness_words
from cloister.privacy.events import Event
from cloister.privacy.ledger import Ledger
from cloister.privacy.mechanisms.exponential import CONFIDENCE, Exponential
from cloister.privacy.notes import defaults_note, guarantee_notes
from cloister.privacy.plan import Plan, Step, make_step
from cloister.privacy.worlds import settle_worlds
from cloister.schema import Category, Date, Neighbours, Number, Schema
from cloister.schema.numerals import amount_text, exact_number
from cloister.schema.stated_bounds import read_ends
from cloister.schema.unit import Unit, unit_of
from cloister.sources.stated_names import BY_COLUMNS, names_stated
from cloister.vault import Vault, open_data

__all__ = ["ChoiceRequest", "PlannedChoice"]

STEP, SIZE_STEP = "choice", "size"
CHOICE_WEIGHT, SIZE_WEIGHT = 9, 1
PARTS = 10_000  # into which the bounds of a number without a step are cut for a quantile
OPTION_PARTS = 2**20  # the same for options, which should lie near to where they were put
MOST_OPTIONS = 10_000
UNSPENT_DELTA = "A choice needs no delta: none of the one that was given is spent, and the guarantee has none."


@dataclass(frozen=True, slots=True)
class PlannedChoice:
    """A request fitted to the columns of a table: public facts alone."""

    asked: Asked
    options: tuple[Any, ...] | None  # as the user named them, as plain data
    score: str
    budget: Budget
    neighbours: Neighbours
    unit: Unit | None
    reach: int
    mechanism: Exponential
    size: Step | None  # what buys the number of rows; None: nobody asked for it, or it is public
    notes: tuple[str, ...] = ()

    @property
    def values(self) -> PublicValues:
        """The places of the column."""
        return self.asked.values

    @property
    def within(self) -> float:
        """How near to the best the choice is with probability 95%."""
        return SCORES[self.score].nearness(self.asked, self.mechanism.largest_gap())

    @property
    def nearness(self) -> str:
        """The same in words."""
        return nearness_words(
            self.score,
            self.within,
            self.asked.quantile,
            has_options=self.options is not None,
            is_day=isinstance(self.values, DayPlaces),
        )

    def as_plan(self) -> Plan:
        """What it spends, and what to expect of it."""
        events: list[Event] = [self.mechanism.event(STEP, self.reach)]
        expect = {STEP: self.nearness}
        if self.size is not None:
            events.insert(0, self.size.event)
            expect[SIZE_STEP] = f"number of rows +-{self.size.mechanism.deviation()['counts']:.3g}"
        quantile = {"quantile": amount_text(self.asked.quantile)} if self.asked.quantile else {}
        facts = {"score": self.score, **quantile, "candidates": self.mechanism.scoring.candidates}
        choices = {"delta": UNSPENT_DELTA} if self.notes else {}
        return Plan(self.budget, self.neighbours, tuple(events), expect, facts, choices, unit=str(self.unit or "row"))

    def chosen(self, candidate: int) -> Any:
        """The candidate as plain data: an option as it was named, or a value of the column."""
        return self.values.value(candidate) if self.options is None else self.options[candidate]

    def _clip_steps(self) -> int | None:
        """The most that a row counts for, in steps of the column."""
        score = self.mechanism.scoring.score
        return score.clip if isinstance(score, TotalDistance) else None

    def parameters(self, column: str) -> dict[str, Any]:
        """What a certificate says of what went in."""
        return {
            "column": column,
            "score": self.score,
            "quantile": None if self.asked.quantile is None else str(self.asked.quantile),
            "grid": dict(self.values.facts),
            "options": None if self.options is None else list(self.options),
            "places": None if self.asked.options is None else list(self.asked.options),
            "candidates": self.mechanism.scoring.candidates,
            "reach": self.reach,
            "scale": str(self.mechanism.scale),
            "clip": None if self.asked.clip is None else str(self.asked.clip),
            "clip_steps": None if self.asked.clip is None else self._clip_steps(),
            "defaults": self.values.encoding.defaults,
        }


@dataclass(frozen=True, slots=True)
class ChoiceRequest:
    """What is asked of `choose`, which documents the fields."""

    column: str
    budget: Any = None  # None is refused
    quantile: Any = None  # given as a number, kept as a Fraction
    options: Any = None  # given as a list, kept as a tuple
    score: str | None = None
    clip: Any = None  # given as a number, kept as a Fraction
    bounds: Any = None
    step: Any = None
    domain: Any = None
    count_rows: bool = False
    schema: Any = None  # given as a Schema or its path, kept as a Schema
    neighbours: str | None = None
    columns: Any = None  # given as a list, kept as a tuple

    def __post_init__(self) -> None:
        check_text(self.column, "column")
        check_flag(self.count_rows, "count_rows")
        if self.neighbours is not None:
            check_text(self.neighbours, "neighbours")
        if self.columns is not None:
            object.__setattr__(self, "columns", check_names(self.columns, "columns"))
        if self.domain is not None:
            object.__setattr__(self, "domain", check_names(self.domain, "domain"))
        if self.bounds is not None:
            object.__setattr__(self, "bounds", read_ends(self.column, self.bounds))
        if self.quantile is not None:
            object.__setattr__(self, "quantile", read_quantile(self.quantile))
        if self.clip is not None:
            object.__setattr__(self, "clip", exact(self.clip, "clip"))
            check_digits(self.clip, "clip")
        if self.options is not None:
            object.__setattr__(self, "options", read_options(self.options))
        if self.score is not None and (not isinstance(self.score, str) or self.score not in SCORES):
            raise unknown_choice("score", self.score, SCORES)
        if self.schema is not None and not isinstance(self.schema, Schema):
            object.__setattr__(self, "schema", Schema.from_toml(check_path(self.schema, "schema")))

    def plan(self, names: Sequence[str]) -> Plan:
        """What it would spend on a table with these columns; no row is read and nothing is charged."""
        return self.on(names).as_plan()

    def dry_run(self, data: Any, engine: Any = None) -> Plan:
        """The same for data that is opened as a run opens it; refuses what a run would refuse before its charge."""
        self.on(())
        rows = open_data(data, engine, names_stated(self.schema, self.columns, BY_COLUMNS))
        planned = self.on(rows.names)
        Vault.check(rows, planned.values.encoding, engine=engine, unit=planned.unit)
        return planned.as_plan()

    def run(
        self,
        data: Any,
        *,
        table: str | None = None,
        ledger: str | Ledger | None = None,
        engine: Any = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> PrivateChoice:
        """Choose in one pass over the rows; where their number is asked for, another pass counts them."""
        progress = check_progress(progress)
        self.on(())  # what can be refused without the data is refused first: opening it may start Spark
        stated = names_stated(self.schema, self.columns, BY_COLUMNS)
        rows = open_data(data, engine, stated)
        planned = self.on(rows.names)
        plan, parameters = planned.as_plan(), planned.parameters(self.column)
        with Vault.open(
            rows,
            planned.values.encoding,
            budget=planned.budget,
            neighbours=planned.neighbours,
            purpose=f"choice of {self.column} by {planned.score}",
            engine=engine,
            table=table if table is not None else self.schema.table if self.schema else None,
            ledger=ledger,
            unit=planned.unit,
        ) as vault:
            vault.follow(plan)
            count, error = self._count(vault, planned, progress)
            progress(STEP)
            candidate = vault.select(planned.mechanism, STEP).value
            chosen = planned.chosen(candidate)
            result: dict[str, Any] = {
                "value": chosen,
                "candidate": candidate,
                "gap": planned.mechanism.largest_gap(),
                "within": planned.within,
                "confidence": CONFIDENCE,
                "nearness": planned.nearness,
            }
            if count is not None:
                result["rows"] = {"count": count, "standard_error": error}
            encoding = planned.values.encoding
            notes = (*guarantee_notes(planned.budget, planned.unit), defaults_note(encoding.defaults), *planned.notes)
            release = vault.release(KIND, parameters, result, notes)
            made = PrivateChoice(self.column, planned.score, chosen, planned.within, planned.nearness, count, error)
            return made.certified(release)

    def _count(self, vault: Vault, planned: PlannedChoice, progress: Callable[[str], None]) -> tuple[float | None, float]:
        """The number of rows, if it was asked for, and its standard error."""
        if not self.count_rows:
            return None, 0.0
        progress(SIZE_STEP)
        if planned.size is None:
            return vault.size(None), 0.0
        return vault.size(planned.size.mechanism, SIZE_STEP), float(f"{planned.size.mechanism.deviation()['counts']:.6g}")

    def on(self, names: Sequence[str]) -> PlannedChoice:
        """The request fitted to a table with these columns."""
        if names and self.column not in names:
            described = () if self.schema is None else self.schema.names
            raise missing_column(self.column, names, [self.column], described=described)
        kind = stated_kind(self.column, self.schema, self.bounds, self.step, self.domain)
        stated = settle_worlds(as_budget(self.budget), {self.column: kind})
        neighbours = relation(stated, self.neighbours or (self.schema.neighbours if self.schema else None))
        unit = unit_of(self.schema)
        budget = PureDP(stated.epsilon) if isinstance(stated, ApproxDP) else stated
        asked, score = self._asked(kind)
        scoring = Scoring(SCORES[score].make(asked), asked.values.size, asked.options)
        if scoring.candidates < 2:
            raise UsageError(
                "there is one candidate only, so there is nothing to choose. Give at least two, or say more of the column."
            )
        buys_size = self.count_rows and neighbours is Neighbours.ADD_REMOVE
        weights: Mapping[str, Any] = {STEP: CHOICE_WEIGHT, **({SIZE_STEP: SIZE_WEIGHT} if buys_size else {})}
        spends = split(budget.epsilon, weights)
        size = make_step(SIZE_STEP, for_unit(Rows(), unit).sensitivity(neighbours), spends[SIZE_STEP]) if buys_size else None
        reach = reach_for(scoring.score, neighbours, unit)
        mechanism = Exponential.spending(spends[STEP], scoring, reach)
        notes = (UNSPENT_DELTA,) if isinstance(stated, ApproxDP) else ()
        named = None if self.options is None else tuple(map(asked.values.named, self.options))
        return PlannedChoice(asked, named, score, budget, neighbours, unit, reach, mechanism, size, notes)

    def _asked(self, kind: Number | Date | Category) -> tuple[Asked, str]:
        """The column's places and what is chosen among them by which score."""
        quantile = self.quantile
        if quantile is not None and self.score not in (None, "rank"):
            raise UsageError('a quantile is chosen by "rank". Leave the score out, or the quantile.')
        parts = None
        if self.score != "count":
            parts = OPTION_PARTS if self.options is not None else PARTS if quantile is not None else None
        values = public_values(self.column, kind, parts)
        score = self.score or ("rank" if quantile is not None else "count")
        if self.score is None and quantile is None and self.options is not None and not isinstance(values, CategoryPlaces):
            score = "distance"
        if self.clip is not None and score != "distance":
            raise UsageError(
                f'clip is for the score "distance". Leave it out{by_door("", ", or give --score distance and --options")}.'
            )
        options = None if self.options is None else tuple(values.place(option) for option in self.options)
        if options is not None and len(set(options)) < len(options):
            raise UsageError("two of the options are the same value of the column. Give each once.")
        return Asked(values, options, quantile, self.clip), score


def read_quantile(value: Any) -> Fraction:
    """A quantile as an exact fraction, strictly between 0 and 1.

    >>> read_quantile(0.9), read_quantile("1/3")
    (Fraction(9, 10), Fraction(1, 3))
    """
    try:
        quantile = exact_number(value)
    except ValueError:
        quantile = Fraction(0)
    if not 0 < quantile < 1:
        raise UsageError("the quantile must be a number between 0 and 1, without both: 0.5 is the median.")
    if quantile.denominator > FINEST_QUANTILE:
        raise UsageError("the quantile has more than six decimals, or too large a denominator. Round it, such as 0.333333.")
    return quantile


def read_options(value: Any) -> tuple[Any, ...]:
    """Options as a tuple, not too many of them."""
    no_list = UsageError('options must be a list, such as [100, 200, 500] or ["red", "blue"].')
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
        raise no_list
    try:
        options = tuple(islice(value, MOST_OPTIONS + 1))
    except TypeError:  # an array of no dimension
        raise no_list from None
    if len(options) > MOST_OPTIONS:
        raise UsageError(f"at most {MOST_OPTIONS:,} options can be listed. Give fewer, or ask for a quantile.")
    if len(options) < 2:
        raise UsageError("there is nothing to choose among fewer than two options. Give at least two.")
    return options
