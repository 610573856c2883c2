"""Releases: the events must add up, seeded noise is stamped, and a notebook shows them."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from cloister.privacy.events import LaplaceEvent
from cloister.privacy.release import Guarantee, Release, Syntactic
from cloister.schema import Neighbours


def pure(epsilon: str = "1/2", spent: str = "1/2") -> Release:
    """A release with one pure step."""
    guarantee = Guarantee(Fraction(epsilon), Fraction(0), Neighbours.REPLACE_ONE)
    return Release("table", guarantee, (LaplaceEvent("table", Fraction(spent)),), {}, {})


def test_events_that_pass_the_guarantee_do_not_add_up() -> None:
    """A certificate that promises less than its events cost says so, to the last digit."""
    assert pure().adds_up()
    assert not pure(spent="500000000000000000001/1000000000000000000000").adds_up()
    assert not replace(Release("k", Syntactic(5), (), {}, {}), events=pure().events).adds_up()


def test_seeded_noise_is_stamped() -> None:
    """The status says that a seeded release protects nobody, and its text too."""
    release = replace(pure(), seeded=True)
    assert release.status == "NOT PRIVATE (seeded noise), unledgered"
    assert "NOT PRIVATE" in str(release)
    assert "NOT PRIVATE" in release._repr_html_()


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
