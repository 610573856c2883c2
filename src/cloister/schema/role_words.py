"""Words in names of columns that say what a column tells about a person, by language.

A word counts wherever it stands in a name, whatever its case and its accents: "Geburtsdatum", "date_de_naissance",
"fechaNacimiento". Of German and Dutch compounds a part is enough: "Monatsgehalt". Those that mean something harmless in another
language count only as the whole name (`ALONE`) or beside others (`PHRASES`): CAP is an Italian postcode and half of "market
cap", "nombre" a Spanish name and a French number.
"""

from __future__ import annotations

import re
import unicodedata

from cloister.schema.column import Role

__all__ = ["JOINED", "NUMBER_WORDS", "RECORDS", "SHARED", "are_of_code", "fold", "role_of_words", "words_of"]

# who somebody is: what strangers share too, so that a value that repeats is no sign of several rows of one person
_NAMES = {
    "English": "name firstname lastname surname forename address street plate ip url",
    "German": "vorname nachname familienname zuname rufname geburtsname adresse anschrift straße hausnummer",
    "French": "nom noms prénom prénoms patronyme adresse rue",
    "Spanish": "apellido apellidos direccion domicilio calle",
    "Italian": "nome cognome nominativo indirizzo",
    "Dutch": "naam voornaam voornamen achternaam familienaam adres straat huisnummer",
    "Portuguese": "nome sobrenome apelido endereço morada rua",
}
# who somebody is: numbers, accounts and addresses of one
_IDENTIFIERS = {
    "English": """id uid uuid guid ssn nin passport email mail phone tel telephone mobile iban account license licence mac
        username login""",
    "German": """telefon telefonnummer handy handynummer ausweis reisepass personalausweis kfzkennzeichen steuernummer svnr
        sozialversicherungsnummer rentenversicherungsnummer krankenversichertennummer kontonummer benutzername""",
    "French": "courriel téléphone passeport immatriculation nir nss identifiant",
    "Spanish": "correo teléfono móvil dni nie nif pasaporte matrícula curp usuario",
    "Italian": "telefono cellulare codicefiscale passaporto targa matricola",
    "Dutch": "telefoon telefoonnummer bsn burgerservicenummer rekeningnummer paspoort kenteken gebruikersnaam emailadres",
    "Portuguese": "telefone celular telemóvel cpf cnpj passaporte matrícula usuário utilizador",
}
# what others may know of somebody
_QUASI = {
    "English": """age sex gender birth birthday birthdate dob born zip zipcode postcode postal city town county state
        region country nationality citizenship race ethnicity ethnic marital education school degree occupation job
        profession workclass employer height weight language""",
    "German": """alter geburtsdatum geburtstag geburtsjahr geburtsort geburtsland geburt geschlecht plz postleitzahl ort stadt
        wohnort gemeinde landkreis bundesland land beruf familienstand nationalität staatsangehörigkeit staatsbürgerschaft
        schulabschluss bildungsabschluss bildungsgrad ausbildung muttersprache körpergröße gewicht kinderzahl kinderanzahl
        lebensalter eintrittsdatum austrittsdatum todestag todesdatum sterbedatum rasse ethnie ethnizität herkunft hautfarbe
        migrationshintergrund""",
    "French": """âge sexe naissance ville commune département région nationalité métier matrimoniale poids ethnie décès""",
    "Spanish": """edad sexo género nacimiento ciudad municipio provincia país nacionalidad profesión ocupación codigopostal
        estudios etnia raza fallecimiento""",
    "Italian": """età sesso nascita città comune provincia regione nazionalità cittadinanza professione occupazione istruzione
        etnia razza decesso""",
    "Dutch": """leeftijd geslacht geboortedatum geboortejaar geboorteplaats geboorteland woonplaats gemeente provincie
        nationaliteit beroep opleiding burgerlijke etniciteit afkomst huidskleur overlijdensdatum""",
    "Portuguese": """idade nascimento cidade município distrito nacionalidade naturalidade profissão ocupação escolaridade cep
        raça etnia óbito""",
}
# what nobody should learn of somebody; with what Article 9 of the GDPR lists: health, religion, union, politics, sexual
# orientation, genetics and biometrics. Ethnic origin, which others may see, is above.
_SENSITIVE = {
    "English": """salary income wage wages pay earnings diagnosis disease illness condition treatment medication drug
        hiv religion faith party vote orientation disability crime conviction debt credit balance grade grades score gpa
        health symptom symptoms allergy allergies pregnancy pregnant religious belief creed political sexuality genetic
        genetics genome genotype dna biometric biometrics fingerprint icd""",
    "German": """gehalt lohn einkommen verdienst diagnose diagnosen krankheit erkrankung behandlung medikament medikation
        konfession partei schulden behinderung vorstrafen befund befunde gesundheit gesundheitszustand symptom symptome
        allergie allergien blutgruppe therapie schwangerschaft pflegegrad impfstatus religionszugehörigkeit glaube
        weltanschauung gewerkschaft sexualität genetik genom biometrie fingerabdruck""",
    "French": """salaire revenu revenus diagnostic maladie traitement médicament handicap dette santé symptôme symptômes
        allergie grossesse vih confession croyance syndicat sexualité génétique génome adn biométrie biométrique""",
    "Spanish": """salario sueldo ingresos diagnóstico enfermedad tratamiento medicamento religión discapacidad deuda salud
        síntoma síntomas alergia embarazo vih creencia creencias sindicato sexualidad genética genoma adn biometría huella""",
    "Italian": """stipendio reddito diagnosi malattia trattamento terapia farmaco religione disabilità salute sintomo sintomi
        allergia gravidanza sindacato sessualità genetica genoma biometria""",
    "Dutch": """salaris loon inkomen ziekte behandeling medicatie religie geloof schuld gezondheid symptoom symptomen allergie
        zwangerschap geloofsovertuiging levensovertuiging vakbond seksualiteit geaardheid genetica genoom biometrie
        vingerafdruk brutoloon nettoloon maandloon uurloon jaarloon""",
    "Portuguese": """salário renda rendimento doença tratamento religião deficiência dívida saúde sintoma sintomas alergia
        gravidez crença sindicato sexualidade genética genoma biometria""",
}
# they say so only where they are the whole name
ALONE = {
    "nombre": Role.IDENTIFIER,
    "nombres": Role.IDENTIFIER,
    "rg": Role.IDENTIFIER,
    "cap": Role.QUASI,
    "cp": Role.QUASI,
    "genre": Role.QUASI,
    "genere": Role.QUASI,
    "pays": Role.QUASI,
    "paese": Role.QUASI,
    "plaats": Role.QUASI,
    "ras": Role.QUASI,
    "grosse": Role.QUASI,
    "groesse": Role.QUASI,
    "union": Role.SENSITIVE,
}
# or together, whatever stands between them
PHRASES = {
    Role.IDENTIFIER: """nombre completo, nombre paciente, nombre cliente, nombre apellido, nombre apellidos, nombre persona,
        nombre usuario, nombre alumno, nombre empleado, codice fiscale, sécurité sociale, seguridad social, segurança social,
        social security, carte identité, carta identità, cartão cidadão, carte vitale""",
    Role.QUASI: """état civil, estado civil, stato civile, situation familiale, titolo studio, estado civil, nivel estudios,
        niveau études, código postal, cod postal, origine ethnique, origen étnico, origine etnica, origem étnica""",
    Role.SENSITIVE: """trade union, labor union, labour union, union member, union membership, parti politique, opinion
        politique, opinions politiques, orientation sexuelle, groupe sanguin, afiliación sindical, partido político, orientación
        sexual, grupo sanguíneo, partito politico, orientamento sessuale, gruppo sanguigno, impronte digitali, politieke partij,
        politieke voorkeur, impressão digital, orientação sexual, filiação sindical, sexuelle orientierung, seksuele
        voorkeur""",
}
# German and Dutch write two nouns as one word: "Monatsgehalt", "Diagnosecode". Parts that mean something else at the end or at
# the beginning of other words are not listed: "Schalter" and "Transport" have no age and no place.
_ENDS = {
    Role.SENSITIVE: """gehalt lohn einkommen verdienst diagnose diagnosen krankheit krankheiten erkrankung erkrankungen befund
        befunde behandlung medikament medikamente konfession religion schulden behinderung gewerkschaft salaris inkomen ziekte
        aandoening behandeling medicatie""",
    Role.QUASI: "geschlecht geslacht leeftijd sterbeort arbeitsort dienstort heimatort staatsangehoerigkeit nationalitaet",
}
_BEGINNINGS = {
    Role.SENSITIVE: """diagnose krankheits erkrankungs gesundheits gehalts lohn einkommens befund medikament religions konfessions
        gewerkschafts partei behinderungs schwerbehindert sexual impf ziekte salaris inkomens vakbonds gezondheids""",
    Role.QUASI: "geburts geboorte alters berufs bildungs ausbildungs",
}
_CONTENTS = re.compile(
    "(alkohol|fett|zucker|wasser|salz|eiweiss|protein|sauerstoff|kohlenstoff|feuchtigkeits|nahrstoff)gehalt"
)
# numbers that are names: nobody adds postcodes or averages telephones
_CODE_WORDS = "id uid uuid guid ssn phone zip zipcode postcode postal plz postleitzahl cep codigopostal"


def fold(text: str) -> str:
    """A text without capitals and accents.

    >>> fold("Straße"), fold("PRÉNOM")
    ('strasse', 'prenom')
    """
    parted = unicodedata.normalize("NFKD", text.casefold())
    return "".join(sign for sign in parted if not unicodedata.combining(sign))


def _folded(of_language: dict[str, str]) -> frozenset[str]:
    return frozenset(fold(" ".join(of_language.values())).split())


SHARED = _folded(_NAMES)
_ROLES = {
    Role.IDENTIFIER: SHARED | _folded(_IDENTIFIERS),
    Role.QUASI: _folded(_QUASI),
    Role.SENSITIVE: _folded(_SENSITIVE),
}
_COMPOUNDS = {
    role: re.compile(f"({'|'.join(_BEGINNINGS[role].split())})[a-z]+|[a-z]+({'|'.join(_ENDS[role].split())})")
    for role in (Role.SENSITIVE, Role.QUASI)
}
_PHRASES = {role: [frozenset(fold(phrase).split()) for phrase in phrases.split(",")] for role, phrases in PHRASES.items()}
# identifiers in one word: whose, and what. Endings alone would catch "valid", "paid" and "piano"
JOINED = re.compile(
    r"(patient|patienten|person|personen|personal|user|client|customer|kunden|member|mitglieds|employee|mitarbeiter|staff|"
    r"student|pupil|subject|participant|respondent|account|konto|record|case|fall|passport|ausweis|national|tax|steuer|insurance|"
    r"versicherten|versicherungs|matrikel|phone|telephone|telefon|mobile|handy|medicalrecord|klant|klanten|medewerker|leerling|"
    r"personeel|dossier|telefoon|rekening|paspoort)s?(id|no|nr|num|number|nummer)"
    r"|(full|middle|maiden|given|family|birth|nick|screen|display|user|login|person|patient|patienten|client|customer|kunden|member|"
    r"employee|student|contact|spouse|mother|father)s?name"
    r"|(email|mail|home|street|postal|mailing|ip|mac)(address|adresse|adres)"
)
# of texts and whole numbers that few rows share they say that they name somebody
_GENERIC_NUMBERS = frozenset(["no", "nr", "num", "number", "nummer", "numero"])
_RECORD_WORDS = """mrn patient patienten patientennummer person personen client customer kunde kundennummer member nhs case fall
    fallnummer record versichertennummer matrikelnummer paciente paziente cliente klant expediente"""
RECORDS = frozenset(_RECORD_WORDS.split())
_CODES = frozenset(_CODE_WORDS.split())
NUMBER_WORDS = RECORDS | _GENERIC_NUMBERS


def words_of(name: str) -> frozenset[str]:
    """The words of a name: "birthDate", "birth_date" and "Birth date" are alike."""
    parted = re.sub(r"(?<=[a-z0-9à-ÿ])(?=[A-ZÀ-Þ])", " ", unicodedata.normalize("NFC", name))
    return frozenset(re.findall(r"[^\W\d_]+", fold(parted)))


def are_of_code(words: frozenset[str]) -> bool:
    """Whether the words of a name say that its digits are no quantity."""
    return bool(words & _CODES) or words in ({"cap"}, {"cp"})


def role_of_words(words: frozenset[str]) -> Role:
    """The role that the words of a name suggest."""
    if any(JOINED.fullmatch(word) for word in words):
        return Role.IDENTIFIER
    alone = ALONE.get(next(iter(words))) if len(words) == 1 else None
    for role, known in _ROLES.items():
        if known & words or role is alone or any(phrase <= words for phrase in _PHRASES.get(role, ())):
            return role
    for role, compound in _COMPOUNDS.items():
        if any(compound.fullmatch(word) and not _CONTENTS.fullmatch(word) for word in words):
            return role
    return Role.OTHER
