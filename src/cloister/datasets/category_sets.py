"""Data sets of categories alone: Car Evaluation and Nursery. Their rows are all combinations of the values."""

from __future__ import annotations

from cloister.datasets.dataset import CLASS, FROM_MEANING, DataFile, DatasetFacts
from cloister.datasets.number_sets import UCI
from cloister.datasets.reading import separated
from cloister.schema import Category, Column, Schema

__all__ = ["CATEGORY_SETS"]


def categories(**domains: tuple[str, ...]) -> Schema:
    """A schema of category columns, as the set's documentation lists their values."""
    return Schema(tuple(Column(name, Category(domain=domain)) for name, domain in domains.items()))


CAR = categories(
    buying=("vhigh", "high", "med", "low"),
    maint=("vhigh", "high", "med", "low"),
    doors=("2", "3", "4", "5more"),
    persons=("2", "4", "more"),
    lug_boot=("small", "med", "big"),
    safety=("low", "med", "high"),
)

NURSERY = categories(
    parents=("usual", "pretentious", "great_pret"),
    has_nurs=("proper", "less_proper", "improper", "critical", "very_crit"),
    form=("complete", "completed", "incomplete", "foster"),
    children=("1", "2", "3", "more"),
    housing=("convenient", "less_conv", "critical"),
    finance=("convenient", "inconv"),
    social=("nonprob", "slightly_prob", "problematic"),
    health=("recommended", "priority", "not_recom"),
)

CATEGORY_SETS = {
    "car": DatasetFacts(
        "evaluation of cars (UCI), 1,728 rows, 6 categories, 4 classes",
        (DataFile("car.data", "b703a9ac69f11e64ce8c223c0a40de4d2e9d769f7fb20be5f8f2e8a619893d83", f"{UCI}/car/car.data"),),
        CAR,
        FROM_MEANING,
        separated((*CAR.names, CLASS)),
    ),
    "nursery": DatasetFacts(
        "ranks of applications for nursery schools (UCI), 12,960 rows, 8 categories, 5 classes",
        (
            DataFile(
                "nursery.data",
                "8e0389c3dd37590248a921c2726d869ee96b817761a35eb8416afa24f31f931d",
                f"{UCI}/nursery/nursery.data",
            ),
        ),
        NURSERY,
        FROM_MEANING,
        separated((*NURSERY.names, CLASS)),
    ),
}
