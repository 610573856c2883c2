"""k-means by votes: the plan, the candidates and what is learned of them, the bounds, the fit."""
