"""For tests and audits: repeatable noise, the laws of kernels, and an auditor of private releases.

`audit` tries a mechanism on two neighbouring tables: exactly where it is one of Cloister's, by many runs where it is
anybody's. What is released under `seeded_noise` or under an audit is stamped NOT PRIVATE.
"""

from cloister.testing.kernel_laws import fold_in_shards, take, within_sensitivity
from cloister.testing.repeatable import seeded_noise

__all__ = ["fold_in_shards", "seeded_noise", "take", "within_sensitivity"]
