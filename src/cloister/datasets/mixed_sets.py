"""Data sets of numbers and categories: Adult in two forms, Heart, Auto MPG and Covertype."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv

from cloister.datasets.dataset import CLASS, FROM_MEANING, FROM_PUBLISHED, FROM_ROWS, DataFile, DatasetFacts, DatasetRows
from cloister.datasets.number_sets import UCI
from cloister.datasets.reading import joined, read_cells, separated, typed
from cloister.schema import Category, Column, Number, Role, Schema, Text

__all__ = ["MIXED_SETS"]

COUNTRIES = (
    "United-States", "Cambodia", "England", "Puerto-Rico", "Canada", "Germany", "Outlying-US(Guam-USVI-etc)", "India", "Japan",
    "Greece", "South", "China", "Cuba", "Iran", "Honduras", "Philippines", "Italy", "Poland", "Jamaica", "Vietnam", "Mexico",
    "Portugal", "Ireland", "France", "Dominican-Republic", "Laos", "Ecuador", "Taiwan", "Haiti", "Columbia", "Hungary",
    "Guatemala", "Nicaragua", "Scotland", "Thailand", "Yugoslavia", "El-Salvador", "Trinadad&Tobago", "Peru", "Hong",
    "Holand-Netherlands",
)  # fmt: skip
JOBS = (
    "Tech-support", "Craft-repair", "Other-service", "Sales", "Exec-managerial", "Prof-specialty", "Handlers-cleaners",
    "Machine-op-inspct", "Adm-clerical", "Farming-fishing", "Transport-moving", "Priv-house-serv", "Protective-serv",
    "Armed-Forces",
)  # fmt: skip
SCHOOLS = (
    "Bachelors", "Some-college", "11th", "HS-grad", "Prof-school", "Assoc-acdm", "Assoc-voc", "9th", "7th-8th", "12th",
    "Masters", "1st-4th", "10th", "Doctorate", "5th-6th", "Preschool",
)  # fmt: skip
EMPLOYERS = (
    "Private", "Self-emp-not-inc", "Self-emp-inc", "Federal-gov", "Local-gov", "State-gov", "Without-pay", "Never-worked",
)  # fmt: skip
MARRIAGES = (
    "Married-civ-spouse", "Divorced", "Never-married", "Separated", "Widowed", "Married-spouse-absent", "Married-AF-spouse",
)  # fmt: skip
RACES = ("White", "Asian-Pac-Islander", "Amer-Indian-Eskimo", "Other", "Black")
AGE = Number(bounds=(17, 90), step=1)  # people above 16; the census writes 90 for whoever is older


def with_missing(domain: tuple[str, ...]) -> Category:
    """A category whose missing values are counted in a cell of their own."""
    return Category(domain=domain, other=True)


ADULT = Schema(
    (
        Column("age", AGE),
        Column("workclass", with_missing(EMPLOYERS)),
        Column("fnlwgt", Number(bounds=(0, 1_500_000), step=1)),
        Column("education", Category(domain=SCHOOLS)),
        Column("education-num", Number(bounds=(1, 16), step=1)),
        Column("marital-status", Category(domain=MARRIAGES)),
        Column("occupation", with_missing(JOBS)),
        Column(
            "relationship",
            Category(domain=("Wife", "Own-child", "Husband", "Not-in-family", "Other-relative", "Unmarried")),
        ),
        Column("race", Category(domain=RACES)),
        Column("sex", Category(domain=("Female", "Male"))),
        Column("capital-gain", Number(bounds=(0, 99_999), step=1)),
        Column("capital-loss", Number(bounds=(0, 5_000), step=1)),
        Column("hours-per-week", Number(bounds=(1, 99), step=1)),
        Column("native-country", with_missing(COUNTRIES)),
    )
)

ADULT_COMPLETE = Schema(
    (
        Column("sex", Category(domain=("Female", "Male")), Role.QUASI),
        Column("age", AGE, Role.QUASI),
        Column("race", Category(domain=RACES), Role.QUASI),
        Column("marital-status", Category(domain=MARRIAGES), Role.QUASI),
        Column("education", Category(domain=SCHOOLS), Role.QUASI),
        Column("native-country", Category(domain=COUNTRIES), Role.QUASI),
        Column("workclass", Category(domain=EMPLOYERS), Role.QUASI),
        Column("occupation", Category(domain=JOBS), Role.QUASI),
    )
)

HEART_WORDS = {  # by column, what each code stands for
    "sex": {"0.0": "female", "1.0": "male"},
    "chest_pain": {"1.0": "typical angina", "2.0": "atypical angina", "3.0": "non-anginal pain", "4.0": "asymptomatic"},
    "fasting_blood_sugar": {"0.0": "normal", "1.0": "above 120 mg/dl"},
    "resting_ecg": {"0.0": "normal", "1.0": "ST-T wave abnormality", "2.0": "left ventricular hypertrophy"},
    "exercise_angina": {"0.0": "no", "1.0": "yes"},
    "st_slope": {"1.0": "up", "2.0": "flat", "3.0": "down"},
    "thal": {"3.0": "normal", "6.0": "fixed defect", "7.0": "reversible defect"},
    CLASS: {"1": "absence", "2": "presence"},
}


def heart_category(name: str) -> Column:
    """A column of Heart with the words for its codes."""
    return Column(name, Category(domain=tuple(HEART_WORDS[name].values())))


HEART = Schema(
    (
        Column("age", Number(bounds=(25, 80), step=1)),
        heart_category("sex"),
        heart_category("chest_pain"),
        Column("resting_blood_pressure", Number(bounds=(90, 200), step=1)),
        Column("cholesterol", Number(bounds=(100, 600), step=1)),
        heart_category("fasting_blood_sugar"),
        heart_category("resting_ecg"),
        Column("max_heart_rate", Number(bounds=(60, 220), step=1)),
        heart_category("exercise_angina"),
        Column("st_depression", Number(bounds=(0, 7), step=0.1)),
        heart_category("st_slope"),
        Column("major_vessels", Number(bounds=(0, 3), step=1)),
        heart_category("thal"),
    )
)

ORIGINS = {"1": "USA", "2": "Europe", "3": "Japan"}
AUTO_MPG = Schema(
    (
        Column("mpg", Number(bounds=(5, 50), step=0.1)),
        Column("cylinders", Number(bounds=(3, 8), step=1)),
        Column("displacement", Number(bounds=(50, 500), step=0.5)),
        Column("horsepower", Number(bounds=(40, 240), step=1)),
        Column("weight", Number(bounds=(1_500, 5_500), step=1)),
        Column("acceleration", Number(bounds=(5, 25), step=0.1)),
        Column("model_year", Number(bounds=(70, 82), step=1)),
        Column("origin", Category(domain=tuple(ORIGINS.values()))),
        Column("car_name", Text(), Role.IDENTIFIER),
    )
)

AREAS = ("Rawah", "Neota", "Comanche Peak", "Cache la Poudre")
SOILS = tuple(f"soil {j}" for j in range(1, 41))
COVERS = ("Spruce/Fir", "Lodgepole Pine", "Ponderosa Pine", "Cottonwood/Willow", "Aspen", "Douglas-fir", "Krummholz")
COVERTYPE = Schema(
    (
        Column("elevation", Number(bounds=(1_800, 4_000), step=1)),
        Column("aspect", Number(bounds=(0, 360), step=1)),
        Column("slope", Number(bounds=(0, 90), step=1)),
        Column("horizontal_distance_to_hydrology", Number(bounds=(0, 1_400), step=1)),
        Column("vertical_distance_to_hydrology", Number(bounds=(-200, 650), step=1)),
        Column("horizontal_distance_to_roadways", Number(bounds=(0, 7_200), step=1)),
        Column("hillshade_9am", Number(bounds=(0, 255), step=1)),
        Column("hillshade_noon", Number(bounds=(0, 255), step=1)),
        Column("hillshade_3pm", Number(bounds=(0, 255), step=1)),
        Column("horizontal_distance_to_fire_points", Number(bounds=(0, 7_200), step=1)),
        Column("wilderness_area", Category(domain=AREAS)),
        Column("soil_type", Category(domain=SOILS)),
    )
)


def read_adult(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
    """The training part, then the test part, which begins with a comment and ends its classes in a dot."""
    test = re.sub(rb"\.(?=\s*$)", b"", files[1].partition(b"\n")[2], flags=re.MULTILINE)
    cells = pa.concat_tables([read_cells(part, (*schema.names, CLASS)) for part in (files[0], test)])
    return typed(cells, schema)


def read_auto_mpg(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
    """Blanks between the numbers, a tab before the quoted name, which has blanks of its own."""
    lines = [line.rstrip().partition(b"\t") for line in files[0].splitlines()]
    numbers = read_cells(b"\n".join(line for line, _, _ in lines), schema.names[:-1], " ")
    called = pa.array([name.strip().strip(b'"').decode("ascii") for _, _, name in lines], pa.string())
    return typed(numbers.append_column("car_name", called), schema, {"origin": ORIGINS})


def read_covertype(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
    """Ten numbers; four and forty columns of 0 and 1, of which one is 1, are a category each; and the class."""
    cells = csv.read_csv(
        pa.BufferReader(files[0]),
        csv.ReadOptions(autogenerate_column_names=True),
        convert_options=csv.ConvertOptions(column_types={f"f{j}": pa.int64() for j in range(55)}),
    )
    columns = [joined(column) for column in cells.columns]
    parts = {name: columns[j] for j, name in enumerate(schema.names[:10])}
    for name, words, some in (("wilderness_area", AREAS, columns[10:14]), ("soil_type", SOILS, columns[14:54])):
        places = np.zeros(len(columns[0]), dtype=np.int64)
        for j, column in enumerate(some):
            places += j * column.to_numpy()
        parts[name] = pa.array(words, pa.string()).take(pa.array(places))
    return DatasetRows(pa.table(parts), pa.array(COVERS, pa.string()).take(pc.subtract(columns[54], 1)))


MIXED_SETS = {
    "adult": DatasetFacts(
        "extract of the US census of 1994 (UCI), both parts, 48,842 rows, 6 numbers, 8 categories, 2 classes",
        (
            DataFile(
                "adult.data", "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d", f"{UCI}/adult/adult.data"
            ),
            DataFile(
                "adult.test", "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05", f"{UCI}/adult/adult.test"
            ),
        ),
        ADULT,
        f"{FROM_MEANING}, but for fnlwgt and capital-loss: those are of the public rows, rounded outwards",
        read_adult,
    ),
    "adult-complete": DatasetFacts(
        "Adult's training part without missing values, as k-anonymity is measured on, 30,162 rows, 1 number, 7 categories, "
        "2 classes",
        (DataFile("adult-30162.csv", "c700df9304fbf3c4d4db5938bffc510561bd4a2dfad285a3feef9a20619391c5"),),
        ADULT_COMPLETE,
        FROM_MEANING,
        separated((*ADULT_COMPLETE.names, CLASS), delimiter=";", header=True),
    ),
    "heart": DatasetFacts(
        "heart disease, Statlog form (UCI), 270 rows, 6 numbers, 7 categories, 2 classes",
        (
            DataFile(
                "heart.dat",
                "f5f3b4204c285bafadd85cb735f38b47689f2be7047feb172dcbeab648110bf9",
                f"{UCI}/statlog/heart/heart.dat",
            ),
        ),
        HEART,
        FROM_PUBLISHED,
        separated((*HEART.names, CLASS), delimiter=" ", words=HEART_WORDS),
    ),
    "auto-mpg": DatasetFacts(
        "cars and their consumption (UCI), 398 rows, 7 numbers (horsepower is missing 6 times), 1 category, a name",
        (
            DataFile(
                "auto-mpg.data",
                "48b830e11feee5572525f8f1691ddb9d38d3d7b7063edcd8fca672c2a5e17d8d",
                f"{UCI}/auto-mpg/auto-mpg.data",
            ),
        ),
        AUTO_MPG,
        FROM_ROWS,
        read_auto_mpg,
    ),
    "covertype": DatasetFacts(
        "forest cover in four wilderness areas (UCI), 581,012 rows, 10 numbers, 2 categories (of 4 and 40 values), 7 classes",
        (
            DataFile(
                "covtype.data.gz",
                "0a9371cef7c964b5475d6053cc3e0894a5aa6f65ad1ed3ecb01c45aa96217945",
                f"{UCI}/covtype/covtype.data.gz",
            ),
        ),
        COVERTYPE,
        FROM_ROWS,
        read_covertype,
    ),
}
