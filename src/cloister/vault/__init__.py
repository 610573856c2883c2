"""The only door between rows and the world.

An engine reads rows and knows nothing of noise; a mechanism adds noise and never sees a row; the vault knows both. It has
three doors: `Vault.measure` (a private release: charged, then read, then noised), `Holder` (exact results for whoever holds
the table anyway, stamped so) and `Vault.public` (data that is already private). What engines hand out is `Exact`, and nothing
outside this package opens it.
"""

from cloister.engines.base import EngineChoice, EngineTraits, clusters_points, engine_traits, open_data
from cloister.engines.spark.options import Spark  # a user's options; loads no engine
from cloister.kernels.exact import Exact
from cloister.privacy.mechanisms import Released
from cloister.vault.doors import Sample, Vault
from cloister.vault.holder import Holder, Unprotected

__all__ = [
    "EngineChoice",
    "EngineTraits",
    "Exact",
    "Holder",
    "Released",
    "Sample",
    "Spark",
    "Unprotected",
    "Vault",
    "clusters_points",
    "engine_traits",
    "open_data",
]
