"""Private clusters and synopses.

The walk: `request` (what a user wants, checked) -> `methods` (the registry) -> a method's `plan` and `fit` in the vault ->
`clusters` (the result, which saves itself). `kmeans` is scikit-learn's shell over it.
"""
