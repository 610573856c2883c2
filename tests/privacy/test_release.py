"""Certificates: old ones still read, changed ones are refused, and the events must add up."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from cloister.errors import UsageError
from cloister.privacy.events import LaplaceEvent, SampledEvent
from cloister.privacy.release import Guarantee, Release, Syntactic, fingerprint
from cloister.schema import Neighbours

CERTIFICATES = sorted((Path(__file__).parent / "certificates").glob("*.json"))


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


def test_events_that_pass_the_guarantee_do_not_add_up() -> None:
    """A certificate that promises less than its events cost says so, to the last digit."""
    assert pure().adds_up()
    assert not pure(spent="500000000000000000001/1000000000000000000000").adds_up()
    assert not replace(Release("k", Syntactic(5), (), {}, {}), events=pure().events).adds_up()


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
        {"steps": 3},
        {"guarantee": {}},
        {"files": [1]},
    ],
    ids=["unknown event", "zero division", "no list", "no guarantee", "no files"],
)
def test_a_certificate_that_makes_no_sense_is_refused(change: dict[str, object]) -> None:
    """Also when its hash fits."""
    with pytest.raises(UsageError, match="not a Cloister release"):
        Release.from_json(resealed({**json.loads(pure().to_json()), **change}))


def test_another_version_is_refused() -> None:
    """A newer certificate asks for a newer Cloister."""
    with pytest.raises(UsageError, match="version 2"):
        Release.from_json(resealed({**json.loads(pure().to_json()), "version": 2}))


def test_seeded_noise_is_stamped() -> None:
    """The status says that a seeded release protects nobody, and its text too."""
    release = replace(pure(), seeded=True)
    assert release.status == "NOT PRIVATE (seeded noise), unledgered"
    assert "NOT PRIVATE" in str(release)
    assert "NOT PRIVATE" in release._repr_html_()


def test_the_digest_leaves_out_the_files() -> None:
    """The ledger keeps a hash of what was released, whatever is written beside it."""
    assert pure().digest() == replace(pure(), files={"a.csv": "00"}).digest()
    assert pure().digest() != pure(epsilon="1").digest()


def test_html_is_escaped() -> None:
    """Names from a schema cannot put markup into a notebook."""
    assert "<b>" not in replace(pure(), kind="<b>", notes=("<b>",))._repr_html_()


def test_identifiability_needs_a_guarantee_without_delta() -> None:
    """With a delta, and for a syntactic release, no posterior is bounded."""
    guarantee = pure().guarantee
    assert isinstance(guarantee, Guarantee)
    assert list(guarantee.identifiability() or {}) == [2, 100, 10_001]
    assert replace(guarantee, delta=Fraction(1, 10**6)).identifiability() is None
    assert Syntactic(5).identifiability() is None
