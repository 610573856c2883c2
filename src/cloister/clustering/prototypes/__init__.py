"""Private k-prototypes and k-modes: marginals, votes over a cloud of made-up rows, rounds of sums and value counts."""
