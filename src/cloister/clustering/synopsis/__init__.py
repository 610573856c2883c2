"""A synopsis: cells of the domain with noisy counts, released once. Whatever is done with it afterwards costs nothing."""
