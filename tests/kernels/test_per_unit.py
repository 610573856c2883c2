"""Whose row it is: names of people, however they are stored."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from cloister.kernels.per_unit import people


def test_bytes_that_are_no_text_are_names() -> None:
    """Two people whose ids cannot be read are two people, plain and as codes; those that can are their texts."""
    one, other = b"\xc8B\x0f\0", b"\xc9B\x0f\0"
    for kind in (pa.binary(), pa.large_binary(), pa.binary(4)):
        cells = pa.array([one, other, one, None], kind)
        for stored in (cells, cells.dictionary_encode()):
            owners = people(stored)
            assert len(np.unique(owners, axis=0)) == 3
            assert np.array_equal(owners[0], owners[2])
    texts = pa.array(["ann", " ann ", "", None])
    assert np.array_equal(people(texts), people(pa.array([b"ann", b" ann ", b"", None])))
