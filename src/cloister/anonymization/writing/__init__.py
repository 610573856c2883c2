"""A recoding as data, the rows rewritten by it, the output counted again, and its appearance with its certificate."""
