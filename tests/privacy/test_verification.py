"""What `verify` proves: every forgery that the hostile audit invented is told, and so is what was not checked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from cloister.encode import Encoding, Grid
from cloister.errors import CloisterError, DataError, UsageError
from cloister.privacy.budgets import PureDP
from cloister.privacy.events import LaplaceEvent
from cloister.privacy.ledger import Ledger
from cloister.privacy.ledger.chain import Chain
from cloister.privacy.plan import Plan
from cloister.privacy.release import Guarantee, Release, Syntactic
from cloister.privacy.signing import host_key
from cloister.privacy.verification import check_consistency, check_origin
from cloister.schema import Neighbours
from cloister.sinks import file_hash
from cloister.vault import Vault
from tests.privacy.forgery import forge, forger

FOLDER = Path(__file__).parent


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    """A ledger with one table."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("people", "add-remove", 10)
    return ledger


def release_of(ledger: Ledger, epsilon: str = "1", **changes: Any) -> Release:
    """A release that was charged, made and written down as the vault does."""
    amount = Fraction(epsilon)
    receipt = ledger.book_charge("people", "add-remove", amount, 0, "table")
    guarantee = Guarantee(amount, Fraction(0), Neighbours.ADD_REMOVE)
    facts = {"table": "people", "entry": receipt.entry, "head": receipt.head}
    release = Release("table", guarantee, (LaplaceEvent("table", amount),), {}, {"total": 5.0}, ledger=facts)
    release = replace(release, **changes)
    ledger.complete(receipt.entry, release.digest())
    return release


def verified(text: str, ledger: Ledger | None = None, keys: tuple[str, ...] = ()) -> Any:
    """All that `verify` does but for files."""
    release = Release.from_json(text)
    check_consistency(release, FOLDER)
    return check_origin(release, keys, ledger)


def test_what_was_checked_is_said(ledger: Ledger) -> None:
    """Alone it is consistent and nothing more; a key says who, the ledger says that it was charged."""
    text = release_of(ledger).to_json()
    release = Release.from_json(text)
    alone, by_key, by_ledger = verified(text), verified(text, keys=(host_key().public,)), verified(text, ledger)
    assert (alone.signer, alone.known_by, alone.ledger, alone.is_checked) == (host_key().public, None, None, False)
    assert "Consistent with itself, origin not checked" in " ".join(alone.sentences(release))
    assert "Signed by an unknown key" in " ".join(alone.sentences(release))
    assert (by_key.known_by, by_key.ledger, by_key.is_checked) == ("key", None, True)
    assert "the key that you gave. The ledger was not asked." in " ".join(by_key.sentences(release))
    assert (by_ledger.known_by, by_ledger.ledger) == ("ledger", ledger.place)
    assert 'entry 1 of table "people" is this release' in " ".join(by_ledger.sentences(release))
    assert "origin not checked" not in " ".join(by_ledger.sentences(release))


SMALL = Guarantee(Fraction(1, 1000), Fraction(0), Neighbours.ADD_REMOVE)
SAID = ("guarantee", "identifiability", "steps")
TINY = Release("table", SMALL, (LaplaceEvent("table", SMALL.epsilon),), {}, {}).as_dict()
FORGERIES: dict[str, dict[str, Any]] = {
    "seeded noise turned to false": {"seeded": False},
    "epsilon 1/1000": {name: TINY[name] for name in SAID},
    "another result": {"result": {"total": 6.0}},
    "an invented ledger entry": {"ledger": {"table": "people", "entry": 2, "head": "0" * 64}},
    "an entry without its record": {"ledger": {"table": "people", "entry": 1}},
    "another table": {"ledger": {"table": "pupils", "entry": 1}},
    "unledgered": {"ledger": "unledgered"},
    "other files": {"files": {Path(__file__).name: file_hash(Path(__file__))}},
    "a file more for the holder": {"holder_files": ["labels.parquet"]},
    "no note": {"notes": []},
}


@pytest.mark.parametrize("signed", ["forger", "not", "as it was"])
@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_found(ledger: Ledger, name: str, signed: str) -> None:
    """Every hash fits; still the signature, the key and the ledger each tell, and nobody is told more than was checked."""
    text = release_of(ledger, seeded=True, notes=("a note",)).to_json()
    changes = FORGERIES[name]
    seeded = "private" if name.startswith("seeded") else "NOT PRIVATE (seeded noise)"
    status = f"{seeded}, {'unledgered' if name == 'unledgered' else 'ledgered'}"
    false = forge(text, {**changes, "status": status}, signed)
    assert verified(text, ledger).known_by == "ledger"
    for asked in ({"ledger": ledger}, {"keys": (host_key().public,)}):
        with pytest.raises(CloisterError):
            verified(false, **asked)  # type: ignore[arg-type]
    if signed == "as it was":
        with pytest.raises(UsageError, match="signature differs"):
            verified(false)
    else:
        assert not verified(false).is_checked


def test_a_sample_of_rate_0_is_refused_without_key_or_ledger(ledger: Ledger) -> None:
    """It would cost nothing, whatever ran on it."""
    sample = {"step": "s", "kind": "sample", "rate": "0", "events": [{"step": "a", "kind": "laplace", "epsilon": "1000"}]}
    with pytest.raises(UsageError, match="rate"):
        verified(forge(release_of(ledger).to_json(), {"steps": [sample]}))


def test_the_owner_of_the_key_cannot_rewrite_what_the_ledger_holds(ledger: Ledger) -> None:
    """Signed by the host itself: seeded noise, a smaller epsilon, another result; the ledger holds something else."""
    release = release_of(ledger, seeded=True)
    assert isinstance(release.guarantee, Guarantee)
    small = replace(release.guarantee, epsilon=Fraction(1, 1000))
    for changes in (
        {"seeded": False},
        {"guarantee": small, "events": ()},
        {"result": {}},
        {"result": {"synopsis": "0" * 64}},
    ):
        with pytest.raises(DataError, match="belongs to another release"):
            verified(replace(release, **changes).to_json(), ledger)


def test_clusters_of_a_synopsis_are_known_by_its_hash(ledger: Ledger) -> None:
    """What is derived at no cost names the release that was charged, and must keep its guarantee."""
    synopsis = release_of(ledger)
    clusters = synopsis.derived(kind="kmeans", result={"synopsis": synopsis.digest()})
    assert verified(clusters.to_json(), ledger).ledger
    assert isinstance(synopsis.guarantee, Guarantee)
    cheaper = replace(clusters, guarantee=replace(synopsis.guarantee, epsilon=Fraction(1, 1000)), events=())
    with pytest.raises(DataError, match="not what entry 1 of the ledger was charged for"):
        verified(cheaper.to_json(), ledger)


OLD_SYNTACTIC = {
    "guarantee": {"syntactic": True, "k": 5, "also": [], "unit": "row", "words": str(Syntactic(5))},
    "identifiability": None,
    "steps": [],
    "status": "syntactic, not differentially private, ledgered",
}


@pytest.mark.parametrize("changes", [{}, OLD_SYNTACTIC], ids=["the same guarantee", "a syntactic one"])
@pytest.mark.parametrize("version", [1, 2])
def test_the_published_hash_of_a_release_makes_nobody_its_heir(
    ledger: Ledger, changes: dict[str, Any], version: int
) -> None:
    """Clusters that name a synopsis, forged of its certificate alone: only a key of the ledger can say so, never version 1."""
    genuine = release_of(ledger)
    data = {**json.loads(genuine.to_json()), "version": version, **changes}
    data["result"] = {"synopsis": data["content"], "centers": [[1, 2], [3, 4]]}
    if version == 1:
        del data["holder_files"]
    for signed in ("not", "forger"):
        with pytest.raises(DataError, match="belongs to another release"):
            verified(forge(json.dumps(data), {}, signed), ledger)


def test_who_started_the_chain_vouches_for_nothing(tmp_path: Path) -> None:
    """Only a key that the ledger shows among its own does: the first record is signed before any key is brought in."""
    ledger = Ledger(tmp_path / "started.sqlite")
    ledger._store.create(lambda connection: Chain(connection).append(forger(), "start"))
    ledger.create("people", "add-remove", 10)
    genuine = release_of(ledger)
    assert ledger.keys() == [host_key().public]
    assert verified(genuine.to_json(), ledger).known_by == "ledger"
    with pytest.raises(DataError, match="signed by a key that the ledger does not know"):
        verified(forge(genuine.to_json(), FORGERIES["other files"]), ledger)
    heir = forge(genuine.to_json(), {"result": {"synopsis": genuine.digest()}})
    with pytest.raises(DataError, match="belongs to another release"):
        verified(heir, ledger)


def test_an_entry_stands_for_its_own_kind_of_guarantee(ledger: Ledger) -> None:
    """Signed by the host itself: a charge is no k-anonymous table, and a holder's use is not worth an epsilon."""
    synopsis = release_of(ledger)
    table = synopsis.derived(guarantee=Syntactic(5), events=(), result={"synopsis": synopsis.digest()})
    receipt = ledger.book_holder("people", "k-anonymous table")
    facts = {"table": "people", "entry": receipt.entry, "head": receipt.head}
    guarantee = Guarantee(Fraction(0), Fraction(0), Neighbours.ADD_REMOVE)
    private = Release("table", guarantee, (), {}, {}, ledger=facts)
    ledger.complete(receipt.entry, private.digest())
    for false in (table, private):
        with pytest.raises(DataError, match="the guarantee of this release is not what entry"):
            verified(false.to_json(), ledger)


def test_a_tail_that_was_cut_off_is_found_by_a_certificate(tmp_path: Path, ledger: Ledger) -> None:
    """The ledger that is left verifies by itself; the certificate names a record that is gone, or was written anew."""
    release_of(ledger)
    shutil.copy(ledger.place, tmp_path / "backup.sqlite")
    text = release_of(ledger).to_json()
    assert verified(text, ledger).ledger
    cut = Ledger(tmp_path / "backup.sqlite")
    assert cut.verify().records
    with pytest.raises(DataError, match="newest records were cut off"):
        verified(text, cut)
    release_of(cut)  # the number is used again, by the same host
    with pytest.raises(DataError, match="newest records were cut off"):
        verified(text, cut)


def test_a_charge_without_a_release_is_no_release(ledger: Ledger) -> None:
    """A process that died, or a certificate that was never finished."""
    receipt = ledger.book_charge("people", "add-remove", 1, 0, "table")
    facts = {"table": "people", "entry": receipt.entry, "head": receipt.head}
    guarantee = Guarantee(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE)
    with pytest.raises(DataError, match="no release came of it"):
        verified(Release("table", guarantee, (), {}, {}, ledger=facts).to_json(), ledger)


def test_an_old_certificate_is_not_signed_and_still_found_in_the_ledger(ledger: Ledger) -> None:
    """Version 1: the ledger compares what it says, and it is told that nothing vouches for its files."""
    receipt = ledger.book_charge("people", "add-remove", 1, 0, "table")
    guarantee = Guarantee(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE)
    old = Release("table", guarantee, (), {}, {}, ledger={"table": "people", "entry": receipt.entry}, version=1)
    ledger.complete(receipt.entry, old.digest())
    origin = verified(old.to_json(), ledger)
    assert (origin.signer, origin.known_by, origin.ledger) == (None, None, ledger.place)
    assert "Not signed: nothing vouches for its files." in origin.sentences(old)
    with pytest.raises(DataError, match="is not signed"):
        verified(old.to_json(), keys=(host_key().public,))


def test_syntactic_releases_are_signed_and_found_too(ledger: Ledger) -> None:
    """A k-anonymous table has no epsilon to compare, and an entry of the holder."""
    receipt = ledger.book_holder("people", "k-anonymous table")
    facts = {"table": "people", "entry": receipt.entry, "head": receipt.head}
    counts = {"rows": 100, "classes": 2, "smallest": 50}
    release = Release("k-anonymous table", Syntactic(5), (), {"k": 5}, counts, ledger=facts)
    ledger.complete(receipt.entry, release.digest())
    assert verified(release.to_json(), ledger).known_by == "ledger"
    with pytest.raises(DataError, match="another release"):
        verified(replace(release, guarantee=Syntactic(50), parameters={"k": 50}).to_json(), ledger)


def test_a_second_release_says_what_left_before(tmp_path: Path) -> None:
    """Through the vault: sums of what was charged, and k-anonymous tables above all, which no epsilon covers."""
    ledger = Ledger(tmp_path / "ledger.sqlite")
    ledger.create("t", "add-remove", 10)
    rows, encoding = pa.table({"x": [1.0, 2.0]}), Encoding((Grid.over("x", (0, 10), 1),))

    def notes() -> str:
        terms = {"budget": PureDP(1), "neighbours": Neighbours.ADD_REMOVE, "purpose": "test"}
        with Vault.open(rows, encoding, table="t", ledger=ledger, **terms) as vault:
            vault.follow(Plan(PureDP(1), Neighbours.ADD_REMOVE, ()))
            return " ".join(vault.release("test", {}, {}).notes)

    assert notes() == ""
    assert "cost epsilon 1; what was charged adds up to epsilon 2 with this one" in notes()
    ledger.record_holder("t", "risk")  # stays with the holder
    assert "No finite epsilon" not in notes()
    ledger.complete(ledger.record_holder("t", "k-anonymous table, k = 5"), "ab" * 32)
    told = notes()
    assert "left before, without noise: k-anonymous table, k = 5 (entry 5). No finite epsilon covers" in told
    assert "adds up to epsilon 4" in told


def test_the_certificate_inside_a_file_is_the_signed_one(tmp_path: Path) -> None:
    """JSON tables hold it as an object: its signature fits after it was read and written by somebody else's tools."""
    text = Release("table", Syntactic(3), (), {}, {"x": [1, 2.5, "é", None]}).to_json()
    again = json.dumps(json.loads(text))
    assert Release.from_json(again).signature == Release.from_json(text).signature
    assert forger().public != host_key().public


def test_clusters_of_a_synopsis_under_a_strangers_key_are_not_what_the_ledger_holds(ledger: Ledger) -> None:
    """Whoever gives the key vouches for the clusters; the ledger vouches for the synopsis alone, and both is said."""
    synopsis = release_of(ledger)
    data = {**json.loads(synopsis.to_json()), "result": {"synopsis": synopsis.digest(), "centers": [[1, 2]]}}
    stranger = forge(json.dumps(data), {}, "forger")
    key = Release.from_json(stranger).signature.key  # type: ignore[union-attr]
    with pytest.raises(DataError, match="a key that the ledger does not know"):
        verified(stranger, ledger, (key,))
    clusters = synopsis.derived(kind="kmeans", result={"synopsis": synopsis.digest()})
    for keys in ((), (host_key().public,)):
        origin = verified(clusters.to_json(), ledger, keys)
        said = " ".join(origin.sentences(clusters))
        assert "derived from entry 1 of table" in said
        assert "is this release" not in said
    assert "is this release" in " ".join(verified(synopsis.to_json(), ledger).sentences(synopsis))
