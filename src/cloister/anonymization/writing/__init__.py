"""A recoding as data, the rows rewritten by it, the output counted again; and saved recodings applied to other rows."""
