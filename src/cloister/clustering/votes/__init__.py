"""The default method: seed by votes over more cells than clusters, then refine by clipped Lloyd."""
