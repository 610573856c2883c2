"""Tables to try things on: public data sets of the literature, and made-up tables of students and pupils.

>>> sorted(names())[:3]
['adult', 'adult-complete', 'auto-mpg']
"""

from cloister.datasets.dataset import Dataset
from cloister.datasets.load import load, names
from cloister.datasets.made_up_tables import PUPIL_TREES, PUPILS, STUDENTS, pupils, students, write_pupils

__all__ = [
    "PUPILS",
    "PUPIL_TREES",
    "STUDENTS",
    "Dataset",
    "load",
    "names",
    "pupils",
    "students",
    "write_pupils",
]
