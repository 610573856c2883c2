"""Private rows from noisy low-order marginals: columns in bins, pairs of them chosen round by round, one model of all."""
