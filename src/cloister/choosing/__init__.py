"""Private choices: the most common value of a column, a quantile on its grid, the best of some options."""
