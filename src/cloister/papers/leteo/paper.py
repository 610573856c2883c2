"""What paper 001 promised, what holds of it, and what is run."""

from __future__ import annotations

from cloister.papers.leteo.alpha_grid import ALPHA_GRID, VANISHED_CELLS
from cloister.papers.leteo.attacks import GRID_ATTACKS
from cloister.papers.leteo.class_attacks import CLASS_ATTACKS
from cloister.papers.leteo.constant_bias import CONSTANT_BIAS
from cloister.papers.leteo.reversed_gain import REVERSED_GAIN
from cloister.papers.leteo.rows_scaling import ROWS_SCALING
from cloister.papers.leteo.specialized_pupils import SPECIALIZED_PUPILS
from cloister.papers.paper_items import Paper

__all__ = ["PAPER"]

PAPER = Paper(
    "001",
    "LETEO: Scalable anonymization of big data and its application to learning analytics",
    "E. Giménez, L. Etcheverry, F. Olmedo, C. Buil Aranda, M. Toro, M. Pastorini. Technical report, ANII, Uruguay, 2021",
    promised=(
        "Tables of pupils can be published row by row if at least k = 10 look alike in what an outsider may know of them: the "
        "values are made coarser, step by step, only as far as that needs, on Spark and in time linear in the rows.",
        "Whoever knows these columns of a pupil then finds the record with a probability of less than 1/k.",
        "Clusters can be computed with differential privacy of a chosen epsilon from noisy counts in a grid that is finer where "
        "rows are; how epsilon is split between the grid's two levels matters little.",
    ),
    holds=(
        "k-anonymity is a property of the table that comes out and bounds no epsilon: hashed identifiers, other known columns, a "
        "second release and values that a class shares all get past it.",
        "The gains of the search are printed with their signs reversed; as they are meant, the search does what it should.",
        "The grid's epsilon does not hold as printed: if rows may come and go, the exact number of rows shows in the grid; if a "
        "row is changed, twice epsilon is spent. With a noisy number of rows and noise for the chosen relation it holds.",
        "Not reproduced: (n,t)-closeness, access control with Ranger and Atlas, and Zeppelin notebooks, which are outside of "
        "this program, and the report's own table, which is not public. The walkthrough is in docs/notebooks/leteo.ipynb.",
    ),
    claim="k = 10 for tables; epsilon for grids",
    proved="k = 10 without any epsilon; grids: 2 epsilon or none",
    datasets=("adult-complete", "s1"),
    items=(
        SPECIALIZED_PUPILS,
        REVERSED_GAIN,
        ROWS_SCALING,
        CLASS_ATTACKS,
        ALPHA_GRID,
        VANISHED_CELLS,
        GRID_ATTACKS,
        CONSTANT_BIAS,
    ),
)
