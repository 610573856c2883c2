"""For tests and audits: repeatable noise, the laws of kernels, and an auditor of private releases.

`audit` tries a mechanism on two neighbouring tables: exactly where it is one of Cloister's, by many runs where it is
anybody's. What is released under `seeded_noise` or under an exact audit is stamped NOT PRIVATE.
"""

from cloister.testing.auditor import audit
from cloister.testing.black_box import BlackBoxAudit, attack
from cloister.testing.exact_audit import ExactAudit, replay
from cloister.testing.kernel_laws import fold_in_shards, take, within_sensitivity
from cloister.testing.repeatable import seeded_noise

__all__ = [
    "BlackBoxAudit",
    "ExactAudit",
    "attack",
    "audit",
    "fold_in_shards",
    "replay",
    "seeded_noise",
    "take",
    "within_sensitivity",
]
