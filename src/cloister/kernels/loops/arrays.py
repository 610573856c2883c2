"""Short names of the arrays that loops take, and how large integers may be in them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

EXACT = 2**53  # integers below it are exact in float64, in which loops square and divide

U8 = NDArray[np.uint8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
U64 = NDArray[np.uint64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]

Clipping = tuple[I64, bool, I64, I64]
"""How `add_clipped` clips, for each centre, (k,): the radius of a move, whether that is an L1 length, the cap of a squared
distance, and the shift that its capped square is counted in."""
