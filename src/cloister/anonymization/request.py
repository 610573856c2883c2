"""What a user asks of an anonymized table, checked before a row is read."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.guards import GUARDS, ClassGuard, Guard, as_class_guard, sensitive_guards
from cloister.anonymization.searching.limits import ColumnLimit
from cloister.anonymization.wishes import read_wishes
from cloister.anonymization.writing.rewriting import read_key
from cloister.column_names import flag_hint, missing_column
from cloister.errors import SchemaError, UsageError, by_door
from cloister.parameters import check_names, check_whole, unknown_choice
from cloister.schema import Role, Schema
from cloister.schema.drafts import is_record_name, role_of_name

__all__ = ["Request", "Settings", "read_request"]

SCOPES = ("local", "global")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The parameters of `TopDownSpecialization`, which says what they mean, as plain unchecked values."""

    k: int = 10
    quasi: Sequence[str] | None = None
    hierarchies: Any = None
    gain: str | None = None
    suppression: float = 0.0
    scope: str | None = None
    sensitive: str | Sequence[str] | None = None
    l_diversity: int | None = None
    entropy_l_diversity: float | None = None
    t_closeness: float | None = None
    ordered: bool = False
    population: Any = None
    k_map: int | None = None
    guards: Sequence[Guard] = ()
    target: str | None = None
    weights: Mapping[str, float] | None = None
    most_levels: Mapping[str, int] | None = None
    widest: Mapping[str, float] | None = None
    identifiers: Sequence[str] | None = None
    keep_unique: Sequence[str] = ()
    pseudonyms: Sequence[str] = ()
    key_file: str | os.PathLike[str] | None = None
    key_variable: str | None = None
    shuffle: bool = False
    schema: Any = None
    table: str | None = None
    ledger: Any = None
    engine: Any = None


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `on` fits it to the columns of a table."""

    k: int
    quasi: tuple[str, ...]
    gain: Gain
    suppression: float
    scope: str
    scope_reason: str  # why it is global, where nobody named a scope; else empty
    sensitive: tuple[str, ...]
    guards: tuple[ClassGuard, ...]  # beside k-anonymity
    ordered: bool
    target: str | None
    weights: tuple[float, ...]  # of the quasi-identifiers in the gain, 1 on average
    limits: tuple[ColumnLimit, ...]  # of the quasi-identifiers
    dropped: tuple[str, ...]
    named: tuple[str, ...]  # columns that the user named, which must be there
    keep_unique: tuple[str, ...]  # columns that may be published although their values are nearly unique
    identifiers: tuple[str, ...] | None  # that the user named; an empty list says that there are no others
    pseudonyms: tuple[str, ...]
    key: bytes = field(repr=False)
    shuffle: bool
    schema: Schema | None
    person: str | None  # the column that says whose a row is, where k counts persons
    hierarchies: Any
    population: Any
    table: str | None
    ledger: Any
    engine: Any
    choices: dict[str, Any]  # for the certificate

    @property
    def purpose(self) -> str:
        """The purpose that the ledger records."""
        return f"k-anonymous table, k = {self.k}, {self.scope} recoding"

    @property
    def unit_words(self) -> str:
        """Whom k counts."""
        return "row" if self.person is None else f'person (column "{self.person}")'

    @property
    def guards_in_words(self) -> tuple[str, ...]:
        """The guards beside k, with the column that each looks at."""
        return tuple(
            str(guard) if guard.column is None else f"{guard} ({self.sensitive[guard.column]})" for guard in self.guards
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """The public choices, for the certificate."""
        return {"quasi": list(self.quasi), "sensitive": list(self.sensitive), **self.choices}

    def on(self, names: Sequence[str]) -> Request:
        """The request fitted to a table with these columns."""
        for name in self.named:
            if name not in names:
                raise missing_column(name, names, self.named, described=self.schema.names if self.schema else ())
        quasi = tuple(name for name in self.quasi if name in names)
        if len(quasi) < len(self.quasi):
            missing = next(name for name in self.quasi if name not in names)
            raise SchemaError(f'the schema names the quasi-identifier "{missing}", which the data does not have.')
        self._check_identifiers(names)
        return replace(self, dropped=tuple(name for name in self.dropped if name in names))

    def _check_identifiers(self, names: Sequence[str]) -> None:
        """Refuse columns that may be identifiers and that nobody described: a schema speaks for the columns it names alone."""
        described = self.schema.names if self.schema is not None else ()
        used = {*self.quasi, *self.sensitive, *self.dropped, *self.keep_unique, self.target, *described}
        undescribed = [name for name in names if name not in used]
        absent = next((name for name in self.dropped if name not in names), None)
        if absent is not None and undescribed:
            place = list(names).index(undescribed[0]) + 1
            raise SchemaError(
                f'the schema names the identifier "{absent}", which the data does not have, while the schema lacks '
                f"{len(undescribed):,} of the data's columns (the first is column {place}). It may be spelled otherwise there: "
                "correct the schema, or describe every column in it."
            )
        unassigned = [name for name in undescribed if role_of_name(name) is Role.IDENTIFIER]
        if unassigned and self.identifiers != ():
            others = (
                f"publish it ({flag_hint('--keep-unique', unassigned)})"
                if self.identifiers
                else "say that there are none (--identifiers none)"
            )
            raise UsageError(
                f'column "{unassigned[0]}" is named like an identifier, and nobody said what to do with it. Drop it '
                f"({flag_hint('--identifiers', [*(self.identifiers or ()), *unassigned])}), or {others}."
            )

    def untouched(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of a table's columns that are published as they are."""
        return tuple(name for name in names if name not in self.quasi and name not in self.dropped)

    def record_names(self, names: Sequence[str]) -> tuple[str, ...]:
        """Those of a table's columns that are named like numbers of people, and of which nobody said what they are."""
        described = self.schema.names if self.schema is not None else ()
        if self.identifiers == ():  # somebody said that there are none
            return ()
        return tuple(name for name in self.untouched(names) if name not in described and is_record_name(name))

    def on_population(self, names: Sequence[str]) -> Request:
        """The request fitted to a population table with these columns; one without the quasi-identifiers is refused."""
        for name in self.quasi:
            if name not in names:
                raise missing_column(name, names, self.quasi, of="the population table")
        guards = tuple(guard.on_population(self.person, names) for guard in self.guards)
        return replace(self, guards=guards, choices={**self.choices, "guards": [str(guard) for guard in guards]})


def read_request(settings: Settings) -> Request:
    """Check everything that can be checked without the table."""
    k = check_whole(settings.k, "k", 2)  # with 1 nobody would look like anybody else
    schema = settings.schema
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_toml(schema)
    scope, scope_reason = _scope(settings)
    quasi = _names(settings.quasi, "quasi") or _with_role(schema, Role.QUASI)
    if not quasi:
        example = by_door('quasi=["age", "sex"]', "--quasi age,sex")
        raise UsageError(f"which columns are quasi-identifiers? Name them ({example}), or give them the role in a schema.")
    target = settings.target
    gain = _gain(settings.gain, target, scope)
    suppression = _suppression(settings.suppression, scope)
    sensitive, guards = _guards(settings, schema)
    wishes = read_wishes(quasi, schema, settings.weights, settings.most_levels, settings.widest)
    pseudonyms = _names(settings.pseudonyms, "pseudonyms")
    identifiers = _names(settings.identifiers, "identifiers")
    person = schema.unit if schema is not None else None
    by_role = [name for name in _with_role(schema, Role.IDENTIFIER) if name not in quasi]
    person_column = [person] if person is not None and person not in quasi else []
    dropped = tuple(dict.fromkeys([*identifiers, *by_role, *pseudonyms, *person_column]))
    _check_one_role(quasi, sensitive, dropped, target)
    keep_unique = _names(settings.keep_unique, "keep_unique")
    if in_both := next((name for name in keep_unique if name in dropped or name in quasi), None):
        raise UsageError(f'column "{in_both}" is not published as it is: it cannot be kept unique. Choose one.')
    named = (*_names(settings.quasi, "quasi"), *sensitive, *identifiers, *keep_unique, *pseudonyms)
    named = (*named, *([target] if target else []), *([person] if person else []))
    choices = {
        "k": k,
        "scope": scope,
        "gain": str(gain),
        "suppression": suppression,
        "guards": [str(guard) for guard in guards],
        "target": target,
        "shuffled": bool(settings.shuffle),
        **wishes.choices,
    }
    return Request(
        k=k, quasi=quasi, gain=gain, suppression=suppression, scope=scope, scope_reason=scope_reason,
        sensitive=sensitive, guards=guards, ordered=settings.ordered and settings.t_closeness is not None, target=target,
        weights=wishes.weights, limits=wishes.limits, dropped=dropped,
        named=named, keep_unique=(*keep_unique, *sensitive, *_with_role(schema, Role.SENSITIVE)),
        identifiers=None if settings.identifiers is None else identifiers, pseudonyms=pseudonyms,
        key=_key(settings, pseudonyms), shuffle=bool(settings.shuffle), schema=schema, person=person,
        hierarchies=settings.hierarchies, population=settings.population,
        table=settings.table if settings.table is not None else schema.table if schema else None,
        ledger=settings.ledger, engine=settings.engine,
        choices=choices,
    )  # fmt: skip


def _scope(settings: Settings) -> tuple[str, str]:
    """The scope, and, where nobody named one and local recoding cannot do what is asked for, why it is the global one."""
    if settings.scope is not None:
        if not isinstance(settings.scope, str) or settings.scope not in SCOPES:
            raise unknown_choice("scope", settings.scope, SCOPES)
        return settings.scope, ""
    needs_global = {
        "rows may be suppressed": settings.suppression != 0,
        "the table should still predict a target": settings.target is not None,
        "a gain other than loss is asked for": settings.gain is not None and settings.gain != Gain.LOSS,
    }
    reason = next((what for what, is_asked in needs_global.items() if is_asked), None)
    return ("local", "") if reason is None else ("global", f"The scope is global, since {reason}.")


def _suppression(share: Any, scope: str) -> float:
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise UsageError("the share of suppressed rows must be at least 0 and below 1.")
    if scope == "local" and share > 0:
        raise UsageError("local recoding loses no row: drop the suppression, or choose the global scope (--scope global).")
    return float(share)


def _key(settings: Settings, pseudonyms: Sequence[str]) -> bytes:
    if pseudonyms:
        return read_key(settings.key_file, settings.key_variable)
    if settings.key_file is not None or settings.key_variable is not None:
        raise UsageError("a key is there, but no column to make pseudonyms of. Name it (--pseudonyms), or drop the key.")
    return b""


def _gain(gain: str | None, target: str | None, scope: str) -> Gain:
    if gain is None:
        if target is not None and scope == "local":
            raise UsageError(
                "local recoding follows the loss alone, and no target. Drop the target, or choose the global scope "
                "(--scope global)."
            )
        return Gain.LOSS if target is None else Gain.CLASS
    if not isinstance(gain, str) or gain not in list(Gain):
        raise unknown_choice("gain", gain, Gain)
    if scope == "local" and gain != Gain.LOSS:
        raise UsageError(
            "local recoding follows the loss alone. Drop the gain, or choose the global scope (--scope global)."
        )
    if gain == Gain.CLASS and target is None:
        raise UsageError("the class gain needs a target: the column that the table should still predict.")
    if target is not None and gain != Gain.CLASS:
        raise UsageError("a target goes with the class gain. Choose gain class, or drop the target.")
    return Gain(gain)


def _guards(settings: Settings, schema: Schema | None) -> tuple[tuple[str, ...], tuple[ClassGuard, ...]]:
    """The sensitive columns that guards look at, and the guards."""
    own = [as_class_guard(guard) for guard in settings.guards]
    bounds = {name: bound for name in GUARDS if (bound := getattr(settings, name)) is not None}
    own_columns = [guard.column for guard in own if guard.column is not None]
    needs_sensitive = own_columns or any(GUARDS[name].is_sensitive for name in bounds)
    sensitive = _names([settings.sensitive] if isinstance(settings.sensitive, str) else settings.sensitive, "sensitive")
    if sensitive and not needs_sensitive:
        raise UsageError(f"a sensitive column goes with {sensitive_guards('or')}. Ask for one of them, or drop it.")
    if needs_sensitive:
        sensitive = sensitive or _with_role(schema, Role.SENSITIVE)
        if not sensitive:
            raise UsageError(
                f"{sensitive_guards('and')} need a sensitive column. Name it (--sensitive), or give it the role."
            )
        if any(column >= len(sensitive) for column in own_columns):
            raise UsageError(f"a guard looks at a sensitive column that is not there: {len(sensitive)} are named.")

    def make_guards(column: int, *, is_sensitive: bool) -> list[ClassGuard]:
        chosen = {name: bound for name, bound in bounds.items() if GUARDS[name].is_sensitive is is_sensitive}
        return [GUARDS[name].make(bound, column, bool(settings.ordered)) for name, bound in chosen.items()]

    by_column = [guard for column in range(len(sensitive)) for guard in make_guards(column, is_sensitive=True)]
    if (settings.population is None) != (settings.k_map is None):
        raise UsageError("k-map needs both a population table and a number. Give --population FILE and --k-map K.")
    if settings.ordered and settings.t_closeness is None:
        raise UsageError("an ordered distance goes with t-closeness. Ask for it, or drop ordered.")
    return sensitive, (*by_column, *own, *make_guards(0, is_sensitive=False))


def _check_one_role(quasi: Sequence[str], sensitive: Sequence[str], dropped: Sequence[str], target: str | None) -> None:
    """Refuse a column that is asked for in two roles."""
    for name in quasi:
        if name in sensitive:
            raise UsageError(f'column "{name}" cannot be both a quasi-identifier and sensitive. Choose one.')
        if name in dropped:
            raise UsageError(f'column "{name}" cannot be both a quasi-identifier and an identifier. Choose one.')
        if name == target:
            raise UsageError(f'column "{name}" cannot be both a quasi-identifier and the target. Choose one.')
    for name in sensitive:
        if name in dropped:
            raise UsageError(f'column "{name}" cannot be both sensitive and an identifier. Choose one.')


def _with_role(schema: Schema | None, role: Role) -> tuple[str, ...]:
    return tuple(column.name for column in schema.columns if column.role is role) if schema else ()


def _names(names: Sequence[str] | None, what: str) -> tuple[str, ...]:
    names = check_names(names, what)
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(f'{what} names "{twice}" twice.')
    return tuple(names)
