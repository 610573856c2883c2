"""Certificates as JSON: old ones still read, and changed or foreign ones are refused."""

from __future__ import annotations

import getpass
import json
import socket
import time
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cloister.errors import UsageError
from cloister.privacy.certificate_figures import find_contradiction
from cloister.privacy.certificate_json import fingerprint
from cloister.privacy.events import ExponentialEvent, GaussianEvent, LaplaceEvent, SampledEvent
from cloister.privacy.release import Guarantee, Release
from cloister.privacy.signing import host_key, key_path
from cloister.schema import Neighbours
from tests.privacy.forgery import forge, forger

CERTIFICATES = sorted((Path(__file__).parent / "certificates_v1").glob("*.json"))


GUARANTEE = {"epsilon": "1/2", "delta": "0", "neighbours": "replace-one", "unit": "row", "words": "epsilon 0.5"}


@pytest.mark.parametrize("path", CERTIFICATES, ids=lambda path: path.stem)
def test_an_old_certificate_reads_and_writes_itself_byte_for_byte(path: Path) -> None:
    """The JSON of version 1 is pinned: certificates that were written before still verify, and look the same today."""
    text = path.read_text(encoding="utf-8")
    release = Release.from_json(text)
    assert release.to_json() == text
    assert release.adds_up()


def test_what_an_old_certificate_says() -> None:
    """Events, guarantee and ledger of a pinned certificate come back as values."""
    path = next(path for path in CERTIFICATES if path.stem == "kmeans")
    release = Release.from_json(path.read_text(encoding="utf-8"))
    assert [event.step for event in release.events] == ["size", "seeding", "lloyd 1", "pure"]
    assert isinstance(release.events[1], SampledEvent)
    assert [event.step for event in release.events[1].events] == ["votes 1", "votes 2"]
    assert isinstance(release.guarantee, Guarantee)
    assert (release.guarantee.epsilon, release.guarantee.delta) == (2, Fraction(1, 10**5))
    assert release.ledger == {"table": "people", "entry": 7}
    assert release.status == "private, ledgered"


def pure(epsilon: str = "1/2", spent: str = "1/2") -> Release:
    """A release with one pure step."""
    guarantee = Guarantee(Fraction(epsilon), Fraction(0), Neighbours.REPLACE_ONE)
    return Release("table", guarantee, (LaplaceEvent("table", Fraction(spent)),), {}, {})


def test_a_changed_certificate_is_refused() -> None:
    """Any change without a new hash is seen."""
    text = pure().to_json()
    with pytest.raises(UsageError, match="was changed"):
        Release.from_json(text.replace('"1/2"', '"1/3"', 1))


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"sha256": 1}', "null", "[" * 100_000, '{"sha256": 1, "version": "\\ud800"}']
)
def test_what_is_no_certificate_is_refused(text: str) -> None:
    """Other JSON, or none, is told so."""
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(text)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": [{"step": "a", "kind": "magic", "epsilon": "1"}]},
        {"steps": [{"step": "a", "kind": "laplace", "epsilon": "1/0"}]},
        {"steps": [{"step": "a", "kind": "laplace", "epsilon": "1e9999999"}]},
        {"steps": [{"step": "a", "kind": "gaussian", "precision": "1e-9999999"}]},
        {"steps": [{"step": "a", "kind": "laplace", "epsilon": 1}]},
        {"steps": 3},
        {"guarantee": {}},
        {"files": [1]},
        {"files": {"../../secret.csv": "00"}},
        {"files": {"/etc/passwd": "00"}},
        {"holder_files": 3},
        {"extra": 3},
        {"version": 1},
        {"seeded": "no"},
        {"ledger": {"table": "people"}},
        {"ledger": {"table": "people", "entry": True}},
        {"ledger": {"table": "people", "entry": 1, "head": "none"}},
        {"ledger": {"table": "people\nVerified", "entry": 1}},
        {"ledger": {"table": "people", "entry": 1, "left": "x\ny"}, "status": "private, ledgered"},
        {"parameters": {"a\nb": 1}},
        {"result": {"\x1b[8m": 1}},
        {"result": [["total", 5.0]]},
        {"kind": "table\x1b[8m"},
        {"kind": 3},
        {"notes": ["one\ntwo"]},
        {"notes": ["\u202eturned"]},
        {"notes": [None]},
        {"files": {"a\n.csv": "00"}},
        {"files": {"a.csv": None}},
        {"guarantee": {**GUARANTEE, "unit": "row.\nStatus: private, ledgered.\x1b[8m"}},
        {"guarantee": {**GUARANTEE, "unit": None}},
        {"guarantee": {**GUARANTEE, "delta": "1"}},
        {"guarantee": {**GUARANTEE, "delta": "-1/2"}},
        {"guarantee": {**GUARANTEE, "epsilon": "-1"}},
        {"guarantee": {"syntactic": True, "k": 0, "also": [], "unit": "row", "words": ""}},
        {"guarantee": {"syntactic": True, "k": "5\n", "also": [], "unit": "row", "words": ""}},
        {"guarantee": {"syntactic": True, "k": 5, "also": ["\x9b2J"], "unit": "row", "words": ""}},
        {"steps": [{"step": "a\nb", "kind": "laplace", "epsilon": "1/2"}]},
        {"steps": [{"step": None, "kind": "laplace", "epsilon": "1/2"}]},
    ],
    ids=str,
)
def test_a_certificate_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    """Also when its hash fits."""
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(forge(pure().to_json(), change))


def test_a_step_beyond_all_numbers_does_not_add_up() -> None:
    """A precision of 1e400 is no floating-point number, and no guarantee covers it."""
    guarantee = Guarantee(Fraction(1, 2), Fraction(1, 100), Neighbours.REPLACE_ONE)
    steps = (GaussianEvent("a", Fraction(10**400)),)
    assert not Release.from_json(Release("table", guarantee, steps, {}, {}).to_json()).adds_up()


def test_a_note_is_one_line() -> None:
    """It may quote the name of a column, which may hold anything."""
    release = replace(pure(), notes=('the column "a\nSigned by \x1b[8m" was left out',))
    assert Release.from_json(release.to_json()) == release
    assert release.notes == ('the column "a\\u000aSigned by \\u001b[8m" was left out',)


STEP = {"step": "table", "kind": "laplace", "epsilon": "1/2"}
WORDS = "epsilon 0.5, replace-one neighbours, per row"


@pytest.mark.parametrize("version", [1, 2])
@pytest.mark.parametrize(
    "change",
    [
        {"guarantee": {**GUARANTEE, "words": "epsilon 0.0001, replace-one neighbours, per row"}},
        {"guarantee": {**GUARANTEE, "words": WORDS, "audited_by": "the regulator"}},
        {"guarantee": {**GUARANTEE, "words": WORDS, "epsilon": "0.5"}},
        {"identifiability": {"2": 0.5000001}},
        {"identifiability": None},
        {"steps": [{**STEP, "comment": "checked"}]},
        {"steps": [{"step": "s", "kind": "laplace", "epsilon": "0.5"}]},
    ],
    ids=str,
)
def test_what_a_certificate_says_twice_is_the_same(change: dict[str, object], version: int) -> None:
    """The guarantee in words and the posteriors follow from its numbers, in every version; nothing else stands beside them."""
    text = replace(pure(), version=version).to_json()
    Release.from_json(forge(text, {"guarantee": {**GUARANTEE, "words": WORDS}, "steps": [STEP]}))  # what it said before
    with pytest.raises(UsageError, match="says more than its fields"):
        Release.from_json(forge(text, change))


@pytest.mark.parametrize(
    ("stated", "is_true"),
    [
        ({"rho": "0.7", "worlds": 2}, True),
        ({"rho": "0.6", "worlds": 2}, False),
        ({"rho": "0.7", "worlds": 3}, True),
        ({"numbers": {"rho": "0.6", "worlds": 2}, "categories": {"rho": "0.6", "worlds": 2}}, True),
        ({"numbers": {"rho": "0.51", "worlds": 2}, "categories": {"rho": "0.6", "worlds": 2}}, False),
        ({"rho": "0.7", "worlds": 1}, False),
        ({"rho": "1e999999", "worlds": 2}, False),
        ({"rho": "0.7"}, False),
        ({}, False),
        ("0.7", False),
    ],
    ids=str,
)
def test_a_rho_that_the_guarantee_does_not_keep_is_found(stated: Any, is_true: bool) -> None:
    """A certificate that states a rho for its budget has an epsilon of no more than that rho, or its two parts, allow."""
    release = replace(pure(), parameters={"identifiability": stated})
    assert (find_contradiction(release) is None) == is_true


def test_another_version_is_refused() -> None:
    """A newer certificate asks for a newer Cloister."""
    with pytest.raises(UsageError, match=r"version 6.*Update Cloister"):
        Release.from_json(forge(pure().to_json(), {"version": 6}))


CHOICE = {"step": "choice", "kind": "exponential", "epsilon": "1/2"}


def test_a_choice_is_written_as_version_3_and_all_else_as_before() -> None:
    """An older Cloister reads 2 at most: of a release with a kind of step that it lacks it says that it must be updated."""
    choice = replace(pure(), events=(ExponentialEvent("choice", Fraction(1, 2)),))
    on_sample = replace(pure(), events=(SampledEvent("s", Fraction(1, 2), choice.events),))
    assert (pure().version, choice.version, on_sample.version) == (2, 3, 3)
    assert json.loads(choice.to_json())["steps"] == [CHOICE]
    assert Release.from_json(choice.to_json()) == choice
    assert choice.adds_up()
    assert pure().derived(events=choice.events).version == 3
    assert choice.derived(events=pure().events).version == 2


@pytest.mark.parametrize(("version", "steps"), [(1, [CHOICE]), (2, [CHOICE]), (3, [STEP])])
def test_a_version_that_its_steps_do_not_have_is_refused(version: int, steps: list[dict[str, str]]) -> None:
    """No Cloister writes a choice into an old certificate, or a new one without need."""
    text = replace(pure(), version=1).to_json() if version == 1 else pure().to_json()
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(forge(text, {"version": version, "steps": steps}))


def test_the_digest_leaves_out_the_files() -> None:
    """The ledger keeps a hash of what was released, whatever is written beside it, for the holder or not."""
    beside = replace(pure(), files={"a.csv": "00"}, holder_files=("labels.parquet",))
    assert pure().digest() == beside.digest() == Release.from_json(beside.to_json()).digest()
    assert pure().digest() != pure(epsilon="1").digest()


def test_a_certificate_is_signed_and_keeps_its_signature() -> None:
    """It reads and writes itself byte for byte, on a host with another key too; another release is signed anew."""
    text = pure().to_json()
    release = Release.from_json(text)
    assert release.signature is not None
    assert release.signature.key == host_key().public
    foreign = Release.from_json(forge(text, {}))
    assert foreign.signature is not None
    assert foreign.signature.key == forger().public
    assert json.loads(foreign.to_json()) == json.loads(forge(text, {}))
    changed = Release.from_json(replace(foreign, kind="another").to_json())
    assert changed.signature is not None
    assert changed.signature.key == host_key().public


@pytest.mark.parametrize("name", ["kind", "status", "guarantee", "steps", "seeded", "ledger", "notes", "files"])
def test_a_signature_covers_everything(name: str) -> None:
    """Any field that is changed under the signature of the host is seen, when every hash fits."""
    text = replace(pure(), files={"a.csv": "0" * 64}).to_json()
    other = {
        **json.loads(pure(epsilon="1", spent="1").to_json()),
        "kind": "x",
        "status": "x",
        "seeded": True,
        "notes": ["x"],
    }
    other |= {"ledger": {"table": "t", "entry": 1}, "files": {}}
    with pytest.raises(UsageError, match=r"signature differs|content differs"):
        Release.from_json(forge(text, {name: other[name]}, signed="as it was"))


@pytest.mark.parametrize("signature", [{}, {"key": "ed25519:00", "value": "00"}, {"key": 1, "value": None}, "x", 3])
def test_a_senseless_signature_is_refused(signature: object) -> None:
    """Whatever stands in its place."""
    data = {**json.loads(pure().to_json()), "signature": signature}
    del data["sha256"]
    with pytest.raises(UsageError, match=r"not a Cloister release|signature differs"):
        Release.from_json(json.dumps({**data, "sha256": fingerprint(data)}))


def test_a_certificate_names_no_host_user_or_path(tmp_path: Path) -> None:
    """What is signed is what was released: nothing in it says where or by whom."""
    text = pure().to_json()
    names = {socket.gethostname(), getpass.getuser(), str(Path.home()), str(tmp_path), str(key_path())}
    assert not [name for name in names if len(name) > 3 and name in text]


def test_a_host_without_a_key_leaves_the_certificate_unsigned(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What was paid for is written all the same, and says that nobody signed it."""
    monkeypatch.setenv("CLOISTER_KEY", str(tmp_path / "missing" / "key"))
    assert Release.from_json(pure().to_json()).signature is None


@pytest.mark.parametrize(
    ("sample", "words"),
    [
        ({"rate": "0", "events": [{"step": "a", "kind": "laplace", "epsilon": "1000"}]}, "rate"),
        ({"rate": "3/2", "events": []}, "rate"),
        ({"rate": "-1", "events": []}, "rate"),
        (
            {"rate": "1/2", "events": [{"step": "b", "kind": "sample", "rate": "1/2", "events": []}]},
            "sample of a secret sample",
        ),
        ({"rate": "1/2", "events": [{"step": "a", "kind": "laplace", "epsilon": "1/8"}]}, "replace-one"),
    ],
    ids=["rate 0", "rate above 1", "negative rate", "nested", "replace-one"],
)
def test_samples_that_amplify_nothing_are_refused(sample: dict[str, object], words: str) -> None:
    """Also by whoever can sign: no vault makes such a release."""
    text = forge(pure().to_json(), {"steps": [{"step": "s", "kind": "sample", **sample}]})
    with pytest.raises(UsageError, match=words):
        Release.from_json(text)


def test_a_key_that_stands_twice_is_refused() -> None:
    """Of two equal keys some readers take the first, some the last."""
    text = pure().to_json()
    doubled = text.replace('"seeded": false', '"seeded": true, "seeded": false', 1)
    assert json.loads(doubled) == json.loads(text)
    with pytest.raises(UsageError, match="twice in one object"):
        Release.from_json(doubled)


@pytest.mark.parametrize(
    "change", [{"seeded": True}, {"status": "private, ledgered"}, {"ledger": {"table": "t", "entry": 1}}], ids=str
)
def test_a_status_must_follow_from_the_rest(change: dict[str, object]) -> None:
    """A reader who looks at the status alone is not told something else than the fields say."""
    with pytest.raises(UsageError, match="calls itself"):
        Release.from_json(forge(pure().to_json(), change))


@pytest.mark.parametrize("more", [{"note": "epsilon was 0.001"}, {"rows": [1234.5]}, {"value": ["x"]}, {"key": None}])
def test_nothing_stands_beside_a_signature(more: dict[str, object]) -> None:
    """No signature covers itself, so that anybody could put it there."""
    data = json.loads(pure().to_json())
    del data["sha256"]
    data["signature"] |= more
    data["sha256"] = fingerprint(data)
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(json.dumps(data))


def test_steps_of_endless_digits_are_refused_at_once() -> None:
    """A thousand steps of a thousand digits each have no short sum, and no plan has such: seconds are not spent on it."""
    random = np.random.default_rng(0)
    steps = tuple(LaplaceEvent(f"s{i}", Fraction(1, int.from_bytes(random.bytes(400), "little") | 1)) for i in range(1000))
    guarantee = Guarantee(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE, "row")
    text = Release("kmeans", guarantee, steps, {}, {}).to_json()
    start = time.process_time()
    with pytest.raises(UsageError, match="more digits than any plan has"):
        Release.from_json(text)
    assert time.process_time() - start < 2
