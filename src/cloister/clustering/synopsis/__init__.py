"""A synopsis: cells of the domain with noisy counts, released once. Whatever is done with it afterwards costs nothing.

The walk: `request` -> `shapes` (the registry) -> a shape's `plan` and `build` in the vault -> `synopsis` (the result).
"""
