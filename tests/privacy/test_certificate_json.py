"""Certificates as JSON: old ones still read, and changed or foreign ones are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cloister.errors import UsageError
from cloister.privacy.certificate_json import fingerprint
from cloister.privacy.events import LaplaceEvent, SampledEvent
from cloister.privacy.release import Guarantee, Release
from cloister.schema import Neighbours

CERTIFICATES = sorted((Path(__file__).parent / "certificates_v1").glob("*.json"))


def resealed(data: dict[str, object]) -> str:
    """A certificate with a hash that fits what was changed in it."""
    data = {key: value for key, value in data.items() if key != "sha256"}
    return json.dumps({**data, "sha256": fingerprint(data)})


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


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"sha256": 1}', "null", "[" * 100_000])
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
    ],
    ids=["unknown event", "zero division", "huge", "tiny", "no text", "no list", "no guarantee", "no files"],
)
def test_a_certificate_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    """Also when its hash fits."""
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(resealed({**json.loads(pure().to_json()), **change}))


def test_another_version_is_refused() -> None:
    """A newer certificate asks for a newer Cloister."""
    with pytest.raises(UsageError, match="version 2"):
        Release.from_json(resealed({**json.loads(pure().to_json()), "version": 2}))


def test_the_digest_leaves_out_the_files() -> None:
    """The ledger keeps a hash of what was released, whatever is written beside it."""
    assert pure().digest() == replace(pure(), files={"a.csv": "00"}).digest()
    assert pure().digest() != pure(epsilon="1").digest()
