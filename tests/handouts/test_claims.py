"""What a report claims: no more than the certificate and the checks bear out."""

from __future__ import annotations

import html
import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from cloister.handouts.check_words import ReleaseChecks
from cloister.handouts.release_report import release_report
from cloister.handouts.shown_results import show_result
from cloister.privacy.guarantees import Guarantee, Syntactic
from cloister.privacy.release import Release
from cloister.privacy.verification import Origin
from cloister.report.page import page_html
from cloister.schema import Neighbours

KEY = "ed25519:" + "ab" * 32
NOBODY_ASKED = Origin(None)
LEDGER = {"table": "people", "entry": 3, "head": "0" * 64}


def private(**fields: Any) -> Release:
    """A private table."""
    parameters = {"by": ["level"], "measures": [], "cells": 3, "defaults": {}}
    made = Release("table", Guarantee(Fraction(1), Fraction(0), Neighbours.ADD_REMOVE), (), parameters, {"total": 9})
    return replace(made, **fields)


def alike(also: tuple[str, ...] = (), untouched: tuple[str, ...] = ("grade", "hours"), k: int | None = 5) -> Release:
    """A k-anonymous table with these guards."""
    columns = [{"name": "age", "values": 31, "labels": ["[15, 30)", "[30, 45]"]}]
    result = {"rows": 100, "classes": 2, "smallest": 40, "untouched": list(untouched), "columns": columns}
    return Release("k-anonymous table", Syntactic(k, "row", also), (), {"quasi": ["age"], "k": k}, result)


def text_of(release: Release, origin: Origin = NOBODY_ASKED) -> str:
    """What a reader of the report sees, as one line."""
    page = page_html(release_report(release, ReleaseChecks("it", origin), version="1"))
    return " ".join(html.unescape(re.sub("<[^>]*>", " ", page.partition("</head>")[2])).split())


def test_all_columns_that_were_read_are_named() -> None:
    """Means, quantiles, the column of people, and whatever a default was stated for."""
    parameters = {"by": ["level"], "means": ["grade"], "quantiles": {"age": {}}, "defaults": {"grade": 1, "weight": 1}}
    unit = 'person (at most 2 rows each, column "id")'
    text = text_of(private(parameters=parameters, guarantee=replace(private().guarantee, unit=unit)))
    assert "columns of which means were taken grade" in text
    assert "columns of which quantiles were taken age" in text
    assert "column that says whose a row is id" in text
    assert "columns that were read besides weight" in text


def test_a_ledger_that_was_not_asked_is_what_the_certificate_says() -> None:
    """Nothing is claimed in the ledger's name."""
    text = text_of(private(ledger=LEDGER))
    assert "The certificate says that the release is written in the holder's ledger. The ledger was not asked." in text
    assert "certificate and the holder's ledger say" not in text


def test_a_ledger_that_was_asked_is_named_as_a_source() -> None:
    """The page holds what it said."""
    text = text_of(private(ledger=LEDGER), Origin(KEY, "ledger", "ledger.sqlite"))
    assert "The holder's ledger was asked: it holds this release" in text
    assert "nothing but what the release, its certificate and the holder's ledger say" in text


def test_of_a_derived_release_the_ledger_holds_the_source() -> None:
    """Not the clusters themselves."""
    text = text_of(private(ledger=LEDGER, result={"synopsis_signer": KEY}), Origin(KEY, "ledger", "ledger.sqlite", True))
    assert "it holds what this release was derived from, and not the release itself" in text


def test_an_origin_that_was_not_checked_is_said() -> None:
    """Of what a release was derived from, as `cloister verify` says it."""
    text = text_of(private(ledger=LEDGER, result={"synopsis_signer": KEY}))
    assert f"derived from a release that is signed by {KEY}: its origin was not checked" in text


def test_a_seeded_release_is_not_called_private() -> None:
    """Neither in its title nor among the risks."""
    text = text_of(private(seeded=True, ledger=LEDGER))
    assert "NOT PRIVATE (seeded): a table of table “people”" in text
    assert "A private table" not in text
    assert "inference about one person are bounded" not in text


def test_k_alone_bounds_no_inference() -> None:
    """The rows of a group may share a value."""
    text = text_of(alike())
    assert "Inference is not bounded" in text
    assert "Homogeneity: where all rows of a group share a value of another column" in text


@pytest.mark.parametrize("guard", ["distinct l-diversity, l = 2 (grade)", "t-closeness, t = 0.3, equal distance (grade)"])
def test_a_guarded_column_is_not_called_unguarded(guard: str) -> None:
    """It is bounded by its guard, the others by nothing."""
    text = text_of(alike((guard,)))
    assert f"Inference of grade is bounded against the same: {guard}. Inference of other columns is not." in text
    assert "share a value of a column other than grade" in text
    assert "with nothing done to them: hours." in text
    assert "may all share a value in another column" not in text


def test_where_every_column_is_guarded_none_is_homogeneous() -> None:
    """No sentence says that rows may share a value."""
    text = text_of(alike(("entropy l-diversity, l = 1.5 (grade)",), ("grade",)))
    assert "Homogeneity" not in text
    assert "nothing done to them" not in text
    assert "nothing was done to them" not in text


@pytest.mark.parametrize("guard", ["distinct l-diversity, l = 1 (grade)", "t-closeness, t = 1, equal distance (grade)"])
def test_a_guard_that_bounds_nothing_is_none(guard: str) -> None:
    """An l of 1 holds of any group, and so does a t of 1."""
    assert "Inference is not bounded" in text_of(alike((guard,)))


def test_without_a_k_nothing_is_bounded() -> None:
    """Rows under a saved recoding promise nothing."""
    assert "Singling out, linking and inference are not bounded: no k is promised." in text_of(alike(k=None))


def test_how_coarse_a_column_became_is_told() -> None:
    """In labels, of as many values as it may have."""
    assert "age 2 labels, of 31 values that it may have: [15, 30), [30, 45]" in text_of(alike())


def test_columns_that_are_not_shown_are_named(tmp_path: Path) -> None:
    """A wide table is cut with a word."""
    heads = ["level", "count", "standard_error", "low", "high", *(f"mean of m{i}" for i in range(6))]
    (tmp_path / "wide.csv").write_text(",".join(heads) + "\n" + ",".join(["*", *["1"] * 10]) + "\n")
    (*_, said) = show_result(private(), tmp_path / "wide.csv")
    assert getattr(said, "text", "") == "... and 3 columns more in the file: mean of m3, mean of m4, mean of m5."


def test_posteriors_keep_their_order_near_certainty() -> None:
    """At epsilon 5 the bound for ten worlds is below that for two, and looks so."""
    guarantee = Guarantee(Fraction(5), Fraction(0), Neighbours.ADD_REMOVE)
    text = text_of(private(guarantee=guarantee))
    assert "2 50% >99.99%" in text
    assert "10 10% 99.96%" in text


def test_the_assessment_lists_columns_that_were_published_as_they_are() -> None:
    """They are among the risks: nothing was done to them."""
    risks = text_of(alike()).partition("3. Risks to the people concerned")[2]
    assert "Published as they are: grade, hours. Whoever knows one of them of somebody may find the row by it." in risks
