"""Data sets of numbers alone: Wine, MAGIC, S1, Life sciences, and the two CASC sets."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from cloister.datasets.dataset import (
    CLASS,
    FROM_PUBLISHED,
    FROM_ROWS,
    DataFile,
    DatasetFacts,
    DatasetRows,
)
from cloister.datasets.reading import joined, read_cells, separated, typed
from cloister.schema import Column, Number, Schema

__all__ = ["NUMBER_SETS"]

UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases"
Facts = tuple[str, float, float, float | None]  # name, lowest, highest, step


def numbers(*columns: Facts) -> Schema:
    """A schema of number columns."""
    return Schema(tuple(Column(name, Number(bounds=(low, high), step=step)) for name, low, high, step in columns))


WINE = numbers(
    ("alcohol", 11, 15, 0.01),
    ("malic_acid", 0.5, 6, 0.01),
    ("ash", 1, 3.5, 0.01),
    ("alcalinity_of_ash", 10, 30, 0.1),
    ("magnesium", 70, 170, 1),
    ("total_phenols", 0.5, 4, 0.01),
    ("flavanoids", 0, 5.5, 0.01),
    ("nonflavanoid_phenols", 0, 0.7, 0.01),
    ("proanthocyanins", 0, 4, 0.01),
    ("color_intensity", 1, 13, None),
    ("hue", 0.4, 1.8, None),
    ("od280_od315", 1, 4, 0.01),
    ("proline", 250, 1700, 1),
)

MAGIC = numbers(  # lengths in millimetres, two shares of the image's content, an angle
    ("fLength", 0, 350, 0.0001),
    ("fWidth", 0, 260, 0.0001),
    ("fSize", 1, 6, 0.0001),
    ("fConc", 0, 1, 0.0001),
    ("fConc1", 0, 1, 0.0001),
    ("fAsym", -600, 600, 0.0001),
    ("fM3Long", -350, 350, 0.0001),
    ("fM3Trans", -250, 250, 0.0001),
    ("fAlpha", 0, 90, 0.0001),
    ("fDist", 0, 500, 0.0001),
)

S1 = numbers(("x", 0, 1_000_000, 1), ("y", 0, 1_000_000, 1))

LIFE_SCIENCES = numbers(
    *(
        (f"component{j}", float(low), float(high), None)
        for j, (low, high) in enumerate(
            [(-14, 0), (-7, 6), (-8, 6), (-5, 6), (-7, 5), (-6, 7), (-5, 7), (-5, 5), (-6, 5), (-4, 5)], 1
        )
    )
)

CENSUS = numbers(
    ("AFNLWGT", 0, 700_000, 1),
    ("AGI", 0, 100_000, 1),
    ("EMCONTRB", 0, 7_500, 1),
    ("FEDTAX", 0, 22_000, 1),
    ("PTOTVAL", 0, 120_000, 1),
    ("STATETAX", 0, 12_000, 1),
    ("TAXINC", 0, 85_000, 1),
    ("POTHVAL", 0, 110_000, 1),
    ("INTVAL", 0, 50_000, 1),
    ("PEARNVAL", 0, 100_000, 1),
    ("FICA", 0, 8_000, 1),
    ("WSALVAL", 0, 100_000, 1),
    ("ERNVAL", 0, 100_000, 1),
)

TARRAGONA = numbers(
    ("FIXED.ASSETS", 0, 5_000_000, 1),
    ("CURRENT.ASSETS", -30_000, 4_600_000, 1),
    ("TREASURY", -40_000, 500_000, 1),
    ("UNCOMMITTED.FUNDS", -520_000, 4_000_000, 1),
    ("PAID.UP.CAPITAL", 0, 1_500_000, 1),
    ("SHORT.TERM.DEBT", -3_000, 3_700_000, 1),
    ("SALES", 0, 15_500_000, 1),
    ("LABOR.COSTS", 0, 1_400_000, 1),
    ("DEPRECIATION", -200, 380_000, 1),
    ("OPERATING.PROFIT", -260_000, 1_250_000, 1),
    ("FINANCIAL.OUTCOME", -360_000, 110_000, 1),
    ("GROSS.PROFIT", -310_000, 1_300_000, 1),
    ("NET.PROFIT", -310_000, 900_000, 1),
)


def read_s1(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
    """Points in one file, the number of their cluster in another."""
    points, labels = read_cells(files[0], ("x", "y"), " "), read_cells(files[1], (CLASS,))
    return DatasetRows(typed(points, schema).data, joined(labels[CLASS]))


def read_life_sciences(files: tuple[bytes, ...], schema: Schema) -> DatasetRows:
    """Ten components, and whether the compound was active."""
    rows = typed(read_cells(files[0], (*schema.names, CLASS)), schema)
    return DatasetRows(rows.data, pc.cast(pc.cast(pc.cast(rows.target, pa.float64()), pa.int64()), pa.string()))


NUMBER_SETS = {
    "wine": DatasetFacts(
        "chemical analysis of wines of three growers (UCI), 178 rows, 13 numbers, 3 classes",
        (
            DataFile(
                "wine.data", "6be6b1203f3d51df0b553a70e57b8a723cd405683958204f96d23d7cd6aea659", f"{UCI}/wine/wine.data"
            ),
        ),
        WINE,
        FROM_PUBLISHED,
        separated((CLASS, *WINE.names)),
    ),
    "magic": DatasetFacts(
        "simulated images of gamma (g) and hadron (h) showers in the MAGIC telescope (UCI), 19,020 rows, 10 numbers, 2 classes",
        (
            DataFile(
                "magic04.data",
                "e9314b7ebd4b4b59a3b3d65f7316663963777b16a46786877651dbbaa640b36a",
                f"{UCI}/magic/magic04.data",
            ),
        ),
        MAGIC,
        FROM_ROWS,
        separated((*MAGIC.names, CLASS)),
    ),
    "s1": DatasetFacts(
        "S1, made-up points in 15 Gaussian clusters (Fränti and Virmajoki 2006), 5,000 rows, 2 numbers, 15 classes",
        (
            DataFile(
                "s1.txt",
                "d98ddffe6ad4ff67babf1aacd1b679e7b858c8c97be1e51c818fe5f4552664af",
                "https://cs.joensuu.fi/sipu/datasets/s1.txt",
            ),
            DataFile("s1.labels.txt", "b65ed20dfdb8df2aea5b217dce21a30224240ea528a4b393531a6c32f3107ec1"),
        ),
        S1,
        FROM_ROWS,
        read_s1,
    ),
    "life-sciences": DatasetFacts(
        "life sciences (ds1.10), ten principal components of compounds, 26,733 rows, 10 numbers, 2 classes",
        (DataFile("lifesci_ds1.10.csv", "07bd1de974a5a897efcea0d25a270b762952e3edc01729b12d576303ac7f4eb2"),),
        LIFE_SCIENCES,
        FROM_ROWS,
        read_life_sciences,
    ),
    "census": DatasetFacts(
        "CASC reference microdata of a census, 1,080 rows, 13 numbers",
        (DataFile("casc-census.csv", "40fb91564d4379274610e941161fd38729adb471bddb9c71d7c01ef142fd0f5b"),),
        CENSUS,
        FROM_ROWS,
        separated(CENSUS.names, header=True),
    ),
    "tarragona": DatasetFacts(
        "CASC reference microdata of companies in Tarragona, 834 rows, 13 numbers",
        (DataFile("casc-tarragona.csv", "d5f719a134a3476b2157d9675d1a2b211dbc06ad6109685ad1e4b7847cfa45a4"),),
        TARRAGONA,
        FROM_ROWS,
        separated(TARRAGONA.names, header=True),
    ),
}
