"""A first draft of a schema: kinds, roles and formats are guessed, bounds and domains are left blank.

Privacy
-------
A guess looks at the first rows, so a draft is for the holder. Kinds, roles and how cells are written are facts that a holder
knows anyway and confirms by hand. Bounds and domains are never filled in: they would carry values of rows out of the building.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from cloister.schema.cell_format import PLAIN
from cloister.schema.cell_values import days, numbers, texts
from cloister.schema.format_guesses import (
    DIGITS,
    MOSTLY,
    Guess,
    are_digits_of_days,
    guess_date,
    guess_missing,
    guess_number,
    usual_style,
)
from cloister.schema.kinds import Category, Date, Kind, Number, Text
from cloister.schema.table import Column, Role, Schema

__all__ = ["RowSource", "draft", "draft_text", "find_likely_unit", "is_record_name", "is_repeated_by_few", "role_of_name"]

SAMPLE_ROWS = 4_096
MOST_VALUES = 100  # a column of text with more distinct values in the sample is free text
MOST_ROWS_EACH = 50  # on average: what more rows share is a group, not somebody
GENERATION = 20 * 365  # days
FEWEST = 20  # cells: of fewer many a harmless column has no value twice

_WORDS = {
    Role.IDENTIFIER: """id uid uuid guid ssn nin passport name firstname lastname surname forename email mail phone tel
        telephone mobile address street iban account license licence plate ip mac username login url vorname nachname
        familienname telefon handy adresse anschrift straße strasse prénom prenom nom courriel apellido apellidos
        nombre correo cognome nome""",
    Role.QUASI: """age sex gender birth birthday birthdate dob born zip zipcode postcode postal plz city town county state
        region country nationality citizenship race ethnicity ethnic marital education school degree occupation job
        profession workclass employer height weight language geburtsdatum geburtstag geburtsjahr geburt alter geschlecht
        postleitzahl ort stadt wohnort bundesland land beruf familienstand nationalität staatsangehörigkeit sexe âge naissance
        ville sexo edad nacimiento ciudad género sesso età nascita città geslacht geboortedatum postcode""",
    Role.SENSITIVE: """salary income wage wages pay earnings diagnosis disease illness condition treatment medication drug
        hiv religion faith party vote orientation disability crime conviction debt credit balance grade grades score gpa""",
}
_ROLES = {role: frozenset(words.split()) for role, words in _WORDS.items()}
# identifiers in one word: whose, and what. Endings alone would catch "valid", "paid" and "piano"
_JOINED = re.compile(
    r"(patient|patienten|person|personen|personal|user|client|customer|kunden|member|mitglieds|employee|mitarbeiter|staff|"
    r"student|pupil|subject|participant|respondent|account|konto|record|case|fall|passport|ausweis|national|tax|steuer|insurance|"
    r"versicherten|versicherungs|matrikel|phone|telephone|telefon|mobile|handy|medicalrecord)s?(id|no|nr|num|number|nummer)"
    r"|(full|middle|maiden|given|family|birth|nick|screen|display|user|login|person|patient|patienten|client|customer|kunden|member|"
    r"employee|student|contact|spouse|mother|father)s?name"
    r"|(email|mail|home|street|postal|mailing|ip|mac)(address|adresse)"
)
# of texts and whole numbers that few rows share they say that they name somebody
_GENERIC_NUMBERS = frozenset(["no", "nr", "num", "number", "nummer", "numéro", "numero", "número"])
_RECORD_WORDS = """mrn patient patienten patientennummer person personen client customer kunde kundennummer member nhs case fall
    fallnummer record versichertennummer matrikelnummer"""
_RECORDS = frozenset(_RECORD_WORDS.split())
_NUMBER_WORDS = _RECORDS | _GENERIC_NUMBERS
# what strangers share too: a name or an address that repeats is no sign of several rows of one person
_SHARED_WORDS = """name firstname lastname surname forename address street vorname nachname familienname adresse anschrift
    straße strasse prénom prenom nom apellido apellidos nombre cognome nome plate ip url"""
_SHARED = frozenset(_SHARED_WORDS.split())
# numbers that are names: nobody adds postcodes or averages telephones
_NOT_QUANTITIES = frozenset(("id", "uid", "uuid", "guid", "ssn", "zip", "zipcode", "postcode", "postal", "plz", "phone"))


class RowSource(Protocol):
    """Rows with named columns, as `cloister.sources.open_source` opens them: schema and sources do not import each other."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        ...

    def batches(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        """The rows, with these columns."""
        ...


def draft(rows: RowSource) -> Schema:
    """Guess a schema from the names of the columns and the first few thousand rows.

    Returns
    -------
    Schema
        Every column is marked as guessed; no bounds, no domains. Categories count missing and unseen values in a cell of
        their own.
    """
    head = _head(rows)
    looks = [_Look.at(name, head.column(name).combine_chunks()) for name in rows.names]
    numbers, dates = (usual_style(getattr(look, key) for look in looks) for key in ("as_number", "as_date"))
    return Schema(tuple(look.column(numbers, dates) for look in looks))


def draft_text(schema: Schema, likely_unit: str | None = None) -> str:
    """A draft as TOML text, with comments that show how to fill in the blanks; one asks about a column that may be the unit."""
    return schema.to_toml(hints=True, likely_unit=likely_unit)


def find_likely_unit(rows: RowSource, schema: Schema) -> str | None:
    """A column that may say whose a row is: an identifier whose values repeat, each in a few rows. None: there is none.

    It is for the holder to decide: a unit makes guarantees per person, and counts people.
    """
    head = _head(rows)
    for column in schema.columns:
        if column.role is not Role.IDENTIFIER or _words(column.name) & _SHARED:
            continue
        written = _filled_texts(head.column(column.name).combine_chunks())
        distinct = _distinct(written)
        if len(written) >= FEWEST and len(written) // MOST_ROWS_EACH <= distinct < len(written):
            return column.name
    return None


def role_of_name(name: str) -> Role:
    """The role that the name of a column suggests.

    >>> role_of_name("e-mail"), role_of_name("birthDate")
    (<Role.IDENTIFIER: 'identifier'>, <Role.QUASI: 'quasi'>)
    """
    words = _words(name)
    if any(_JOINED.fullmatch(word) for word in words):
        return Role.IDENTIFIER
    return next((role for role, known in _ROLES.items() if known & words), Role.OTHER)


def is_record_name(name: str) -> bool:
    """Whether a name says that a column stands for somebody, and nothing else: ``mrn``, ``patient``, ``Patient Nr``."""
    words = _words(name)
    return bool(words & _RECORDS) and words <= _NUMBER_WORDS


def is_repeated_by_few(different: int, cells: int) -> bool:
    """Whether so many different values in so many cells are those of people: many, and each in a few rows on average."""
    return different >= max(FEWEST, cells // MOST_ROWS_EACH)


def _head(rows: RowSource) -> pa.Table:
    """The first rows, as a table."""
    taken: list[pa.RecordBatch] = []
    count = 0
    for batch in rows.batches(rows.names):
        taken.append(batch.slice(0, SAMPLE_ROWS - count))
        count += taken[-1].num_rows
        # files of one source may differ in types: a sample stays within the first
        if count >= SAMPLE_ROWS or batch.schema != taken[0].schema:
            break
    if not taken:
        return pa.table({name: pa.nulls(0) for name in rows.names})
    return pa.Table.from_batches([batch for batch in taken if batch.schema == taken[0].schema])


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look at some cells of a column shows."""

    name: str
    cells: pa.Array
    missing: tuple[str, ...]
    as_number: Guess | None
    as_date: Guess | None

    @classmethod
    def at(cls, name: str, cells: pa.Array) -> _Look:
        """Look at the cells of a column; an empty column is neither numbers nor dates."""
        if isinstance(cells, pa.ChunkedArray):
            cells = cells.combine_chunks()
        written = texts(cells).fill_null("")
        missing = guess_missing(written)
        filled = cells.filter(pc.invert(pc.is_in(written, pa.array(["", *missing], written.type))))
        if pa.types.is_boolean(cells.type) or not len(filled):
            return cls(name, filled, missing, None, None)
        if pa.types.is_date(cells.type) or pa.types.is_timestamp(cells.type):
            return cls(name, filled, missing, None, Guess(PLAIN))
        if are_digits_of_days(filled):
            return cls(name, filled, missing, None, Guess(DIGITS))
        as_number = None if _words(name) & _NOT_QUANTITIES else guess_number(filled)
        as_date = guess_date(filled) if as_number is None and pa.types.is_string(written.type) else None
        return cls(name, filled, missing, as_number, as_date)

    def column(self, number_style: str | None, date_style: str | None) -> Column:
        """The column that it shows, where the rest of the file writes numbers and dates in these styles."""
        kind = self._kind(number_style, date_style)
        role = self._role(kind)
        if role is Role.IDENTIFIER and isinstance(kind, Number):
            kind = Text()  # nobody adds them, and they need no bounds
        return Column(self.name, kind, role, guessed=True)

    def _role(self, kind: Kind) -> Role:
        """The role that the name suggests, unless the values of a column that is not generalised name rows.

        A sensitive role would confirm that such values may be published, and a guess is no confirmation: of numbers with
        decimals, which may be measurements, nothing is said then.
        """
        role = role_of_name(self.name)
        if role not in (Role.OTHER, Role.SENSITIVE):
            return role
        if role is Role.OTHER and self._spans_lives(kind):
            return Role.QUASI
        if _names_rows(self.cells, kind) or self._names_people(kind):
            return Role.IDENTIFIER
        return Role.OTHER if _nearly_all_differ(self.cells) else role

    def _spans_lives(self, kind: Kind) -> bool:
        """Whether days spread over generations, as days of birth do and events hardly ever."""
        if not isinstance(kind, Date):
            return False
        read = days(self.cells, kind.form)
        read = read[~np.isnan(read)]
        return len(read) >= FEWEST and bool(np.diff(np.quantile(read, [0.05, 0.95])) >= GENERATION)

    def _names_people(self, kind: Kind) -> bool:
        """Whether the name says that texts or whole numbers stand for somebody, and each for a few rows at most."""
        if not _words(self.name) & _NUMBER_WORDS:
            return False
        if isinstance(kind, (Text, Category)):
            written = _filled_texts(self.cells)
            if role_of_name(self.name) is not Role.OTHER or not is_repeated_by_few(_distinct(written), len(written)):
                return False
            has_digit = pc.match_substring_regex(written, "[0-9]")
            return is_record_name(self.name) or bool(pc.sum(has_digit).as_py() >= MOSTLY * len(written))
        if not isinstance(kind, Number):
            return False
        values = numbers(self.cells, kind.form)
        is_whole = (values == np.floor(values)).sum() >= MOSTLY * len(values)
        return bool(is_whole and len(np.unique(values)) >= max(FEWEST, len(values) // 8))

    def _kind(self, number_style: str | None, date_style: str | None) -> Kind:
        if self.as_number is not None:
            form = self.as_number.in_style(number_style)
            return Number(decimal=form.decimal, thousands=form.thousands, missing=self.missing)
        if self.as_date is not None:
            return Date(format=self.as_date.in_style(date_style).date, missing=self.missing)
        count = len(self.cells)
        distinct = int(pc.count_distinct(texts(self.cells)).as_py())
        if pa.types.is_boolean(self.cells.type) or 0 < distinct <= min(MOST_VALUES, max(2, count // 2)):
            return Category(other=True, missing=self.missing)
        return Text()


def _names_rows(cells: pa.Array, kind: Kind) -> bool:
    """Whether nearly all values differ, as those of an identifier do; a measurement with decimals is none."""
    if not _nearly_all_differ(cells):
        return False
    if not isinstance(kind, Number):
        return True
    written = _filled_texts(cells)
    values = numbers(written, kind.form)
    return bool((values == np.floor(values)).sum() >= MOSTLY * len(written))


def _nearly_all_differ(cells: pa.Array) -> bool:
    written = _filled_texts(cells)
    return len(written) >= FEWEST and pc.count_distinct(written).as_py() >= MOSTLY * len(written)


def _distinct(written: pa.Array) -> int:
    return int(pc.count_distinct(written).as_py())


def _filled_texts(cells: pa.Array) -> pa.Array:
    written = texts(cells).drop_null()
    return written.filter(pc.not_equal(written, ""))


def _words(name: str) -> frozenset[str]:
    """The words of a name: "birthDate", "birth_date" and "Birth date" are alike."""
    parted = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", name)
    return frozenset(re.findall(r"[^\W\d_]+", parted.lower()))
