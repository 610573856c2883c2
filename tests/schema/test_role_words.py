"""Roles by the names of columns, in the languages of those who name them."""

from __future__ import annotations

import unicodedata

import pytest

from cloister.schema import Role
from cloister.schema.drafts import role_of_name

I, Q, S, O = Role.IDENTIFIER, Role.QUASI, Role.SENSITIVE, Role.OTHER  # noqa: E741
NAMES = {
    "English": {"Last Name": I, "e-mail": I, "DOB": Q, "zip_code": Q, "marital Status": Q, "annual income": S, "visits": O},
    "German": {
        "Name": I,
        "Vorname": I,
        "Straße": I,
        "STRASSE": I,
        "Kundennummer": I,
        "Steuernummer": I,
        "Handynummer": I,
        "Geburtsdatum": Q,
        "PLZ": Q,
        "Wohnort": Q,
        "Geschlecht": Q,
        "Familienstand": Q,
        "Staatsangehörigkeit": Q,
        "Gehalt": S,
        "Diagnose": S,
        "Konfession": S,
        "Anzahl": O,
        "Besuche": O,
        "Betrag": O,
    },
    "French": {
        "Nom": I,
        "Prénom": I,
        "prenom": I,
        "courriel": I,
        "numéro de sécurité sociale": I,
        "carte d'identité": I,
        "date de naissance": Q,
        "Code postal": Q,
        "sexe": Q,
        "Âge": Q,
        "état civil": Q,
        "ville": Q,
        "Genre": Q,
        "pays": Q,
        "salaire": S,
        "maladie": S,
        "nombre_enfants": O,
        "nombre de visites": O,
        "montant": O,
    },
    "Spanish": {
        "Nombre": I,
        "nombre completo": I,
        "apellidos": I,
        "DNI": I,
        "correo electrónico": I,
        "teléfono": I,
        "fecha de nacimiento": Q,
        "sexo": Q,
        "código postal": Q,
        "estado civil": Q,
        "edad": Q,
        "sueldo": S,
        "diagnóstico": S,
        "estado": O,
        "importe": O,
    },
    "Italian": {
        "cognome": I,
        "nome": I,
        "codice fiscale": I,
        "indirizzo": I,
        "cellulare": I,
        "data di nascita": Q,
        "CAP": Q,
        "sesso": Q,
        "età": Q,
        "stato civile": Q,
        "città": Q,
        "titolo di studio": Q,
        "stipendio": S,
        "diagnosi": S,
        "market_cap": O,
        "importo": O,
    },
    "Dutch": {
        "achternaam": I,
        "voornaam": I,
        "BSN": I,
        "telefoonnummer": I,
        "klantnummer": I,
        "straat": I,
        "geboortedatum": Q,
        "postcode": Q,
        "geslacht": Q,
        "woonplaats": Q,
        "leeftijd": Q,
        "burgerlijke staat": Q,
        "salaris": S,
        "diagnose": S,
        "aantal": O,
        "bedrag": O,
    },
    "Portuguese": {
        "sobrenome": I,
        "CPF": I,
        "endereço": I,
        "telemóvel": I,
        "morada": I,
        "data de nascimento": Q,
        "idade": Q,
        "CEP": Q,
        "profissão": Q,
        "cidade": Q,
        "estado civil": Q,
        "salário": S,
        "doença": S,
        "quantidade": O,
        "valor": O,
    },
}


@pytest.mark.parametrize("language", NAMES)
def test_roles_are_known_in_the_language(language: str) -> None:
    """Of names as files in it have them, and harmless names stay harmless."""
    roles = {name: role_of_name(name) for name in NAMES[language]}
    assert roles == NAMES[language]


@pytest.mark.parametrize("language", NAMES)
def test_case_accents_and_marks_do_not_count(language: str) -> None:
    """Capitals, underscores, accents of their own character: one name; and words are told apart by capitals."""
    assert role_of_name("fechaNacimiento") is role_of_name("fecha NACIMIENTO") is Q
    for name, role in NAMES[language].items():
        assert role_of_name(name.upper().replace(" ", "_")) is role
        assert role_of_name(unicodedata.normalize("NFD", name)) is role


COMPOUNDS = {
    **dict.fromkeys(["Monatsgehalt", "Bruttogehalt", "Nettoeinkommen", "Stundenlohn", "Lohngruppe", "Diagnosecode"], S),
    **dict.fromkeys(["Hauptdiagnose", "Krankheitstage", "Laborbefund", "Impfdatum", "Religionszugehörigkeit"], S),
    **dict.fromkeys(["maandsalaris", "gezinsinkomen", "ziektedagen", "diagnosecode", "Gewerkschaftsmitglied"], S),
    **dict.fromkeys(["Todestag", "Eintrittsdatum", "Kinderzahl", "Ausbildung", "Größe", "Altersgruppe", "Berufsgruppe"], Q),
    **dict.fromkeys(["Geburtsmonat", "geboortemaand", "Rasse", "Ethnie"], Q),
    **dict.fromkeys(["Hausnummer", "huisnummer"], I),
    **dict.fromkeys(["Fettgehalt", "Alkoholgehalt", "Schalter", "Transport", "Passwort", "Behälter", "saloon", "Ballon"], O),
    **dict.fromkeys(["Bestelldatum", "Stückzahl", "Rechnungsnummer", "European Union", "Großkunde", "parties"], O),
}


@pytest.mark.parametrize("name", COMPOUNDS)
def test_compounds_are_known_by_their_parts(name: str) -> None:
    """In German and Dutch; words that end alike and mean something else stay harmless."""
    assert role_of_name(name) is COMPOUNDS[name]


ARTICLE_9 = {
    "English": "health religion ethnicity trade-union party sexuality genetics fingerprint",
    "German": "Gesundheit Religion Ethnie Gewerkschaft Partei Sexualität Genetik Fingerabdruck",
    "French": "santé religion ethnie syndicat parti-politique sexualité génétique biométrie",
    "Spanish": "salud religión etnia sindicato partido-político sexualidad genética biometría",
    "Italian": "salute religione etnia sindacato partito-politico sessualità genetica biometria",
    "Dutch": "gezondheid religie etniciteit vakbond politieke-partij seksualiteit genetica vingerafdruk",
    "Portuguese": "saúde religião etnia sindicato partido-político sexualidade genética biometria",
}


@pytest.mark.parametrize("language", ARTICLE_9)
def test_the_special_categories_of_the_gdpr_are_known(language: str) -> None:
    """Article 9: health, religion, ethnic origin, union, politics, sexual life, genetics, biometrics; none is just other."""
    assert [role_of_name(name) for name in ARTICLE_9[language].split()] == [S, S, Q, S, S, S, S, S]
