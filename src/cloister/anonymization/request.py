"""What a user asks of an anonymized table, checked before a row is read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from cloister.anonymization.reporting.notes import usual_notes
from cloister.anonymization.reporting.summary import Summary
from cloister.anonymization.searching.gains import Gain
from cloister.anonymization.searching.guards import Closeness, Diversity, EntropyDiversity, Guard, KAnonymity, KMap
from cloister.anonymization.writing.rows import format_of, read_key
from cloister.errors import SchemaError, UsageError
from cloister.schema import Role, Schema
from cloister.schema.drafts import role_of_name
from cloister.schema.table import nearest

if TYPE_CHECKING:
    from cloister.anonymization.estimator import TopDownSpecialization

__all__ = ["Request", "read_request"]

SCOPES = ("global", "local")


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for. `on` fits it to the columns of a table."""

    k: int
    quasi: tuple[str, ...]
    gain: Gain
    suppression: float
    scope: str
    sensitive: tuple[str, ...]
    guards: tuple[Guard, ...]
    ordered: bool
    target: str | None
    dropped: tuple[str, ...]
    named: tuple[str, ...]  # columns that the user named, which must be there
    identifiers_said: bool  # the user named the identifiers, or that there are none
    pseudonyms: tuple[str, ...]
    key: bytes = field(repr=False)
    shuffle: bool
    format: str
    schema: Schema | None
    table: str | None
    person: str | None
    asked: dict[str, Any]  # for the certificate

    @property
    def purpose(self) -> str:
        """What the ledger says."""
        return f"k-anonymous table, k = {self.k}, {self.scope} recoding"

    @property
    def unit_words(self) -> str:
        """Whom k counts."""
        return "row" if self.person is None else f'person (column "{self.person}")'

    @property
    def guards_in_words(self) -> tuple[str, ...]:
        """The guards beside k, with the column that each looks at."""
        words = []
        for guard in self.guards:
            column = getattr(guard, "column", None)
            words.append(str(guard) if column is None else f"{guard} ({self.sensitive[column]})")
        return tuple(words)

    @property
    def parameters(self) -> dict[str, Any]:
        """Public choices that went in."""
        return {"quasi": list(self.quasi), "sensitive": list(self.sensitive), **self.asked}

    def on(self, names: Sequence[str]) -> Request:
        """The request fitted to a table with these columns."""
        for name in self.named:
            if name not in names:
                raise SchemaError(f'the data has no column "{name}".{nearest(name, names)}')
        quasi = tuple(name for name in self.quasi if name in names)
        if len(quasi) < len(self.quasi):
            lost = next(name for name in self.quasi if name not in names)
            raise SchemaError(f'the schema names the quasi-identifier "{lost}", which the data does not have.')
        used = {*quasi, *self.sensitive, *self.dropped, self.target}
        unsaid = [name for name in names if name not in used and role_of_name(name) is Role.IDENTIFIER]
        if unsaid and not self.identifiers_said:
            raise UsageError(
                f'column "{unsaid[0]}" is named like an identifier, and nobody said what to do with it. Drop it '
                f"(--identifiers {','.join(unsaid)}), or say that there are none (--identifiers none)."
            )
        return replace(self, dropped=tuple(name for name in self.dropped if name in names))

    def check_population(self, names: Sequence[str]) -> None:
        """Refuse a population table without the quasi-identifiers."""
        for name in self.quasi:
            if name not in names:
                raise SchemaError(f'the population table has no column "{name}".{nearest(name, names)}')

    def notes(self, summary: Summary) -> tuple[str, ...]:
        """What a reader of the certificate should know: above all, what is not protected."""
        notes = usual_notes(
            untouched=summary.untouched,
            pseudonyms=summary.pseudonyms,
            is_diverse=any(isinstance(guard, (Diversity, EntropyDiversity, Closeness)) for guard in self.guards),
            is_local=self.scope == "local",
            is_shuffled=self.shuffle,
            schema=self.schema,
        )
        if any(isinstance(guard, KMap) for guard in self.guards):
            notes.append("k-map counts rows of the population table: it holds for people where each of them has one row.")
        notes.append(
            "The number of suppressed rows and the information lost are exact facts of the holder's table, removed rows "
            "included. Where they should not be known, do not pass the certificate on with the table."
        )
        return tuple(notes)


def read_request(model: TopDownSpecialization, out: str | os.PathLike[str], format: str | None) -> Request:
    """Check everything that can be checked without the table."""
    schema = model.schema
    if schema is not None and not isinstance(schema, Schema):
        schema = Schema.from_toml(schema)
    KAnonymity(model.k)
    if model.scope not in SCOPES:
        raise UsageError(f'scope "{model.scope}" is not known. Choose global or local.')
    quasi = _names(model.quasi, "quasi") or _with_role(schema, Role.QUASI)
    if not quasi:
        raise UsageError(
            "which columns are quasi-identifiers? Name them (--quasi age,sex), or give them the role in a schema."
        )
    target = model.target
    gain = _gain(model.gain, target, model.scope)
    share = model.suppression
    if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share < 1:
        raise UsageError("the share of suppressed rows must be at least 0 and below 1.")
    if model.scope == "local" and share > 0:
        raise UsageError("local recoding loses no row: drop the suppression, or choose the global scope.")
    sensitive, guards = _guards(model, schema)
    pseudonyms = _names(model.pseudonyms, "pseudonyms")
    identifiers = _names(model.identifiers, "identifiers")
    person = schema.unit if schema is not None else None
    by_role = [name for name in _with_role(schema, Role.IDENTIFIER) if name not in quasi]
    whose = [person] if person is not None and person not in quasi else []
    dropped = tuple(dict.fromkeys([*identifiers, *by_role, *pseudonyms, *whose]))
    _apart(quasi, sensitive, dropped, target)
    if not pseudonyms and (model.key_file is not None or model.key_variable is not None):
        raise UsageError("a key is there, but no column to make pseudonyms of. Name it (--pseudonyms), or drop the key.")
    key = read_key(model.key_file, model.key_variable) if pseudonyms else b""
    named = (*_names(model.quasi, "quasi"), *sensitive, *identifiers, *pseudonyms)
    named = (*named, *([target] if target else []), *([person] if person else []))
    asked = {
        "k": model.k,
        "scope": model.scope,
        "gain": str(gain),
        "suppression": float(share),
        "guards": [str(guard) for guard in guards],
        "target": target,
        "shuffled": bool(model.shuffle),
    }
    return Request(
        k=model.k, quasi=quasi, gain=gain, suppression=float(share), scope=model.scope, sensitive=sensitive, guards=guards,
        ordered=model.ordered and model.t_closeness is not None, target=target, dropped=dropped, named=named,
        identifiers_said=schema is not None or model.identifiers is not None,
        pseudonyms=pseudonyms, key=key, shuffle=bool(model.shuffle), format=format_of(out, format), schema=schema,
        table=model.table or (schema.table if schema else None), person=person, asked=asked,
    )  # fmt: skip


def _gain(gain: str | None, target: str | None, scope: str) -> Gain:
    if gain is None:
        return Gain.CLASS if target is not None and scope == "global" else Gain.LOSS
    if gain not in list(Gain):
        raise UsageError(f'gain "{gain}" is not known. Choose one of: {", ".join(Gain)}.')
    if scope == "local" and gain != Gain.LOSS:
        raise UsageError("local recoding follows the loss alone. Drop the gain, or choose the global scope.")
    if gain == Gain.CLASS and target is None:
        raise UsageError("the class gain needs a target: the column that the table should still predict.")
    if target is not None and gain != Gain.CLASS:
        raise UsageError("a target goes with the class gain. Choose gain class, or drop the target.")
    return Gain(gain)


def _guards(model: TopDownSpecialization, schema: Schema | None) -> tuple[tuple[str, ...], tuple[Guard, ...]]:
    """The sensitive columns that guards look at, and the guards."""
    looked = [guard for guard in model.guards if hasattr(guard, "column")]
    asks = any(bound is not None for bound in (model.l_diversity, model.entropy_l_diversity, model.t_closeness))
    said = [model.sensitive] if isinstance(model.sensitive, str) else model.sensitive
    sensitive = _names(said, "sensitive")
    if not asks and not looked:
        if sensitive:
            raise UsageError("a sensitive column goes with l-diversity or t-closeness. Ask for one of them, or drop it.")
        return (), _with_map(model, list(model.guards))
    sensitive = sensitive or _with_role(schema, Role.SENSITIVE)
    if not sensitive:
        raise UsageError("l-diversity and t-closeness need a sensitive column. Name it (--sensitive), or give it the role.")
    if any(guard.column >= len(sensitive) for guard in looked):
        raise UsageError(f"a guard looks at a sensitive column that is not there: {len(sensitive)} are named.")
    guards: list[Guard] = []
    for column in range(len(sensitive)):
        if model.l_diversity is not None:
            guards.append(Diversity(model.l_diversity, column))
        if model.entropy_l_diversity is not None:
            guards.append(EntropyDiversity(model.entropy_l_diversity, column))
        if model.t_closeness is not None:
            guards.append(Closeness(model.t_closeness, column, is_ordered=bool(model.ordered)))
    return sensitive, _with_map(model, [*guards, *model.guards])


def _with_map(model: TopDownSpecialization, guards: list[Guard]) -> tuple[Guard, ...]:
    if (model.population is None) != (model.k_map is None):
        raise UsageError("k-map needs both a population table and a number. Give --population FILE and --k-map K.")
    if model.ordered and model.t_closeness is None:
        raise UsageError("an ordered distance goes with t-closeness. Ask for it, or drop ordered.")
    return tuple(guards if model.k_map is None else [*guards, KMap(model.k_map)])


def _apart(quasi: Sequence[str], sensitive: Sequence[str], dropped: Sequence[str], target: str | None) -> None:
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
    if names is None:
        return ()
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise UsageError(f"{what} must be a list of column names.")
    twice = next((name for name in names if list(names).count(name) > 1), None)
    if twice is not None:
        raise UsageError(f'{what} names "{twice}" twice.')
    return tuple(names)
